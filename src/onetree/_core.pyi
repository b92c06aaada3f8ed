from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onetree.model.ensemble import Ensemble, Rule

class LimitReached(Exception): ...
class GridTooLarge(Exception): ...

class EnsembleArrays(Protocol):  # an Ensemble, or one with set axes: then it also has `sets`
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

_Callback = Callable[[str, float, int, int, int, float], object]  # returns True to end with what there is

def solve(
    ensemble: EnsembleArrays,
    objective: int,
    engine: int,
    time_limit: float,
    work_limit: int,
    memory_limit: float,
    n_threads: int,
    progress: _Callback | None,
) -> dict[str, Any]: ...
def pareto_front(
    ensemble: EnsembleArrays, time_limit: float, memory_limit: float, n_threads: int, progress: _Callback | None
) -> dict[str, Any]: ...
def heuristic(
    ensemble: EnsembleArrays,
    objective: int,
    max_boxes: float,
    seed: int,
    time_limit: float,
    work_limit: int,
    memory_limit: float,
    progress: _Callback | None,
) -> dict[str, Any]: ...
def estimate(
    ensemble: EnsembleArrays, objective: int, max_boxes: float, seconds: float, seed: int, progress: _Callback | None
) -> dict[str, Any]: ...
def essential_levels(ensemble: EnsembleArrays, time_limit: float) -> list[NDArray[np.float64]]: ...
def simd() -> str: ...  # the vector path in use
def available_simd() -> list[str]: ...  # the slowest first
def box_values(
    slabs: list[int],
    classes: NDArray[np.uint8],  # of the cells, last axis fastest
    measure: int,  # 0: depth, 1: splits, 2: both in one word
    element_bytes: int,
    simd: str,
    n_threads: int = ...,
) -> NDArray[np.uint32]: ...  # by the interval on the first axis, shorter ones first, then on the second, ...
def share_nodes(
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    leaf_class: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def predict_tree(
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    rows: NDArray[np.float32] | NDArray[np.float64],
) -> NDArray[np.int32]: ...
def certify_boxes(
    ensemble: Ensemble,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    expected_class: NDArray[np.int32],
    time_limit: float,
    progress: _Callback | None,
    max_nodes: int = ...,
) -> tuple[NDArray[np.uint8], NDArray[np.float64], dict[str, int]]: ...
def certify_tree(
    ensemble: EnsembleArrays,
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    leaf_class: NDArray[np.int32],
    time_limit: float,
    progress: _Callback | None,
) -> tuple[NDArray[np.float64], dict[str, int]]: ...
def ensemble_scores(
    roots: NDArray[np.int32],
    output: NDArray[np.int32],  # the only one that each tree adds to, -1 for all
    nodes: NDArray[np.int32],  # feature, first, last, inside, outside
    value: NDArray[Any],
    base: NDArray[Any],
    slabs: NDArray[np.int32],  # one line per feature, here and below
) -> NDArray[Any]: ...
def slab_leaves(
    nodes: NDArray[np.int32], root: int, slabs: NDArray[np.int32], rows: NDArray[np.int32]
) -> NDArray[np.int32]: ...
def least_impurity(
    slabs: NDArray[np.int32],
    classes: NDArray[np.int32],
    n_classes: int,
    reference: NDArray[np.int32],
    synthetic: NDArray[np.int32],
    synthetic_weight: float,
    faithful: bool,
) -> tuple[int, int, int, float]: ...  # feature or -1, below, above, gain
def largest_gain(
    slabs: NDArray[np.int32], rows: NDArray[np.int32], gain: NDArray[np.float64], least: float
) -> tuple[int, int, int, float]: ...
def smallest(numbers: NDArray[np.float64], n_smallest: int) -> NDArray[np.int32]: ...
