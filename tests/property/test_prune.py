"""Laws of pruning that hold for every tree and all data."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onetree import born_again, compare, prune
from tests.cases.oracle import points
from tests.cases.strategies import ensembles


@st.composite
def trees_and_data(draw):
    """The tree of a small ensemble, one point of every cell, and some of the points as data."""
    ensemble = draw(ensembles(max_cells=60))
    cells = points(ensemble)
    method = draw(st.sampled_from(("exact", "heuristic")))
    tree = born_again(ensemble, objective="leaves", method=method, verify=False).tree
    chosen = draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=8))
    return tree, cells, cells[chosen]


def written_out(tree, X, node=0):
    """The pruned tree as nested tuples, by the words of the paper: recursive, one path at a time, bottom up."""
    if tree.children_left[node] < 0:
        return (int(tree.leaf_class[node]),)
    goes_left = X[:, tree.feature[node]] <= tree.threshold[node]
    left = written_out(tree, X[goes_left], tree.children_left[node])
    right = written_out(tree, X[~goes_left], tree.children_right[node])
    if not goes_left.any():
        return right
    if goes_left.all():
        return left
    if len(left) == 1 and left == right:
        return left
    return (int(tree.feature[node]), float(tree.threshold[node]), left, right)


def as_tuples(tree, node=0):
    if tree.children_left[node] < 0:
        return (int(tree.leaf_class[node]),)
    sides = [as_tuples(tree, side[node]) for side in (tree.children_left, tree.children_right)]
    return (int(tree.feature[node]), float(tree.threshold[node]), *sides)


@given(trees_and_data())
def test_pruning_is_what_the_paper_says(case):
    tree, _, X = case
    assert as_tuples(prune(tree, X)) == written_out(tree, X)


@given(trees_and_data())
def test_the_classes_of_the_data_stay(case):
    tree, _, X = case
    np.testing.assert_array_equal(prune(tree, X).predict(X), tree.predict(X))


@given(trees_and_data())
def test_pruning_again_changes_nothing(case):
    tree, _, X = case
    pruned = prune(tree, X)
    assert as_tuples(prune(pruned, X)) == as_tuples(pruned)


@given(trees_and_data())
def test_the_share_of_changed_cells_is_what_going_through_them_gives(case):
    tree, _, X = case
    pruned = prune(tree, X)
    axes = []
    for feature in range(tree.n_features):
        cuts = np.unique(tree.threshold[tree.feature == feature])
        above = [np.nan] if np.inf in cuts else [np.nextafter(cuts[-1], np.inf)] if cuts.size else [0.0]
        axes.append(np.append(cuts, above))  # a threshold belongs to the cell below it
    cells = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    found = compare(tree, pruned, cells)
    assert found.n_cells == len(cells)
    assert found.n_changed_cells == found.n_rows - found.n_agreeing
