"""The cut of a score, found by bisection over all float64 numbers with the library's own arithmetic."""

import math
import struct
from collections.abc import Callable

LARGEST = math.nextafter(math.inf, 0.0)


def last_score(stays_below: Callable[[float], bool], lowest: float = -LARGEST) -> float | None:
    """Return the largest finite score that stays below, or None if all from `lowest` on do, or none does.

    `stays_below` must not become true again once it is false.
    """
    if not stays_below(lowest) or stays_below(LARGEST):
        return None
    low, high = _rank(lowest), _rank(LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        if stays_below(_at_rank(middle)):
            low = middle
        else:
            high = middle
    return _at_rank(low)


def _rank(number: float) -> int:
    """Return the position of a number among all float64 numbers, zero being 0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(number)))
    return -int(bits) if number < 0 else int(bits)


def _at_rank(rank: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<q", abs(rank)))
    return -float(number) if rank < 0 else float(number)
