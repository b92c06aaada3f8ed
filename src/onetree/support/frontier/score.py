"""How often predictions are right, and by how much one tree is better than another on the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.support.agreement import NORMAL_95


@dataclass(frozen=True)
class Score:
    """How often predictions are right.

    Parameters
    ----------
    accuracy : float
        Share of the rows that get their own class.
    balanced_accuracy : float
        Mean of that share over the classes that occur.
    """

    accuracy: float
    balanced_accuracy: float

    @classmethod
    def of(cls, predicted: NDArray[Any], y: NDArray[Any]) -> Score:
        """Compare predictions with what is true."""
        right = predicted == y
        return cls(float(right.mean()), float(np.mean([right[y == label].mean() for label in np.unique(y)])))


@dataclass(frozen=True)
class Difference:
    """The accuracy of one tree less that of another on the same rows, with a 95 % interval.

    Parameters
    ----------
    value, low, high : float
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Difference:
        """Compare two trees by the rows on which just one of them is right, half a row added to each kind."""
        n_rows = len(first)
        for_first = int(np.count_nonzero(first & ~second))
        for_second = int(np.count_nonzero(second & ~first))
        lead, apart = for_first - for_second, for_first + for_second + 1
        middle, n_more = lead / (n_rows + 2), n_rows + 2
        half = NORMAL_95 * math.sqrt(max(0.0, apart - lead**2 / n_more)) / n_more
        return cls(lead / n_rows, middle - half, middle + half)

    @property
    def better(self) -> str | None:
        """Which is significantly better, "first" or "second"; None if neither is."""
        if self.low > 0:
            return "first"
        return "second" if self.high < 0 else None
