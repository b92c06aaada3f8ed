"""Which rows are near each other, as the ensemble sees them: few of its splits lie between.

Rows that share values only with rows near them look like those to come; rows mixed all over the data need not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onetree.ensemble import Ensemble

N_NEAR = 10  # rows that count as near, for each row
MAX_ROWS = 6_000  # that are compared with each other
_BLOCK = 1 << 22  # distances that are held at once


def near_rows(values: NDArray[np.float64], ensemble: Ensemble) -> NDArray[np.intp]:
    """Give for each row the numbers of those nearest to it, itself left out: shape (n_rows, at most `N_NEAR`).

    The distance is Euclidean, and along each feature the number of the ensemble's splits between two values; missing
    values lie above all others. Takes at most `MAX_ROWS` rows, and at least two.
    """
    n_rows = len(values)
    n_near = min(N_NEAR, n_rows - 1)
    place = _places(values, ensemble)
    square = np.einsum("rf,rf->r", place, place)
    near = np.empty((n_rows, n_near), dtype=np.intp)
    first = np.arange(n_rows) / n_rows  # of rows equally far away the first is nearer, on every machine
    size = max(1, _BLOCK // n_rows)
    for start in range(0, n_rows, size):
        here = np.arange(start, min(start + size, n_rows))
        distance = square - 2 * (place[here] @ place.T)  # squared, less what is the same for all of a line
        distance[here - start, here] = np.inf
        near[here] = np.argpartition(distance + first, n_near - 1, axis=1)[:, :n_near]
    return near


def _places(values: NDArray[np.float64], ensemble: Ensemble) -> NDArray[np.float64]:
    """Give the number of splits below each value. Whole numbers, whose products and sums are exact in any order."""
    place = np.zeros(values.shape)
    for feature in range(values.shape[1]):
        thresholds = np.sort(ensemble.threshold[ensemble.feature == feature])
        place[:, feature] = np.searchsorted(thresholds, values[:, feature])
    return place
