"""One leaf box of the tree as a mixed-integer program over the ensemble.

Columns, in this order:

* ``z[j, t]``, binary, for each threshold t of feature j inside the box: 1 iff x[j] <= t; so z grows with t;
* ``n[j]``, binary, for each feature that may be missing in the box: 1 iff x[j] is NaN, and then z[j, t] = 0 for all t;
* ``w[j, v]``, binary, for each value v of a set axis j that the box has: 1 iff x[j] is that value; they add up to 1;
* ``y[leaf]``, continuous, for each leaf of the ensemble that the box can reach: 1 iff x ends there.

A node sends x left iff its literal is 1; the literal is z[j, t], plus n[j] if the node sends NaN left; on a set axis it
is the sum of the w of its test. The y of a tree add up to 1; those left of a node add up to at most its literal, those
right of it to at most 1 - literal. With whole z, n and w exactly one y of each tree can be 1, so the points of the
program are exactly the cells of the box.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onetree.model.arrays import AxisEnsemble
from onetree.model.ensemble import Ensemble

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass
class _Rows:
    """Rows ``low <= coefficients . columns <= high`` in the making."""

    row: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    coefficient: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, entries: list[tuple[int, float]], low: float, high: float) -> int:
        """Append a row and return its number; entries for the same column add up."""
        number = len(self.low)
        self.low.append(low)
        self.high.append(high)
        for column, coefficient in entries:
            self.extend(number, column, coefficient)
        return number

    def extend(self, number: int, column: int, coefficient: float) -> None:
        self.row.append(number)
        self.column.append(column)
        self.coefficient.append(coefficient)


@dataclass(frozen=True)
class _Path:
    """Undecided rows on the way to a node, the nearest first."""

    number: int
    before: _Path | None


class Program:
    """The cells of the ensemble inside ``lower < x <= upper`` (missing values inside where `upper` is NaN).

    Parameters
    ----------
    ensemble : Ensemble or AxisEnsemble
    lower, upper : float64 array of shape (n_axes,)
    held : mapping from int to bool array, optional
        The values of each set axis that the box has.
    """

    def __init__(
        self,
        ensemble: Ensemble | AxisEnsemble,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        held: Mapping[int, NDArray[np.bool_]] | None = None,
    ) -> None:
        self.ensemble = ensemble
        self._held = {} if held is None else held
        self._sets = ensemble.sets if isinstance(ensemble, AxisEnsemble) else ()
        self._lower = lower.tolist()
        self._takes_nan = (np.isnan(upper) & ensemble.nan_features).tolist()
        self._upper = np.where(np.isnan(upper), np.inf, upper).tolist()
        self._has_number = [low < high for low, high in zip(self._lower, self._upper, strict=True)]
        self.is_empty = not (
            all(number or nan for number, nan in zip(self._has_number, self._takes_nan, strict=True))
            and all(values.any() for values in self._held.values())
        )
        if self.is_empty:
            return
        # (feature, threshold), or (feature, NaN's stand-in inf), or (set axis, value)
        self._binary: dict[tuple[int, float], int] = {}
        reached = [self._reach(int(root)) for root in ensemble.roots]
        self._number_columns()
        self._rows = _Rows()
        self._chain_levels()
        self._choose_values()
        self.fixed = np.array([leaves[0] for leaves in reached if len(leaves) == 1], dtype=np.intp)
        self.groups: list[NDArray[np.intp]] = []  # columns of the leaves of each tree that has several
        self.leaf_of: list[int] = []  # node of each y column
        for root, leaves in zip(ensemble.roots.tolist(), reached, strict=True):
            if len(leaves) > 1:
                self._add_tree(root)

    @property
    def n_binary(self) -> int:
        """Number of binary columns; they come first."""
        return len(self._binary)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.n_binary + len(self.leaf_of)

    def rows(self) -> tuple[csr_array, NDArray[np.float64], NDArray[np.float64]]:
        """Return the matrix of the program and the bounds of its rows."""
        from scipy.sparse import csr_array

        made = self._rows
        shape = (len(made.low), self.n_columns)
        matrix = csr_array((made.coefficient, (made.row, made.column)), shape=shape, dtype=np.float64)
        return matrix, np.array(made.low), np.array(made.high)

    def point(self, solution: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return a point from the cell of a solution, or from any cell if the program has no binary column.

        An actual input, but for the set axes, where it has the number of a value.
        """
        chosen = np.zeros(0) if solution is None else solution
        x = np.empty(len(self._lower))
        for j, (low, high) in enumerate(zip(self._lower, self._upper, strict=True)):
            if j in self._held:
                x[j] = self._value(j, chosen)
                continue
            missing = self._binary.get((j, math.inf))
            if not self._has_number[j] or (missing is not None and chosen[missing] > 0.5):
                x[j] = math.nan
                continue
            levels = self._levels.get(j, [])
            below = [t for t in levels if chosen[self._binary[j, t]] > 0.5]
            start = levels[-1] if levels else low
            if below:
                x[j] = below[0]  # a level belongs to the slab below it
            elif high < math.inf:
                x[j] = high
            else:
                x[j] = math.nextafter(start, math.inf) if start > -math.inf else 0.0
        return x

    def _value(self, j: int, chosen: NDArray[np.float64]) -> int:
        """Return the value of a set axis that a solution chooses, or the first of the box."""
        values = np.flatnonzero(self._held[j]).tolist()
        return next((v for v in values if (j, v) in self._binary and chosen[self._binary[j, v]] > 0.5), values[0])

    def _goes_left(self, node: int) -> NDArray[np.bool_] | None:
        """Return the values of the box that a test sends left; None where the node has a threshold."""
        j = int(self.ensemble.feature[node])
        if j not in self._held:
            return None
        members = self._sets[j]
        return None if members is None else self._held[j] & (members[int(self.ensemble.threshold[node])] > 0)

    def _directions(self, node: int) -> tuple[bool, bool]:
        """Return whether inputs of the box go left and right at a node."""
        ensemble = self.ensemble
        j, t = int(ensemble.feature[node]), float(ensemble.threshold[node])
        goes_left = self._goes_left(node)
        if goes_left is not None:
            return bool(goes_left.any()), bool((self._held[j] & ~goes_left).any())
        nan, nan_left = self._takes_nan[j], bool(ensemble.missing_left[node])
        number = self._has_number[j]
        left = (number and t > self._lower[j]) or (nan and nan_left)
        right = (number and t < self._upper[j]) or (nan and not nan_left)
        return left, right

    def _reach(self, root: int) -> list[int]:
        """Return the leaves that the box can reach, at least; note the columns that decide between them."""
        leaves, stack = [], [root]
        while stack:
            node = stack.pop()
            j = int(self.ensemble.feature[node])
            if j < 0:
                leaves.append(node)
                continue
            left, right = self._directions(node)
            if left and right and j in self._held:
                for v in np.flatnonzero(self._held[j]).tolist():
                    self._binary.setdefault((j, v), -1)
            elif left and right:
                t = float(self.ensemble.threshold[node])
                if self._has_number[j] and self._lower[j] < t < self._upper[j]:
                    self._binary.setdefault((j, t), -1)
                if self._takes_nan[j] and self._has_number[j]:
                    self._binary.setdefault((j, math.inf), -1)
            if right:
                stack.append(int(self.ensemble.children_right[node]))
            if left:
                stack.append(int(self.ensemble.children_left[node]))
        return leaves

    def _number_columns(self) -> None:
        self._levels: dict[int, list[float]] = {}
        for number, (j, t) in enumerate(sorted(self._binary)):
            self._binary[j, t] = number
            if t < math.inf and j not in self._held:
                self._levels.setdefault(j, []).append(t)

    def _chain_levels(self) -> None:
        for j, levels in self._levels.items():
            columns = [self._binary[j, t] for t in levels]
            for column, above in itertools.pairwise(columns):
                self._rows.add([(column, 1.0), (above, -1.0)], -math.inf, 0.0)
            missing = self._binary.get((j, math.inf))
            if missing is not None:  # the last level is the largest z, so this bounds all of them
                self._rows.add([(columns[-1], 1.0), (missing, 1.0)], -math.inf, 1.0)

    def _choose_values(self) -> None:
        for j, values in self._held.items():
            numbers = [self._binary.get((j, v)) for v in np.flatnonzero(values).tolist()]
            columns = [(number, 1.0) for number in numbers if number is not None]
            if columns:
                self._rows.add(columns, 1.0, 1.0)

    def _literal(self, node: int) -> tuple[list[tuple[int, float]], float]:
        """Return entries and constant of the expression that is 1 iff a node with both directions sends x left."""
        j, t = int(self.ensemble.feature[node]), float(self.ensemble.threshold[node])
        goes_left = self._goes_left(node)
        if goes_left is not None:
            return [(self._binary[j, v], 1.0) for v in np.flatnonzero(goes_left).tolist()], 0.0
        if t >= self._upper[j]:  # every number goes left, so right is NaN
            return [(self._binary[j, math.inf], -1.0)], 1.0
        entries = [] if t <= self._lower[j] else [(self._binary[j, t], 1.0)]
        if self._takes_nan[j] and self.ensemble.missing_left[node]:
            entries.append((self._binary[j, math.inf], 1.0))
        return entries, 0.0

    def _add_tree(self, root: int) -> None:
        first = self.n_columns
        stack: list[tuple[int, _Path | None]] = [(root, None)]
        while stack:
            node, path = stack.pop()
            if self.ensemble.feature[node] < 0:
                column = self.n_columns
                self.leaf_of.append(node)
                while path is not None:
                    self._rows.extend(path.number, column, 1.0)
                    path = path.before
                continue
            left, right = self._directions(node)
            left_path = right_path = path
            if left and right:
                entries, constant = self._literal(node)
                minus = [(column, -value) for column, value in entries]
                left_path = _Path(self._rows.add(minus, -math.inf, constant), path)
                right_path = _Path(self._rows.add(entries, -math.inf, 1.0 - constant), path)
            if right:
                stack.append((int(self.ensemble.children_right[node]), right_path))
            if left:
                stack.append((int(self.ensemble.children_left[node]), left_path))
        columns = np.arange(first, self.n_columns)
        self.groups.append(columns)
        self._rows.add([(int(column), 1.0) for column in columns], 1.0, 1.0)
