"""Trees that follow the data of a real model with categorical features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import onetree
from onetree.model.categories import Categories
from onetree.support.measure import box_points
from onetree.support.unfolded import Unfolding

RANDOM = np.random.default_rng(0)
X = np.column_stack([RANDOM.integers(6, size=400), RANDOM.normal(size=400), RANDOM.integers(9, size=400)]).astype(float)
X[::7, 0] = np.nan
Y = (np.isin(X[:, 0], [1, 3, 4]) & (X[:, 1] > 0)) | np.isin(X[:, 2], [2, 5])


@pytest.fixture(scope="module")
def model():
    return HistGradientBoostingClassifier(max_iter=10, categorical_features=[0, 2], random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def ensemble(model):
    return onetree.Ensemble.from_model(model, missing="follow")


@pytest.fixture(scope="module")
def faithful(ensemble):
    return onetree.support_tree(ensemble, X, fidelity=1.0, certify=True)


def test_every_row_gets_the_class_that_the_library_gives_it(model, faithful):
    assert (faithful.tree.predict(X) == model.predict(X)).all()
    assert faithful.reference.share == 1.0


def test_the_tree_speaks_of_sets_of_the_features_of_the_data(faithful):
    assert faithful.tree.has_subsets
    assert faithful.tree.n_features == X.shape[1]
    assert " in {" in faithful.tree.to_text()


def test_the_figures_are_those_of_the_tree_that_is_given_back(model, ensemble):
    solution = onetree.support_tree(ensemble, X[:300], held_out=X[300:], max_leaves=4)
    same = solution.tree.predict(X[300:]) == model.predict(X[300:])
    assert solution.held_out.n_agreeing == same.sum()
    assert solution.tree.n_leaves <= 4


def test_what_is_proven_of_the_columns_holds_for_the_features(model, faithful):
    inputs = np.column_stack([RANDOM.integers(-1, 8, 3_000), RANDOM.normal(size=3_000), RANDOM.integers(-1, 11, 3_000)])
    inputs[::5, 0] = np.nan
    inside = faithful.cores.contain(faithful.tree, inputs)
    assert inside.any()
    assert (faithful.tree.predict(inputs) == model.predict(inputs))[inside].all()


def test_each_set_test_has_one_column(ensemble):
    unfolding = Unfolding.of(ensemble)
    tested = {(f, tuple(ensemble.subsets[s])) for f, s in zip(ensemble.feature, ensemble.subset, strict=True) if s >= 0}
    assert (unfolding.test >= 0).sum() == len(tested)
    assert np.array_equal(np.unique(unfolding.rows(X)[:, unfolding.test >= 0]), [0.0, 1.0])


def test_random_points_have_categories_that_occur():
    rows = np.array([[1.0, 0.0], [4.0, 1.0], [np.nan, 0.5]])
    points = box_points(rows, (Categories.equal([1, 2, 4]), None), 0)
    assert set(points[~np.isnan(points[:, 0]), 0]) == {1.0, 4.0}
    assert 0.3 < np.isnan(points[:, 0]).mean() < 0.37
