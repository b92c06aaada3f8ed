"""Lists of numbers and texts among the attributes of an operator, checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError
from onetree.importers.onnx.graph import Operator


def numbers(operator: Operator, name: str, dtype: type) -> NDArray[Any]:
    """Return numbers that are either floats or a tensor."""
    plain = operator.attributes.get(name)
    as_tensor = operator.attributes.get(f"{name}_as_tensor")
    if plain is not None and len(plain) and as_tensor is not None and as_tensor.size:
        raise ModelFileError(f"the model has both {name} and {name}_as_tensor")
    if as_tensor is not None and as_tensor.size:
        return tensor(operator, f"{name}_as_tensor", dtype)
    if plain is None:
        return np.zeros(0, dtype=dtype)
    if not isinstance(plain, np.ndarray) or plain.dtype != np.float32:
        raise ModelFileError(f"{name} must be a list of numbers")
    return plain.astype(dtype)


def finite_numbers(operator: Operator, name: str, dtype: type) -> NDArray[Any]:
    """Return a list of finite numbers, empty if it is left out."""
    found = numbers(operator, name, dtype)
    if not np.isfinite(found).all():
        raise ModelFileError(f"{name} must hold finite numbers")
    return found


def tensor(operator: Operator, name: str, dtype: type) -> NDArray[Any]:
    """Return the numbers of a tensor of this type, none if it is left out."""
    given = operator.attributes.get(name)
    if given is None:
        return np.zeros(0, dtype=dtype)
    if not isinstance(given, np.ndarray) or given.ndim != 1 or given.dtype != dtype:
        raise ModelFileError(f"{name} must be a list of {np.dtype(dtype).name}")
    return given


def integers(operator: Operator, name: str) -> NDArray[np.int64]:
    """Return a list of integers, none if it is left out."""
    given = operator.attributes.get(name, np.zeros(0, dtype=np.int64))
    if not isinstance(given, np.ndarray) or given.dtype != np.int64 or given.ndim != 1:
        raise ModelFileError(f"{name} must be a list of integers")
    return given


def texts(operator: Operator, name: str) -> list[str]:
    """Return a list of texts, none if it is left out."""
    given = operator.attributes.get(name, [])
    if not isinstance(given, list):
        raise ModelFileError(f"{name} must be a list of texts")
    return given
