"""What a rule of two levels consists of: members that add up leaves, and stages after them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from onetree.errors import InvalidInputError


@dataclass(frozen=True)
class Member:
    """Sums that belong together: some columns of the leaf values.

    Parameters
    ----------
    n_outputs : int
        How many columns, the next after those of the member before.
    dtype : {"float64", "float32"}
        Precision in which its library adds.
    divisor : float
        Its sums are divided by this.
    """

    n_outputs: int
    dtype: str = "float64"
    divisor: float = 1.0

    def __post_init__(self) -> None:
        if self.n_outputs < 1:
            raise InvalidInputError(f"a member needs at least one output, not {self.n_outputs}")
        if self.dtype not in ("float64", "float32"):
            raise InvalidInputError(f"unknown precision {self.dtype!r} of a member; use float64 or float32")
        if not (math.isfinite(self.divisor) and self.divisor > 0):
            raise InvalidInputError(f"the divisor of a member must be positive and finite, not {self.divisor!r}")


@dataclass(frozen=True)
class Stage:
    """One step from signals to a new one.

    Parameters
    ----------
    kind : str
        One of `onetree.model.links.LINKS`, which say what the other parameters mean.
    of : tuple of int
        Numbers of the signals that it takes: the members come first, then the stages.
    numbers : tuple of float
    places : tuple of int
    dtype : {"", "float64", "float32"}
        Precision in which it works, if not that of its signals.
    """

    kind: str
    of: tuple[int, ...]
    numbers: tuple[float, ...] = ()
    places: tuple[int, ...] = ()
    dtype: str = ""

    def __post_init__(self) -> None:
        if self.dtype not in ("", "float64", "float32"):
            raise InvalidInputError(f"unknown precision {self.dtype!r} of a stage; use float64 or float32")
        if not all(math.isfinite(number) for number in self.numbers):
            raise InvalidInputError(f"the numbers of the stage {self.kind!r} must be finite")
