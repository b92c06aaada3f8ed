"""A text that is the same for values of the same content, in any process."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping

import numpy as np


def fingerprint(value: object) -> str:
    """Return a text that is the same for equal arrays, data classes, mappings, sequences, sets and plain values."""
    digest = hashlib.sha256()
    _feed(digest.update, value)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], value: object) -> None:
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        update(f"{value.dtype.str} {value.shape}".encode())
        update(np.ascontiguousarray(value).tobytes())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        update(type(value).__name__.encode())
        for field in dataclasses.fields(value):
            update(f"<{field.name}>".encode())
            _feed(update, getattr(value, field.name))
    elif isinstance(value, Mapping):
        _feed(update, sorted(value.items(), key=repr))
    elif isinstance(value, list | tuple | np.ndarray):
        update(f"[{len(value)}".encode())
        for each in value:
            _feed(update, each)
    elif isinstance(value, set | frozenset):
        _feed(update, sorted(value, key=repr))
    else:
        update(f"{type(value).__name__} {value!r};".encode())
