"""Class labels as JSON values and back, with their type.

A label read back is equal to the one written and of the same type, so that predictions are too.
"""

import math
from typing import Any

import numpy as np

from onetree.errors import ModelFileError, UnsupportedModelError

_NUMERIC = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)
_PLAIN = {"b": (bool,), "i": (int,), "u": (int,), "f": (float,)}


def labels_to_json(classes: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the labels as values that `json` writes exactly."""
    if classes.dtype.kind == "U":
        dtype = "str"
    elif classes.dtype.name in _NUMERIC:
        dtype = classes.dtype.name
    elif classes.dtype.kind in "OT":
        dtype = "object"
    else:
        raise UnsupportedModelError(
            f"class labels of type {classes.dtype} cannot be written to a file; "
            "train the model on labels that are strings or numbers"
        )
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes.tolist()]
    for label in labels:
        if type(label) not in (str, int, float, bool) or (isinstance(label, float) and not math.isfinite(label)):
            raise UnsupportedModelError(
                f"the class label {label!r} of type {type(label).__name__} cannot be written to a file; "
                "train the model on labels that are strings or finite numbers"
            )
    return {"dtype": dtype, "labels": labels}


def labels_from_json(document: object, *, may_be_none: bool = False) -> np.ndarray[Any, Any]:
    """Return the labels that `labels_to_json` described; a regressor has none."""
    if not isinstance(document, dict) or set(document) != {"dtype", "labels"}:
        raise ModelFileError('"classes" must be an object with "dtype" and "labels"')
    dtype, labels = document["dtype"], document["labels"]
    if not isinstance(labels, list) or not (labels or may_be_none):
        raise ModelFileError('"labels" of "classes" must be a list of at least one label')
    if dtype == "str":
        _require(labels, (str,))
        return np.array(labels, dtype=str)
    if dtype == "object":
        _require(labels, (str, int, float, bool))
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        return classes
    if dtype not in _NUMERIC:
        raise ModelFileError(f'unknown "dtype" of "classes": {dtype!r}')
    _require(labels, _PLAIN[np.dtype(dtype).kind])
    try:
        return np.array(labels, dtype=dtype)
    except OverflowError as error:
        raise ModelFileError(f"a class label does not fit into {dtype}") from error


def _require(labels: list[Any], types: tuple[type, ...]) -> None:
    for label in labels:
        if type(label) not in types:
            raise ModelFileError(f'the class label {label!r} is not of the type that "dtype" says')
