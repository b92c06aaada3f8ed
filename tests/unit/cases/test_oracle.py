"""The oracle itself, against the definition read literally and against sizes known by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.cases.oracle import GAP, NEVER, least_splits, pareto, published_depth_leaves, value_of


def least_splits_by_definition(cells, depth):
    @cache
    def splits(box, depth):
        inside = cells[tuple(slice(*edge) for edge in box)]
        if len(set(inside[inside != GAP].tolist())) <= 1:
            return 0
        if depth == 0:
            return NEVER
        best = NEVER
        for axis, (start, stop) in enumerate(box):
            for at in range(start + 1, stop):
                first = (*box[:axis], (start, at), *box[axis + 1 :])
                second = (*box[:axis], (at, stop), *box[axis + 1 :])
                best = min(best, 1 + splits(first, depth - 1) + splits(second, depth - 1))
        return best

    return splits(tuple((0, n) for n in cells.shape), depth)


def test_the_oracle_agrees_with_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(100):
        shape = rng.integers(1, 5, size=rng.integers(1, 4))
        cells = rng.integers(0, rng.integers(1, 5), size=shape)
        by_depth = least_splits(cells)
        expected = [least_splits_by_definition(cells, depth) for depth in range(len(by_depth))]
        assert by_depth.tolist() == expected


def test_the_oracle_agrees_with_the_definition_where_cells_are_out_of_reach():
    rng = np.random.default_rng(1)
    for _ in range(100):
        shape = rng.integers(1, 5, size=rng.integers(1, 4))
        cells = np.where(rng.random(shape) < 0.5, GAP, rng.integers(0, 3, size=shape))
        by_depth = least_splits(cells)
        assert by_depth.tolist() == [least_splits_by_definition(cells, depth) for depth in range(len(by_depth))]


@pytest.mark.parametrize(
    ("cells", "front"),
    [
        ([3], [(0, 1)]),
        ([[1, 1], [1, 1]], [(0, 1)]),
        ([0, 1, 1, 2], [(2, 3)]),
        ([0, 1, 0, 1, 0, 1, 0, 1], [(3, 8)]),
        ([[0, 1], [1, 0]], [(2, 4)]),
        ([[0, GAP], [1, 0]], [(2, 3)]),
        ([[0, GAP], [GAP, 1]], [(1, 2)]),
        ([[GAP, GAP], [GAP, GAP]], [(0, 1)]),
    ],
)
def test_fronts_known_by_hand(cells, front):
    assert pareto(np.array(cells)) == front


def test_values_come_in_the_order_of_their_objective():
    front = [(3, 8), (4, 7), (6, 5)]
    assert value_of(front, "depth") == 3
    assert value_of(front, "leaves") == 5
    assert value_of(front, "depth-leaves") == (3, 8)
    assert value_of(front, "leaves-depth") == (5, 6)


def test_the_published_recursion_misses_the_optimum_here():
    cells = np.array([[[1, 0, 1], [0, 1, 0], [1, 1, 1]], [[0, 1, 1], [0, 0, 1], [0, 1, 0]]])
    assert pareto(cells)[0] == (5, 13)
    assert published_depth_leaves(cells) == (5, 14)
