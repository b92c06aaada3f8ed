"""Entries of CatBoost's JSON that have to be there and of their very type."""

import sys
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError

_LARGEST = sys.float_info.max

_Kind = TypeVar("_Kind")


def entry(document: object, key: str, kind: type[_Kind], where: str) -> _Kind:
    """Return an entry of an object that has to be there and of this very type (True is no int)."""
    value = document.get(key) if isinstance(document, dict) else None
    if not isinstance(value, kind) or type(value) is not kind:
        raise ModelFileError(f'{where} needs the entry "{key}", a {kind.__name__}')
    return value


def number(given: object, where: str) -> float:
    """Return a finite number."""
    if type(given) not in (int, float) or not -_LARGEST <= given <= _LARGEST:  # type: ignore[operator]
        raise ModelFileError(f"{where} must hold finite numbers")
    return float(given)  # type: ignore[arg-type]


def singles(given: list[float]) -> NDArray[np.float32]:
    """Return borders, which are float32 numbers."""
    with np.errstate(over="ignore", under="ignore"):
        single = np.array(given, dtype=np.float64).astype(np.float32)
    if np.any(single != np.array(given, dtype=np.float64)):
        raise ModelFileError("a border is not a float32 number")
    return single


def hash_of(given: object, where: str) -> int:
    """Return the number that stands for a category: an integer of 32 bits with a sign."""
    if type(given) is not int or not -(1 << 31) <= given < 1 << 31:
        raise ModelFileError(f"{where} must hold integers of 32 bits for the values of categories")
    return given
