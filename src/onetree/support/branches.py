"""A tree on slabs: what is between the growth of nodes and the finished tree, and can still be changed.

Nothing here recurses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.lowering.grid import Grid
from onetree.model.ensemble import Ensemble
from onetree.tree.tree import LEAF, Tree


@dataclass(eq=False)
class Branches:
    """A tree on slabs: a row goes left where its slab is at most `cut`. Children come after their parents."""

    feature: NDArray[np.int32]
    cut: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaf_class: NDArray[np.intp]  # at inner nodes: what they would say as leaves

    def classes(self, columns: NDArray[np.int32], rows: NDArray[np.int32], root: int = 0) -> NDArray[np.intp]:
        """Return the class below a node of each of some rows of a sample."""
        inner = self.left != LEAF
        itself = np.arange(len(inner))
        nodes = np.column_stack(
            [
                np.where(inner, self.feature, 0),
                np.zeros(len(inner), dtype=np.int32),
                self.cut,
                np.where(inner, self.left, itself),
                np.where(inner, self.right, itself),
            ]
        ).astype(np.int32)
        return self.leaf_class[_core.slab_leaves(nodes, root, columns, rows)]

    def places(self, columns: NDArray[np.int32], rows: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """Return for each node those of the rows that come to it."""
        places = [rows[:0]] * len(self.feature)
        places[0] = rows
        for node, (left, right) in enumerate(zip(self.left.tolist(), self.right.tolist(), strict=True)):
            if left != LEAF:
                here = places[node]
                goes_left = columns[self.feature[node], here] <= self.cut[node]
                places[left], places[right] = here[goes_left], here[~goes_left]
        return places

    def copy(self) -> Branches:
        """Return a tree that can be changed without changing this one."""
        return Branches(
            self.feature.copy(), self.cut.copy(), self.left.copy(), self.right.copy(), self.leaf_class.copy()
        )

    def make_leaf(self, node: int) -> None:
        """Cut off what is below a node."""
        self.feature[node], self.cut[node], self.left[node], self.right[node] = LEAF, 0, LEAF, LEAF

    def replace(self, node: int, other: int) -> None:
        """Put a node below in the place of this one."""
        for array in (self.feature, self.cut, self.left, self.right, self.leaf_class):
            array[node] = array[other]

    def compact(self) -> Branches:
        """Return the tree without the nodes that the root does not lead to."""
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            if self.left[node] != LEAF:
                stack += [int(self.right[node]), int(self.left[node])]
        number = np.full(len(self.feature) + 1, LEAF, dtype=np.int32)  # the last stands for "no child", index -1
        number[order] = np.arange(len(order))
        left, right = number[self.left[order]], number[self.right[order]]
        return Branches(self.feature[order], self.cut[order], left, right, self.leaf_class[order])

    def thresholds(self, grid: Grid) -> NDArray[np.float64]:
        """Return the threshold of each node, 0 at leaves."""
        threshold = np.zeros(len(self.left))
        for node in np.flatnonzero(self.left != LEAF).tolist():
            threshold[node] = grid.levels[self.feature[node]][self.cut[node]]
        return threshold

    def as_tree(self, ensemble: Ensemble, grid: Grid) -> Tree:
        """Return the finished tree; two leaves of one class below a split are one."""
        merged = self.copy()
        for node in range(len(merged.feature) - 1, -1, -1):  # children come after their parents
            left, right = merged.left[node], merged.right[node]
            if left == LEAF or merged.left[left] != LEAF or merged.left[right] != LEAF:
                continue
            if merged.leaf_class[left] == merged.leaf_class[right]:
                merged.replace(node, int(left))
        final = merged.compact()
        return Tree(
            feature=final.feature,
            threshold=final.thresholds(grid),
            children_left=final.left,
            children_right=final.right,
            leaf_class=np.where(final.left != LEAF, LEAF, final.leaf_class),
            classes=ensemble.classes,
            feature_names=ensemble.feature_names,
            nan_features=ensemble.nan_features,
            exact=False,
            columns=ensemble.columns,
        )
