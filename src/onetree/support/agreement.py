"""Counts of agreeing inputs, kept as counts so that no figure is rounded up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.tree.leaf_values import tolerance_words

NORMAL_95 = 1.959963984540054  # standard deviations on both sides that hold 95 %


@dataclass(frozen=True)
class Agreement:
    """On how many inputs tree and ensemble give the same class.

    Parameters
    ----------
    n_agreeing, n_inputs : int
    """

    n_agreeing: int
    n_inputs: int

    @classmethod
    def of(cls, same: NDArray[np.bool_]) -> Agreement:
        """Count."""
        return cls(int(np.count_nonzero(same)), len(same))

    @property
    def share(self) -> float | None:
        """Share of the inputs, None if there are none."""
        return self.n_agreeing / self.n_inputs if self.n_inputs else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % confidence interval of the share, for inputs like these; from 0 to 1 if there are none."""
        if not self.n_inputs:
            return 0.0, 1.0
        n, share, z = self.n_inputs, self.n_agreeing / self.n_inputs, NORMAL_95
        middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
        return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))  # whatever rounding does

    def __str__(self) -> str:
        return self.counted

    @property
    def counted(self) -> str:
        """The counts and the share in words."""
        if not self.n_inputs:
            return "none"
        percent = 10_000 * self.n_agreeing // self.n_inputs / 100  # rounded down: 100 % means all of them
        return f"{self.n_agreeing:,} of {self.n_inputs:,} ({percent:.2f} %)"


@dataclass(frozen=True)
class NumberAgreement(Agreement):
    """How far the numbers of a tree are from the ensemble's on some inputs.

    What counts as agreeing is the same class, as ever, and for a regressor the same number. The deviation of an input
    is that of the number, of several the one that is furthest off.

    Parameters
    ----------
    n_agreeing, n_inputs : int
    mean, worst : float or None
        Of the deviations; None if there are no inputs.
    """

    mean: float | None
    worst: float | None

    def __str__(self) -> str:
        if self.mean is None or self.worst is None:
            return "none"
        mean, worst = (tolerance_words(each, relative=False) for each in (self.mean, self.worst))
        return f"{mean} on average, {worst} at worst among {self.n_inputs:,}"
