"""All float64 numbers in their order, as integers: what bisection needs to find the last number with a property."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Keys = NDArray[np.int64]
LARGEST = float(np.finfo(np.float64).max)

_AT_ONCE = 4096  # numbers in one call

_SIGN = np.int64(2**63 - 1)  # all bits but the sign


def keys(numbers: ArrayLike) -> Keys:
    """Return integers in the order of the numbers; neighbours are 1 apart, and both zeros are 0."""
    bits = np.asarray(numbers, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, -(bits & _SIGN), bits)


def numbers(keys: Keys) -> NDArray[np.float64]:
    """Return the numbers of these keys."""
    magnitude = np.abs(keys).view(np.float64)
    return np.where(keys < 0, -magnitude, magnitude)


def last_alike(holds: Callable[[Keys, NDArray[np.intp]], NDArray[np.bool_]], low: Keys, high: Keys) -> Keys:
    """Return between each low and high the last key at which `holds` is as it is at low; at high it is not.

    All are searched together, each at several places at once: calls are dear. `holds` gets keys, and for each the
    number of its pair.
    """
    low, high = low.copy(), high.copy()
    pair = np.arange(len(low))
    at_low = holds(low, pair)
    n_parts = 2 ** int(np.clip(np.log2(_AT_ONCE / max(1, len(low))), 1, 6))
    while np.any(high - 1 > low):
        inner = [low]  # with high, the ends of the parts; they may coincide
        for part in range(1, n_parts):  # without sums or products that overflow
            inner.append((low // n_parts) * (n_parts - part) + (high // n_parts) * part)
            inner[-1] = np.clip(inner[-1], inner[-2], high)
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        places = np.sort(np.stack([*inner[1:], middle], axis=1), axis=1)
        alike = holds(places.ravel(), np.repeat(pair, n_parts)).reshape(places.shape) == at_low[:, np.newaxis]
        n_alike = np.where(alike.all(axis=1), n_parts, alike.argmin(axis=1))  # up to the first that is not
        ends = np.concatenate([low[:, np.newaxis], places, high[:, np.newaxis]], axis=1)
        low, high = ends[pair, n_alike], ends[pair, n_alike + 1]
    return low
