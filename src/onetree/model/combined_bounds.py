"""Bounds for rules of two levels, for many boxes at once.

An implementation beside those of the native search and of the native proof, for proofs and counts in Python.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onetree.model.ensemble import Ensemble
from onetree.model.forest_checks import node_depths
from onetree.model.operations import Kind, Operation

Floats = NDArray[np.float64]


class CombinedBounds:
    """What bounds of the members' sums say of the class.

    Parameters
    ----------
    ensemble : Ensemble
        With the rule "combined".
    """

    def __init__(self, ensemble: Ensemble) -> None:
        combination = ensemble.rule.combination
        if combination is None:
            raise ValueError("the rule of this ensemble has one level")
        self._operations = combination.operations()
        self._divisors = combination.divisors()
        self._n_decisive = combination.n_decisive
        self._cut = combination.cut
        self.error = sum_errors(ensemble, [dtype.itemsize == 4 for dtype in combination.dtypes()])

    def decisive(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return bounds of what decides, a column per class, from bounds of the undivided sums.

        Of a single score, the first column is the cut.
        """
        with np.errstate(all="ignore"):
            lows = list(((low - self.error) / self._divisors).T)
            highs = list(((high + self.error) / self._divisors).T)
            return self._decisive(lows, highs)

    def at(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return the same for sums as the library computes them, divided."""
        with np.errstate(all="ignore"):
            return self._decisive(list(sums.T), list(sums.T))

    def winners(self, low: Floats, high: Floats) -> NDArray[np.intp]:
        """Return the class that wins all over each box of sums, or -1."""
        return clear_winners(*self.decisive(low, high))

    def _decisive(self, lows: list[Floats], highs: list[Floats]) -> tuple[Floats, Floats]:
        n_rows = len(lows[0])
        fill_registers(self._operations, lows, highs)
        if self._cut is not None:
            return tuple(np.stack([np.full(n_rows, self._cut), side[-1]], axis=1) for side in (lows, highs))  # type: ignore[return-value]
        n = self._n_decisive
        return np.stack(lows[-n:], axis=1), np.stack(highs[-n:], axis=1)


def fill_registers(operations: Sequence[Operation], lows: list[Floats], highs: list[Floats]) -> None:
    """Append bounds of the results of all operations to those of the outputs, an array with an entry per box each."""
    n_rows = len(lows[0])
    for operation in operations:
        of_low, of_high = (np.array([side[i] for i in operation.inputs]) for side in (lows, highs))
        for low, high in _bounded(operation, of_low, of_high, n_rows):
            lows.append(low)
            highs.append(high)


def clear_winners(low: Floats, high: Floats) -> NDArray[np.intp]:
    """Return the column whose least value is above the largest of all others, or -1."""
    best: NDArray[np.intp] = np.argmax(low, axis=1)
    rows = np.arange(len(low))
    others = high.copy()
    others[rows, best] = -np.inf
    with np.errstate(invalid="ignore"):
        clear = low[rows, best] > others.max(axis=1)
    return np.where(clear, best, -1)


def sum_errors(ensemble: Ensemble, single: Sequence[bool]) -> Floats:
    """Return what rounding can do to each sum, and to a float64 sum of the same terms."""
    root, _ = node_depths(ensemble.roots, ensemble.feature, ensemble.children_left, ensemble.children_right)
    largest = np.zeros((len(root), ensemble.n_outputs))
    np.maximum.at(largest, root, np.abs(ensemble.value))
    magnitude = largest.sum(axis=0) + np.abs(ensemble.base)
    n = ensemble.n_trees + 4
    unit = np.where(single, 2.0**-24, 2.0**-53)
    smallest = np.where(single, 2.0**-149, 2.0**-1074)
    error = 4 * (n * unit / (1 - n * unit)) * magnitude + 4 * n * smallest
    return np.where(magnitude < np.where(single, 2.0**126, 2.0**1020), error, np.inf)


def _bounded(operation: Operation, low: Floats, high: Floats, n_rows: int) -> list[tuple[Floats, Floats]]:
    """Return bounds of each result."""
    slack, numbers = operation.slack, operation.numbers
    size = np.maximum(np.abs(low), np.abs(high))
    if operation.kind == Kind.AFFINE:
        n = operation.n_results
        factors, added = numbers[:-n].reshape(n, -1), numbers[-n:]
        results = []
        for row, constant in zip(factors, added, strict=True):
            used = np.flatnonzero(row)
            one, other = row[used, np.newaxis] * low[used], row[used, np.newaxis] * high[used]
            width = slack * ((np.abs(row[used, np.newaxis]) * size[used]).sum(axis=0) + abs(constant))
            least = np.minimum(one, other).sum(axis=0) + constant - width
            results.append((least, np.maximum(one, other).sum(axis=0) + constant + width))
        return [(np.broadcast_to(a, n_rows), np.broadcast_to(b, n_rows)) for a, b in results]
    if operation.kind == Kind.SIGMOID:
        found = [1 / (1 + np.exp(-numbers[0] * side)) for side in (low, high)]
    elif operation.kind == Kind.SOFTMAX:
        found = [_shares(low, high), _shares(high, low)]
    elif operation.kind == Kind.PIECEWISE:
        x, y = numbers.reshape(2, -1)
        found = [np.interp(low - slack * size, x, y), np.interp(high + slack * size, x, y)]
        slack *= max(abs(y[0]), abs(y[-1]))
    elif operation.kind == Kind.NORMALISE:
        found, slack = _normalised(np.maximum(low, 0), np.maximum(high, 0)), 4 * slack
    elif operation.kind == Kind.LOG:
        found = [np.log(np.maximum(side, 0) + numbers[0]) for side in (low, high)]
        slack = slack * (1 + np.abs(found).max(axis=0))
    elif operation.kind == Kind.EXP:
        factor = numbers[0] if numbers.size else 1.0
        found = [np.exp(factor * side) for side in ((low, high) if factor >= 0 else (high, low))]
        tiny = float(np.finfo(np.float32).tiny)  # next to nothing, a relative error is no bound
        return list(zip(found[0] * (1 - slack) - tiny, found[1] * (1 + slack) + tiny, strict=True))
    elif operation.kind == Kind.UNKNOWN:
        return [(np.full(n_rows, -np.inf), np.full(n_rows, np.inf)) for _ in range(operation.n_results)]
    else:
        return _won(low, high, numbers)
    return list(zip(found[0] - slack, found[1] + slack, strict=True))


def _shares(own: Floats, others: Floats) -> Floats:
    """Return the softmax of each row with its own score from one side, and all others from the other."""
    shares = np.empty_like(own)
    for k in range(len(own)):
        shares[k] = 1 / (1 + np.exp(np.delete(others, k, axis=0) - own[k]).sum(axis=0))
    return shares


def _normalised(low: Floats, high: Floats) -> list[Floats]:
    n = len(low)
    least, most = np.zeros_like(low), np.ones_like(low)
    for k in range(n):
        below, above = low[k] + np.delete(high, k, axis=0).sum(axis=0), high[k] + np.delete(low, k, axis=0).sum(axis=0)
        np.divide(low[k], below, out=least[k], where=below > 0)
        np.divide(high[k], above, out=most[k], where=above > 0)
    may_be_zero = low.sum(axis=0) <= 0
    return [
        np.where(may_be_zero, np.minimum(least, 1 / n), least),
        np.where(may_be_zero, np.maximum(most, 1 / n), most),
    ]


def _won(low: Floats, high: Floats, numbers: Floats) -> list[tuple[Floats, Floats]]:
    """Return bounds of 1 for the winner and 0 for the others."""
    if len(low) == 1:
        must, may = (low[0] > numbers[0]).astype(float), (high[0] >= numbers[0]).astype(float)
        return [(1 - may, 1 - must), (must, may)]
    results = []
    for k in range(len(low)):
        must = (low[k] > np.delete(high, k, axis=0)).all(axis=0)
        may = (high[k] >= np.delete(low, k, axis=0)).all(axis=0)
        results.append((must.astype(float), may.astype(float)))
    return results
