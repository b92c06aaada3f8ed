"""What the options of every axis are around one input: of an ordinary one, in each slab the nearest allowed number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from onetree.domain.values import Values

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Index = NDArray[np.intp]

_CLOSE = 2.0**-23  # between neighbouring float32 numbers, relatively; they are further apart only beyond their range


@dataclass(frozen=True, eq=False)
class Choices:
    """What the options of one axis are for a certain input: a row per option, a column per feature of the axis."""

    features: tuple[int, ...]
    values: Floats
    allowed: Bools  # inside the domain


class Slabs:
    """The slabs of all features, one after another, in order to look at them at once.

    Parameters
    ----------
    levels : sequence of float64 arrays
        Thresholds of each feature, ascending.
    values : sequence of Values
        What each feature can be.
    takes_nan : bool array of shape (n_features,)
        Where the missing value is a slab, the last one.
    ordinary : bool array of shape (n_features,)
        Which features are an axis with these slabs; each of the others has a single slab, which stands for nothing.
    """

    def __init__(self, levels: Sequence[Floats], values: Sequence[Values], takes_nan: Bools, ordinary: Bools) -> None:
        each = [_slabs_of(*of_feature) for of_feature in zip(levels, values, takes_nan.tolist(), strict=True)]
        ends = np.cumsum([len(slabs[0]) for slabs in each])
        self.begin: Index = np.append(0, ends)  # of the slabs of each feature, and one more
        self.feature: Index = np.repeat(np.arange(len(each)), np.diff(self.begin))
        self.ordinary: Index = np.flatnonzero(ordinary)
        self.others: Index = np.flatnonzero(~ordinary[self.feature])  # slabs
        self._low, self._high, self._least, self._largest = (
            np.concatenate([slabs[part] for slabs in each]) for part in range(4)
        )
        self._unbounded = np.isneginf(self._low)  # -inf is no bound, and a number that can be an input itself
        self._missing = ends[takes_nan] - 1
        self._may_miss = np.array([own.missing for own in values], dtype=bool)[takes_nan]
        self._values = values
        ranges = np.array([own.choices is None and not own.integer for own in values], dtype=bool)
        self._lowest = np.where(ranges, [own.low for own in values], np.inf)  # of what can be any number in between
        self._highest = np.where(ranges, [own.high for own in values], -np.inf)

    def nearest(self, row: Floats) -> tuple[Floats, Bools]:
        """Return the value nearest to a row in every slab, and whether the domain has one there."""
        x = np.where(np.isnan(row), 0.0, row)
        closest = x
        outside = np.flatnonzero(~((self._lowest <= x) & (x <= self._highest)))
        if outside.size:
            closest = x.copy()
            closest[outside] = [_closest(self._values[each], x[each]) for each in outside.tolist()]
        close = closest[self.feature]
        inside = ((self._low < close) | self._unbounded) & (close <= self._high)
        found = np.where(inside, close, np.where(self._high < x[self.feature], self._largest, self._least))
        allowed = ((self._low < found) | self._unbounded) & (found <= self._high)
        allowed[self._missing] = self._may_miss
        return found, allowed


class Around:
    """The options of every axis around one input; an axis has the number of its first feature.

    Parameters
    ----------
    slabs : Slabs
    joint : mapping
        The options of the other axes.
    row : float64 array of shape (n_features,)

    Attributes
    ----------
    feature, values, allowed : arrays of one length
        Of every slab.
    """

    def __init__(self, slabs: Slabs, joint: Mapping[int, Choices], row: Floats) -> None:
        self.row, self.joint, self._slabs = row, joint, slabs
        self.feature = slabs.feature
        self.values, self.allowed = slabs.nearest(row)

    def __getitem__(self, axis: int) -> Choices:
        if axis in self.joint:
            return self.joint[axis]
        if axis not in self._slabs.ordinary:  # decided on another axis
            return Choices((), np.zeros((1, 0)), np.ones(1, dtype=bool))
        part = self.part(axis)
        return Choices((axis,), self.values[part, np.newaxis], self.allowed[part])

    def __len__(self) -> int:
        return len(self.row)

    def part(self, axis: int) -> slice:
        """Return which slabs are those of an ordinary axis."""
        return slice(self._slabs.begin[axis], self._slabs.begin[axis + 1])

    @cached_property
    def same(self) -> Bools:
        """Which slabs hold the input, if that is allowed there."""
        return is_same(self.values, self.row[self.feature])

    def joined(self, of_slabs: Floats, of_joint: Mapping[int, Floats]) -> Floats:
        """Return what every option costs, axis after axis, from what it costs in slabs and on the other axes."""
        if not self.joint:
            return of_slabs
        of_slabs[self._slabs.others] = 0.0
        pieces, at = [], 0
        for axis in sorted(self.joint):
            pieces += [of_slabs[at : self._slabs.begin[axis]], of_joint[axis]]
            at = self._slabs.begin[axis + 1]
        return np.concatenate([*pieces, of_slabs[at:]])

    def point(self, chosen: NDArray[np.int32]) -> Floats:
        """Return the input that the chosen options stand for."""
        point, ordinary = self.row.copy(), self._slabs.ordinary
        point[ordinary] = self.values[self._slabs.begin[ordinary] + chosen[ordinary]]
        for axis, choices in self.joint.items():
            point[list(choices.features)] = choices.values[chosen[axis]]
        return point


def is_same(values: Floats, x: float | Floats) -> Bools:
    """Return which values are `x`, also if that is missing."""
    return np.asarray((values == x) | (np.isnan(values) & np.isnan(x)))


def _slabs_of(levels: Floats, values: Values, takes_nan: bool) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the ends of the slabs of a feature, and their least and largest allowed number.

    The numbers are float32 if such lie close by, so that they are the same input in either precision. The missing value
    is a slab whose ends are not numbers.
    """
    low, high = np.append(-np.inf, levels), np.append(levels, np.inf)  # low < value <= high
    up, down = values.above(low), values.below(high)
    if values.choices is None and not values.integer:
        up, down = _rounded(up, low, np.minimum(high, values.high), np.inf), _rounded(down, low, down, -np.inf)
    missing = np.full(int(takes_nan), np.nan)
    return np.append(low, missing), np.append(high, missing), np.append(up, missing), np.append(down, missing)


def _closest(values: Values, x: float) -> float:
    """Return the allowed number that is nearest to `x`, or to 0 if that is missing; NaN if there is none."""
    x = 0.0 if math.isnan(x) else x
    if values.choices is None and not values.integer and values.low <= x <= values.high:
        return x
    around = np.concatenate([values.below(np.array([x])), values.above(np.array([x]))])
    around = around[~np.isnan(around)]
    return float(around[np.argmin(np.abs(around - x))]) if around.size else math.nan


def _rounded(number: Floats, low: Floats, high: Floats, direction: float) -> Floats:
    """Return the next float32 number in a direction where it is still above `low` and up to `high`, else the number."""
    with np.errstate(over="ignore", invalid="ignore"):
        short = number.astype(np.float32)
        wrong = short < number if direction > 0 else short > number
        short = np.where(wrong, np.nextafter(short, np.float32(direction)), short).astype(np.float64)
        close = np.abs(short - number) <= _CLOSE * np.abs(number)
        return np.where(close & (low < short) & (short <= high), short, number)
