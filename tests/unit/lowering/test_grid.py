"""Levels, cells and boxes, and the hyperplanes that matter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.lowering.grid import Grid, _core
from tests.cases.oracle import cells
from tests.cases.strategies import painted, random_ensemble


@pytest.fixture
def stripes():
    """Two features with two levels each; the class changes across one level of the first."""
    return painted(np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1]]), n_classes=2)


def test_levels_cells_and_boxes_are_counted(stripes):
    grid = Grid.of(stripes)
    assert [levels.tolist() for levels in grid.levels] == [[0.0, 1.0], [0.0, 1.0]]
    assert (grid.n_slabs, grid.n_levels, grid.n_cells, grid.n_boxes) == ((3, 3), 4, 9, 36)


def test_only_levels_where_the_class_changes_are_essential(stripes):
    grid = Grid.essential(stripes)
    assert [levels.tolist() for levels in grid.levels] == [[0.0], []]
    assert (grid.n_cells, grid.n_boxes) == (2, 3)


def test_the_essential_levels_are_those_that_separate_two_cells():
    rng = np.random.default_rng(0)
    for _ in range(100):
        ensemble = random_ensemble(rng, nan=False)
        classes, grid = cells(ensemble), Grid.of(ensemble)
        assert classes.shape == grid.n_slabs
        for axis, (levels, essential) in enumerate(zip(grid.levels, Grid.essential(ensemble).levels, strict=True)):
            others = tuple(other for other in range(classes.ndim) if other != axis)
            assert essential.tolist() == levels[(np.diff(classes, axis=axis) != 0).any(axis=others)].tolist()


def test_counts_are_exact_however_large():
    grid = Grid(tuple(np.arange(9.0) for _ in range(40)))
    assert (grid.n_cells, grid.n_boxes) == (10**40, math.comb(11, 2) ** 40)


@pytest.mark.parametrize(
    ("native", "error", "message"),
    [
        (_core.GridTooLarge("9 states"), GridTooLargeError, "9 states.*bin the features"),
        (_core.LimitReached("time"), LimitReachedError, "time_limit=3.*raise it"),
    ],
)
def test_what_stops_the_native_core_is_said_with_a_remedy(native, error, message, stripes, monkeypatch):
    def stop(*_):
        raise native

    monkeypatch.setattr(_core, "essential_levels", stop)
    with pytest.raises(error, match=message):
        Grid.essential(stripes, time_limit=3)
