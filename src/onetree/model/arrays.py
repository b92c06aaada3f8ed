"""What the native core reads of an ensemble, and how it reports: the Python side of its signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from onetree.model.ensemble import Rule

# Phase, elapsed seconds, bounds of the objective, a count of work done, the share done. True ends with what there is.
Callback = Callable[[str, float, int, int, int, float], object]


class EnsembleArrays(Protocol):
    """An `Ensemble`, or an ensemble on axes, which has `sets` too: a matrix of tests and values, or None, per axis."""

    @property
    def roots(self) -> NDArray[np.int32]: ...
    @property
    def feature(self) -> NDArray[np.int32]: ...
    @property
    def threshold(self) -> NDArray[np.float64]: ...
    @property
    def children_left(self) -> NDArray[np.int32]: ...
    @property
    def children_right(self) -> NDArray[np.int32]: ...
    @property
    def missing_left(self) -> NDArray[np.bool_]: ...
    @property
    def value(self) -> NDArray[np.float64]: ...
    @property
    def base(self) -> NDArray[np.float64]: ...
    @property
    def rule(self) -> Rule: ...
    @property
    def nan_features(self) -> NDArray[np.bool_]: ...
    @property
    def n_classes(self) -> int: ...
