"""The best split of weighted rows: one of the ensemble's hyperplanes, with rows on both sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_TINY = np.finfo(np.float64).tiny  # instead of a weight that rounding has made nothing
_BLOCK = 1 << 21  # rows x features x classes that are held at once


@dataclass(frozen=True)
class Split:
    """A gap between the slabs of rows.

    Parameters
    ----------
    feature : int
    below, above : int
        The last slab of the left side and the first slab of the right side; every level from `below` to ``above - 1``
        parts the rows in the same way.
    gain : float
        Decrease of the Gini impurity, per unit of weight.
    """

    feature: int
    below: int
    above: int
    gain: float


def best_split(
    slabs: NDArray[np.int32],
    counts: NDArray[np.float64],
    least: NDArray[np.int32],
    most: NDArray[np.int32],
) -> Split | None:
    """Find the split of largest gain; None if no hyperplane parts the rows.

    Parameters
    ----------
    slabs : int32 array of shape (n_rows, n_features)
        Of all rows, reference and synthetic.
    counts : float64 array of shape (n_rows, n_classes)
        The weight of each row in the column of its class.
    least, most : int32 array of shape (n_features,)
        Slabs between which a split must lie, both inclusive. A row outside counts as at the end, so that no split
        leaves a side without the rows that span them.
    """
    features = np.flatnonzero(least < most)
    best: Split | None = None
    if len(features) == 0:
        return None
    size = max(1, _BLOCK // counts.size)
    for start in range(0, len(features), size):
        block = features[start : start + size]
        found = _best_of_block(np.clip(slabs[:, block], least[block], most[block]), counts)
        if best is None or found.gain > best.gain:
            best = Split(int(block[found.feature]), found.below, found.above, found.gain)
    return best


def _best_of_block(slabs: NDArray[np.int32], counts: NDArray[np.float64]) -> Split:
    order = np.argsort(slabs, axis=0, kind="stable")
    ordered = np.take_along_axis(slabs, order, axis=0)
    left = np.cumsum(counts[order], axis=0)[:-1]  # of the rows up to each place: (places, features, classes)
    total = counts.sum(axis=0)
    weight = total.sum()
    right = total - left
    left_weight = left.sum(axis=2)
    # Gini: the sum over both sides of (sum of squares / weight) grows by as much as the impurity falls.
    gain = np.einsum("rfc,rfc->rf", left, left) / left_weight
    gain += np.einsum("rfc,rfc->rf", right, right) / np.maximum(weight - left_weight, _TINY)
    gain[ordered[:-1] == ordered[1:]] = -np.inf
    # Column by column, so that of equal gains the one of the first feature wins.
    place = int(np.argmax(gain.T))
    feature, at = divmod(place, len(gain))
    return Split(
        feature,
        int(ordered[at, feature]),
        int(ordered[at + 1, feature]),
        float(gain[at, feature] - total @ total / weight) / float(weight),
    )


def cut_in_gap(below: int, levels: NDArray[np.float64], slabs: NDArray[np.int32], values: NDArray[np.float64]) -> int:
    """Choose among the levels that part rows alike the one next to the middle between the rows on both sides.

    Parameters
    ----------
    below : int
        A slab; there are rows up to it and rows above it.
    levels : float64 array
        Of the feature.
    slabs, values : arrays of shape (n_rows,)
        The rows, in this feature.
    """
    goes_left = slabs <= below
    first, end = int(slabs[goes_left].max()), int(slabs[~goes_left].min())
    candidates = levels[first:end]
    right = values[~goes_left]
    right = right[~np.isnan(right)]
    middle = float(values[goes_left].max()) / 2 + float(right.min(initial=np.inf)) / 2
    if np.isnan(middle) or middle == -np.inf:
        return first + len(candidates) // 2
    if middle == np.inf:
        return end - 1
    return first + int(np.argmin(np.abs(candidates - middle)))
