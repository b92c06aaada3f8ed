"""How far the numbers of a tree are from those of its source, in real arithmetic.

A tolerance is kept or not as real numbers are compared, not as floating-point differences happen to be rounded. So a
deviation is rounded up, to the next float64 if it is none: then it is at most a tolerance iff the real one is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_HALVES = 2.0**27 + 1  # splits a float64 into two parts of 26 digits


def deviation(leaf: NDArray[Any], number: NDArray[Any], *, relative: bool) -> Floats:
    """Return the smallest float64 that is not below ``|leaf - number|``, or the share of ``|number|`` that this is.

    Any share of zero is infinite, and so is the deviation from what is not a number.
    """
    leaf, number = np.asarray(leaf, dtype=np.float64), np.asarray(number, dtype=np.float64)
    equal = leaf == number
    with np.errstate(all="ignore"):
        found = _share(leaf, number) if relative else _distance(leaf, number)
    return np.where(equal, 0.0, np.where(np.isnan(found), np.inf, found))


def _difference(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a - b rounded, and what rounding took off: exact together."""
    rounded = a - b
    part = rounded - a
    return rounded, (a - (rounded - part)) - (b + part)


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a * b rounded, and what rounding took off."""
    rounded = a * b
    a_high, b_high = _HALVES * a - (_HALVES * a - a), _HALVES * b - (_HALVES * b - b)
    a_low, b_low = a - a_high, b - b_high
    return rounded, a_low * b_low - (((rounded - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _size(leaf: Floats, number: Floats) -> tuple[Floats, Floats]:
    rounded, error = _difference(leaf, number)
    return np.abs(rounded), np.where(rounded < 0, -error, error)


def _distance(leaf: Floats, number: Floats) -> Floats:
    rounded, error = _size(leaf, number)
    return np.where(error > 0, np.nextafter(rounded, np.inf), rounded)


def _share(leaf: Floats, number: Floats) -> Floats:
    fraction, exponent = np.frexp(number)  # both are scaled alike, so that nothing overflows
    scaled = np.ldexp(leaf, -exponent)
    vanished = (scaled == 0) & (leaf != 0)  # next to nothing, but of its sign
    distance, error = _size(np.where(vanished, np.copysign(5e-324, leaf), scaled), fraction)
    size = np.abs(fraction)

    def covers(quotient: Floats) -> NDArray[np.bool_]:
        product, of_product = _product(quotient, size)
        errors, of_errors = _difference(error, of_product)
        missing = product - distance  # exact, since the two are neighbours
        enough: NDArray[np.bool_] = (missing > errors) | ((missing == errors) & (of_errors <= 0))
        return enough

    share: Floats = distance / size
    is_known = ~(share < 2.0**900)
    while True:
        above = ~is_known & ~covers(share)
        if not above.any():
            break
        share = np.where(above, np.nextafter(share, np.inf), share)
    while True:
        below = np.nextafter(share, 0.0)
        lower = ~is_known & (share > 0) & covers(below)
        if not lower.any():
            break
        share = np.where(lower, below, share)
    return np.where(is_known, np.inf, share)
