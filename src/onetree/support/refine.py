"""Improving a whole tree: each split in turn is exchanged for the one that suits the branches below it best.

Greedy growth chooses a split without knowing what will come below. Here the rest of the tree is known: a row matters at
a split if only one of the two branches gives it the ensemble's class, and the best split sends most of these the right
way. From the bottom up, again and again, so the error on the rows falls with each exchange and the shape only shrinks.
Nothing here recurses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onetree.grid import Grid
from onetree.support.branches import Branches
from onetree.support.clock import Clock
from onetree.support.rows import Rows
from onetree.support.split import cut_in_gap
from onetree.tree import LEAF

N_PASSES = 10  # at most
_ROUNDING = 1e-9  # of the weight: what gains less may as well be the order of a sum


class Refinement:
    """Weighted rows, ready to refine trees on them.

    Parameters
    ----------
    rows : Rows
        First the reference rows, then synthetic ones.
    n_reference : int
    weights : float64 array of shape (n_rows,)
    grid : Grid
    n_classes : int
    """

    def __init__(self, rows: Rows, n_reference: int, weights: NDArray[np.float64], grid: Grid, n_classes: int) -> None:
        self._rows = rows
        self._n_reference = n_reference
        self._weights = weights / weights.sum()
        self._grid = grid
        self._n_classes = n_classes
        self._numbers = rows.slabs.astype(np.float64)  # as the native walk takes them
        self._features = np.flatnonzero(rows.slabs.min(axis=0) < rows.slabs.max(axis=0)).tolist()

    def of(self, branches: Branches, fresh: Rows, clock: Clock) -> Branches:
        """Return a tree of no more leaves with less error.

        Ends before it would do worse on fresh rows, which play no part in the choice of splits. Parts that less than
        two reference rows lie in are leaves.
        """
        n_wrong = _n_wrong(branches, fresh)
        for _ in range(N_PASSES):
            if clock.left == 0:
                break
            better = self._gone_over(branches)
            n_wrong_then = _n_wrong(better, fresh)
            if n_wrong_then >= n_wrong:
                break
            branches, n_wrong = better, n_wrong_then
        return self._without_unseen(branches)

    def _gone_over(self, given: Branches) -> Branches:
        """Exchange every split once. What changes below a node does not change which rows come to it."""
        branches = given.copy()
        places = branches.places(self._rows.slabs)
        for node in range(len(places) - 1, -1, -1):
            here = places[node]
            if len(here) and branches.left[node] == LEAF:
                self._settle_class(branches, node, here)
            elif len(here):
                self._exchange(branches, node, here)
        return branches.compact()

    def _without_unseen(self, given: Branches) -> Branches:
        branches = given.copy()
        for node, here in enumerate(given.places(self._rows.slabs)):
            if branches.left[node] != LEAF and np.count_nonzero(here < self._n_reference) < 2:
                if len(here):
                    self._settle_class(branches, node, here)
                branches.make_leaf(node)
        return branches.compact()

    def _settle_class(self, branches: Branches, node: int, here: NDArray[np.intp]) -> None:
        weight = np.bincount(self._rows.classes[here], self._weights[here], minlength=self._n_classes)
        if weight[branches.leaf_class[node]] < weight.max():
            branches.leaf_class[node] = weight.argmax()

    def _exchange(self, branches: Branches, node: int, here: NDArray[np.intp]) -> None:
        """Give a node the best split, or its place to one of the branches if that alone does better."""
        numbers, wanted, slabs = self._numbers[here], self._rows.classes[here], self._rows.slabs
        left_is_right = branches.classes(numbers, int(branches.left[node])) == wanted
        right_is_right = branches.classes(numbers, int(branches.right[node])) == wanted
        matters = left_is_right != right_is_right
        here = here[matters]
        if len(here) == 0:
            return
        gain = np.where(left_is_right[matters], 1.0, -1.0) * self._weights[here]  # of going left
        now = float(gain[slabs[here, branches.feature[node]] <= branches.cut[node]].sum())
        all_left = float(gain.sum())
        best, feature, below = max(now, 0.0, all_left) + _ROUNDING, LEAF, 0
        for candidate in self._features:
            gains = np.cumsum(np.bincount(slabs[here, candidate], gain))[:-1]
            if len(gains) and gains.max() > best:
                best, feature, below = float(gains.max()), candidate, int(gains.argmax())
        if feature != LEAF:
            levels, values = self._grid.levels[feature], self._rows.values[here, feature]
            branches.feature[node] = feature
            branches.cut[node] = cut_in_gap(below, levels, slabs[here, feature], values)
        elif max(0.0, all_left) > now + _ROUNDING:
            branches.replace(node, int(branches.left[node] if all_left > 0 else branches.right[node]))


def _n_wrong(branches: Branches, rows: Rows) -> int:
    return int(np.count_nonzero(branches.classes(rows.slabs.astype(np.float64)) != rows.classes))
