"""Counts of agreeing inputs, kept as counts so that no figure is rounded up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
        if not self.n_inputs:
            return "none"
        percent = 10_000 * self.n_agreeing // self.n_inputs / 100  # rounded down: 100 % means all of them
        return f"{self.n_agreeing:,} of {self.n_inputs:,} ({percent:.2f} %)"
