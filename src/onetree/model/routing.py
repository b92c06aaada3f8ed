"""Which way inputs go: at thresholds and set tests, split by split, in an ensemble as in a tree.

Follows all inputs together, one split further each round, so depth is no problem.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onetree.model.categories import Categories, elements_of

Index = NDArray[np.integer[Any]]


class Splits(Protocol):
    """The part of an ensemble or a tree that routes inputs."""

    @property
    def feature(self) -> NDArray[np.int32]:
        """Feature that a node tests; -1 at a leaf."""

    @property
    def threshold(self) -> NDArray[np.float64]:
        """An input goes left iff it is not larger; unused at set tests."""

    @property
    def categories(self) -> tuple[Categories | None, ...]:
        """Elements of the categorical features."""

    @property
    def subset(self) -> NDArray[np.int32]:
        """Row of `subsets` at a set test, else -1."""

    @property
    def subsets(self) -> NDArray[np.bool_]:
        """Elements that go left."""


@dataclass(frozen=True, eq=False)
class Routes:
    """Rows of inputs, ready to be sent through the splits.

    Parameters
    ----------
    splits : Splits
    rows : float array of shape (n_rows, n_features)
    missing_left : bool array of shape (n_nodes,), optional
        Whether NaN goes left at a threshold; without it, NaN goes right.
    """

    splits: Splits
    rows: NDArray[Any]
    missing_left: NDArray[np.bool_] | None = None

    @cached_property
    def _elements(self) -> NDArray[np.int32] | None:
        has_subsets = bool((self.splits.subset >= 0).any())
        return elements_of(self.splits.categories, self.rows) if has_subsets else None

    @cached_property
    def _has_gaps(self) -> bool:
        return bool(np.isnan(self.rows).any())

    def go_left(self, row: Index, node: Index | int) -> NDArray[np.bool_]:
        """Return for some rows, given by number, whether they go left at this node, or each at its own."""
        feature = self.splits.feature[node]
        x = self.rows[row, feature]
        left: NDArray[np.bool_] = x <= self.splits.threshold[node]  # NaN: false
        if self.missing_left is not None and self._has_gaps:
            left |= np.isnan(x) & self.missing_left[node]
        if self._elements is not None:
            test = self.splits.subset[node]
            left = np.where(test >= 0, self.splits.subsets[test, self._elements[row, feature]], left)
        return left
