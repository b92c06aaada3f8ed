"""Which numbers a leaf may carry so that it is within a tolerance of a score, in real arithmetic, and which it carries.

A leaf v is as good as promised iff |v - score| <= tolerance as real numbers, v a number of the library's type. What a
score admits is then an interval of numbers of that type; its ends are found by sums and products without rounding
errors, so that ties at exactly the tolerance are decided as the promise says.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError

Floats = NDArray[np.float64]

_LARGEST = np.finfo(np.float64).max
_BITS_OF_ONE = int(np.float64(1.0).view(np.int64))
_BITS_OF_INFINITY = int(np.float64(np.inf).view(np.int64))
# Outside, the error of a product may not be a number of float64.
_SMALL, _LARGE = 2.0**-400, 2.0**900


def admitted(
    numbers: ArrayLike, tolerance: float | Floats, relative: bool, dtype: np.dtype[Any] | type
) -> tuple[Floats, Floats]:
    """Return the least and the greatest number of a type that are within a tolerance of each number.

    Parameters
    ----------
    numbers : array
        Finite numbers of the type `dtype`.
    tolerance : float or array
        At least 0; with `relative` also below 1.
    relative : bool
        Whether the tolerance is a share of the absolute number.
    dtype : numpy dtype
        float32 or float64.

    Examples
    --------
    >>> admitted([0.5], 0.25, False, np.float64)
    (array([0.25]), array([0.75]))
    """
    scores = np.asarray(numbers, dtype=np.float64) + 0.0  # no negative zero
    if not np.isfinite(scores).all():
        raise InvalidInputError(
            "the model gives scores that are not finite for some inputs, and no leaf is within a tolerance of those; "
            'reproduce its classes instead, with output="class"'
        )
    share = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), scores.shape)
    if relative:
        least, most = _between_shares(scores, share)
    else:
        least, most = -_sum_down(-scores, share), _sum_down(scores, share)
    if np.dtype(dtype) == np.float32:
        least, most = -_narrow_down(-least), _narrow_down(most)
    return least + 0.0, most + 0.0


def leaf_number(least: ArrayLike, most: ArrayLike, dtype: np.dtype[Any] | type) -> NDArray[np.floating[Any]]:
    """Return the number of a type in the middle of each interval, whose ends are such numbers.

    Examples
    --------
    >>> leaf_number([0.25], [0.75], np.float32)
    array([0.5], dtype=float32)
    """
    low, high = np.asarray(least, dtype=np.float64), np.asarray(most, dtype=np.float64)
    middle = (low / 2 + high / 2).astype(dtype)
    inside: NDArray[np.floating[Any]] = np.minimum(np.maximum(middle, low.astype(dtype)), high.astype(dtype))
    return inside


def least_tolerance(low: ArrayLike, high: ArrayLike, relative: bool, dtype: np.dtype[Any] | type) -> Floats:
    """Return the least tolerances, as float64, with which one number does for the least and the greatest of scores.

    It then does for all scores between them. With `relative`, infinity where no tolerance below 1 does.
    """
    lower, upper = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    # By bisection over the floats, which are ordered as their bits are.
    below = np.full(lower.shape, -1, dtype=np.int64)
    above = np.full(lower.shape, (_BITS_OF_ONE if relative else _BITS_OF_INFINITY), dtype=np.int64)
    while (above - below > 1).any():
        middle = below + (above - below) // 2
        tolerance = np.maximum(middle, 0).view(np.float64)
        least, _ = admitted(upper, tolerance, relative, dtype)
        _, most = admitted(lower, tolerance, relative, dtype)
        fits = least <= most
        open_ = above - below > 1
        above, below = np.where(open_ & fits, middle, above), np.where(open_ & ~fits, middle, below)
    return np.where(above == _BITS_OF_ONE, np.inf, above.view(np.float64)) if relative else above.view(np.float64)


def _sum_down(a: Floats, b: Floats) -> Floats:
    """Return the greatest float64 that is not above the sum; no sum is below the finite numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        total, rest = _two_sum(a, b)
        down = np.where(rest < 0, np.nextafter(total, -np.inf), total)
    return np.where(np.isposinf(total), _LARGEST, down)


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and what it lacks, exactly."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product and what it lacks, exactly, of numbers that are neither tiny nor huge."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Floats) -> tuple[Floats, Floats]:
    scaled = 134217729.0 * a  # 2^27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _between_shares(scores: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Return the ends of score - share * |score| and score + share * |score|, rounded inwards."""
    size = np.abs(scores)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        product, rest = _two_product(size, share)
        least = -_sum_of_three_down(-scores, product, rest)
        most = _sum_of_three_down(scores, product, rest)
    is_exact = (size < _LARGE) & ((size == 0) | (share == 0) | ((size > _SMALL) & (share > _SMALL)))
    ends = least.reshape(-1), most.reshape(-1)
    for at in np.flatnonzero(~is_exact.ravel()):
        score, width = (
            Fraction(float(scores.flat[at])),
            Fraction(float(share.flat[at])) * Fraction(float(size.flat[at])),
        )
        ends[0][at], ends[1][at] = -_fraction_down(width - score), _fraction_down(score + width)
    return ends[0].reshape(scores.shape), ends[1].reshape(scores.shape)


def _sum_of_three_down(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return the greatest float64 that is not above a + b + c, where c is what the rounding of b lost."""
    first, rest = _two_sum(a, b)
    second, small = _two_sum(rest, c)
    total, rest = _two_sum(first, second)
    lacks, _ = _two_sum(rest, small)
    return np.where(lacks < 0, np.nextafter(total, -np.inf), total)


def _fraction_down(number: Fraction) -> float:
    if number > Fraction(_LARGEST):
        return float(_LARGEST)
    nearest = float(number)
    return float(np.nextafter(nearest, -np.inf)) if Fraction(nearest) > number else nearest


def _narrow_down(numbers: Floats) -> Floats:
    """Return the greatest float32 that is not above each number; none is below the finite ones."""
    with np.errstate(over="ignore", under="ignore"):
        near = numbers.astype(np.float32)
        down = np.where(near > numbers, np.nextafter(near, np.float32(-np.inf)), near)
    return down.astype(np.float64)
