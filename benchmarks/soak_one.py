"""Some rounds of the soak, one JSON line each: ``python -m benchmarks.soak_one FIRST_SEED N_ROUNDS``.

A round trains a model drawn from its seed, converts it with options and limits drawn as well, proves the tree twice and
compares it with the library itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree
from benchmarks.fidelity_models import (
    Configuration,
    adaboost,
    bagging,
    cat,
    gradient,
    hist,
    lgbm,
    sklearn_model,
    voting,
    xgb,
)
from benchmarks.fidelity_points import samples
from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.grid import Grid
from onetree.solve import ENGINES, OBJECTIVES

N_POINTS = 2_000
MAX_LEAVES = 100_000  # larger trees are not worth the time of a soak
FEW_CELLS = 200_000  # proven cell by cell; beyond, by integer programs if there are few leaves
FEW_LEAVES = 60
# Family: how to train one of so many trees and such a depth, and whether it takes NaN.
TRAINERS = {
    "DecisionTree": (lambda n, d: sklearn_model(DecisionTreeClassifier, max_depth=d + 2), True),
    "RandomForest": (lambda n, d: sklearn_model(RandomForestClassifier, n, max_depth=d), True),
    "ExtraTrees": (lambda n, d: sklearn_model(ExtraTreesClassifier, n, max_depth=d), True),
    "Bagging": (bagging, True),
    "AdaBoost": (adaboost, False),
    "Voting": (lambda n, d: voting([d] * n, voting="soft"), True),
    "GradientBoosting": (gradient, False),
    "HistGradientBoosting": (hist, True),
    "XGBoost": (xgb, True),
    "XGBoost DART": (lambda n, d: xgb(n, d, booster="dart", rate_drop=0.3), True),
    "LightGBM": (lambda n, d: lgbm(n, max_depth=d), True),
    "CatBoost": (cat, True),
}


class Draw(Configuration):
    """A model of its own for every seed."""

    @property
    def seed(self):
        return int(self.kind)


def draw_model(seed, rng):
    family = rng.choice(list(TRAINERS))
    trainer, takes_nan = TRAINERS[family]
    n_classes = int(rng.choice([2, 2, 3, 5]))
    n_trees, depth = int(rng.integers(1, 9 if n_classes == 2 else 4)), int(rng.integers(1, 5))
    gaps = bool(takes_nan and rng.random() < 0.3)
    return Draw(
        family, str(seed), trainer(n_trees, depth), n_classes, int(rng.integers(2, 7)), gaps,
        missing=str(rng.choice(["auto", "auto", "follow"])) if takes_nan else "auto",
    )  # fmt: skip


def draw_options(rng):
    options = {"objective": str(rng.choice(OBJECTIVES)), "method": str(rng.choice(["auto", "exact", "heuristic"]))}
    if options["method"] == "exact" and rng.random() < 0.5:
        options["engine"] = str(rng.choice(ENGINES))
    options["time_limit"] = float(rng.choice([0.05, 0.3, 1.0, 3.0]))
    if rng.random() < 0.5:
        options["memory_limit"] = float(rng.choice([0.002, 0.02, 0.2, 1.0]))
    options["n_jobs"] = int(rng.choice([1, 2]))
    return options


def prove_twice(tree, ensemble):
    """The methods that proved it; raises if one refutes it."""
    methods = ["search"]
    if Grid.of(ensemble).n_cells < FEW_CELLS:
        methods.append("cells")
    elif tree.n_leaves < FEW_LEAVES:
        methods.append("milp")
    for method in methods:
        verdict = onetree.verify(tree, ensemble, method=method)
        if not verdict:
            raise AssertionError(f"{method} refutes the tree at {verdict.counterexample}")
    return methods


def play(seed):
    rng = np.random.default_rng(seed)
    configuration, options = draw_model(seed, rng), draw_options(rng)
    facts = {"seed": seed, "family": configuration.family, "options": options}
    model, X = configuration.fit()
    ensemble = onetree.Ensemble.from_model(model, missing=configuration.missing)
    if onetree.estimate(ensemble, budget=0.2).leaves > MAX_LEAVES:
        return facts | {"status": "too large"}
    start = perf_counter()
    try:
        solution = onetree.born_again(ensemble, verify=False, **options)
    except (LimitReachedError, GridTooLargeError) as error:
        return facts | {"status": type(error).__name__, "seconds": perf_counter() - start}
    facts |= {"status": solution.status, "seconds": perf_counter() - start}
    if not solution.lower_bound <= solution.value:
        raise AssertionError(f"the bound {solution.lower_bound} is over the value {solution.value}")
    facts["proofs"] = prove_twice(solution.tree, ensemble)
    n_rows = 0
    for rows in samples(ensemble, X, N_POINTS, rng).values():
        expected = configuration.reference(model, rows)
        if not np.array_equal(solution.tree.predict(rows), expected):
            raise AssertionError("the tree and the library differ on an input")
        n_rows += len(rows)
    if solution.status == "optimal":
        again = onetree.born_again(ensemble, objective=options["objective"], method="exact", time_limit=2, verify=False)
        if again.status == "optimal" and again.value != solution.value:
            raise AssertionError(f"two optima: {solution.value} and {again.value}")
    return facts | {"rows": n_rows}


def resident_bytes():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    return 0


def main():
    first, n_rounds = map(int, sys.argv[1:])
    for seed in range(first, first + n_rounds):
        try:
            facts = play(seed)
        except Exception as error:
            facts = {"seed": seed, "status": "failed", "message": f"{type(error).__name__}: {error}"}
        print(json.dumps(facts | {"resident_bytes": resident_bytes()}), flush=True)


if __name__ == "__main__":
    main()
