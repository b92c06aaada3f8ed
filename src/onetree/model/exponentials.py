"""The exponential as different libraries compute it, which differs in the last place."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree import _core

Floats = NDArray[Any]

_TABLE_BITS = 11
_SHIFT = float(3 << 51)  # added to a float64 of moderate size, it leaves the nearest integer in the lowest bits
_CUBIC = (3.0000000027955394, 0.16666666685227835)  # exp(-t) - 1 + t is about (first - t) * t * t * second
_LOWEST, _HIGHEST = -708.39641853226408, 709.78271289338397


def c_exp(values: Floats) -> Floats:
    """Return the C library's exponential, in the precision of the values."""
    exp = _core.exp32 if values.dtype == np.float32 else _core.exp64
    result: Floats = exp(np.ascontiguousarray(values).ravel()).reshape(values.shape)
    return result


def catboost_exp(values: Floats) -> Floats:
    """Return CatBoost's exponential of float64 numbers: a table of powers of two, and a cubic polynomial.

    Numbers are multiples of log(2) / 2048 and a small rest. What is too small becomes 0, what is too large infinite.
    """
    per_step = (1 << _TABLE_BITS) / np.log(2.0)
    inside = np.clip(values, _LOWEST, _HIGHEST)
    shifted = inside * per_step + _SHIFT
    step = shifted.view(np.uint64)
    rest = (shifted - _SHIFT) * (1 / per_step) - inside
    bias = np.uint64((1 << (_TABLE_BITS + 10)) - (1 << _TABLE_BITS))
    exponent = ((step + bias) >> np.uint64(_TABLE_BITS)) << np.uint64(52)
    fraction = _fractions()[(step & np.uint64((1 << _TABLE_BITS) - 1)).astype(np.intp)]
    power = (exponent | fraction).view(np.float64)
    result: Floats = ((_CUBIC[0] - rest) * (rest * rest) * _CUBIC[1] - rest + 1.0) * power
    return np.where(values <= _LOWEST, 0.0, np.where(values >= _HIGHEST, np.inf, result))


@cache
def _fractions() -> NDArray[np.uint64]:
    """Return the bits after the binary point of 2 ** (i / 2048)."""
    powers = np.array([2.0 ** (i / (1 << _TABLE_BITS)) for i in range(1 << _TABLE_BITS)])
    return powers.view(np.uint64) & np.uint64((1 << 52) - 1)
