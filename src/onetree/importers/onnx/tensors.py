"""Tensors on their way to the trees."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.importers.onnx.graph import DOUBLE, FLOAT, INT32, INT64, STRING
from onetree.importers.pipeline import Column

Array = NDArray[Any]
NUMPY = {FLOAT: np.float32, DOUBLE: np.float64, INT32: np.int32, INT64: np.int64, STRING: object}


@dataclass(frozen=True)
class Tensor:
    """The type of a tensor, and what each of its columns depends on."""

    kind: int
    columns: tuple[Column, ...]
