"""The published search for least depth, as the authors' program does it, and the tree that it reads back.

The depth is the same whoever finds it. But the published extraction takes the first split both of whose sides happen to
be in memory, so the tree, its leaves and what pruning leaves of it depend on which boxes the search has met. Beyond
Algorithm 1 of the paper, the program asks for the second side of a split only if the first one leaves room for an
improvement, and narrows the range of levels by what could still improve.

In plain Python, some 10 microseconds a box: for all data sets of the paper but Breast-Cancer, whose search meets a
hundred million. Calls nest no deeper than there are levels, a few dozen.
"""

from __future__ import annotations

import math

from benchmarks.paper.cells import cells_of, tree_of
from onetree.lowering.grid import Grid

_NEVER = 1 << 30


def published_depth_tree(ensemble):
    """The tree of the published search for least depth."""
    return _Search(ensemble).tree()


class _Search:
    """Boxes are pairs of cell numbers: their first cell and their last."""

    def __init__(self, ensemble):
        self._ensemble = ensemble
        self._levels = Grid.essential(ensemble).levels
        cells = cells_of(ensemble, self._levels)
        self._shape, self._class = cells.shape, cells.tobytes()
        self._n_cells = len(self._class)
        self._axes = [
            (axis, math.prod(self._shape[axis + 1 :]), n) for axis, n in enumerate(self._shape) if n > 1
        ]  # with the step from cell to cell
        self._memory = {}
        self._solve(0, self._n_cells - 1)

    def _solve(self, first, last):
        if first == last:
            return 0
        key = first * self._n_cells + last
        if key in self._memory:
            return self._memory[key]
        lower, upper = 0, _NEVER
        for _, step, n in self._axes:
            if lower >= upper:
                break
            low_end, high_end = first // step % n, last // step % n
            low, high = low_end, high_end
            while low < high and lower < upper:
                level = (low + high) // 2
                left = self._solve(first, last + step * (level - high_end))
                lower = max(lower, left)
                if left + 1 >= upper:  # no improvement, whatever the other side is
                    high = level
                    continue
                right = self._solve(first + step * (level + 1 - low_end), last)
                if left == right == 0:
                    self._memory[key] = depth = int(self._class[first] != self._class[last])
                    return depth
                lower = max(lower, right)
                upper = min(upper, 1 + max(left, right))
                if left + 1 >= upper:
                    high = level
                if right + 1 >= upper:
                    low = level + 1
        self._memory[key] = upper
        return upper

    def tree(self):
        def first_split(low, high):
            first, last = (
                sum(low[axis] * step for axis, step, _ in self._axes),
                sum(high[axis] * step for axis, step, _ in self._axes),
            )
            depth = self._known(first, last)
            if depth == 0:
                return None
            for axis, step, _ in self._axes:
                for level in range(low[axis], high[axis]):
                    left = self._known(first, last + step * (level - high[axis]))
                    right = self._known(first + step * (level + 1 - low[axis]), last)
                    if 1 + max(left, right) == depth:
                        return axis, level
            raise AssertionError("no split of a box adds up to its depth")

        return tree_of(self._ensemble, self._levels, first_split)

    def _known(self, first, last):
        return 0 if first == last else self._memory.get(first * self._n_cells + last, _NEVER)
