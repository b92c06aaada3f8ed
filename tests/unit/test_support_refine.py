"""Rows near each other, and splits that are exchanged once the tree below them is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from onetree.ensemble import Ensemble
from onetree.grid import Grid
from onetree.labeller import Labeller
from onetree.support.branches import Branches
from onetree.support.clock import Clock
from onetree.support.neighbours import N_NEAR, near_rows
from onetree.support.refine import Refinement
from onetree.support.rows import RowMaker, Rows
from onetree.tree import LEAF

NO_LIMIT = Clock(None, None)


@pytest.fixture(scope="module")
def wine():
    rows, classes = load_wine(return_X_y=True)
    return Ensemble.from_model(RandomForestClassifier(10, random_state=0).fit(rows, classes)), rows


def board(n_slabs, wanted):
    """All cells of a square as rows whose values are the slabs, and the grid of these."""
    slabs = np.stack(np.meshgrid(np.arange(n_slabs), np.arange(n_slabs), indexing="ij"), axis=-1).reshape(-1, 2)
    classes = np.array([wanted(x, y) for x, y in slabs.tolist()], dtype=np.intp)
    levels = np.arange(n_slabs - 1) + 0.5
    return Rows(slabs.astype(float), slabs.astype(np.int32), classes), Grid((levels, levels))


def branches(feature, cut, left, right, leaf_class):
    arrays = (np.array(each, dtype=np.int32) for each in (feature, cut, left, right))
    return Branches(*arrays, np.array(leaf_class, dtype=np.intp))


def refined(tree, rows, grid, n_reference=None, fresh=None):
    n_reference = len(rows) if n_reference is None else n_reference
    work = Refinement(rows, n_reference, np.ones(len(rows)), grid, 2)
    return work.of(tree, rows if fresh is None else fresh, NO_LIMIT)


def wrong(tree, rows):
    return int((tree.classes(rows.slabs.astype(float)) != rows.classes).sum())


CHESS = branches([0, 1, -1, -1, 1, -1, -1], [0, 1, 0, 0, 1, 0, 0], [1, 2, -1, -1, 5, -1, -1], [4, 3, -1, -1, 6, -1, -1],
                 [0, 0, 0, 1, 0, 1, 0])  # fmt: skip
"""A chessboard of four fields, with the first cut in the wrong place."""


def test_a_split_moves_to_where_the_branches_below_want_it():
    rows, grid = board(4, lambda x, y: (x > 1) != (y > 1))
    better = refined(CHESS, rows, grid)
    assert (wrong(CHESS, rows), wrong(better, rows)) == (4, 0)
    assert (better.feature[0], better.cut[0]) == (0, 1)


def test_the_tree_that_is_given_stays_as_it_is():
    rows, grid = board(4, lambda x, y: (x > 1) != (y > 1))
    before = CHESS.copy()
    refined(CHESS, rows, grid)
    assert np.array_equal(CHESS.cut, before.cut)
    assert np.array_equal(CHESS.leaf_class, before.leaf_class)


def test_a_split_that_only_does_harm_is_left_out():
    rows, grid = board(4, lambda x, y: 1)
    better = refined(CHESS, rows, grid)
    assert wrong(better, rows) == 0
    assert better.as_tree(_two_classes(), grid).n_leaves == 1


def test_what_does_worse_on_fresh_rows_is_not_kept():
    rows, grid = board(4, lambda x, y: (x > 1) != (y > 1))
    fresh = Rows(rows.values, rows.slabs, CHESS.classes(rows.slabs.astype(float)))  # as the tree has it already
    kept = refined(CHESS, rows, grid, fresh=fresh)
    assert np.array_equal(kept.cut, CHESS.cut)


def test_a_part_without_two_reference_rows_is_a_leaf():
    rows, grid = board(4, lambda x, y: (x > 1) != (y > 1))
    better = refined(CHESS, rows, grid, n_reference=8)  # x is 0 or 1 in these
    assert better.left[better.left[0]] != LEAF
    assert better.left[better.right[0]] == LEAF


def test_the_error_falls_on_real_rows(wine):
    ensemble, values = wine
    maker = RowMaker(Labeller(ensemble), Grid.of(ensemble), 0)
    pool = maker.label(values).joined(maker.mix(maker.label(values), 2_000))
    random = np.random.default_rng(0)
    feature = int(np.argmax([len(levels) for levels in maker.grid.levels]))
    tree = branches([feature, -1, -1], [0, 0, 0], [1, -1, -1], [2, -1, -1], random.integers(3, size=3))
    work = Refinement(pool, len(values), np.ones(len(pool)), maker.grid, ensemble.n_classes)
    assert wrong(work.of(tree, pool, NO_LIMIT), pool) < wrong(tree, pool)


def test_near_rows_have_fewest_splits_between(wine):
    ensemble, values = wine
    place = np.stack(
        [(values[:, [j]] > ensemble.threshold[ensemble.feature == j]).sum(axis=1) for j in range(values.shape[1])],
        axis=1,
    )
    distance = ((place[:, np.newaxis] - place) ** 2).sum(axis=2).astype(float)
    np.fill_diagonal(distance, np.inf)
    near = near_rows(values, ensemble)
    found = np.sort(np.take_along_axis(distance, near, axis=1), axis=1)
    assert np.array_equal(found, np.sort(distance, axis=1)[:, :N_NEAR])


def test_rows_mixed_with_near_ones_have_values_of_these_only(wine):
    ensemble, values = wine
    maker = RowMaker(Labeller(ensemble), Grid.of(ensemble), 0)
    low, high = values.min(axis=0) - 1e6, values.max(axis=0) + 1e6  # every split of the ensemble lies between
    two_places = np.concatenate([low + np.arange(11)[:, np.newaxis], high + np.arange(11)[:, np.newaxis]])
    mixed = maker.mix_near(maker.label(two_places), 300)
    is_high = mixed.values > values.min(axis=0)
    assert (is_high.all(axis=1) | ~is_high.any(axis=1)).all()
    assert 0 < is_high[:, 0].sum() < len(is_high)
    assert np.array_equal(mixed.classes, ensemble.predict_index(mixed.values))


def test_columns_of_one_feature_are_taken_from_one_row(wine):
    ensemble, values = wine
    origin = np.array([0, 0, *range(1, 12)])
    maker = RowMaker(Labeller(ensemble), Grid.of(ensemble), 0, origin)
    mixed = maker.mix(maker.label(values), 300)
    pairs = set(map(tuple, values[:, :2].tolist()))
    assert set(map(tuple, mixed.values[:, :2].tolist())) <= pairs
    assert not set(map(tuple, mixed.values[:, 1:3].tolist())) <= set(map(tuple, values[:, 1:3].tolist()))


def _two_classes():
    model = RandomForestClassifier(1, random_state=0).fit([[0, 0], [1, 1]], [0, 1])
    return Ensemble.from_model(model)
