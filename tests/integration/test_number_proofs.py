"""Proofs of numbers against the libraries themselves: what `predict_proba` and the `predict` of regressors return."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from xgboost import XGBClassifier, XGBRegressor

from onetree import Ensemble, verify, worst_deviation
from tests.cases.numbered import distance, numbered_tree

SMALL = {"n_estimators": 4, "max_depth": 2, "random_state": 0}
LIGHT = {"n_estimators": 4, "max_depth": 2, "num_leaves": 4, "min_child_samples": 5, "verbose": -1, "random_state": 0}
CAT = {"iterations": 4, "depth": 2, "verbose": 0, "allow_writing_files": False, "random_seed": 0}
CLASSIFIERS = {
    "forest": lambda: RandomForestClassifier(**SMALL),
    "boosting": lambda: GradientBoostingClassifier(**SMALL),
    "calibrated": lambda: CalibratedClassifierCV(RandomForestClassifier(**SMALL), method="isotonic", cv=2),
    "vote": lambda: VotingClassifier(
        [("a", RandomForestClassifier(**SMALL)), ("b", GradientBoostingClassifier(**SMALL))], voting="soft"
    ),
    "xgboost": lambda: XGBClassifier(**SMALL),
    "lightgbm": lambda: LGBMClassifier(**LIGHT),
    "catboost": lambda: CatBoostClassifier(**CAT),
}
REGRESSORS = {
    "forest": lambda: RandomForestRegressor(**SMALL),
    "extra trees": lambda: ExtraTreesRegressor(**SMALL),
    "boosting": lambda: GradientBoostingRegressor(loss="huber", **SMALL),
    "histograms": lambda: HistGradientBoostingRegressor(loss="poisson", max_iter=4, max_depth=2, random_state=0),
    "xgboost": lambda: XGBRegressor(**SMALL),
    "xgboost, counts": lambda: XGBRegressor(objective="count:poisson", **SMALL),
    "lightgbm": lambda: LGBMRegressor(**LIGHT),
    "lightgbm, gamma": lambda: LGBMRegressor(objective="gamma", **LIGHT),
    "catboost": lambda: CatBoostRegressor(**CAT),
}


def data(n_classes):
    """Three features with few values, and labels or positive targets."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (300, 3)).astype(np.float64)
    raw = X[:, 0] + X[:, 1] * X[:, 2] / 2 + rng.random(300)
    if n_classes == 0:
        return X, 0.5 + raw
    return X, np.searchsorted(np.quantile(raw, np.arange(1, n_classes) / n_classes), raw)


def shown(model, row):
    """What the library itself returns for an input, as a row of numbers."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(row))[0]
    return np.asarray(model.predict(row)).reshape(-1)


def check(model, output, n_classes):
    """Prove trees of several tolerances, and refute them where one number is moved."""
    ensemble = Ensemble.from_model(model, output=output)
    for tolerance, relative in ((0.0, False), (0.05, False), (0.1, True)):
        tree = numbered_tree(ensemble, tolerance, relative=relative, keeps_class=n_classes > 0)
        by_search, by_cells = (verify(tree, model, method=method) for method in ("search", "cells"))
        assert by_search
        assert by_cells
        assert by_search.worst == by_cells.worst == worst_deviation(tree, model, relative=relative).worst
        if by_search.worst_input is not None:
            numbers = shown(model, by_search.worst_input[np.newaxis])
            assert numbers.tolist() == by_search.ensemble_value.tolist()
            apart = max(distance(*pair, relative) for pair in zip(by_search.tree_value, numbers, strict=True))
            assert Fraction(math.nextafter(by_search.worst, 0.0)) < apart <= Fraction(by_search.worst)
        value, leaf = tree.value.copy(), int(np.argmax(tree.feature < 0))
        value[leaf, -1] += np.array(0.25, dtype=value.dtype)
        for method in ("search", "cells"):
            verdict = verify(replace(tree, value=value), model, method=method)
            assert not verdict
            assert verdict.ensemble_value.tolist() == shown(model, verdict.counterexample[np.newaxis]).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_of_the_library_are_what_is_proven(name, n_classes):
    X, y = data(n_classes)
    check(CLASSIFIERS[name]().fit(X, y), "probability", n_classes)


@pytest.mark.parametrize("name", REGRESSORS)
def test_values_of_the_library_are_what_is_proven(name):
    X, y = data(0)
    check(REGRESSORS[name]().fit(X, y), "value", 0)


@pytest.mark.parametrize(("name", "tolerance"), [("forest", 0.2), ("xgboost, counts", 0.3), ("lightgbm", 0.0)])
def test_a_program_proves_values_of_the_library(name, tolerance):
    X, y = data(0)
    model = REGRESSORS[name]().fit(X[:, :2], y)
    tree = numbered_tree(Ensemble.from_model(model, output="value"), tolerance)
    assert verify(tree, model, method="milp")
    value = tree.value.copy()
    value[-1] += np.array(2 * tolerance + 1e-3, dtype=value.dtype)
    assert not verify(replace(tree, value=value), model, method="milp")
