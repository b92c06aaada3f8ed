"""Numbers in the leaves: what a tree says beside classes, and what it promises of that."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from onetree import InvalidInputError, compare, prune
from onetree.tree.leaf_values import outcomes, tolerance_words
from tests.cases import exported
from tests.cases.grown import shared_tree
from tests.cases.valued import as_probability, as_regression, same
from tests.unit.tree.test_tree import small_tree

ROWS = [[1.0, -2.0], [1.0, 0.0], [2.0, 0.0]]


def regression(**changes):
    return as_regression(small_tree(), **changes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_regression_tree_predicts_the_numbers_of_its_leaves(dtype):
    tree = regression(dtype=dtype)
    found = tree.predict(ROWS)
    assert found.dtype == dtype
    assert found.tobytes() == tree.value[[2, 3, 4], 0].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_probability_tree_has_classes_and_the_numbers_of_its_leaves(dtype):
    tree = as_probability(small_tree(), dtype=dtype)
    assert tree.predict(ROWS).tolist() == ["red", "green", "blue"]
    assert tree.predict_proba(ROWS).dtype == dtype
    np.testing.assert_array_equal(tree.predict_proba(ROWS), tree.value[[2, 3, 4]])


def test_the_output_follows_from_values_and_classes():
    assert [each.output for each in (small_tree(), as_probability(small_tree()), regression())] == [
        "class",
        "probability",
        "value",
    ]


def test_inner_nodes_have_the_value_zero_whatever_was_given():
    assert not regression().value[:2].any()


def test_values_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        regression().value[0] = 1


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (regression(), "regression, within 0.05)"),
        (regression(tolerance=0), "regression, equal values)"),
        (regression(tolerance=0.05, relative=True), "regression, within 5 %)"),
        (regression(tolerance=None), "regression)"),
        (as_probability(small_tree()), "3 classes, probabilities within 0.05)"),
        (as_probability(small_tree(), tolerance=0.0), "3 classes, equal probabilities)"),
        (as_probability(small_tree(), exact=False), "3 classes, probabilities, not exact)"),
    ],
)
def test_a_tree_says_what_it_promises(tree, words):
    assert repr(tree).endswith(words)


@pytest.mark.parametrize(
    ("tolerance", "words"), [(0.05, "0.05"), (0.012341, "0.01235"), (1e-9, "1e-09"), (123456.0, "1.235e+05")]
)
def test_a_tolerance_is_never_said_to_be_smaller_than_it_is(tolerance, words):
    assert tolerance_words(tolerance, relative=False) == words
    assert float(words) >= tolerance


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": np.zeros(5)}, "one row for each node"),
        ({"value": np.zeros((4, 3))}, "one row for each node"),
        ({"value": np.zeros((5, 0))}, "one row for each node"),
        ({"value": np.full((5, 3), "a")}, "must hold numbers"),
        ({"value": np.zeros((5, 2))}, "a probability for each of the 3 classes"),
        ({"value": np.full((5, 3), np.nan)}, "finite"),
        ({"value": np.full((5, 3), np.inf)}, "finite"),
        ({"value": np.zeros((5, 2)), "classes": [], "leaf_class": [-1, -1, 0, 0, 0]}, "one number without classes"),
        ({"value": np.zeros((5, 1)), "classes": []}, "class index outside 0..0"),
        ({"value": np.zeros((5, 3)), "tolerance": -0.1}, "finite and at least 0, not -0.1"),
        ({"value": np.zeros((5, 3)), "tolerance": np.nan}, "finite and at least 0"),
        ({"value": np.zeros((5, 3)), "tolerance": np.inf}, "finite and at least 0"),
        ({"value": np.zeros((5, 3)), "tolerance": 1.0, "relative": True}, "below 1"),
        ({"value": np.zeros((5, 3)), "relative": True}, "needs a tolerance"),
        ({"tolerance": 0.1}, "whose leaves have a value"),
        ({"relative": True}, "whose leaves have a value"),
        ({"keeps_class": False}, "whose leaves have a value"),
        ({"classes": [], "leaf_class": [-1, -1, 0, 0, 0]}, "at least one class, or the value"),
    ],
)
def test_numbers_that_are_not_those_of_leaves_are_refused(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        small_tree(**changes)


@pytest.mark.parametrize("tree", [regression(dtype=np.float32), as_probability(small_tree(), keeps_class=False)])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_copies_have_the_same_numbers(tree, copied):
    again = copied(tree)
    assert same(again, tree)
    assert not again.value.flags.writeable


def test_a_class_tree_has_no_numbers():
    with pytest.raises(InvalidInputError, match='output="probability"'):
        small_tree().numbers(ROWS)
    with pytest.raises(InvalidInputError, match="with_shares"):
        small_tree().predict_proba(ROWS)


@pytest.mark.parametrize("ask", [lambda tree: tree.predict_proba(ROWS), lambda tree: tree.predict_index(ROWS)])
def test_a_regression_tree_has_no_classes(ask):
    with pytest.raises(InvalidInputError, match="no classes"):
        ask(regression())


@pytest.mark.parametrize("tree", [regression(), as_probability(small_tree())])
def test_no_rows_are_counted_where_leaves_have_numbers(tree):
    with pytest.raises(InvalidInputError, match="already"):
        tree.with_shares(ROWS, ["red", "green", "blue"])


def test_shares_and_numbers_exclude_each_other():
    tree = small_tree().with_shares(ROWS, ["red", "green", "blue"])
    with pytest.raises(InvalidInputError, match="not both"):
        replace(tree, value=np.zeros((5, 3)))


@pytest.mark.parametrize("made", [as_regression, as_probability])
@pytest.mark.parametrize("seed", range(5))
def test_pruning_keeps_the_numbers_of_the_rows(made, seed):
    tree = made(exported.random_tree(seed), seed=seed)
    rows = exported.points(tree, n=60, seed=seed)
    pruned = prune(tree, rows)
    assert pruned.n_leaves < tree.n_leaves
    assert not pruned.exact
    assert pruned.numbers(rows).tobytes() == tree.numbers(rows).tobytes()
    assert compare(tree, pruned, rows).agreement == 1.0


def test_leaves_of_one_class_with_different_numbers_are_not_merged():
    tree = as_probability(small_tree(leaf_class=[-1, -1, 0, 0, 0]))
    assert prune(tree, ROWS).n_leaves == 3
    assert prune(small_tree(leaf_class=[-1, -1, 0, 0, 0]), ROWS).n_leaves == 1


def test_leaves_with_equal_numbers_are_merged():
    tree = regression()
    assert prune(replace(tree, value=np.full((5, 1), 2.5)), ROWS).n_leaves == 1


def test_trees_with_other_numbers_differ_in_every_row_and_cell():
    tree = regression()
    found = compare(tree, replace(tree, value=tree.value / 2 - 1.0), ROWS)
    assert (found.agreement, found.changed) == (0.0, 1.0)


@pytest.mark.parametrize(
    "other", [small_tree(), as_probability(small_tree(), dtype=np.float32)], ids=["classes only", "another type"]
)
def test_trees_that_say_different_things_are_not_compared(other):
    with pytest.raises(InvalidInputError, match="or in another number type"):
        compare(as_probability(small_tree()), other, ROWS)


def test_the_outcomes_of_class_trees_are_their_classes():
    found = outcomes(small_tree())
    assert found.index[0].tolist() == [-1, -1, 0, 1, 2]
    assert (found.leaf_class.tolist(), found.value) == ([0, 1, 2], None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outcomes_say_what_the_leaves_of_all_trees_say(dtype):
    trees = [as_probability(each, dtype=dtype) for each in (small_tree(), exported.random_tree(1), shared_tree(5))]
    trees = [replace(each, classes=["a", "b", "c"]) for each in trees if each.n_classes == 3]
    found = outcomes(*trees)
    for tree, index in zip(trees, found.index, strict=True):
        leaf = tree.leaf_class >= 0
        assert (index[~leaf] == -1).all()
        np.testing.assert_array_equal(found.leaf_class[index[leaf]], tree.leaf_class[leaf])
        np.testing.assert_array_equal(found.value[index[leaf]], tree.value[leaf])


def test_equal_leaves_are_one_outcome_and_signs_of_zero_are_kept():
    tree = replace(regression(), value=np.array([[0], [0], [0.0], [-0.0], [0.0]]))
    assert outcomes(tree).index[0].tolist() == [-1, -1, 0, 1, 0]
