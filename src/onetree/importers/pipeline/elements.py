"""Tests on a raw column as an ensemble holds them: thresholds where they are half-lines, sets otherwise."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.importers.pipeline.columns import Raw
from onetree.model.categories import FIRST, MISSING, OTHER, Categories, interval_words

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Axis:
    """All tests on one raw column; one entry per test.

    Parameters
    ----------
    categories : Categories or None
        None if the tests are thresholds.
    decided : bool array
        Whether everything goes to one side.
    swapped : bool array
        Whether left and right have changed places; if all is decided, whether everything goes right.
    threshold : float64 array
    missing_left : bool array
    members : bool array of shape (n_tests, n_elements)
        The elements that go left, if there are categories.
    """

    categories: Categories | None
    decided: Bools
    swapped: Bools
    threshold: NDArray[np.float64]
    missing_left: Bools
    members: Bools

    def part(self, tests: slice) -> "Axis":
        """Return some of the tests; the categories stay those of all."""
        return Axis(
            self.categories,
            self.decided[tests],
            self.swapped[tests],
            self.threshold[tests],
            self.missing_left[tests],
            self.members[tests],
        )


def number_axis(ends: NDArray[np.float64], left: Bools, missing: Bools | None) -> Axis:
    """Return the tests on a column of numbers.

    Parameters
    ----------
    ends : float64 array of shape (n_intervals,)
        The last number of each interval; beyond the last, everything is as in the last interval.
    left : bool array of shape (n_tests, n_intervals)
        Whether the numbers of an interval go left.
    missing : bool array of shape (n_tests,), optional
        Whether NaN goes left, if it is an input.
    """
    found = _half_lines(ends, left, missing)
    return found if found is not None else _intervals(ends, left, missing)


def finite_axis(raw: Raw, left: Bools, other: Bools | None, missing: Bools | None) -> Axis:
    """Return the tests on a column of finitely many values.

    Parameters
    ----------
    raw : Raw
        Its labels have ascending codes.
    left : bool array of shape (n_tests, n_values)
        Whether a value goes left.
    other, missing : bool array of shape (n_tests,), optional
        Whether other values, and NaN, go left, if they are inputs.
    """
    assert raw.labels is not None  # noqa: S101
    codes, texts = np.array(raw.labels.codes), any(isinstance(value, str) for value in raw.labels.values)
    if not texts and other is None:
        ordered = _half_lines(codes, left, missing)
        if ordered is not None:
            return ordered
    # What cannot occur goes where most values go, so that it need not be mentioned.
    usual = left.sum(axis=1) * 2 >= left.shape[1]
    typical = left[:, np.argmax((left == usual[:, np.newaxis]).sum(axis=0))]
    names = [str(value) for value in raw.labels.values] if texts else []
    return _sets(Categories.equal(codes, names), left, typical if other is None else other, missing)


def _half_lines(ends: NDArray[np.float64], left: Bools, missing: Bools | None) -> Axis | None:
    changes = left[:, 1:] != left[:, :-1]
    n_changes = changes.sum(axis=1)
    if np.any(n_changes > 1):
        return None
    first = left[:, 0]
    decided = (n_changes == 0) if missing is None else (n_changes == 0) & (missing == first)
    gap = left[:, -1] if missing is None else missing
    threshold = np.where(n_changes == 1, ends[changes.argmax(axis=1)] if changes.size else np.inf, np.inf)
    return Axis(None, decided, ~first, threshold, gap ^ ~first, np.zeros((len(left), 0), dtype=np.bool_))


def _sets(categories: Categories, left: Bools, other: Bools, missing: Bools | None) -> Axis:
    members = np.zeros((len(left), categories.n_elements), dtype=np.bool_)
    members[:, FIRST:], members[:, OTHER] = left, other
    members[:, MISSING] = other if missing is None else missing
    decided = (members == members[:, :1]).all(axis=1)
    nothing = np.zeros(len(left))
    kind = None if decided.all() else categories
    shown = members[:, : 0 if kind is None else categories.n_elements]
    return Axis(kind, decided, decided & ~members[:, 0], nothing, nothing.astype(np.bool_), shown)


def _intervals(ends: NDArray[np.float64], left: Bools, missing: Bools | None) -> Axis:
    """Return set tests on intervals; those that are like the first one, which has no beginning, are no category."""
    new = np.append((left[:, 1:] != left[:, :-1]).any(axis=0), True)  # ends of what is distinguished
    left, high = left[:, new], np.append(ends[new][:-1], np.inf)
    low = np.concatenate([[-np.inf], high[:-1]])
    kept = (left != left[:, :1]).any(axis=0)
    codes = [_inside(a, b) for a, b in zip(low[kept].tolist(), high[kept].tolist(), strict=True)]
    points = np.nextafter(low[kept], np.inf) == high[kept]
    ends_of_kept = zip(low[kept].tolist(), high[kept].tolist(), strict=True)
    names = () if points.all() else [interval_words(a, b) for a, b in ends_of_kept]
    categories = Categories(tuple(codes), low[kept], high[kept], tuple(names))
    return _sets(categories, left[:, kept], left[:, 0], missing)


def _inside(low: float, high: float) -> float:
    """Return a finite number of an interval without its lower end, an integer if there is one next to it."""
    if math.isfinite(high):
        return high
    beyond = math.floor(low) + 1.0
    return beyond if math.isfinite(beyond) and beyond > low else math.nextafter(low, math.inf)
