"""Native walks against the plain reading of the same arrays."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree.importers.self_test import quick_scores
from onetree.model.walking import Walks
from onetree.verify.verdict import walk
from tests.cases.categorical import random_set_tree
from tests.cases.strategies import ensembles, ensembles_with_categories, telling_inputs
from tests.unit.tree.test_tree import random_tree, small_tree


@given(st.one_of(ensembles(), ensembles_with_categories()))
def test_rows_reach_the_leaves_that_the_reference_finds(ensemble):
    X = telling_inputs(ensemble)
    walks = Walks.of(ensemble, ensemble.roots, missing_left=ensemble.missing_left)
    assert np.array_equal(walks.leaves(X).T, ensemble.apply(X))
    assert np.array_equal(quick_scores(ensemble, X), ensemble.scores(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_rows", [0, 1, 15, 16, 17, 5000])
def test_any_number_of_rows_in_any_layout_reaches_the_leaves_of_the_plain_walk(n_rows, order, dtype):
    rng = np.random.default_rng(n_rows)
    tree = random_tree(rng, n_splits=60, n_features=3)
    X = np.array(rng.integers(-1, 6, size=(n_rows, 3)), dtype=dtype, order=order)
    assert np.array_equal(tree.apply(X), walk(tree, X.astype(np.float64)))
    assert np.array_equal(tree.predict_index(X), tree.leaf_class[walk(tree, X.astype(np.float64))])


@pytest.mark.parametrize("seed", range(5))
def test_single_precision_decides_set_tests_as_double_precision_does(seed):
    tree = random_set_tree(seed)
    with np.errstate(over="ignore"):
        X = telling_inputs(tree, seed=seed).astype(np.float32)
    assert np.array_equal(tree.apply(X), walk(tree, X.astype(np.float64)))


@given(st.integers(0, 2**32 - 1))
def test_a_gap_is_found_wherever_it_is(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_splits=5, n_features=int(rng.integers(1, 40)))
    X = rng.standard_normal((int(rng.integers(1, 4000)), tree.n_features))
    X = X.astype(rng.choice([np.float32, np.float64]), order=rng.choice(["C", "F"]))
    X[rng.integers(len(X)), rng.integers(tree.n_features)] = np.inf
    walks = Walks.of(tree, np.zeros(1, dtype=np.int32))
    assert not walks.leaves_and_gaps(X)[1]
    X[rng.integers(len(X)), rng.integers(tree.n_features)] = np.nan
    assert walks.leaves_and_gaps(X)[1]


def test_a_tree_of_one_leaf_takes_rows_without_columns():
    tree = small_tree(
        feature=[-1],
        threshold=[0.0],
        children_left=[-1],
        children_right=[-1],
        leaf_class=[1],
        feature_names=(),
        nan_features=[],
    )
    assert tree.predict_index(np.zeros((3, 0))).tolist() == [1, 1, 1]


def test_a_pickle_does_not_hold_what_is_laid_out_for_walking():
    tree = random_tree(np.random.default_rng(0), n_splits=60, n_features=3)
    before = pickle.dumps(tree)
    tree.predict(np.zeros((1, 3)))
    assert pickle.dumps(tree) == before
