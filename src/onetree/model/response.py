"""What a library returns as numbers: probabilities, or the value of a regressor, from the sums of an ensemble.

A response is a short list of stages after the sums, in the arithmetic of the library that it comes from: its functions
(`onetree.model.links`) are those that the library calls, in its precision and order.
"""

from __future__ import annotations

from collections.abc import Sequence
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
class Response:
    """Members, and the stages after them; the last signal is what the library returns.

    Parameters
    ----------
    members : tuple of Member
        Those of the rule of two levels that it belongs to, or one for a rule of one level.
    stages : tuple of Stage
        May be empty if there is one member: then its sums are returned as they are.

    Examples
    --------
    >>> logistic = Response((Member(1),), (Stage("sigmoid", (0,), (1.0,)), Stage("pair", (1,))))
    >>> logistic.numbers(np.zeros((1, 1))).tolist()
    [[0.5, 0.5]]
    """

    members: tuple[Member, ...]
    stages: tuple[Stage, ...] = ()

    def __post_init__(self) -> None:
        if not self.members or (len(self.members) > 1 and not self.stages):
            raise InvalidInputError("a rule of two levels needs members, and stages that combine them")
        self.widths()

    @property
    def n_outputs(self) -> int:
        """Number of sums of all members."""
        return sum(member.n_outputs for member in self.members)

    @property
    def n_numbers(self) -> int:
        """Number of columns of the last signal."""
        return self.widths()[-1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the last signal: float32 or float64."""
        return self.final(np.zeros((1, self.n_outputs))).dtype

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
        """Return the last signal."""
        return self.signals(sums)[-1]

    def numbers(self, sums: Floats) -> Floats:
        """Return what the library returns for sums as `Ensemble.scores` gives them, of shape (n_rows, n_numbers)."""
        return self.final(sums)

    def operations(self) -> list[Operation]:
        """Return the stages as the native core bounds them."""
        precisions = [signal.dtype for signal in self.signals(np.zeros((1, self.n_outputs)))]
        return operations(self.members, self.stages, precisions)


def chained(member: Member, stages: Sequence[Stage]) -> Response:
    """Return the response of one member after stages, each of which takes what the one before it gives."""
    return Response(
        (member,),
        tuple(Stage(each.kind, (at,), each.numbers, each.places, each.dtype) for at, each in enumerate(stages)),
    )
