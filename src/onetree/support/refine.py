"""Improving a whole tree: each split in turn is exchanged for the one that suits the branches below it best.

Greedy growth chooses a split without knowing what will come below. Here the rest of the tree is known: a row matters at
a split if only one of the two branches gives it the ensemble's class, and the best split sends most of these the right
way. From the bottom up, again and again, so the error on the rows falls with each exchange and the shape only shrinks.
Nothing here recurses.
"""

from __future__ import annotations

import numpy as np

from onetree import _core
from onetree.support.branches import Branches
from onetree.support.clock import Clock
from onetree.support.rows import Numbers, Sample
from onetree.tree.tree import LEAF

N_PASSES = 10  # at most
_ROUNDING = 1e-9  # of the weight: what gains less may as well be the order of a sum


class Refinement:
    """Weighted rows, ready to refine trees on them.

    Parameters
    ----------
    sample : Sample
    pool : int32 array
        Numbers of the synthetic rows that count, besides the reference rows.
    mass : float
        What they weigh together, in reference rows per reference row.
    """

    def __init__(self, sample: Sample, pool: Numbers, mass: float) -> None:
        self._sample = sample
        self._rows = np.concatenate([sample.reference, pool])
        self._n_classes = sample.maker.predictor.ensemble.n_classes
        weight = np.zeros(len(sample.classes))  # of each row of the sample
        weight[sample.reference] = 1.0
        weight[pool] = mass * len(sample.reference) / max(1, len(pool))
        self._weight = weight / weight.sum()
        self._is_reference = np.zeros(len(weight), dtype=bool)
        self._is_reference[sample.reference] = True

    def of(self, branches: Branches, fresh: Numbers, clock: Clock) -> Branches:
        """Return a tree of no more leaves with less error.

        Ends before it would do worse on fresh rows, which play no part in the choice of splits. Parts without
        reference rows are leaves.
        """
        n_wrong = self._n_wrong(branches, fresh)
        for _ in range(N_PASSES):
            if clock.left == 0:
                break
            better = self._gone_over(branches)
            n_wrong_then = self._n_wrong(better, fresh)
            if n_wrong_then >= n_wrong:
                break
            branches, n_wrong = better, n_wrong_then
        return self._without_unseen(branches)

    def _n_wrong(self, branches: Branches, rows: Numbers) -> int:
        return int(np.count_nonzero(branches.classes(self._sample.columns, rows) != self._sample.classes[rows]))

    def _gone_over(self, given: Branches) -> Branches:
        """Exchange every split once. What changes below a node does not change which rows come to it."""
        branches = given.copy()
        places = branches.places(self._sample.columns, self._rows)
        for node in range(len(places) - 1, -1, -1):
            here = places[node]
            if len(here) and branches.left[node] == LEAF:
                self._settle_class(branches, node, here)
            elif len(here):
                self._exchange(branches, node, here)
        return branches.compact()

    def _without_unseen(self, given: Branches) -> Branches:
        branches = given.copy()
        for node, here in enumerate(given.places(self._sample.columns, self._rows)):
            if branches.left[node] != LEAF and not self._is_reference[here].any():
                if len(here):
                    self._settle_class(branches, node, here)
                branches.make_leaf(node)
        return branches.compact()

    def _settle_class(self, branches: Branches, node: int, here: Numbers) -> None:
        weight = np.bincount(self._sample.classes[here], self._weight[here], minlength=self._n_classes)
        if weight[branches.leaf_class[node]] < weight.max():
            branches.leaf_class[node] = weight.argmax()

    def _exchange(self, branches: Branches, node: int, here: Numbers) -> None:
        """Give a node the best split, or replace it by one of its branches if that alone does better."""
        columns, wanted = self._sample.columns, self._sample.classes[here]
        left_is_right = branches.classes(columns, here, int(branches.left[node])) == wanted
        right_is_right = branches.classes(columns, here, int(branches.right[node])) == wanted
        matters = left_is_right != right_is_right
        here = here[matters]
        if len(here) == 0:
            return
        gain = np.where(left_is_right[matters], 1.0, -1.0) * self._weight[here]  # of going left
        now = float(gain[columns[branches.feature[node], here] <= branches.cut[node]].sum())
        all_left = float(gain.sum())
        least = max(now, 0.0, all_left) + _ROUNDING
        found = _core.largest_gain(columns, here, gain, least)
        if found.feature != LEAF:
            branches.feature[node] = found.feature
            branches.cut[node] = self._sample.level_between(found.feature, found.below, found.above)
        elif max(0.0, all_left) > now + _ROUNDING:
            branches.replace(node, int(branches.left[node] if all_left > 0 else branches.right[node]))
