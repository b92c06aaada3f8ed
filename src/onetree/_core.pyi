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
def essential_levels(ensemble: Ensemble, time_limit: float) -> list[NDArray[np.float64]]: ...
def predict_tree(
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    rows: NDArray[np.float32] | NDArray[np.float64],
) -> NDArray[np.int32]: ...
