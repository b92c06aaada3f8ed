"""Comparisons that a library makes in float32, as thresholds for float64 inputs."""

import numpy as np
from numpy.typing import NDArray


def canonical_thresholds(threshold: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return T such that float64(x) <= T iff float64(float32(x)) <= threshold, for every float64 x.

    T is the largest float64 that rounds to f, the largest float32 value not above the threshold.
    """
    t = np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        f = t.astype(np.float32)
        f = np.where(f.astype(np.float64) > t, np.nextafter(f, np.float32(-np.inf)), f)
        g = np.nextafter(f, np.float32(np.inf))
    # Infinity is as far away as one more float32 value would be, if there were one.
    low, high = (np.clip(x.astype(np.float64), -(2.0**128), 2.0**128) for x in (f, g))
    middle = (low + high) / 2
    with np.errstate(over="ignore", under="ignore"):
        rounds_down = middle.astype(np.float32) == f
    canonical = np.where(rounds_down, middle, np.nextafter(middle, -np.inf))
    result: NDArray[np.float64] = np.where(np.isposinf(t), np.inf, canonical)
    return result


def canonical_thresholds_below(threshold: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return T such that float64(x) <= T iff float32(x) < threshold, for every float64 x and finite threshold."""
    with np.errstate(over="ignore", under="ignore"):
        return canonical_thresholds(np.nextafter(threshold, np.float32(-np.inf)))
