"""Which rows are near each other for the ensemble: few of its splits lie between them.

Rows mixed with their neighbours look like future rows; rows mixed all over the data need not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.model.ensemble import Ensemble

N_NEAR = 10  # rows that count as near, for each row
MAX_ROWS = 6_000  # that are compared with others ...
MAX_PAIRS = 12_000_000  # ... and no more pairs of them than this
_BLOCK = 1 << 20  # distances that are held at once


def near_rows(
    columns: NDArray[np.int32], ensemble: Ensemble, random: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return some rows, and for each of them the numbers of those nearest to it, itself left out.

    The distance is Euclidean, and along each feature the number of the ensemble's splits between two slabs. With many
    rows, some by chance are looked at, and only some of these are compared with all others.

    Parameters
    ----------
    columns : int32 array of shape (n_features, n_rows)
        Slabs of at least two rows.
    ensemble : Ensemble
    random : numpy.random.Generator

    Returns
    -------
    rows : int32 array of shape (n_some,)
    near : int32 array of shape (n_some, at most `N_NEAR`)
    """
    n_rows = columns.shape[1]
    others = _some(np.arange(n_rows, dtype=np.int32), MAX_ROWS, random)
    places = _places(columns[:, others], ensemble)
    chosen = _some(np.arange(len(others), dtype=np.int32), MAX_PAIRS // len(others), random)
    square = np.einsum("rf,rf->r", places, places)
    near = np.empty((len(chosen), min(N_NEAR, len(others) - 1)), dtype=np.int32)
    size = max(1, _BLOCK // len(others))
    for start in range(0, len(chosen), size):
        here = chosen[start : start + size]
        distance: NDArray[np.float32] = places[here] @ places.T  # squared, less what is the same for all of a line
        distance *= -2
        distance += square
        distance[np.arange(len(here)), here] = np.inf
        # Not sklearn.neighbors: which of equally near rows it finds depends on the number of threads.
        near[start : start + size] = _core.smallest(distance, near.shape[1])
    return others[chosen], others[near]


def _some(numbers: NDArray[np.int32], n_most: int, random: np.random.Generator) -> NDArray[np.int32]:
    return numbers if len(numbers) <= n_most else np.sort(random.choice(numbers, size=n_most, replace=False))


def _places(columns: NDArray[np.int32], ensemble: Ensemble) -> NDArray[np.float32]:
    """Return the number of splits below each slab, as integers whose products and sums are exact in any order."""
    places = np.zeros((columns.shape[1], columns.shape[0]))
    for feature, slabs in enumerate(columns):
        _, n_splits = np.unique(ensemble.threshold[ensemble.feature == feature], return_counts=True)
        below = np.append(0, np.cumsum(n_splits))
        places[:, feature] = below[np.minimum(slabs, len(n_splits))]  # one slab more where NaN has a level of its own
    places = places[:, np.ptp(places, axis=0) > 0]
    # Scaled down where need be: float32 counts to 2^24, and twice a product of two lines is the largest number.
    most = np.floor(np.sqrt(2.0**23 / max(1, places.shape[1])))
    scaled: NDArray[np.float32] = np.floor(places * min(1.0, most / places.max(initial=1.0))).astype(np.float32)
    return scaled
