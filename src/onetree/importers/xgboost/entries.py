"""Entries of a model file of XGBoost, each with the type and range that it must have.

Takes what both JSON and UBJSON give: lists, or arrays of one type. Raises
nothing but `ModelFileError`.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError

COUNT = re.compile(r"[0-9]{1,9}")
_NOT_INTEGERS = "must be a list of integers"


def entry(document: Any, key: str, kind: Any, where: str) -> Any:
    """Return an entry that must be there and of this type."""
    if not isinstance(document, dict) or not isinstance(document.get(key), kind):
        raise ModelFileError(f'{where} should have an entry "{key}" of the right type; is this a model of XGBoost?')
    return document[key]


def known_entries(document: Any, known: frozenset[str], where: str) -> None:
    """Refuse entries that are not known: they could change what the model predicts."""
    unknown = sorted(set(document) - known) if isinstance(document, dict) else []
    if unknown:
        raise ModelFileError(
            f"{where} has an unknown entry {unknown[0][:40]!r}; the file is damaged, or written by an XGBoost that is "
            "newer than this onetree"
        )


def count(param: Mapping[str, Any], key: str) -> int:
    """Return a parameter that is a count; XGBoost writes these as texts."""
    text = param.get(key)
    if not isinstance(text, str) or not COUNT.fullmatch(text):
        raise ModelFileError(f'"{key}" must be an integer in quotes')
    return int(text)


def integers(values: Any, what: str) -> NDArray[np.int64]:
    """Return a list or typed array of integers."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "iu":
            raise ModelFileError(f"{what} {_NOT_INTEGERS}")
        return values.astype(np.int64)
    if not {type(value) for value in values} <= {int}:
        raise ModelFileError(f"{what} {_NOT_INTEGERS}")
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        raise ModelFileError(f"{what} holds a number that is too large") from None


def check_numbers(values: Any, what: str) -> None:
    """Refuse anything but a list or typed array of numbers, which may be infinite."""
    if not isinstance(values, np.ndarray) and not {type(value) for value in values} <= {int, float}:
        raise ModelFileError(f"{what} must be a list of numbers")


def floats(values: Any, what: str) -> NDArray[np.float32]:
    """Return a list or typed array of float32 numbers; none may be infinite, or halfway between two float32 values.

    XGBoost reads decimals as float32 and Python as float64, which is then rounded. The two could differ only if
    the float64 lies halfway between float32 values, where XGBoost writes no number.
    """
    check_numbers(values, what)
    try:
        double = np.array(values, dtype=np.float64)
    except OverflowError:
        raise ModelFileError(f"{what} holds a number that is too large") from None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        single = double.astype(np.float32)
    if not np.isfinite(single).all():
        raise ModelFileError(f"{what} holds a number that is not finite in float32")
    back = single.astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        other = np.nextafter(single, np.where(double > back, np.float32(np.inf), np.float32(-np.inf)))
        halfway = (double != back) & (double - back == other.astype(np.float64) - double)
    if halfway.any():
        raise ModelFileError(f"{what} holds {double[halfway][0]!r}, halfway between two float32 values")
    return single
