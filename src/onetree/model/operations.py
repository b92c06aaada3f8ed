"""The stages of a rule of two levels as the native core bounds them: nine kinds of operations on single numbers.

The core never computes a class with these. It bounds with them what the library's functions can give, and asks the
functions themselves where bounds do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.model.links import LOG_OFFSET
from onetree.model.stages import Member, Stage

Floats = NDArray[np.float64]
_MANY_VOTES = 2.0**20
_SINGLE, _DOUBLE = 2.0**-18, 2.0**-44  # relative errors: some dozens of roundings


class Kind(IntEnum):
    """As in the native core."""

    AFFINE = 0
    SIGMOID = 1
    SOFTMAX = 2
    PIECEWISE = 3
    NORMALISE = 4
    LOG = 5
    WINNER = 6
    EXP = 7
    UNKNOWN = 8


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation, as in the native core.

    Parameters
    ----------
    kind : Kind
    inputs : int32 array
        Registers: those of the outputs come first, then the results of all operations.
    n_results : int
    numbers : float64 array
        Affine: a row of factors per result, then what is added to each. Sigmoid: a factor. Piecewise: places, then the
        value at each. Log: what is added first. Winner of one input: the cut. Exp: a factor, or none.
    slack : float
        Relative error of the library's arithmetic, at most.
    """

    kind: Kind
    inputs: NDArray[np.int32]
    n_results: int
    numbers: Floats
    slack: float


class _Writer:
    """Operations in the making: signals are rows of registers."""

    def __init__(self, n_outputs: int) -> None:
        self.made: list[Operation] = []
        self.n_registers = n_outputs

    def add(self, kind: Kind, inputs: list[int], n_results: int, numbers: object, slack: float) -> list[int]:
        flat = np.array(numbers, dtype=np.float64).ravel()
        self.made.append(Operation(kind, np.array(inputs, dtype=np.int32), n_results, flat, slack))
        results = list(range(self.n_registers, self.n_registers + n_results))
        self.n_registers += n_results
        return results

    def affine(self, inputs: list[int], factors: object, added: object, slack: float) -> list[int]:
        matrix = np.array(factors, dtype=np.float64)
        numbers = np.concatenate([matrix.ravel(), np.array(added, dtype=np.float64).ravel()])
        return self.add(Kind.AFFINE, inputs, len(matrix), numbers, slack)


def operations(
    members: Sequence[Member], stages: Sequence[Stage], precisions: Sequence[np.dtype[Any]]
) -> list[Operation]:
    """Return the operations of all stages; the results of the last ones decide.

    `precisions` are those of all signals, the members' first.
    """
    writer = _Writer(sum(member.n_outputs for member in members))
    signals: list[list[int]] = []
    for member in members:
        start = sum(len(each) for each in signals)
        signals.append(list(range(start, start + member.n_outputs)))
    for number, stage in enumerate(stages, start=len(members)):
        used = [precisions[number], *(precisions[each] for each in stage.of), np.dtype(stage.dtype or "float64")]
        slack = _SINGLE if np.dtype(np.float32) in used else _DOUBLE
        signals.append(_WRITERS[stage.kind](writer, [signals[each] for each in stage.of], stage, slack))
    if signals[-1] != list(range(writer.n_registers - len(signals[-1]), writer.n_registers)):
        signals.append(writer.affine(signals[-1], np.eye(len(signals[-1])), np.zeros(len(signals[-1])), 0.0))
    return writer.made


_Write = Callable[["_Writer", "list[list[int]]", "Stage", float], "list[int]"]


def _linear_of(factors: Callable[[list[list[int]], Stage], tuple[object, object]]) -> _Write:
    """Return the writer of a stage that is linear in all of its signals."""

    def write(writer: _Writer, given: list[list[int]], stage: Stage, slack: float) -> list[int]:
        matrix, added = factors(given, stage)
        return writer.affine([register for signal in given for register in signal], matrix, added, slack)

    return write


def _each(kind: Kind, numbers: Callable[[Stage], list[float]]) -> _Write:
    """Return the writer of a stage that is one operation on the columns of its signal."""
    return lambda writer, given, stage, slack: writer.add(kind, given[0], len(given[0]), numbers(stage), slack)


def _sums(given: list[list[int]], weights: Floats) -> tuple[object, object]:
    width = len(given[0])
    return np.hstack([weight * np.eye(width) for weight in weights]), np.zeros(width)


def _averaged(given: list[list[int]], stage: Stage) -> tuple[object, object]:
    weights = np.array(stage.numbers) if stage.numbers else np.ones(len(given))
    return _sums(given, weights / weights.sum())


def _counted(given: list[list[int]], stage: Stage) -> tuple[object, object]:
    """Return sums of votes; of whole ones, ties are broken as they are in the end: the first class wins."""
    factors, added = _sums(given, np.array(stage.numbers))
    if all(number.is_integer() and number < _MANY_VOTES for number in stage.numbers):
        added = -np.arange(len(given[0])) / (2.0 * len(given[0]))
    return factors, added


def _scattered(given: list[list[int]], stage: Stage) -> tuple[object, object]:
    matrix = np.zeros((int(stage.numbers[0]), len(given[0])))
    matrix[list(stage.places), np.arange(len(given[0]))] = 1
    return matrix, np.zeros(len(matrix))


def _coefficients(given: list[list[int]], stage: Stage) -> tuple[object, object]:
    n = stage.places[0]
    return np.array(stage.numbers[:-n]).reshape(n, -1), stage.numbers[-n:]


def _calibration(writer: _Writer, given: list[list[int]], stage: Stage, slack: float) -> list[int]:
    slope, intercept = stage.numbers
    inner = writer.affine(given[0], [[-slope]], [-intercept], slack)
    return writer.add(Kind.SIGMOID, inner, 1, [1.0], slack)


def _banded(writer: _Writer, given: list[list[int]], stage: Stage, slack: float) -> list[int]:
    """Return 1 for the band of a score and 0 for the others: above one cut, but not above the next."""
    above = [writer.add(Kind.WINNER, given[0], 2, [cut], 0.0)[1] for cut in stage.numbers]
    n_cuts = len(above)
    factors = np.eye(n_cuts + 1, n_cuts, k=-1) - np.eye(n_cuts + 1, n_cuts)
    return writer.affine(above, factors, [1.0] + [0.0] * n_cuts, 0.0)


def _moved(given: list[list[int]], stage: Stage) -> tuple[object, object]:
    factors, _ = _sums(given, np.array(stage.numbers[:1]))
    return factors, np.full(len(given[0]), stage.numbers[1])


def _less_one(writer: _Writer, given: list[list[int]], stage: Stage, slack: float) -> list[int]:
    above = writer.add(Kind.EXP, given[0], len(given[0]), [], slack)
    return writer.affine(above, np.eye(len(above)), np.full(len(above), -1.0), slack)


def _winner(writer: _Writer, given: list[list[int]], stage: Stage, slack: float) -> list[int]:
    return writer.add(Kind.WINNER, given[0], max(2, len(given[0])), stage.numbers[:1], 0.0)


_WRITERS: dict[str, _Write] = {
    "affine": _linear_of(_moved),
    "average": _linear_of(_averaged),
    "bands": _banded,
    "catboost-exp": _each(Kind.EXP, lambda stage: []),
    "catboost-softmax": _each(Kind.SOFTMAX, lambda stage: []),
    "clip": _linear_of(lambda given, stage: _sums(given, np.ones(1))),
    "columns": lambda writer, given, stage, slack: [given[0][place] for place in stage.places],
    "constant": lambda writer, given, stage, slack: writer.affine(
        [], np.zeros((len(stage.numbers), 0)), stage.numbers, 0
    ),
    "divide": _linear_of(lambda given, stage: _sums(given, 1 / np.array(stage.numbers))),
    "exp": _each(Kind.EXP, lambda stage: []),
    "expit": _each(Kind.SIGMOID, lambda stage: [stage.numbers[0]]),
    "isotonic": _each(Kind.PIECEWISE, lambda stage: list(stage.numbers)),
    "join": lambda writer, given, stage, slack: [register for signal in given for register in signal],
    "sigmoid": _each(Kind.SIGMOID, lambda stage: [stage.numbers[0]]),
    "linear": _linear_of(_coefficients),
    "log": _each(Kind.LOG, lambda stage: [LOG_OFFSET]),
    "mean": _linear_of(lambda given, stage: _sums(given, np.full(len(given), 1 / len(given)))),
    "mirror": _linear_of(lambda given, stage: ([[-1.0], [1.0]], [0.0, 0.0])),
    "normalise": _each(Kind.NORMALISE, lambda stage: []),
    "numpy-exp": _each(Kind.EXP, lambda stage: []),
    "numpy-expm1": _less_one,
    "numpy-softmax": _each(Kind.SOFTMAX, lambda stage: []),
    "of-regressors": _linear_of(_averaged),
    "one-vs-rest": _each(Kind.NORMALISE, lambda stage: []),
    "pair": _linear_of(lambda given, stage: ([[-1.0], [1.0]], [1.0, 0.0])),
    "scale": _linear_of(lambda given, stage: _sums(given, np.array(stage.numbers))),
    "scatter": _linear_of(_scattered),
    "sigmoid-calibration": _calibration,
    "softmax": _each(Kind.SOFTMAX, lambda stage: []),
    "sum": _linear_of(lambda given, stage: _sums(given, np.ones(len(given)))),
    "votes": _linear_of(_counted),
    "winner": _winner,
    "xgboost-sigmoid": _each(Kind.SIGMOID, lambda stage: [1.0]),
}
