"""Fast walks of many rows down trees: nodes laid out for the native core, and the leaves that rows reach.

Sends rows where `routing` sends them, which is the plain reading of the same arrays. Holds no native object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.model.categories import Categories
from onetree.model.routing import Splits

Index = NDArray[np.int32]


class SplitNodes(Splits, Protocol):
    """The part of an ensemble or a tree that is laid out; see there."""

    @property
    def children_left(self) -> Index:
        """Node indices, -1 at a leaf."""

    @property
    def children_right(self) -> Index:
        """Node indices, -1 at a leaf."""


@dataclass(frozen=True, eq=False)
class Walks:
    """Trees that were checked to be sound, in the order of a walk.

    Parameters
    ----------
    steps : uint64 array of shape (n_steps, 2)
        The native core's own layout, 16 bytes a step; the roots come first.
    n_trees : int
    members : bool array
        The rows of all sets, one after another.
    categories : tuple of Categories or None
        Empty if there are no set tests.
    is_plain : bool
        Whether NaN goes right everywhere, and there are no set tests.
    """

    steps: NDArray[np.uint64]
    n_trees: int
    members: NDArray[np.bool_]
    categories: tuple[Categories | None, ...]
    is_plain: bool

    @classmethod
    def of(
        cls,
        nodes: SplitNodes,
        roots: Index,
        *,
        leaf_value: Index | None = None,
        missing_left: NDArray[np.bool_] | None = None,
    ) -> Walks:
        """Lay out the trees of these roots.

        Parameters
        ----------
        nodes : Ensemble or Tree
        roots : int32 array
        leaf_value : int32 array of shape (n_nodes,), optional
            What `values` returns of a leaf.
        missing_left : bool array of shape (n_nodes,), optional
            Whether NaN goes left at a threshold; without it, NaN goes right.
        """
        has_sets = bool((nodes.subset >= 0).any())
        if missing_left is not None and not missing_left.any():
            missing_left = None
        # Allocated here since numpy asks the system for large pages.
        steps = np.empty((len(roots) + 2 * np.count_nonzero(nodes.feature >= 0), 2), dtype=np.uint64)
        _core.lay_out(
            roots,
            nodes.feature,
            nodes.threshold,
            nodes.children_left,
            nodes.children_right,
            leaf_value,
            missing_left,
            nodes.subset if has_sets else None,
            nodes.subsets.shape[1],
            steps,
        )
        categories = nodes.categories if has_sets else ()
        return cls(steps, len(roots), nodes.subsets.ravel(), categories, missing_left is None and not has_sets)

    def leaves(self, rows: NDArray[Any]) -> Index:
        """Return the leaf of each row in each tree, as node indices of shape (n_trees, n_rows)."""
        return _core.walk_trees(self.steps, self.members, self.is_plain, self.n_trees, self._coded(rows))

    def leaves_and_gaps(self, rows: NDArray[Any]) -> tuple[Index, bool]:
        """Return the leaf of each row in the first tree, and whether any entry of the rows is NaN."""
        return self._walk(rows, _core.Wanted.NODE)

    def values_and_gaps(self, rows: NDArray[Any]) -> tuple[Index, bool]:
        """Return the value of each row's leaf in the first tree, and whether any entry of the rows is NaN."""
        return self._walk(rows, _core.Wanted.VALUE)

    def _walk(self, rows: NDArray[Any], wanted: _core.Wanted) -> tuple[Index, bool]:
        coded = self._coded(rows)
        found, has_gaps = _core.walk_tree(self.steps, self.members, self.is_plain, coded, wanted)
        return found, has_gaps if coded is rows else bool(np.isnan(rows).any())

    def _coded(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the rows with elements in place of the numbers of categorical features."""
        if not self.categories:
            return rows
        coded = rows.copy(order="K")
        for feature, kind in enumerate(self.categories):
            if kind is not None:
                coded[:, feature] = kind.element(rows[:, feature])
        return coded
