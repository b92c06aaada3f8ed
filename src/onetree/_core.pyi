from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.ensemble import Ensemble

class LimitReached(Exception): ...
class GridTooLarge(Exception): ...

_Callback = Callable[[str, float, int, int, int, float], object]

def solve(
    ensemble: Ensemble,
    objective: int,
    engine: int,
    time_limit: float,
    memory_limit: float,
    n_threads: int,
    progress: _Callback | None,
) -> dict[str, Any]: ...
def pareto_front(
    ensemble: Ensemble, time_limit: float, memory_limit: float, n_threads: int, progress: _Callback | None
) -> dict[str, Any]: ...
def heuristic(
    ensemble: Ensemble,
    objective: int,
    max_boxes: float,
    seed: int,
    time_limit: float,
    memory_limit: float,
    progress: _Callback | None,
) -> dict[str, Any]: ...
def estimate(
    ensemble: Ensemble, objective: int, max_boxes: float, seconds: float, seed: int, progress: _Callback | None
) -> dict[str, Any]: ...
def essential_levels(ensemble: Ensemble, time_limit: float) -> list[NDArray[np.float64]]: ...
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
    memory_limit: float = ...,
) -> tuple[NDArray[np.uint8], NDArray[np.float64], dict[str, int]]: ...
def certify_tree(
    ensemble: Ensemble,
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    leaf_class: NDArray[np.int32],
    time_limit: float,
    progress: _Callback | None,
    memory_limit: float = ...,
) -> tuple[NDArray[np.float64], dict[str, int]]: ...
