"""Fast prediction of many rows: the classes of an ensemble, tree by tree in native code.

Gives what `Ensemble.predict_index` gives: the same leaves, added in the same order and precision. Rows are taken as
slabs of the grid, which is all that the trees ask for. For ensembles without set tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.lowering.grid import Grid
from onetree.model.ensemble import Ensemble
from onetree.model.forest_checks import node_depths

_CLOSE = 1e-5  # scores that are further apart have different probabilities, even in float32
_ALL_SLABS = -1  # as an unsigned number the largest


class NativePredictor:
    """An ensemble whose tests are expressed in slabs."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.grid = Grid.of(ensemble)
        dtype = np.dtype(ensemble.rule.dtype)
        self._nodes = _slab_nodes(ensemble, self.grid)
        self._value = np.ascontiguousarray(ensemble.value, dtype=dtype)
        self._base = ensemble.base.astype(dtype)
        self._output = _only_outputs(ensemble)

    def slabs(self, values: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the slab of each value, column-major; missing values lie in the last slab of their feature."""
        slabs = np.empty(values.shape, dtype=np.int32, order="F")
        for feature, levels in enumerate(self.grid.levels):
            slabs[:, feature] = np.searchsorted(levels, values[:, feature])  # NaN comes after +inf
        return slabs

    def classes(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the index of the ensemble's class for each row."""
        return self.classes_at(self.slabs(values))

    def classes_at(self, slabs: NDArray[np.int32]) -> NDArray[np.intp]:
        """Return the index of the ensemble's class for rows that are given as slabs, best column-major."""
        columns = np.ascontiguousarray(slabs.T)
        rule = self.ensemble.rule
        total: NDArray[Any] = _core.ensemble_scores(
            self.ensemble.roots, self._output, self._nodes, self._value, self._base, columns
        )
        if rule.divisor != 1.0:
            total /= total.dtype.type(rule.divisor)
        if not rule.softmax or total.shape[1] == 1:
            return self.ensemble.decide(total)
        found: NDArray[np.intp] = np.argmax(total, axis=1)
        first, second = np.partition(total, -2, axis=1)[:, [-1, -2]].T
        close = first - second <= _CLOSE
        found[close] = self.ensemble.decide(total[close])  # exponentials, one by one
        return found


def _slab_nodes(ensemble: Ensemble, grid: Grid) -> NDArray[np.int32]:
    """Return for each node its feature, the slabs that go one way, and the two children, as the native core has them.

    At a node that sends missing values left, the slabs between the threshold and the missing values go right, and all
    others left; elsewhere the slabs up to the threshold go left.
    """
    is_leaf = ensemble.feature < 0
    itself = np.arange(len(is_leaf), dtype=np.int32)
    feature = np.where(is_leaf, 0, ensemble.feature)
    cut = np.zeros(len(is_leaf), dtype=np.int32)
    for each, levels in enumerate(grid.levels):
        here = ensemble.feature == each
        cut[here] = np.searchsorted(levels, ensemble.threshold[here])
    n_between = np.array(grid.n_slabs, dtype=np.int32)[feature] - 2 - cut  # the last slab is that of missing values
    flipped = ~is_leaf & ensemble.nan_features[feature] & ensemble.missing_left
    everything = is_leaf | (flipped & (n_between == 0))
    flipped &= n_between > 0
    return np.column_stack(
        [
            feature,
            np.where(flipped, cut + 1, 0),
            np.where(everything, _ALL_SLABS, np.where(flipped, n_between - 1, cut)),
            np.where(is_leaf, itself, np.where(flipped, ensemble.children_right, ensemble.children_left)),
            np.where(is_leaf, itself, np.where(flipped, ensemble.children_left, ensemble.children_right)),
        ]
    ).astype(np.int32, order="C")


def _only_outputs(ensemble: Ensemble) -> NDArray[np.int32]:
    """Return for each tree the output that it alone adds to, -1 if there are several.

    A tree of boosting has scores for one class only, and zeros need not be added.
    """
    root_of, _ = node_depths(ensemble.roots, ensemble.feature, ensemble.children_left, ensemble.children_right)
    used = np.zeros((len(root_of), ensemble.n_outputs), dtype=bool)
    np.logical_or.at(used, root_of, ensemble.value != 0)
    used = used[ensemble.roots]
    only: NDArray[np.int32] = np.where(used.sum(axis=1) == 1, used.argmax(axis=1), -1).astype(np.int32)
    return only
