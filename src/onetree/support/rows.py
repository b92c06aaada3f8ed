"""Rows as the growth of a tree needs them, and synthetic rows made of them.

A synthetic row copies one row and takes some of its values from others. Among the rows of a node it therefore stays
inside the box of the node, on slabs that were seen there, and the ensemble says which class it has. The others are any
rows, or only those near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.lowering.grid import Grid
from onetree.lowering.native_predict import NativePredictor
from onetree.model.ensemble import Ensemble
from onetree.support.neighbours import near_rows

_Number = TypeVar("_Number", np.int32, np.float64)
Columns = NDArray[np.intp]
Numbers = NDArray[np.int32]  # of rows

HELD_OUT = 0.2  # of the rows are set aside to measure on, unless others are given


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of the data.

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
        return Rows(
            np.concatenate([self.values, others.values]),
            np.concatenate([self.slabs, others.slabs]),
            np.concatenate([self.classes, others.classes]),
        )


def set_aside(rows: Rows, random_state: int) -> tuple[Rows, Rows]:
    """Part the rows into those to build from and those to measure on, by chance."""
    order = np.random.default_rng([random_state, len(rows)]).permutation(len(rows))
    n_aside = int(HELD_OUT * len(rows))
    return rows.take(np.sort(order[n_aside:])), rows.take(np.sort(order[:n_aside]))


class Sample:
    """Reference rows and synthetic rows made of them, as slabs. Rows have numbers; more can be added, none goes away.

    Parameters
    ----------
    maker : RowMaker
    reference : Rows
    """

    def __init__(self, maker: RowMaker, reference: Rows) -> None:
        self.maker = maker
        self._columns = np.empty((len(maker.grid.levels), 0), dtype=np.int32)  # with room for more rows
        self._classes = np.empty(0, dtype=np.int32)
        self._n_rows = 0
        self._valued: list[tuple[NDArray[np.float64], Numbers]] = []  # values of reference rows, and their numbers
        self._near: tuple[Numbers, Numbers] | None = None
        self.reference = self.join(reference)

    @property
    def columns(self) -> NDArray[np.int32]:
        """The slabs: one line per feature."""
        return self._columns[:, : self._n_rows]

    @property
    def classes(self) -> NDArray[np.int32]:
        """The class of each row."""
        return self._classes[: self._n_rows]

    def join(self, rows: Rows) -> Numbers:
        """Add reference rows."""
        numbers = self._with_more(len(rows))
        self._columns[:, numbers] = rows.slabs.T
        self._classes[numbers] = rows.classes
        self._valued.append((rows.values, numbers))
        return numbers

    def mix(self, numbers: Numbers, n_new: int) -> Numbers:
        """Add synthetic rows: each a copy of one of the rows, some values of which are those of others of them."""
        return self._mixed(numbers, numbers[np.newaxis], n_new)

    def mix_near(self, n_new: int) -> Numbers:
        """Add synthetic rows: each a copy of a reference row, some values of which are those of rows near it."""
        if len(self.reference) == 1:
            return self.mix(self.reference, n_new)
        if self._near is None:
            some, near = near_rows(self.columns[:, self.reference], self.maker.predictor.ensemble, self.maker.random)
            self._near = self.reference[some], self.reference[near]
        return self._mixed(*self._near, n_new)

    def level_between(self, feature: int, below: int, above: int) -> int:
        """Choose among the levels between two slabs the one next to the middle between the rows in both.

        There are rows in both slabs and none between, so that all these levels part rows alike.
        """
        candidates = self.maker.grid.levels[feature][below:above]
        if len(candidates) == 1:
            return below
        left, right = self._values_in(feature, below).max(), self._values_in(feature, above).min()
        middle = left / 2 + (np.inf if np.isnan(right) else right) / 2
        if np.isnan(middle) or middle == -np.inf:
            return below + len(candidates) // 2
        if middle == np.inf:
            return above - 1
        return below + int(np.argmin(np.abs(candidates - middle)))

    def _values_in(self, feature: int, slab: int) -> NDArray[np.float64]:
        return np.concatenate(
            [values[self._columns[feature, numbers] == slab, feature] for values, numbers in self._valued]
        )

    def _mixed(self, copied: Numbers, others: Numbers, n_new: int) -> Numbers:
        """Copy rows, but take each feature with probability one half from one of the others, in the line of the row."""
        seed = int(self.maker.random.integers(2**63))
        numbers = self._with_more(n_new)
        new = slice(self._n_rows - n_new, self._n_rows)
        _core.mix_rows(self._columns, self.maker.origin, copied, others, new.start, n_new, seed)
        self._classes[new] = self.maker.classes_at(self._columns[:, new].T)
        return numbers

    def _with_more(self, n_more: int) -> Numbers:
        """Make room for more rows and return their numbers."""
        first, self._n_rows = self._n_rows, self._n_rows + n_more
        if self._n_rows > len(self._classes):
            room = 2 * self._n_rows
            self._columns = with_room(self._columns, room)
            self._classes = with_room(self._classes, room)
        return np.arange(first, self._n_rows, dtype=np.int32)


def with_room(array: NDArray[_Number], n_rows: int) -> NDArray[_Number]:
    """Return an array with room for so many rows along its last axis."""
    larger = np.empty((*array.shape[:-1], n_rows), dtype=array.dtype)
    larger[..., : array.shape[-1]] = array
    return larger


class RowMaker:
    """What rows for one ensemble are made with."""

    def __init__(self, ensemble: Ensemble, random_state: int, origin: Columns | None = None) -> None:
        """Get ready.

        `origin` says for each column which feature of the data it comes from, as ascending numbers: columns of one
        feature are always taken from one row. Without it each column is a feature.
        """
        self.predictor = NativePredictor(ensemble)
        self.origin = np.arange(ensemble.n_features, dtype=np.int32) if origin is None else origin.astype(np.int32)
        self.random = np.random.default_rng(random_state)

    @property
    def grid(self) -> Grid:
        """The hyperplanes of the ensemble."""
        return self.predictor.grid

    def label(self, values: NDArray[np.float64]) -> Rows:
        """Return given values as rows, with slabs and the ensemble's classes."""
        slabs = self.predictor.slabs(values)
        return Rows(values, slabs, self.classes_at(slabs))

    def classes_at(self, slabs: NDArray[np.int32]) -> NDArray[np.intp]:
        """Return the index of the ensemble's class for rows that are given as slabs."""
        return self.predictor.classes_at(slabs)
