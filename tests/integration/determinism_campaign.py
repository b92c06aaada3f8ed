"""Fingerprints of trees as JSON: ``python -m tests.integration.determinism_campaign N_JOBS``.

A program of its own, run by `test_determinism` in surroundings that must not matter. Models of several kinds, every
objective, exact and heuristic, and trees in parts.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import onetree
from onetree.scale import partition
from onetree.search.solve import ENGINES, OBJECTIVES
from tests.cases.fingerprints import fingerprint


def models():
    """Models of several kinds; the first has tables that several threads fill, the second is cut by the heuristic."""
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 8, size=(300, 4))
    yield "table", RandomForestClassifier(10, max_depth=4, random_state=0).fit(whole, whole.sum(axis=1) % 3)
    yield "large", RandomForestClassifier(5, max_depth=3, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    X, y = load_iris(return_X_y=True)
    X, labels = X[:, 1:], np.array(["setosa", "versicolor", "virginica"])[y]
    yield "labels", ExtraTreesClassifier(6, max_depth=3, random_state=0).fit(X, labels)
    yield "missing", HistGradientBoostingClassifier(max_iter=3, max_depth=2).fit(np.where(X > 5, np.nan, X), y)
    yield "boosted", GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0).fit(X, y == 1)
    X, y = load_wine(return_X_y=True)
    yield "weighted", AdaBoostClassifier(n_estimators=8, random_state=0).fit(X[:, :5], y)


def trees(name, model, n_jobs):
    """Name and tree of everything that is asked of a model."""
    for objective in OBJECTIVES:
        found = onetree.born_again(model, objective=objective, method="heuristic", n_jobs=n_jobs, verify=False)
        yield f"{name} {objective} heuristic", found.tree
        if name == "large" and objective == "leaves":
            parts = onetree.born_again_in_parts(model, objective=objective, n_parts=6, n_jobs=n_jobs, verify=False)
            assert parts.stats["parts"] == 6
            yield f"{name} {objective} parts", parts.tree
        if name == "large":
            continue
        for engine in ENGINES if name != "table" else ENGINES[:1]:
            found = onetree.born_again(model, objective=objective, engine=engine, n_jobs=n_jobs, verify=False)
            yield f"{name} {objective} {engine}", found.tree
    if name != "large":
        front = onetree.pareto_front(model, n_jobs=n_jobs, verify=False)
        yield from ((f"{name} front {number}", solution.tree) for number, solution in enumerate(front))


def main():
    partition.FEW_CELLS = 10_000  # so that a model that takes no minutes is cut, too
    n_jobs = int(sys.argv[1])
    found = {what: fingerprint(tree) for name, model in models() for what, tree in trees(name, model, n_jobs)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
