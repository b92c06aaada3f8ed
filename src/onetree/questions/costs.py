"""What it costs to leave an input: a number for every option of every axis, infinite where it must not be chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.model.categories import OTHER
from onetree.questions.around import Around, Choices, is_same
from onetree.questions.options import Options

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

    def costs(self, options: Options, row: Floats) -> tuple[Floats, Around]:
        """Return the cost of every option, axis after axis, and what the options are."""
        near = options.near(row)
        of_slabs = self._of_numbers(near.feature, near.values, row[near.feature])
        of_joint = {axis: self._of_axis(options, row, each) for axis, each in near.joint.items()}
        return near.joined(np.where(near.allowed, of_slabs, np.inf), of_joint), near

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


def within(near: Around, inside: Mapping[int, Bools], free: Collection[int]) -> Floats:
    """Return costs that are 0 inside a box around a row and infinite outside.

    Parameters
    ----------
    near : Around
        The options around the row.
    inside : mapping
        Axis: which of its options belong to the box.
    free : collection of int
        Features that may be anything; what is neither free nor in `inside` stays as it is.
    """
    is_free = np.zeros(len(near), dtype=bool)
    is_free[list(free)] = True
    allowed = near.allowed & (near.same | is_free[near.feature])
    of_joint = {}
    for axis, choices in near.joint.items():
        fits = choices.allowed
        if axis in inside:
            fits = fits & inside[axis]
        else:
            for column, feature in enumerate(choices.features):
                if not is_free[feature]:
                    fits = fits & is_same(choices.values[:, column], near.row[feature])
        of_joint[axis] = np.where(fits, 0.0, np.inf)
    for axis, options in inside.items():
        if axis not in near.joint:
            part = near.part(axis)
            allowed[part] = near.allowed[part] & options
    return near.joined(np.where(allowed, 0.0, np.inf), of_joint)


def changed_features(row: Floats, point: Floats) -> frozenset[int]:
    """Return the features that differ between two inputs."""
    return frozenset(np.flatnonzero(~is_same(point, row)).tolist())
