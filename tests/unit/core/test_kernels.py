"""The inner loop of the interval table, of every instruction set that this processor has, against an obvious one."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import _core

PATHS = _core.available_simd()
DEPTH, LEAVES, BOTH = _core.Measure.DEPTH, _core.Measure.LEAVES, _core.Measure.LEAVES_DEPTH
DEPTH_BITS = {2: 5, 4: 8}

# Numbers of slabs that give every kind of group (one axis of 2, 3, 4 or 5 slabs, two of 2), every number of groups in a
# vector, rows of one value, loops too long for a mask, and axes that are not there at all.
SHAPES = (
    (1,),
    (2,),
    (5,),
    (17,),
    (40,),
    (2, 2),
    (3, 2),
    (5, 4),
    (4, 4),
    (6, 6),
    (7, 2),
    (5, 3, 2),
    (3, 3, 3),
    (4, 3, 4),
    (6, 5, 2),
    (2, 2, 2, 2),
    (3, 2, 4, 2),
    (2, 3, 2, 2, 2),
    (2, 2, 2, 2, 2, 2),
)


@st.composite
def grids(draw):
    """Slabs and classes: some boxes painted over each other, so that hyperplanes cease to matter, or noise."""
    slabs = draw(st.sampled_from(SHAPES))
    classes = np.zeros(slabs, np.uint8)
    if draw(st.booleans()):
        seed = draw(st.integers(0, 2**32 - 1))
        classes[...] = np.random.default_rng(seed).integers(0, 3, slabs)
    else:
        for _ in range(draw(st.integers(0, 6))):
            corners = [sorted(draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))) for n in slabs]
            classes[tuple(slice(lo, hi + 1) for lo, hi in corners)] = draw(st.integers(0, 2))
    return slabs, classes


def intervals(n):
    return [(lo, lo + length - 1) for length in range(1, n + 1) for lo in range(n - length + 1)]


def expected_values(slabs, classes):
    """Per box, in the order of the table's: least depth, fewest splits, least depth of a tree with fewest splits."""
    known = {}
    for box in itertools.product(*map(intervals, slabs)):  # sub-intervals come first
        cells = classes[tuple(slice(lo, hi + 1) for lo, hi in box)]
        if cells.min() == cells.max():
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


def values(slabs, classes, measure, element_bytes, path, n_threads=1):
    return _core.box_values(list(slabs), classes.ravel(), measure, element_bytes, path, n_threads)


@pytest.mark.parametrize("path", PATHS)
@given(grids())
def test_every_box_has_the_value_that_the_definition_gives(path, grid):
    depth, splits, depth_then = expected_values(*grid)
    for element_bytes in (1, 2, 4):
        np.testing.assert_array_equal(values(*grid, DEPTH, element_bytes, path), depth)
        largest = 2 ** (8 * element_bytes) - 1
        np.testing.assert_array_equal(values(*grid, LEAVES, element_bytes, path), np.minimum(splits, largest))
    for element_bytes, bits in DEPTH_BITS.items():
        found = values(*grid, BOTH, element_bytes, path)
        np.testing.assert_array_equal(found >> bits, splits)
        np.testing.assert_array_equal(found & (2**bits - 1), np.minimum(depth_then, 2**bits - 1))


@given(grids(), st.sampled_from((DEPTH, LEAVES, BOTH)), st.sampled_from((1, 2, 4)))
def test_all_paths_agree_in_every_value_also_where_words_are_too_narrow(grid, measure, element_bytes):
    found = [values(*grid, measure, element_bytes, path) for path in PATHS]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("measure", "element_bytes"), [(DEPTH, 1), (LEAVES, 1), (LEAVES, 2), (BOTH, 2), (BOTH, 4)])
def test_a_table_of_many_rows_is_the_same_on_every_path_and_for_any_number_of_threads(path, measure, element_bytes):
    slabs = (5, 4, 4, 3, 5, 2)
    generator = np.random.default_rng(7)
    cells = np.stack(np.meshgrid(*map(np.arange, slabs), indexing="ij"))
    cuts = zip(generator.integers(0, 6, 15), generator.integers(0, 5, 15), strict=True)
    votes = sum(cells[axis] > cut for axis, cut in cuts)
    classes = ((votes % 5) // 2).astype(np.uint8)
    expected = values(slabs, classes, measure, element_bytes, PATHS[0])
    for n_threads in (1, 2, 3):
        np.testing.assert_array_equal(values(slabs, classes, measure, element_bytes, path, n_threads), expected)


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | environment
    )


@pytest.mark.parametrize("path", PATHS)
def test_the_environment_forces_a_path(path):
    done = run("from onetree import _core; print(_core.simd())", ONETREE_SIMD=path)
    assert done.stdout.strip() == path, done.stderr


def test_the_best_path_is_used_unless_one_is_forced():
    done = run("from onetree import _core; print(_core.simd())", ONETREE_SIMD="")
    assert done.stdout.strip() == PATHS[-1]


def test_a_path_that_the_processor_lacks_is_an_error_that_names_those_it_has():
    done = run("from onetree import _core; _core.simd()", ONETREE_SIMD="mmx")
    assert done.returncode != 0
    assert 'ONETREE_SIMD: this processor or build has no vector path "mmx"' in done.stderr
    assert ", ".join(PATHS) in done.stderr
