"""Rows near each other, and splits that are exchanged once the tree below them is known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from onetree.lowering.grid import Grid
from onetree.model.ensemble import Ensemble
from onetree.support.branches import Branches
from onetree.support.clock import Clock
from onetree.support.neighbours import N_NEAR, near_rows
from onetree.support.refine import Refinement
from onetree.support.rows import RowMaker, Rows, Sample
from onetree.tree.tree import LEAF

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
    maker = SimpleNamespace(grid=grid, predictor=SimpleNamespace(ensemble=_two_classes()))
    reference = slice(n_reference)
    sample = Sample(maker, rows.take(np.arange(len(rows))[reference]))
    rest = np.arange(len(rows))[len(sample.reference) :]
    pool = sample.join(rows.take(rest))
    judges = np.arange(len(rows), dtype=np.int32) if fresh is None else sample.join(fresh)
    return Refinement(sample, pool, len(pool) / len(sample.reference)).of(tree, judges, NO_LIMIT)


def classes(tree, rows):
    return tree.classes(np.ascontiguousarray(rows.slabs.T), np.arange(len(rows), dtype=np.int32))


def wrong(tree, rows):
    return int((classes(tree, rows) != rows.classes).sum())


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
    fresh = Rows(rows.values, rows.slabs, classes(CHESS, rows))  # as the tree has it already
    kept = refined(CHESS, rows, grid, fresh=fresh)
    assert np.array_equal(kept.cut, CHESS.cut)


def test_a_part_without_reference_rows_is_a_leaf():
    rows, grid = board(4, lambda x, y: (x > 1) != (y > 1))
    better = refined(CHESS, rows, grid, n_reference=8)  # x is 0 or 1 in these
    assert better.left[better.left[0]] != LEAF
    assert better.left[better.right[0]] == LEAF


def test_the_error_falls_on_real_rows(wine):
    ensemble, values = wine
    maker = RowMaker(ensemble, 0)
    sample = Sample(maker, maker.label(values))
    pool = sample.mix(sample.reference, 2_000)
    feature = int(np.argmax([len(levels) for levels in maker.grid.levels]))
    tree = branches([feature, -1, -1], [0, 0, 0], [1, -1, -1], [2, -1, -1], [0, 1, 2])
    better = Refinement(sample, pool, 9.0).of(tree, pool, NO_LIMIT)

    def error(tree):
        return (tree.classes(sample.columns, pool) != sample.classes[pool]).mean()

    assert error(better) < error(tree)


def test_near_rows_have_fewest_splits_between(wine):
    ensemble, values = wine
    place = np.stack(
        [(values[:, [j]] > ensemble.threshold[ensemble.feature == j]).sum(axis=1) for j in range(values.shape[1])],
        axis=1,
    )
    distance = ((place[:, np.newaxis] - place) ** 2).sum(axis=2).astype(float)
    np.fill_diagonal(distance, np.inf)
    rows, near = near_rows(RowMaker(ensemble, 0).label(values).slabs.T, ensemble, np.random.default_rng(0))
    assert np.array_equal(rows, np.arange(len(values)))
    found = np.sort(np.take_along_axis(distance, near, axis=1), axis=1)
    assert np.array_equal(found, np.sort(distance, axis=1)[:, :N_NEAR])


def test_of_many_rows_some_are_compared_with_the_others(wine, monkeypatch):
    ensemble, values = wine
    monkeypatch.setattr("onetree.support.neighbours.MAX_ROWS", 100)
    monkeypatch.setattr("onetree.support.neighbours.MAX_PAIRS", 5_000)
    rows, near = near_rows(RowMaker(ensemble, 0).label(values).slabs.T, ensemble, np.random.default_rng(0))
    assert near.shape == (50, N_NEAR)
    assert len(set(rows.tolist())) == 50
    assert not (near == rows[:, np.newaxis]).any()
    assert len(set(near.ravel().tolist()) | set(rows.tolist())) <= 100


def test_rows_mixed_with_near_ones_have_slabs_of_these_only(wine):
    ensemble, values = wine
    maker = RowMaker(ensemble, 0)
    low, high = values.min(axis=0) - 1e6, values.max(axis=0) + 1e6  # every split of the ensemble lies between
    sample = Sample(maker, maker.label(np.repeat([low, high], 11, axis=0)))
    numbers = sample.mix_near(300)
    mixed = sample.columns[:, numbers]
    has_splits = np.array(maker.grid.n_slabs) > 1
    is_high = mixed[has_splits] > 0
    assert (is_high.all(axis=0) | ~is_high.any(axis=0)).all()
    assert 0 < is_high[0].sum() < 300


def test_synthetic_rows_have_the_class_of_the_ensemble(wine):
    ensemble, values = wine
    maker = RowMaker(ensemble, 0)
    sample = Sample(maker, maker.label(values))
    mixed = sample.mix(sample.reference, 300)
    inside = [np.append(levels, np.inf) for levels in maker.grid.levels]  # the upper end belongs to a slab
    points = np.stack([inside[j][sample.columns[j, mixed]] for j in range(values.shape[1])], axis=1)
    assert np.array_equal(sample.classes[mixed], ensemble.predict_index(np.minimum(points, 1e30)))


def test_columns_of_one_feature_are_taken_from_one_row(wine):
    ensemble, values = wine
    maker = RowMaker(ensemble, 0, np.array([0, 0, *range(1, 12)]))
    sample = Sample(maker, maker.label(values))
    mixed = sample.mix(sample.reference, 300)

    def pairs(first, rows):
        return set(map(tuple, sample.columns[first : first + 2, rows].T.tolist()))

    assert pairs(0, mixed) <= pairs(0, sample.reference)
    assert not pairs(1, mixed) <= pairs(1, sample.reference)


def test_a_cut_lies_next_to_the_middle_between_the_rows():
    grid = Grid((np.array([1.0, 2.0, 3.0, 4.0]),))
    rows = Rows(
        np.array([[0.5], [0.9], [4.1], [9.0]]), np.array([[0], [0], [4], [4]], dtype=np.int32), np.zeros(4, int)
    )
    sample = Sample(SimpleNamespace(grid=grid), rows)
    assert sample.level_between(0, 0, 4) == 1  # 2.0 is nearest to 2.5, the first of two
    missing = Rows(np.array([[0.5], [np.nan]]), np.array([[0], [4]], dtype=np.int32), np.zeros(2, int))
    assert Sample(SimpleNamespace(grid=grid), missing).level_between(0, 0, 4) == 3


def _two_classes():
    model = RandomForestClassifier(1, random_state=0).fit([[0, 0], [1, 1]], [0, 1])
    return Ensemble.from_model(model)
