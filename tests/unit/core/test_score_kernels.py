"""Tables of boxes whose leaves carry numbers, on every instruction set, against an obvious one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import _core
from tests.unit.core.test_kernels import BOTH, DEPTH, DEPTH_BITS, LEAVES, PATHS, SHAPES, intervals


@st.composite
def score_grids(draw):
    """Slabs, the admission of each cell, and what each admits in one to three columns; ends often coincide."""
    slabs = draw(st.sampled_from(SHAPES))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_admissions = draw(st.sampled_from((1, 2, 5, 40)))
    n_columns = draw(st.integers(1, 3))
    values = generator.integers(0, draw(st.sampled_from((3, 10, 1000))), (n_admissions, n_columns)).astype(float)
    widths = generator.integers(0, draw(st.sampled_from((1, 3, 500))), (n_admissions, n_columns)).astype(float)
    cells = np.zeros(slabs, np.uint32)
    if draw(st.booleans()):
        cells[...] = generator.integers(0, n_admissions, slabs)
    else:
        for _ in range(8):
            corners = [sorted(generator.integers(0, n, 2)) for n in slabs]
            cells[tuple(slice(lo, hi + 1) for lo, hi in corners)] = generator.integers(0, n_admissions)
    return slabs, cells, values - widths, values + widths


def expected_values(slabs, cells, least, most):
    """As in the test of class trees; a box may be a leaf iff in every column some number lies between all ends."""
    known = {}
    for box in itertools.product(*map(intervals, slabs)):
        here = cells[tuple(slice(lo, hi + 1) for lo, hi in box)].ravel()
        if (least[here].max(axis=0) <= most[here].min(axis=0)).all():
            known[box] = (0, 0, 0)
            continue
        depths, trees = [], []
        for axis, (lo, hi) in enumerate(box):
            for cut in range(lo, hi):
                a = known[(*box[:axis], (lo, cut), *box[axis + 1 :])]
                b = known[(*box[:axis], (cut + 1, hi), *box[axis + 1 :])]
                depths.append(max(a[0], b[0]) + 1)
                trees.append((a[1] + b[1] + 1, max(a[2], b[2]) + 1))
        known[box] = (min(depths), *min(trees))
    return np.array(list(known.values()), np.uint32).T


def values(grid, measure, element_bytes, path, n_threads=1):
    slabs, cells, least, most = grid
    return _core.score_box_values(list(slabs), cells.ravel(), least, most, measure, element_bytes, path, n_threads)


@pytest.mark.parametrize("path", PATHS)
@given(score_grids())
def test_every_box_has_the_value_that_the_definition_gives(path, grid):
    depth, splits, depth_then = expected_values(*grid)
    for element_bytes in (1, 2, 4):
        np.testing.assert_array_equal(values(grid, DEPTH, element_bytes, path), depth)
        largest = 2 ** (8 * element_bytes) - 1
        found = np.minimum(values(grid, LEAVES, element_bytes, path), largest)  # ranks may need wider words
        np.testing.assert_array_equal(found, np.minimum(splits, largest))
    for element_bytes, bits in DEPTH_BITS.items():
        found = values(grid, BOTH, element_bytes, path)
        np.testing.assert_array_equal(found >> bits, splits)
        np.testing.assert_array_equal(found & (2**bits - 1), np.minimum(depth_then, 2**bits - 1))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n_admissions", [200, 2_000, 100_000])  # ranks of one, two and four bytes
def test_a_large_table_is_the_same_on_every_path_and_for_any_number_of_threads(path, n_admissions):
    slabs = (5, 4, 4, 3, 5, 2)
    generator = np.random.default_rng(7)
    cells = generator.integers(0, min(n_admissions, 2_000), slabs).astype(np.uint32)
    numbers = generator.permutation(n_admissions).astype(float)[:, None]
    grid = (slabs, cells, numbers - n_admissions / 10, numbers + n_admissions / 10)
    expected = values(grid, LEAVES, 2, PATHS[0])
    for n_threads in (1, 2, 3):
        np.testing.assert_array_equal(values(grid, LEAVES, 2, path, n_threads), expected)


def test_columns_that_say_the_same_change_nothing():
    generator = np.random.default_rng(3)
    cells = generator.integers(0, 30, (4, 5, 3)).astype(np.uint32)
    numbers = generator.random((30, 1))
    alone = ((4, 5, 3), cells, numbers - 0.1, numbers + 0.1)
    both = ((4, 5, 3), cells, np.hstack([numbers - 0.1, -numbers - 0.1]), np.hstack([numbers + 0.1, 0.1 - numbers]))
    np.testing.assert_array_equal(values(alone, LEAVES, 1, PATHS[-1]), values(both, LEAVES, 1, PATHS[-1]))
