"""The proof by enumeration: one input from every cell of the joint grid.

The thresholds of tree and ensemble together cut each axis into slabs; within a cell neither can tell two inputs apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from onetree.ensemble import Ensemble
from onetree.importers.order import count_order_fragile
from onetree.tree import Tree
from onetree.verify.verdict import Verdict, class_map, differing, walk

Axes = list[NDArray[np.float64]]
_CHUNK_VALUES = 1 << 20  # float64 values of inputs held at once


def axis(levels: NDArray[np.float64], lower: float = -math.inf, upper: float = math.inf) -> NDArray[np.float64]:
    """Return one value for each slab that `levels` cut ``lower < x <= upper`` into.

    A level belongs to the slab below it, so it stands for that slab; the last slab is entered by one rounding step.
    """
    if not lower < upper:
        return np.empty(0)
    inside = np.unique(levels[(levels > lower) & (levels < upper)])
    if upper < math.inf:
        return np.append(inside, upper)
    start = inside[-1] if inside.size else lower
    return np.append(inside, np.nextafter(start, math.inf) if start > -math.inf else 0.0)


def joint_axes(tree: Tree, ensemble: Ensemble) -> Axes:
    """Return for each feature one value per slab of the joint grid, and NaN last where it is an input."""
    axes = []
    for feature in range(ensemble.n_features):
        of_ensemble, of_tree = ensemble.feature == feature, tree.feature == feature
        levels = np.concatenate([ensemble.threshold[of_ensemble], tree.threshold[of_tree]])
        missing = [math.nan] if ensemble.nan_features[feature] and levels.size else []
        axes.append(np.append(axis(levels), missing))
    return axes


def count(axes: Axes) -> int:
    """Return the number of cells, exactly however large."""
    return math.prod(len(values) for values in axes)


def chunks(axes: Axes) -> Iterator[NDArray[np.float64]]:
    """Yield an input from every cell, some thousand rows at a time, the last feature changing fastest."""
    n_cells, shape = count(axes), tuple(len(values) for values in axes)
    size = max(1, _CHUNK_VALUES // max(1, len(axes)))
    for start in range(0, n_cells, size):
        flat = np.arange(start, min(start + size, n_cells))
        rows = np.empty((len(flat), len(axes)))
        for feature in range(len(axes) - 1, -1, -1):  # digits of the cell number, by hand: numpy stops at 64 axes
            flat, digit = np.divmod(flat, shape[feature])
            rows[:, feature] = axes[feature][digit]
        yield rows


def prove(tree: Tree, ensemble: Ensemble, axes: Axes, *, progress: Callable[[int, int], None] | None = None) -> Verdict:
    """Compare tree and ensemble in every cell."""
    n_cells, n_checked, n_fragile = count(axes), 0, 0
    to_ensemble = class_map(tree, ensemble)
    for rows in chunks(axes):
        expected = ensemble.predict_index(rows)
        differs = to_ensemble[tree.leaf_class[walk(tree, rows)]] != expected
        if differs.any():
            first = int(np.argmax(differs))
            return differing(tree, ensemble, "cells", n_checked + first + 1, rows[first])
        n_checked += len(rows)
        n_fragile += count_order_fragile(ensemble, rows)
        if progress is not None:
            progress(n_checked, n_cells)
    return Verdict(equivalent=True, method="cells", n_checked=n_checked, n_fragile=n_fragile)
