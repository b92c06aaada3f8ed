"""Classes of many rows in native code: those of the reference, though most rows need not see every tree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier

from onetree import _core
from onetree.lowering.native_predict import NativePredictor
from onetree.model.ensemble import Ensemble


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
@pytest.mark.parametrize("family", [RandomForestClassifier, GradientBoostingClassifier])
def test_rows_that_are_decided_early_get_the_class_that_all_trees_give(load, family):
    X, y = load(return_X_y=True)
    model = family(n_estimators=40, max_depth=4, random_state=0).fit(X, y)
    ensemble = Ensemble.from_model(model)
    random = np.random.default_rng(0)
    rows = np.vstack([X, X[random.integers(len(X), size=(5_000, X.shape[1])), np.arange(X.shape[1])]])
    assert (NativePredictor(ensemble).classes(rows) == ensemble.predict_index(rows)).all()
    assert (model.classes_[NativePredictor(ensemble).classes(rows)] == model.predict(rows)).all()


def test_more_slabs_than_16_bits_can_count_are_told_apart():
    X = np.arange(70_000.0)[:, np.newaxis]
    y = np.random.default_rng(0).integers(2, size=len(X))
    model = ExtraTreesClassifier(2, random_state=0).fit(X, y)
    ensemble = Ensemble.from_model(model)
    assert max(NativePredictor(ensemble).grid.n_slabs) > 2**16
    assert (NativePredictor(ensemble).classes(X) == model.predict(X)).all()


def _scores(**changed):
    """The native scores of one tree with a single test, as given but for what is changed."""
    given = {
        "roots": np.zeros(1, dtype=np.int32),
        "output": np.full(1, -1, dtype=np.int32),
        "nodes": np.array([[0, 0, 0, 1, 2], [0, 0, -1, 1, 1], [0, 0, -1, 2, 2]], dtype=np.int32),
        "value": np.array([[0.0], [1.0], [2.0]]),
        "base": np.zeros(1),
        "n_features": 1,
        "n_slabs": 2,
        "open": np.zeros(1),
        "cut": 0.0,
    }
    return _core.SlabScores64(*(given | changed).values())


def test_rows_get_the_values_of_their_leaves():
    assert _scores().of_rows(np.array([[0, 1, 0]], dtype=np.int32)).tolist() == [[1.0], [2.0], [1.0]]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"roots": np.array([3], dtype=np.int32)}, "root"),
        ({"n_features": 0}, "feature or child"),
        ({"output": np.array([1], dtype=np.int32)}, "output"),
        ({"open": np.zeros(2)}, "shapes"),
        ({"value": np.zeros((3, 2))}, "shapes"),
    ],
)
def test_trees_that_do_not_fit_together_are_refused_by_the_core(changed, complaint):
    with pytest.raises(ValueError, match=complaint):
        _scores(**changed)


def test_rows_with_too_few_features_are_refused_by_the_core():
    with pytest.raises(ValueError, match="one slab per feature"):
        _scores().of_rows(np.zeros((2, 3), dtype=np.int32))
