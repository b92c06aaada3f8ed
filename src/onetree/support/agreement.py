"""Counts of agreeing inputs, kept as counts so that no figure is rounded up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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

    def __str__(self) -> str:
        if not self.n_inputs:
            return "none"
        percent = 10_000 * self.n_agreeing // self.n_inputs / 100  # rounded down: 100 % means all of them
        return f"{self.n_agreeing:,} of {self.n_inputs:,} ({percent:.2f} %)"
