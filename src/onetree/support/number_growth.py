"""Growing a tree whose leaves carry numbers where the reference rows are, best split first.

As `growth`, with the ensemble's numbers in place of its classes: a leaf carries the mean of its rows, which has the
least squared error, and a split is good if it takes away much of that error. Nothing here recurses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.support.branches import Branches
from onetree.support.clock import Clock
from onetree.support.cut_back import cut_back
from onetree.support.growth import ENOUGH, Growth, Node, Split, as_branches, first_pool
from onetree.support.rows import Numbers, RowMaker, Rows, Sample, with_room
from onetree.support.small import OVERGROWN

Floats = NDArray[np.float64]

_POOL_MASS = 3.0  # of the synthetic rows: means follow the data more closely than with as much as for classes
_NOISE = 1e-12  # a smaller share of the squared error of a node is rounding, not gain


class NumberMaker(RowMaker):
    """What rows for the numbers of an ensemble are made with. Their classes are not looked at: all are 0."""

    def classes_at(self, slabs: NDArray[np.int32]) -> NDArray[np.intp]:
        """Return no classes in particular; a regressor has none."""
        return np.zeros(len(slabs), dtype=np.intp)

    def numbers_at(self, slabs: NDArray[np.int32]) -> NDArray[Any]:
        """Return the numbers of rows that are given as slabs, of shape (n_rows, n_numbers)."""
        numbers = self.predictor.numbers_at(slabs)
        if not np.isfinite(numbers).all():
            raise InvalidInputError("the model's numbers are infinite on some rows, so no tree can follow them there")
        return numbers


class NumberSample(Sample):
    """A sample whose rows have numbers of the ensemble."""

    def __init__(self, maker: NumberMaker, reference: Rows, n_numbers: int) -> None:
        self._number_maker = maker
        self._numbers = np.empty((n_numbers, 0))  # with room for more rows
        super().__init__(maker, reference)

    def numbers(self, rows: Numbers) -> Floats:
        """Return the ensemble's numbers of some rows, one line per number."""
        found: Floats = self._numbers[:, rows]
        return found

    def join(self, rows: Rows) -> Numbers:
        """Add reference rows."""
        return self._labelled(super().join(rows))

    def _mixed(self, copied: Numbers, others: Numbers, n_new: int) -> Numbers:
        return self._labelled(super()._mixed(copied, others, n_new))

    def _labelled(self, new: Numbers) -> Numbers:
        if self._numbers.shape[1] < self._n_rows:
            self._numbers = with_room(self._numbers, 2 * self._n_rows)
        self._numbers[:, new] = self._number_maker.numbers_at(self._columns[:, new].T).T
        return new


class NumberGrowth(Growth):
    """A tree with numbers that grows. The `leaf_class` of a node is the row of `values` that it carries as a leaf."""

    def __init__(self, sample: NumberSample, pool: Numbers) -> None:
        """Start with a single leaf."""
        self._numbered = sample
        self.values: list[Floats] = []
        known = sample.numbers(np.concatenate([sample.reference, pool]))
        # Squares of what is scaled down neither overflow nor vanish; one scale for all numbers keeps their proportions.
        self._scale = float(np.ptp(known, axis=1).max()) or 1.0
        super().__init__(sample, pool, faithful=False, pool_mass=_POOL_MASS)

    def _node(self, rows: Numbers, pool: Numbers, pool_weight: float) -> Node:
        pool, pool_weight = self._topped_up(rows, pool, pool_weight)
        weight, numbers = self._weighted(rows, pool, pool_weight)
        low, high = numbers.min(axis=1), numbers.max(axis=1)
        total = float(weight.sum())
        mean = np.clip(
            low + (numbers - low[:, np.newaxis]) @ weight / total, low, high
        )  # equal numbers stay as they are
        error = float((((numbers - mean[:, np.newaxis]) / self._scale) ** 2 @ weight).sum())
        self.values.append(mean)
        split = None
        if len(rows) and (low < high).any():
            split = self._best_split(rows, pool, pool_weight)
        return Node(
            rows,
            pool if split is not None else pool[:0],  # nobody will ask for it
            pool_weight,
            leaf_class=len(self.values) - 1,
            n_wrong=0,
            share=total / self._weight,
            error=error / self._weight,
            split=split,
        )

    def _weighted(self, rows: Numbers, pool: Numbers, pool_weight: float) -> tuple[Floats, Floats]:
        """Return weights and numbers of reference rows and those of a pool."""
        weight = np.concatenate([np.ones(len(rows)), np.full(len(pool), pool_weight)])
        return weight, self._numbered.numbers(np.concatenate([rows, pool]))

    def _best_split(self, rows: Numbers, pool: Numbers, pool_weight: float) -> Split | None:
        step = max(1, (len(rows) + len(pool)) // ENOUGH)
        rows, pool = rows[::step], pool[::step]
        weight, numbers = self._weighted(rows, pool, pool_weight)
        total = float(weight.sum())
        scaled = (numbers - (numbers @ weight / total)[:, np.newaxis]) / self._scale
        moved = scaled * weight
        best = _NOISE * float((scaled * moved).sum())
        found = None
        both = np.concatenate([rows, pool])
        for feature, slabs in enumerate(self._numbered.columns):
            gap = _best_gap(slabs[both], weight, moved)
            if gap is not None and gap[0] > best:
                best = gap[0]
                found = Split(feature, gap[1], gap[2], best / total)
        return found


def _best_gap(slabs: NDArray[np.int32], weight: Floats, moved: Floats) -> tuple[float, int, int] | None:
    """Return the largest decrease of the squared error by one feature, and the slabs on both sides of the gap.

    `moved` are weighted distances from the mean, one line per number, so that each line adds up to 0 and the decrease
    is that of one side times what the two weights make of it.
    """
    first = int(slabs.min())
    at = slabs - first
    on_slab = np.bincount(at, weight)
    seen = np.flatnonzero(on_slab)
    if len(seen) < 2:
        return None
    left = np.cumsum(on_slab[seen])[:-1]
    right = np.cumsum(on_slab[seen[::-1]])[-2::-1]
    square = np.zeros(len(seen) - 1)
    for line in moved:
        square += np.cumsum(np.bincount(at, line)[seen])[:-1] ** 2
    gain = square * (1 / left + 1 / right)
    best = int(np.argmax(gain))
    return float(gain[best]), first + int(seen[best]), first + int(seen[best + 1])


def grown(maker: NumberMaker, rows: Rows, max_leaves: int, clock: Clock) -> tuple[Branches, Floats]:
    """Grow more leaves than wanted and go back to the best tree of that size; its `leaf_class` is a row of numbers."""
    response = maker.predictor.ensemble.response
    if response is None:
        raise AssertionError("only an ensemble with numbers is followed in them")
    sample = NumberSample(maker, rows, response.n_numbers)
    growth = NumberGrowth(sample, first_pool(sample))
    n_grown = OVERGROWN * max_leaves
    growth.grow(max_leaves=n_grown, max_wrong=0, step=clock.of_leaves(n_grown))
    (leaves,) = cut_back(growth.nodes, [max_leaves])
    return as_branches(growth.nodes, leaves), np.array(growth.values)
