"""Rows as the growth of a tree needs them: values, slabs, classes; and synthetic rows made of them.

A synthetic row copies one row and takes some of its values from others. Among the rows of a node it therefore stays
inside the box of the node, on values that were seen there, and the ensemble says which class it has. The others are any
rows, or only those near it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.grid import Grid
from onetree.labeller import Labeller
from onetree.support.neighbours import MAX_ROWS, near_rows

Columns = NDArray[np.intp]

REPLACED = 0.5  # of the values of a synthetic row, on average


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows.

    Parameters
    ----------
    values : float64 array of shape (n_rows, n_features)
    slabs : int32 array of shape (n_rows, n_features)
        The slab of the ensemble's grid that each value lies in; missing values lie in the last one.
    classes : intp array of shape (n_rows,)
        Index of the ensemble's class.
    """

    values: NDArray[np.float64]
    slabs: NDArray[np.int32]
    classes: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.classes)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(self.values[chosen], self.slabs[chosen], self.classes[chosen])

    def joined(self, others: Rows) -> Rows:
        """Return these rows and then the others."""
        if len(others) == 0:
            return self
        if len(self) == 0:
            return others
        return Rows(
            np.concatenate([self.values, others.values]),
            np.concatenate([self.slabs, others.slabs]),
            np.concatenate([self.classes, others.classes]),
        )


class RowMaker:
    """Makes rows for one ensemble: labels given ones, and mixes new ones from them."""

    def __init__(self, labeller: Labeller, grid: Grid, random_state: int, origin: Columns | None = None) -> None:
        """Get ready.

        `origin` says for each column which feature of the data it comes from, as ascending numbers: columns of one
        feature are always taken from one row. Without it each column is a feature.
        """
        self.labeller = labeller
        self.grid = grid
        self._origin = np.arange(len(grid.levels)) if origin is None else origin
        self._random = np.random.default_rng(random_state)
        self._last: tuple[Rows, tuple[Rows, NDArray[np.intp]]] | None = None

    def label(self, values: NDArray[np.float64]) -> Rows:
        """Return given values as rows, with slabs and the ensemble's classes."""
        slabs = np.empty(values.shape, dtype=np.int32)
        for feature, levels in enumerate(self.grid.levels):
            slabs[:, feature] = np.searchsorted(levels, values[:, feature])  # NaN comes after +inf
        return Rows(values, slabs, self.labeller.classes(values))

    def mix(self, rows: Rows, n_new: int) -> Rows:
        """Return `n_new` synthetic rows: each a copy of a row, some values of which are those of other rows."""
        other = self._random.integers(len(rows), size=(n_new, self._n_features))
        return self._mixed(rows, self._random.integers(len(rows), size=n_new), other)

    def mix_near(self, rows: Rows, n_new: int) -> Rows:
        """Return `n_new` synthetic rows: each a copy of a row, some values of which are those of rows near it."""
        if len(rows) == 1:
            return self.mix(rows, n_new)
        some, near = self._neighbourhood(rows)
        copied = self._random.integers(len(some), size=n_new)
        which = self._random.integers(near.shape[1], size=(n_new, self._n_features))
        return self._mixed(some, copied, near[copied[:, np.newaxis], which])

    def _neighbourhood(self, rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
        """Give the rows, or as many of them as can be compared, and which are near each; remembers the last answer."""
        if self._last is None or self._last[0] is not rows:
            some = rows
            if len(rows) > MAX_ROWS:
                some = rows.take(np.sort(self._random.choice(len(rows), size=MAX_ROWS, replace=False)))
            self._last = rows, (some, near_rows(some.values, self.labeller.ensemble))
        return self._last[1]

    @property
    def _n_features(self) -> int:
        return 1 + int(self._origin.max(initial=-1))

    def _mixed(self, rows: Rows, copied: NDArray[np.intp], other: NDArray[np.intp]) -> Rows:
        """Copy rows, but take each value with some probability from the row that is named for it."""
        replaced = self._random.random(other.shape) < REPLACED
        source = np.where(replaced, other, copied[:, np.newaxis])[:, self._origin]
        values = np.take_along_axis(rows.values, source, axis=0)
        return Rows(values, np.take_along_axis(rows.slabs, source, axis=0), self.labeller.classes(values))
