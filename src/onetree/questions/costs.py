"""What it costs to leave an input: a number for every option of every axis, infinite where it must not be chosen."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.model.categories import OTHER
from onetree.questions.options import Choices, Options

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
NORMS = ("l1", "l0", "linf")


@dataclass(frozen=True, eq=False)
class Terms:
    """How changes are counted, and which are allowed.

    Parameters
    ----------
    norm : {"l1", "l0", "linf"}
        The sum of weighted differences, of the weights of the changed features, or the largest weighted difference.
    weights : float64 array of shape (n_features,)
    fixed, increasing, decreasing : collection of int
        Features that must not change, that must not become smaller, and not larger.
    missing_cost : float or None
        What it costs to become missing, or known; None: not allowed.
    """

    norm: str
    weights: Floats
    fixed: Collection[int] = ()
    increasing: Collection[int] = ()
    decreasing: Collection[int] = ()
    missing_cost: float | None = None

    def costs(self, options: Options, row: Floats) -> tuple[Floats, list[Choices]]:
        """Return the cost of every option, axis after axis, and what the options are."""
        near = options.near(row)
        ordinary = [
            axis
            for axis, each in enumerate(near)
            if len(each.features) == 1 and options.ensemble.categories[each.features[0]] is None
        ]
        found = {axis: self._of_axis(options, row, each) for axis, each in enumerate(near) if axis not in set(ordinary)}
        if ordinary:  # all at once
            values = np.concatenate([near[axis].values[:, 0] for axis in ordinary])
            sizes = [len(near[axis].values) for axis in ordinary]
            feature = np.repeat([near[axis].features[0] for axis in ordinary], sizes)
            total = self._of_numbers(feature, values, row[feature])
            for axis, end, size in zip(ordinary, np.cumsum(sizes).tolist(), sizes, strict=True):
                found[axis] = np.where(near[axis].allowed, total[end - size : end], np.inf)
        return np.concatenate([found[axis] for axis in range(len(near))]), near

    def _of_axis(self, options: Options, row: Floats, choices: Choices) -> Floats:
        total = np.zeros(len(choices.allowed))
        for column, feature in enumerate(choices.features):
            own = self._of_feature(options, feature, choices.values[:, column], float(row[feature]))
            total = np.maximum(total, own) if self.norm == "linf" else total + own
        return np.where(choices.allowed, total, np.inf)

    def _of_numbers(self, feature: NDArray[np.intp], values: Floats, x: Floats) -> Floats:
        """Return what it costs that features become these values, from `x`; none of them is categorical."""
        weight, missing = self.weights[feature], np.isnan(x)
        same = np.where(missing, np.isnan(values), values == x)
        with np.errstate(invalid="ignore", over="ignore"):
            cost = np.where(same, 0.0, weight if self.norm == "l0" else weight * np.abs(values - x))
            rises, falls = values >= x, values <= x
        cost = np.where(
            np.isnan(values) != missing, np.inf if self.missing_cost is None else weight * self.missing_cost, cost
        )
        wrong = np.isnan(cost)
        for features, fits in ((self.fixed, same), (self.increasing, same | rises), (self.decreasing, same | falls)):
            if features:
                wrong |= np.isin(feature, list(features)) & ~fits
        return np.where(wrong, np.inf, cost)

    def _of_feature(self, options: Options, feature: int, values: Floats, x: float) -> Floats:
        kind = options.ensemble.categories[feature]
        if kind is None:
            return self._of_numbers(np.full(len(values), feature), values, np.full(len(values), x))
        weight, same = self.weights[feature], is_same(values, x)
        cost = np.where(same, 0.0, weight)
        changes_missing = np.isnan(values) != np.isnan(x)
        cost[changes_missing] = np.inf if self.missing_cost is None else weight * self.missing_cost
        if options.is_open(feature):  # nobody can be told to become something unknown
            cost[~same & (kind.element(values) == OTHER)] = np.inf
        if feature in self.fixed:
            cost[~same] = np.inf
        return cost


def within(
    near: list[Choices],
    row: Floats,
    inside: dict[int, Bools],
    free: Collection[int],
    memo: dict[tuple[int, tuple[bool, ...]], Floats] | None = None,
) -> Floats:
    """Return costs that are 0 inside a box around a row and infinite outside.

    Parameters
    ----------
    near : list of Choices
        The options around the row.
    row : float64 array
    inside : dict
        Axis: which of its options belong to the box.
    free : collection of int
        Features that may be anything; what is neither free nor in `inside` stays as it is.
    memo : dict, optional
        Costs of axes that are not in `inside`, for several boxes around one row.
    """
    found = []
    memo = {} if memo is None else memo
    for axis, choices in enumerate(near):
        if axis in inside:
            found.append(np.where(choices.allowed & inside[axis], 0.0, np.inf))
            continue
        key = axis, tuple(feature in free for feature in choices.features)
        if key not in memo:
            allowed = choices.allowed.copy()
            for column, (feature, is_free) in enumerate(zip(choices.features, key[1], strict=True)):
                if not is_free:
                    allowed &= is_same(choices.values[:, column], float(row[feature]))
            memo[key] = np.where(allowed, 0.0, np.inf)
        found.append(memo[key])
    return np.concatenate(found)


def is_same(values: Floats, x: float) -> Bools:
    """Return which values are `x`, also if that is missing."""
    return np.asarray(np.isnan(values) if np.isnan(x) else values == x)


def changed_features(row: Floats, point: Floats) -> frozenset[int]:
    """Return the features that differ between two inputs."""
    differs = ~((row == point) | (np.isnan(row) & np.isnan(point)))
    return frozenset(np.flatnonzero(differs).tolist())


def point_at(row: Floats, near: list[Choices], chosen: NDArray[np.int32]) -> Floats:
    """Return the input that the chosen options stand for."""
    point = row.copy()
    for choices, option in zip(near, chosen.tolist(), strict=True):
        point[list(choices.features)] = choices.values[option]
    return point
