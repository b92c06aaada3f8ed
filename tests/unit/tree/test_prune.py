"""Pruning: what goes, what stays, what the rest says about itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import onetree
from onetree import InvalidInputError, Tree, compare, load_tree, prune
from onetree.model.categories import Categories
from tests.cases.categorical import COLOURS, chain_of_sets, colour_tree, random_set_tree
from tests.cases.deep import DEEP
from tests.cases.strategies import telling_inputs


def tree_of(rows, n_features=2, classes=("a", "b", "c"), nan=False):
    """A tree from rows of (feature, threshold, left, right, class)."""
    feature, threshold, left, right, leaf_class = zip(*rows, strict=True)
    names = [f"x{i}" for i in range(n_features)]
    return Tree(feature, threshold, left, right, leaf_class, list(classes), names, [nan] * n_features)


def split(feature, threshold, left, right):
    return feature, threshold, left, right, -1


def leaf(leaf_class):
    return -1, 0.0, -1, -1, leaf_class


@pytest.fixture
def nested():
    """x0 <= 0: a; otherwise x1 <= 0: b, x1 <= 5: c, above: a."""
    return tree_of([split(0, 0.0, 1, 2), leaf(0), split(1, 0.0, 3, 4), leaf(1), split(1, 5.0, 5, 6), leaf(2), leaf(0)])


def chain(depth):
    """x <= 1: a, x <= 2: b, x <= 3: a, ...: one leaf on each level."""
    rows = []
    for level in range(depth):
        rows += [split(0, float(level + 1), 2 * level + 1, 2 * level + 2), leaf(level % 2)]
    return tree_of([*rows, leaf(2)], n_features=1)


def test_a_split_with_an_empty_side_gives_way_to_the_other_side(nested):
    pruned = prune(nested, [[-1.0, 0.0], [1.0, -1.0], [1.0, 9.0]])
    assert pruned.threshold[pruned.feature >= 0].tolist() == [0.0, 0.0]
    assert pruned.predict([[1.0, 3.0]]).tolist() == ["a"]  # was c, where no data lie
    assert (pruned.depth, pruned.n_leaves) == (2, 3)


def test_siblings_of_one_class_merge_and_so_on_upwards(nested):
    # Without the rows of b and c, both sides of every split that is left say a.
    pruned = prune(nested, [[-1.0, 0.0], [1.0, 9.0]])
    assert (pruned.n_nodes, pruned.depth) == (1, 0)
    assert pruned.predict([[7.0, -7.0]]).tolist() == ["a"]


def test_siblings_merge_even_where_nothing_was_empty():
    tree = tree_of([split(0, 0.0, 1, 2), leaf(1), split(0, 1.0, 3, 4), leaf(1), leaf(1)])
    assert prune(tree, [[-1.0, 0.0], [0.5, 0.0], [2.0, 0.0]]).n_leaves == 1


def test_the_pruned_tree_is_marked_as_not_exact_even_if_nothing_went(nested, tmp_path):
    pruned = prune(nested, [[-1.0, 0.0], [1.0, -1.0], [1.0, 3.0], [1.0, 9.0]])
    assert pruned.n_leaves == nested.n_leaves
    pruned.save(tmp_path / "pruned.json")
    assert (nested.exact, pruned.exact, load_tree(tmp_path / "pruned.json").exact) == (True, False, False)


def test_a_shared_subtree_is_pruned_on_each_path_on_its_own():
    # Both sides of the root lead to one node; on the left only its left side has data, on the right both have.
    tree = tree_of([split(0, 0.0, 1, 1), split(1, 0.0, 2, 3), leaf(0), leaf(1)])
    pruned = prune(tree, [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]])
    assert pruned.predict([[-1.0, 1.0], [1.0, 1.0]]).tolist() == ["a", "b"]
    assert pruned.n_leaves == 3


def test_a_tree_with_more_paths_than_atoms_is_pruned_along_the_data():
    n = 300
    ends = [leaf(0), leaf(1)]
    rows = [split(level, 0.0, level + 1, level + 1) for level in range(n - 1)]
    tree = tree_of([*rows, split(n - 1, 0.0, n, n + 1), *ends], n_features=n)
    X = np.ones((2, n))
    X[1, -1] = -1.0
    pruned = prune(tree, X)
    assert pruned.n_leaves == 2
    assert compare(tree, pruned, X).n_changed_cells is None


def test_a_deep_tree_is_pruned_without_recursion():
    tree = chain(DEEP)
    pruned = prune(tree, [[0.5], [DEEP / 2 + 0.5], [DEEP - 0.5], [1e6]])
    assert (pruned.depth, pruned.n_leaves) == (3, 4)


def test_a_deep_tree_of_which_all_is_needed_stays():
    tree = chain(3_000)
    pruned = prune(tree, np.arange(3_001)[:, np.newaxis] + 0.5)
    assert (pruned.depth, pruned.n_leaves) == (3_000, 3_001)
    assert compare(tree, pruned, [[0.5]]).n_changed_cells == 0


def test_missing_values_go_right_as_in_prediction():
    tree = tree_of([split(0, np.inf, 1, 2), leaf(0), split(1, 0.0, 3, 4), leaf(1), leaf(2)], nan=True)
    pruned = prune(tree, [[1.0, np.nan], [np.nan, np.nan]])
    assert pruned.predict([[np.nan, -1.0], [np.inf, -1.0]]).tolist() == ["c", "a"]


def test_float32_data_are_compared_in_float64():
    threshold = np.nextafter(np.float64(np.float32(0.1)), -np.inf)  # float32(0.1) lies above, but rounds to the same
    tree = tree_of([split(0, threshold, 1, 2), leaf(0), leaf(1)], n_features=1)
    pruned = prune(tree, np.array([[0.1]], dtype=np.float32))
    assert pruned.predict([[0.0]]).tolist() == ["b"]


@pytest.mark.parametrize(
    ("X", "message"),
    [(np.empty((0, 2)), "no rows"), ([[1.0]], "1 features"), ([[np.nan, 0.0]], "missing values")],
)
def test_unusable_data_are_refused(nested, X, message):
    with pytest.raises(InvalidInputError, match=message):
        prune(nested, X)


def test_agreement_is_counted_on_the_data_given(nested):
    pruned = prune(nested, [[-1.0, 0.0], [1.0, -1.0], [1.0, 9.0]])
    found = compare(nested, pruned, [[1.0, 3.0], [1.0, 4.0], [1.0, 9.0], [-1.0, 3.0]])
    assert (found.n_rows, found.n_agreeing, found.agreement) == (4, 2, 0.5)


def test_changed_cells_are_those_with_another_class(nested):
    pruned = prune(nested, [[-1.0, 0.0], [1.0, -1.0], [1.0, 9.0]])
    found = compare(nested, pruned, [[1.0, 9.0]])
    # Two slabs of x0, three of x1; only (x0 > 0, 0 < x1 <= 5) was c and is a.
    assert (found.n_cells, found.n_changed_cells, found.changed) == (6, 1, 1 / 6)


def test_cells_are_counted_exactly_where_a_machine_integer_would_not_do():
    n = 70
    rows = [row for level in range(n) for row in (split(level, 0.0, 2 * level + 1, 2 * level + 2), leaf(0))]
    tree = tree_of([*rows, leaf(1)], n_features=n)
    found = compare(tree, prune(tree, np.zeros((1, n))), np.zeros((1, n)))
    assert (found.n_cells, found.n_changed_cells) == (2**n, 1)
    reverse = compare(tree, prune(tree, np.ones((1, n))), np.ones((1, n)))
    assert reverse.n_changed_cells == 2**n - 1


def test_cells_are_not_counted_beyond_the_limit(nested):
    assert compare(nested, nested, [[0.0, 0.0]], max_boxes=3).n_changed_cells is None
    assert compare(nested, nested, [[0.0, 0.0]], max_boxes=4).n_changed_cells == 0


def test_a_path_that_contradicts_itself_has_no_cells():
    tree = tree_of([split(0, 0.0, 1, 2), split(0, 5.0, 3, 4), leaf(1), leaf(0), leaf(2)], n_features=1)
    pruned = prune(tree, [[-1.0], [1.0]])
    assert pruned.n_leaves == 2
    assert compare(tree, pruned, [[0.0]]).n_changed_cells == 0


def test_trees_over_other_features_or_classes_are_not_compared(nested):
    for other in (
        replace(nested, classes=np.array(["a", "b", "d"])),
        replace(nested, nan_features=np.array([True, False])),
        replace(nested, feature_names=("x0", "x1", "x2"), nan_features=np.zeros(3, dtype=bool)),
    ):
        with pytest.raises(InvalidInputError, match="different features"):
            compare(nested, other, [[0.0, 0.0]])


def test_pruning_is_at_the_front_door():
    assert onetree.prune is prune
    assert onetree.compare is compare


def test_a_set_test_that_no_row_needs_goes_and_its_set_with_it():
    tree = chain_of_sets((0.0,), (1.0, "other"), (2.0,))
    pruned = prune(tree, [[0.0], [5.0]])
    assert (pruned.n_leaves, len(pruned.subsets)) == (2, 1)
    assert pruned.predict([[0.0], [5.0], [1.0]]).tolist() == ["class 0", "class 3", "class 3"]
    assert pruned.categories == tree.categories


@pytest.mark.parametrize("seed", range(5))
def test_the_rows_keep_their_classes_below_set_tests(seed):
    tree = random_set_tree(seed)
    X = telling_inputs(tree, n_rows=30, seed=seed)
    pruned = prune(tree, X)
    assert pruned.n_leaves <= 30
    assert (pruned.predict_index(X) == tree.predict_index(X)).all()


def test_cells_of_a_categorical_feature_are_the_elements_that_the_sets_tell_apart():
    tree = chain_of_sets((0.0, 1.0), ("other",))  # {0, 1}, {other}, {2, 5, missing}
    assert compare(tree, tree, [[0.0]]).n_cells == 3
    refused = replace(tree, nan_features=[False], subsets=[*tree.subsets[:1], ~tree.subsets[1]])
    assert compare(refused, refused, [[0.0]]).n_cells == 3
    assert compare(tree, chain_of_sets((2.0,), ("missing",)), [[0.0]]).n_cells == 5


@pytest.mark.parametrize("seed", range(5))
def test_changed_cells_are_counted_as_if_each_was_looked_at(seed):
    before = random_set_tree(seed, n_splits=6)
    after = prune(before, telling_inputs(before, n_rows=4, seed=seed))
    inputs = []
    for feature, kind in enumerate(before.categories):
        if kind is None:
            cuts = np.unique([*before.threshold[before.feature == feature], *after.threshold[after.feature == feature]])
            last = np.nextafter(cuts[-1], np.inf) if cuts.size and cuts[-1] < np.inf else np.nan
            inputs.append([*cuts, last] if cuts.size else [0.0])
        else:
            tests = [tree.subsets[tree.subset[tree.feature == feature]] for tree in (before, after)]
            known = {}
            for element in range(kind.n_elements):
                if element != 1 or before.nan_features[feature]:
                    known.setdefault(np.concatenate(tests)[:, element].tobytes(), kind.example(element))
            inputs.append(list(known.values()))
    cells = np.array(np.meshgrid(*inputs)).reshape(len(inputs), -1).T
    found = compare(before, after, cells)
    assert found.n_cells == len(cells)
    assert found.n_changed_cells == found.n_rows - found.n_agreeing


def test_trees_with_other_categories_are_not_compared():
    other = Categories.equal(COLOURS.codes)
    with pytest.raises(InvalidInputError, match="different categories"):
        compare(colour_tree(1.0), colour_tree(1.0, kind=other), [[0.0, 0.0]])
