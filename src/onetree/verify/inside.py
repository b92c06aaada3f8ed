"""Tree and ensemble as seen from inside a domain, so that a proof about every input speaks of the domain alone.

Of each restricted feature one value per slab of the joint grid is kept, if the domain has one there. Those are numbered
0, 1, 2, ..., and both sides are written in terms of the numbers: slab ``i`` is now ``i - 1 < z <= i``, without end at
either side. So every input of the new pair stands for one of the domain, and each cell that the domain reaches has one.

Shares no code with `onetree.domain.restrict`, whose results it is there to prove.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.domain.values import Values
from onetree.model.ensemble import Ensemble
from onetree.tree.tree import Tree

Floats = NDArray[np.float64]


class Inside:
    """A tree and an ensemble, both on the numbered values of a domain.

    Parameters
    ----------
    tree : Tree
    ensemble : Ensemble
    domain : Domain
    apart : collection of int
        Features that are left as they are, since they are looked at in blocks.
    """

    def __init__(self, tree: Tree, ensemble: Ensemble, domain: Domain, apart: Collection[int] = ()) -> None:
        self._known: dict[int, Floats] = {}  # restricted feature: its values, one per slab
        self._missing: dict[int, bool] = {}
        for feature, values in enumerate(domain.values):
            if values is not None and feature not in apart:
                cuts = (ensemble.threshold[ensemble.feature == feature], tree.threshold[tree.feature == feature])
                levels = np.unique(np.concatenate(cuts))
                self._known[feature] = one_per_slab(values, levels[levels < math.inf])
                self._missing[feature] = values.missing
        self.ensemble = self._numbered_ensemble(ensemble)
        self.tree = self._numbered_tree(tree)

    def point(self, numbered: Floats) -> Floats:
        """Return the input of the domain that stands behind an input of the numbered pair."""
        point = numbered.copy()
        for feature, known in self._known.items():
            if known.size == 0:
                point[feature] = math.nan
            elif not math.isnan(point[feature]):
                point[feature] = known[int(np.clip(np.ceil(point[feature]), 0, len(known) - 1))]
        return point

    def _nan_features(self, nan_features: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where NaN is an input beside numbers; a feature that is always missing becomes a meaningless number."""
        changed = nan_features.copy()
        for feature, known in self._known.items():
            changed[feature] = self._missing[feature] and known.size > 0
        return changed

    def _numbered_ensemble(self, ensemble: Ensemble) -> Ensemble:
        threshold, missing_left = ensemble.threshold.copy(), ensemble.missing_left.copy()
        left, right = ensemble.children_left.copy(), ensemble.children_right.copy()
        for feature, known in self._known.items():
            nodes = np.flatnonzero(ensemble.feature == feature)
            n_left = np.searchsorted(known, threshold[nodes], side="right")  # values that go left
            threshold[nodes] = np.where(n_left == len(known), math.inf, n_left - 1.0)
            # No number goes left: exchange the sides, so that all do. An always missing value counts as a number.
            none_left = ~missing_left[nodes] if known.size == 0 else n_left == 0
            turned = nodes[none_left]
            threshold[turned] = math.inf
            left[turned], right[turned] = right[turned], left[turned]
            missing_left[turned] = ~missing_left[turned]
        return replace(
            ensemble,
            threshold=threshold,
            children_left=left,
            children_right=right,
            missing_left=missing_left,
            nan_features=self._nan_features(ensemble.nan_features),
        )

    def _numbered_tree(self, tree: Tree) -> Tree:
        threshold, passed = tree.threshold.copy(), np.full(tree.n_nodes, -1)  # passed: the child that all inputs go to
        for feature, known in self._known.items():
            nodes = np.flatnonzero(tree.feature == feature)
            n_left = np.searchsorted(known, threshold[nodes], side="right")
            threshold[nodes] = np.where(n_left == len(known), math.inf, n_left - 1.0)
            if known.size and not self._missing[feature]:
                all_left = nodes[n_left == len(known)]
                passed[all_left] = tree.children_left[all_left]
            all_right = nodes[n_left == 0]  # with them the missing values, which go right everywhere
            passed[all_right] = tree.children_right[all_right]
        kept, left, right = shortened(tree.children_left, tree.children_right, passed)
        return replace(
            tree,
            feature=tree.feature[kept],
            threshold=threshold[kept],
            children_left=left,
            children_right=right,
            leaf_class=tree.leaf_class[kept],
            value=None if tree.value is None else tree.value[kept],
            subset=tree.subset[kept],
            nan_features=self._nan_features(tree.nan_features),
            domain=None,
        )


def shortened(
    left: NDArray[np.int32], right: NDArray[np.int32], passed: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int32]]:
    """Remove the nodes of a tree that pass all inputs on to one child, -1 where they do not.

    Returns
    -------
    kept : bool array of shape (n_nodes,)
        Nodes that the root leads to.
    left, right : int32 array
        Their children, in the numbers of the kept nodes.
    """
    end = np.arange(len(left))
    for node in np.flatnonzero(passed >= 0)[::-1].tolist():  # children come later, so theirs is known
        end[node] = end[passed[node]]
    new_left, new_right = np.where(left >= 0, end[left], -1), np.where(right >= 0, end[right], -1)
    kept = _reached(int(end[0]), new_left.tolist(), new_right.tolist())
    number = np.append(np.cumsum(kept) - 1, -1).astype(np.int32)
    return kept, number[new_left[kept]], number[new_right[kept]]


def _reached(root: int, left: list[int], right: list[int]) -> NDArray[np.bool_]:
    reached = [False] * len(left)
    reached[root] = True
    for node in range(root, len(left)):  # parents come first
        if reached[node] and left[node] >= 0:
            reached[left[node]] = reached[right[node]] = True
    return np.array(reached)


def one_per_slab(values: Values, levels: Floats) -> Floats:
    """Return a value from every slab of an axis that has any, ascending; slabs are cut at `levels`, all finite."""
    if values.choices is not None:
        choices = np.array(values.choices)[::-1]
        _, last = np.unique(np.searchsorted(levels, choices), return_index=True)
        return choices[last]
    low, high = np.append(-math.inf, levels), np.append(levels, math.inf)  # low < x <= high in each slab
    top = np.minimum(high, values.high)
    if math.isinf(top[-1]):
        top[-1] = _value_above(float(low[-1]), values)
    if values.integer:
        top = np.floor(np.where(np.isinf(top), math.nan, top))  # infinity is not an integer
    found: Floats = top[(top > low) & (top >= values.low)]
    return found


def _value_above(level: float, values: Values) -> float:
    """Return a value above a level where the values have no end."""
    if level < values.low:
        return values.low
    if math.isinf(level):
        return 0.0
    following = math.nextafter(level, math.inf)
    return max(math.floor(level) + 1.0, following) if values.integer else following
