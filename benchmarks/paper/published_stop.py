"""The published DL recursion with its published stop, over a plain table of all boxes.

Algorithm 2 of the supplement tries the splits of a box in order and ends as soon as a side is worth as much as the best
split so far. For depth or for leaves alone that loses nothing, since a part of a box never needs more than the box. But
in the DL recursion it may: a side forced to its own least depth can need more splits than the whole box, and then the
search of the box ends too early. So the program's results can be larger than those of the recursion that it stands for
(`published`), and this module gives the former where a table of all boxes fits.
"""

from __future__ import annotations

import itertools

import numpy as np

from benchmarks.paper.cells import cells_of, replaced, tree_of
from benchmarks.paper.published import DEPTH, PublishedDepthLeaves
from onetree.lowering.grid import Grid

BYTES_PER_BOX = 2.1  # two, and the arrays that hold them


def published_stopping_tree(ensemble):
    """The tree of the published DL search, as the published extraction reads it."""
    return _Table(ensemble).tree()


class _Table:
    """``_solved[shape][start]`` is the value of the box with these edge lengths that begins at cell ``start``."""

    def __init__(self, ensemble):
        self._ensemble = ensemble
        self._levels = Grid.essential(ensemble).levels
        self._cells = cells_of(ensemble, self._levels)
        self._solved = {}
        # Smaller lengths come first, so both sides of every split are known.
        for shape in itertools.product(*(range(1, n + 1) for n in self._cells.shape)):
            self._solved[shape] = self._solve(shape)

    def _solve(self, shape):
        n_starts = [n - length + 1 for n, length in zip(self._cells.shape, shape, strict=True)]
        if max(shape) == 1:
            return np.zeros(n_starts, dtype=np.uint16)
        upper = np.full(n_starts, np.iinfo(np.uint16).max, dtype=np.uint16)
        lower = np.zeros(n_starts, dtype=np.uint16)
        for axis, length in enumerate(shape):
            for at in range(1, length):
                left = self._solved[replaced(shape, axis, at)]
                right = self._solved[replaced(shape, axis, length - at)]
                left = left[(slice(None),) * axis + (slice(n_starts[axis]),)]
                right = right[(slice(None),) * axis + (slice(at, at + n_starts[axis]),)]
                both = PublishedDepthLeaves.combine(left, right)
                # A box that has stopped keeps its value.
                np.minimum(upper, both, out=upper, where=lower < upper)
                np.maximum(lower, np.maximum(left, right), out=lower)
        first = self._cells[tuple(slice(n) for n in n_starts)]
        last = self._cells[tuple(slice(length - 1, None) for length in shape)]
        upper[(upper == PublishedDepthLeaves.one_split) & (first == last)] = 0
        if (upper % DEPTH).max() >= DEPTH // 2:
            raise OverflowError("too many leaves for the bits left beside the depth")
        return upper

    def tree(self):
        def value(low, high):
            return self._solved[tuple(last - first + 1 for first, last in zip(low, high, strict=True))][low]

        def first_split(low, high):
            if value(low, high) == 0:
                return None
            for axis in range(len(low)):
                for level in range(low[axis], high[axis]):
                    left = value(low, replaced(high, axis, level))
                    right = value(replaced(low, axis, level + 1), high)
                    if PublishedDepthLeaves.combine(left, right) == value(low, high):
                        return axis, level
            raise AssertionError("no split of a box adds up to its value")

        return tree_of(self._ensemble, self._levels, first_split)
