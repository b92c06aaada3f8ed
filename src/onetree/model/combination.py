"""Rules of two levels: sums of members, each through the link of its library, combined into one decision.

A soft vote of boosted models, a calibrated forest or a stack is a short list of stages after the members' sums. A stage
takes arrays with a row per input and gives another one, in the arithmetic of the library that it comes from: its
functions (`onetree.model.links`) are those that the library calls, in its precision and order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.model.response import Floats, Response


@dataclass(frozen=True)
class Combination(Response):
    """Members, the stages after them, and how the last signal decides.

    Parameters
    ----------
    members : tuple of Member
    stages : tuple of Stage
        May be empty if there is one member.
    cut : float or None
        The last signal has one column, and class 1 is whatever is above this; otherwise the largest column wins. A
        single column without a cut decides nothing: it is the value of a regressor.
    cut_inclusive : bool
        Class 1 is also what is equal to the cut.
    last_wins : bool
        Of several largest columns the last one wins, not the first.
    """

    cut: float | None = None
    cut_inclusive: bool = False
    last_wins: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cut is not None and not math.isfinite(self.cut):
            raise InvalidInputError(f"the cut of a rule must be finite, not {self.cut!r}")
        width = self.widths()[-1]
        if self.cut is not None and width > 1:
            raise InvalidInputError(f"the last stage of a rule has {width} columns; one needs a cut, several none")

    @property
    def n_decisive(self) -> int:
        """Number of columns of the last signal."""
        return self.n_numbers

    @property
    def n_classes(self) -> int:
        """Number of classes between which the last signal decides; none for a value."""
        width = self.widths()[-1]
        return width if width > 1 else 2 * (self.cut is not None)

    def decide(self, sums: Floats) -> NDArray[np.intp]:
        """Return the index of the class of each row of sums."""
        final = self.final(sums)
        if self.cut is not None:
            score = final[:, 0].astype(np.float64)
            return (score >= self.cut if self.cut_inclusive else score > self.cut).astype(np.intp)
        if not self.last_wins:
            best: NDArray[np.intp] = np.argmax(final, axis=1)
            return best
        reverse: NDArray[np.intp] = final.shape[1] - 1 - np.argmax(final[:, ::-1], axis=1)
        return reverse

    def decide_one(self, sums: Floats) -> int:
        """Return the class of one row of sums, for the native core, which asks where bounds do not tell."""
        return int(self.decide(sums[np.newaxis])[0])
