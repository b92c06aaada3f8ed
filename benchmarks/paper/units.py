"""The work, cut into units that are done once: each gives a dict of plain values, and is kept as a file of its own.

What a unit measures is here; what is made of it is in `tables`, `figures` and `page`.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import KFold

import onetree
from benchmarks import paper_data, runs
from benchmarks.paper.published import published_tree
from benchmarks.paper.published_depth import published_depth_tree
from benchmarks.paper.published_stop import BYTES_PER_BOX, published_stopping_tree
from onetree.files.atomic import write_whole
from onetree.lowering.grid import Grid

OBJECTIVES = ("depth", "leaves", "depth-leaves")
LARGEST = "Breast-Cancer-Wisconsin"
GROWTH = {
    "samples": (250, 500, 750, 1000, 2500, 5000, 7500, 10459),
    "features": (2, 3, 5, 7, 10, 12, 15, 17),
    "trees": (3, 5, 7, 10, 12, 15, 17, 20),
}
BASE = {"samples": 2500, "features": 10, "trees": 10}
LARGE = ("ionosphere", "spambase", "magic", "synthetic")  # the last has the size of MiniBooNE, which is not at hand
SHORT = 0.02  # seconds; what takes less is timed again
AGAIN = 9
PATIENCE = 900.0  # seconds for training, converting and proving on large data


@dataclass(frozen=True)
class Scope:
    """How much of the paper is to be run."""

    paper_data: Path
    data: Path
    data_sets: tuple[str, ...] = paper_data.DATA_SETS
    folds: tuple[int, ...] = paper_data.FOLDS
    growth: dict = field(default_factory=lambda: GROWTH)
    large: tuple[str, ...] = LARGE
    memory_limit: float = 4.0  # GB, of the table of the published DL search

    @classmethod
    def quick(cls, folder, data, memory_limit):
        """A few minutes: fewer folds, no Breast-Cancer, the ends and the middle of the growth."""
        small = tuple(name for name in paper_data.DATA_SETS if name != LARGEST)
        growth = {factor: (values[0], BASE[factor], values[-1]) for factor, values in GROWTH.items()}
        return cls(folder, data, small, (2, 4), growth, LARGE[:1], memory_limit)


def units(scope):
    """Names of all units, cheap ones first, each as a tuple of words."""
    for name in scope.data_sets:
        yield ("data", name)
    for kind in ("forest", "tree", "heuristic"):
        for name in scope.data_sets:
            for fold in scope.folds:
                if kind == "tree":
                    yield from ((kind, name, fold, objective) for objective in OBJECTIVES)
                else:
                    yield (kind, name, fold)
    for factor, values in scope.growth.items():
        for value in values:
            yield ("growth", factor, value)
    for name in scope.large:
        yield ("large", name)
    for objective in reversed(OBJECTIVES):
        for name in scope.data_sets:
            if objective != "depth" or name != LARGEST:  # see `published_depth`
                yield from (("published", name, fold, objective) for fold in scope.folds)


def done(out, unit):
    """The kept result of a unit, or None."""
    path = _path(out, unit)
    return json.loads(path.read_text())["result"] if path.is_file() else None


def do(scope, out, unit):
    """Do a unit and keep its result."""
    kind, *words = unit
    result = WORK[kind](scope, *words)
    path = _path(out, unit)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"unit": unit, "machine": runs.machine(), "result": result}, indent=1) + "\n")
    return result


def _path(out, unit):
    return out / "units" / unit[0] / ("-".join(map(str, unit[1:])) + ".json")


def read(path):
    """Features and classes of one of the paper's files."""
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return table[:, :-1], table[:, -1].astype(int)


def fold_of(scope, name, fold):
    """Training features and classes, test features and classes."""
    train = paper_data.fold_path(scope.paper_data, name, fold)
    return *read(train), *read(train.with_name(f"{name}.test{fold}.csv"))


def forest_of(scope, name, fold):
    return onetree.load_ensemble(paper_data.forest_path(scope.paper_data, name, fold))


def describe_data(scope, name):
    X, y = read(scope.paper_data / "datasets" / name / f"{name}.full.csv")
    shares = np.sort(np.bincount(y) / len(y))[::-1]
    distribution = "-".join(f"{100 * share:.0f}" for share in shares)
    return {"samples": len(X), "features": X.shape[1], "classes": len(shares), "distribution": distribution}


def scores(y, predicted):
    return {
        "accuracy": float(accuracy_score(y, predicted)),
        "f1": float(f1_score(y, predicted, average="macro", zero_division=0)),
    }


def describe_forest(scope, name, fold):
    forest = forest_of(scope, name, fold)
    _, _, X, y = fold_of(scope, name, fold)
    return {
        "leaves": n_leaves_after_merging(forest),
        "leaves_as_trained": forest.n_leaves,
        "cells": Grid.of(forest).n_cells,
        "scores": scores(y, forest.predict(X)),
    }


def n_leaves_after_merging(forest):
    """Leaves of all trees once two leaves of one class below the same split count as one, as the paper counts."""
    left, right = forest.children_left.tolist(), forest.children_right.tolist()
    vote = [int(value.argmax()) if child < 0 else -1 for value, child in zip(forest.value, left, strict=True)]
    n_leaves, changed = forest.n_leaves, True
    while changed:
        changed = False
        for node, child in enumerate(left):
            if vote[node] < 0 and vote[child] == vote[right[node]] >= 0:
                vote[node], changed = vote[child], True
                n_leaves -= 1
    return n_leaves


def tree_facts(scope, name, fold, tree):
    """Size and scores of a tree, before and after pruning with the training data."""
    X, _, X_test, y_test = fold_of(scope, name, fold)
    pruned = onetree.prune(tree, X)
    effect = onetree.compare(tree, pruned, X_test)
    return {
        "depth": tree.depth,
        "leaves": tree.n_leaves,
        "scores": scores(y_test, tree.predict(X_test)),
        "pruned_depth": pruned.depth,
        "pruned_leaves": pruned.n_leaves,
        "pruned_scores": scores(y_test, pruned.predict(X_test)),
        "test_agreement": effect.agreement,
        "changed_cells": effect.changed,
    }


def timed(ensemble, objective, **options):
    """A solution and its time in seconds: the median of several where it is short."""
    solution = onetree.born_again(ensemble, objective=objective, **options)
    seconds = [solution.stats["seconds"]]
    if seconds[0] < SHORT:
        again = [onetree.born_again(ensemble, objective=objective, verify=False, **options) for _ in range(AGAIN)]
        seconds = [each.stats["seconds"] for each in again]
    return solution, statistics.median(seconds)


def solve(scope, name, fold, objective):
    solution, seconds = timed(forest_of(scope, name, fold), objective, method="exact")
    facts = {"status": solution.status, "seconds": seconds, "engine": solution.stats["engine"]}
    return facts | tree_facts(scope, name, fold, solution.tree)


def solve_heuristically(scope, name, fold):
    forest, found = forest_of(scope, name, fold), {}
    for objective in ("depth", "leaves"):
        solution, seconds = timed(forest, objective, method="heuristic")
        found[objective] = {"depth": solution.tree.depth, "leaves": solution.tree.n_leaves, "seconds": seconds}
    return found


def run_published(scope, name, fold, objective):
    forest, more = forest_of(scope, name, fold), {}
    tree = published_depth_tree(forest) if objective == "depth" else published_tree(forest, objective)
    if objective == "depth-leaves":
        fits = Grid.essential(forest).n_boxes * BYTES_PER_BOX <= 1e9 * scope.memory_limit
        more = {"leaves_without_stop": tree.n_leaves, "stops": fits}
        tree = published_stopping_tree(forest) if fits else tree
    if not onetree.verify(tree, forest):
        raise AssertionError(f"the published search gave a tree that differs from {name}, fold {fold}")
    return more | tree_facts(scope, name, fold, tree)


def grow(scope, factor, value):
    """Ten forests on a random part of FICO, one for each fold of that part, and the time for least depth."""
    size = BASE | {factor: value}
    X, y = read(scope.paper_data / "datasets" / "FICO" / "FICO.full.csv")
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(X))[: size["samples"]]
    columns = np.sort(rng.permutation(X.shape[1])[: size["features"]])
    X, y = X[rows][:, columns], y[rows]
    found = []
    for fold, (train, _) in enumerate(KFold(len(paper_data.FOLDS)).split(X), start=1):
        # Half of the features to choose from at each split.
        forest = RandomForestClassifier(size["trees"], max_depth=3, max_features=0.5, random_state=fold)
        ensemble = onetree.Ensemble.from_model(forest.fit(X[train], y[train]), voting="hard")
        solution, seconds = timed(ensemble, "depth", method="exact")
        found.append(
            {
                "seconds": seconds,
                "levels": Grid.of(ensemble).n_levels,
                "cells": solution.stats["cells"],
                "boxes": solution.stats["boxes"],
                "depth": solution.tree.depth,
            }
        )
    return found


def convert_large(scope, name):
    words = ("leaves", "--data-set", name, "--bins", 10, "--data", scope.data.absolute(), "--max-leaves", 1e8)
    return runs.run_module("heuristic_one", *words, timeout=PATIENCE)


WORK = {
    "data": describe_data,
    "forest": describe_forest,
    "tree": solve,
    "heuristic": solve_heuristically,
    "published": run_published,
    "growth": grow,
    "large": convert_large,
}
