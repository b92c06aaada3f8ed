"""What the native core reads of an ensemble, and how it reports: the Python side of its signatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onetree.model.ensemble import Ensemble, Rule
from onetree.model.operations import Operation
from onetree.model.response import Response

# Phase, elapsed seconds, bounds of the objective, a count of work done, the share done. True ends with what there is.
Callback = Callable[[str, float, int, int, int, float], object]
# From sums, (rows, outputs), to the ends of what a leaf may carry there, each (rows, columns).
Admit = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


@dataclass(frozen=True, eq=False)
class AxisEnsemble:
    """An ensemble whose features are axes: arrays as `Ensemble` describes them.

    The search and the proof each have their own way from an ensemble to its axes; this is only what comes out.

    Parameters
    ----------
    sets : tuple of uint8 matrices or None
        One entry per axis: None where it has thresholds. Otherwise a row per test and a column per value; the threshold
        of a node is the number of its test, and a value goes left iff the test contains it.
    response : Response or None
        That of the ensemble.
    """

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    children_left: NDArray[np.int32]
    children_right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    value: NDArray[np.float64]
    base: NDArray[np.float64]
    rule: Rule
    nan_features: NDArray[np.bool_]
    n_classes: int
    sets: tuple[NDArray[np.uint8] | None, ...]
    response: Response | None = None


EnsembleArrays = Ensemble | AxisEnsemble

# Leaves of a tree, divided sums of shape (n, n_outputs): how far each leaf is from what the library returns.
Evaluate = Callable[[NDArray[np.int32], NDArray[np.float64]], NDArray[np.float64]]


class SumsLike(Protocol):
    """What the native proof reads of a response."""

    def dtypes(self) -> list[np.dtype[Any]]:
        """Return the precision of each output."""

    def divisors(self) -> NDArray[np.float64]:
        """Return the divisor of each output."""

    def operations(self) -> list[Operation]:
        """Return what becomes of the sums; nothing if they are returned as they are."""


class ScoringLike(Protocol):
    """What the native core reads of the numbers that are asked of a tree where no grid can be listed."""

    @property
    def response(self) -> Response:
        """How sums become numbers; also as operations, by which the core bounds them."""

    @property
    def n_columns(self) -> int:
        """One for each number, and a last one for the class where it is kept."""

    @property
    def tolerance(self) -> float:
        """How far a leaf may be off."""

    @property
    def relative(self) -> bool:
        """Whether that is a share of the number."""

    @property
    def keep_class(self) -> bool:
        """Whether the class is kept."""

    @property
    def float32(self) -> bool:
        """Whether leaves carry float32 numbers."""

    @property
    def is_bounded(self) -> bool:
        """Whether the operations bound the numbers."""

    def admit(self, sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of what a leaf may carry in each column, as `Admit`."""
