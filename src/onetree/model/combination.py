"""Rules of two levels: sums of members, each through the link of its library, combined into one decision.

A soft vote of boosted models, a calibrated forest or a stack is a short list of stages after the members' sums. A stage
takes arrays with a row per input and gives another one, in the arithmetic of the library that it comes from: its
functions (`onetree.model.links`) are those that the library calls, in its precision and order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.model.links import LINKS, WIDTHS
from onetree.model.operations import Operation, operations
from onetree.model.stages import Member, Stage

Floats = NDArray[Any]


@dataclass(frozen=True)
class Combination:
    """Members, the stages after them, and how the last signal decides.

    Parameters
    ----------
    members : tuple of Member
    stages : tuple of Stage
        May be empty if there is one member.
    cut : float or None
        The last signal has one column, and class 1 is whatever is above this; otherwise the largest column wins.
    cut_inclusive : bool
        Class 1 is also what is equal to the cut.
    last_wins : bool
        Of several largest columns the last one wins, not the first.
    """

    members: tuple[Member, ...]
    stages: tuple[Stage, ...] = ()
    cut: float | None = None
    cut_inclusive: bool = False
    last_wins: bool = False

    def __post_init__(self) -> None:
        if not self.members or (len(self.members) > 1 and not self.stages):
            raise InvalidInputError("a rule of two levels needs members, and stages that combine them")
        if self.cut is not None and not math.isfinite(self.cut):
            raise InvalidInputError(f"the cut of a rule must be finite, not {self.cut!r}")
        width = self.widths()[-1]
        if (self.cut is not None) != (width == 1):
            raise InvalidInputError(f"the last stage of a rule has {width} columns; one needs a cut, several none")

    @property
    def n_outputs(self) -> int:
        """Number of sums of all members."""
        return sum(member.n_outputs for member in self.members)

    @property
    def n_decisive(self) -> int:
        """Number of columns of the last signal."""
        return self.widths()[-1]

    @property
    def n_classes(self) -> int:
        """Number of classes between which the last signal decides."""
        return max(2, self.widths()[-1])

    def widths(self) -> list[int]:
        """Return the number of columns of each signal; wrong parameters of a stage are an error."""
        widths = [member.n_outputs for member in self.members]
        for stage in self.stages:
            if stage.kind not in LINKS:
                raise InvalidInputError(
                    f"unknown stage {stage.kind!r} of a rule; use one of {', '.join(sorted(LINKS))}"
                )
            if not stage.of or not all(0 <= number < len(widths) for number in stage.of):
                raise InvalidInputError(f"the stage {stage.kind!r} takes signals {stage.of} that do not come before it")
            given = [widths[number] for number in stage.of]
            width = WIDTHS[stage.kind](given, stage)
            if width is None or width < 1:
                raise InvalidInputError(f"the stage {stage.kind!r} does not fit {given} columns and its parameters")
            widths.append(width)
        return widths

    def dtypes(self) -> list[np.dtype[Any]]:
        """Return the precision of each output."""
        return [np.dtype(member.dtype) for member in self.members for _ in range(member.n_outputs)]

    def divisors(self) -> NDArray[np.float64]:
        """Return the divisor of each output."""
        return np.repeat([float(member.divisor) for member in self.members], [m.n_outputs for m in self.members])

    def signals(self, sums: Floats) -> list[Floats]:
        """Return all signals of sums, which come divided and of shape (n_rows, n_outputs)."""
        found: list[Floats] = []
        start = 0
        for member in self.members:
            found.append(np.ascontiguousarray(sums[:, start : start + member.n_outputs], dtype=member.dtype))
            start += member.n_outputs
        with np.errstate(all="ignore"):
            for stage in self.stages:
                found.append(LINKS[stage.kind]([found[number] for number in stage.of], stage))
        return found

    def final(self, sums: Floats) -> Floats:
        """Return the signal that decides."""
        return self.signals(sums)[-1]

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

    def operations(self) -> list[Operation]:
        """Return the stages as the native core bounds them."""
        precisions = [signal.dtype for signal in self.signals(np.zeros((1, self.n_outputs)))]
        return operations(self.members, self.stages, precisions)

    def decide_one(self, sums: Floats) -> int:
        """Return the class of one row of sums, for the native core, which asks where bounds do not tell."""
        return int(self.decide(sums[np.newaxis])[0])
