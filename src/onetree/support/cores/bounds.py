"""Whether all inputs of a box get one class, by bounds on the trees restricted to the box.

Each tree is followed to all leaves that the box reaches; the sum over the trees of the worst of them bounds the lead of
the class. "Yes" is a proof, rounding included; "no" only means that the bounds do not suffice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onetree.lowering.grid import Grid
from onetree.model.combined_bounds import CombinedBounds
from onetree.model.ensemble import Ensemble
from onetree.model.rounding import difference_error, largest_sum

COST_OF_A_QUESTION = 2_000  # in visited nodes


class Bounds:
    """An ensemble, ready to be bounded on boxes of its grid."""

    def __init__(self, ensemble: Ensemble, grid: Grid) -> None:
        self.ensemble = ensemble
        self.work = 0  # nodes visited so far, plus a constant for each question
        self._feature = ensemble.feature.astype(np.intp)
        self._cut = np.zeros(len(ensemble.feature), dtype=np.int32)  # left iff slab <= cut
        for feature, levels in enumerate(grid.levels):
            here = ensemble.feature == feature
            self._cut[here] = np.searchsorted(levels, ensemble.threshold[here])
        takes_nan = ensemble.nan_features & (np.array(grid.n_slabs) > 1)
        self._nan_slab = np.where(takes_nan, np.array(grid.n_slabs) - 1, -1).astype(np.int32)
        self._combined = None if ensemble.rule.combination is None else CombinedBounds(ensemble)
        self._slack = 0.0 if self._combined else _slack(ensemble)

    def hold(self, low: NDArray[np.int32], high: NDArray[np.int32], class_index: int, max_nodes: int) -> bool:
        """Whether the box from slab `low` to slab `high`, both inclusive, is proven to be of the class.

        Gives up, and says no, when more than `max_nodes` nodes are reached at one depth.
        """
        reached = self._reached(low, high, max_nodes)
        if reached is None:
            return False
        leaves, starts = reached
        value = self.ensemble.value[leaves]
        if self._combined is not None:
            low_sum = np.minimum.reduceat(value, starts, axis=0).sum(axis=0, keepdims=True) + self.ensemble.base
            high_sum = np.maximum.reduceat(value, starts, axis=0).sum(axis=0, keepdims=True) + self.ensemble.base
            return bool(self._combined.winners(low_sum, high_sum)[0] == class_index)
        if self.ensemble.rule.kind == "score":
            worst = np.minimum if class_index == 1 else np.maximum
            return self._side(worst.reduceat(value[:, 0], starts)) == class_index
        lead = np.minimum.reduceat(value[:, [class_index]] - value, starts, axis=0).sum(axis=0)
        lead += self.ensemble.base[class_index] - self.ensemble.base
        enough = lead > self._slack
        if self._slack == 0:
            enough |= (lead == 0) & (np.arange(len(lead)) > class_index)  # a tie goes to the first class
        enough[class_index] = True
        return bool(enough.all())

    def _reached(
        self, low: NDArray[np.int32], high: NDArray[np.int32], max_nodes: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """Return the leaves that the box reaches, tree by tree, and where each tree begins among them."""
        ensemble = self.ensemble
        node = ensemble.roots.astype(np.intp)
        tree = np.arange(len(node))
        has_nan = (self._nan_slab >= 0) & (high == self._nan_slab)
        top = high - has_nan  # the last slab that is a number
        leaves, trees = [], []
        self.work += COST_OF_A_QUESTION
        while len(node):
            self.work += len(node)
            if len(node) > max_nodes:
                return None
            is_leaf = self._feature[node] < 0
            if is_leaf.any():
                leaves.append(node[is_leaf])
                trees.append(tree[is_leaf])
                node, tree = node[~is_leaf], tree[~is_leaf]
            at, cut = self._feature[node], self._cut[node]
            first, last, missing, missing_left = low[at], top[at], has_nan[at], ensemble.missing_left[node]
            is_number = first <= last
            goes_left = (is_number & (first <= cut)) | (missing & missing_left)
            goes_right = (is_number & (last > cut)) | (missing & ~missing_left)
            tree = np.concatenate([tree[goes_left], tree[goes_right]])
            node = np.concatenate(
                [ensemble.children_left[node[goes_left]], ensemble.children_right[node[goes_right]]]
            ).astype(np.intp)
        all_trees = np.concatenate(trees)
        order = np.argsort(all_trees, kind="stable")
        return np.concatenate(leaves)[order], np.searchsorted(all_trees[order], np.arange(ensemble.n_trees))

    def _side(self, worst: NDArray[np.float64]) -> int:
        """Return the class when every tree gives its worst: IEEE addition in a fixed order is monotone."""
        dtype = np.dtype(self.ensemble.rule.dtype)
        terms = np.append(self.ensemble.base, worst).astype(dtype)
        total = np.add.accumulate(terms)[-1:]  # one after the other, as the library adds
        if self.ensemble.rule.divisor != 1.0:
            total = total / dtype.type(self.ensemble.rule.divisor)
        return int(self.ensemble.decide(total[:, np.newaxis])[0])


def _slack(ensemble: Ensemble) -> float:
    """Return a lead that no rounding, of the library's sum or of the bound's, can turn into a tie."""
    if ensemble.rule.kind == "hard" and not ensemble.base.any():
        return 0.0  # votes are whole numbers
    return 2 * float(difference_error(ensemble, largest_sum(ensemble)))
