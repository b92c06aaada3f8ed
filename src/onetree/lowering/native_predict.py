"""Fast prediction of many rows: the classes of an ensemble, tree by tree in native code.

Gives what `Ensemble.predict_index` gives: the same leaves, added in the same order and precision, until no tree that is
left can change the class. Rows are taken as slabs of the grid, which is all that the trees ask for. For ensembles
without set tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.lowering.grid import Grid
from onetree.model.ensemble import Ensemble
from onetree.model.forest_checks import node_depths
from onetree.model.walking import Walks

_CLOSE = 1e-5  # scores that are further apart have different probabilities, even in float32
_MAX_LEAVES = 1 << 22  # that rows reach, held at a time
_ALL_SLABS = -1  # as an unsigned number the largest


class NativePredictor:
    """An ensemble whose tests are expressed in slabs.

    Attributes
    ----------
    ensemble : Ensemble
    grid : Grid
    n_steps : float
        Nodes that a row passes in all trees together, about.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.grid = Grid.of(ensemble)
        rule = ensemble.rule
        dtype = np.dtype(rule.dtype)
        root_of, depth = node_depths(ensemble.roots, ensemble.feature, ensemble.children_left, ensemble.children_right)
        self.n_steps = _steps(ensemble, root_of, depth)
        cut = rule.cut * rule.divisor
        self._walks = None
        if rule.combination is not None:
            self._walks = Walks.of(ensemble, ensemble.roots, missing_left=ensemble.missing_left)
            return
        native = _core.SlabScores64 if dtype == np.float64 else _core.SlabScores32
        self._scores: _core.SlabScores64 | _core.SlabScores32 = native(
            ensemble.roots,
            _only_outputs(ensemble, root_of),
            _slab_nodes(ensemble, self.grid),
            np.ascontiguousarray(ensemble.value, dtype=dtype),
            ensemble.base.astype(dtype),
            ensemble.n_features,
            max(self.grid.n_slabs),
            _still_open(ensemble, root_of, cut),
            cut,
        )

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
        rule = self.ensemble.rule
        if self._walks is not None:
            return self._combined_classes(slabs, self._walks)
        columns = slabs.T if slabs.strides[0] == slabs.itemsize else np.ascontiguousarray(slabs.T)
        total: NDArray[Any] = self._scores.of_rows(columns)
        if rule.divisor != 1.0:
            total /= total.dtype.type(rule.divisor)
        if not rule.softmax or total.shape[1] == 1:
            return self.ensemble.decide(total)
        found: NDArray[np.intp] = np.argmax(total, axis=1)
        first, second = np.partition(total, -2, axis=1)[:, [-1, -2]].T
        close = first - second <= _CLOSE
        found[close] = self.ensemble.decide(total[close])  # exponentials, one by one
        return found

    def numbers_at(self, slabs: NDArray[np.int32]) -> NDArray[Any]:
        """Return what `Ensemble.numbers` gives for rows that are given as slabs."""
        ensemble = self.ensemble
        walks = self._walks or Walks.of(ensemble, ensemble.roots, missing_left=ensemble.missing_left)
        size = max(1, _MAX_LEAVES // ensemble.n_trees)
        starts = range(0, max(1, len(slabs)), size)
        return np.concatenate([ensemble.numbers_of(self._scores_at(slabs[at : at + size], walks)) for at in starts])

    def _combined_classes(self, slabs: NDArray[np.int32], walks: Walks) -> NDArray[np.intp]:
        """Return the classes of a rule of two levels."""
        return self.ensemble.decide(self._scores_at(slabs, walks))

    def _scores_at(self, slabs: NDArray[np.int32], walks: Walks) -> NDArray[Any]:
        """Return the scores, from one input of each slab."""
        values = np.empty(slabs.shape)
        for feature, levels in enumerate(self.grid.levels):
            last = 0.0 if not levels.size else np.nan if np.isinf(levels[-1]) else np.nextafter(levels[-1], np.inf)
            inputs = np.append(levels, last)  # above the level +inf are the missing values
            values[:, feature] = inputs[slabs[:, feature]]
        return self.ensemble.scores_at(walks.leaves(values).T)


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


def _only_outputs(ensemble: Ensemble, root_of: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return for each tree the output that it alone adds to, -1 if there are several.

    A tree of boosting has scores for one class only, and zeros need not be added.
    """
    used = np.zeros((len(root_of), ensemble.n_outputs), dtype=bool)
    np.logical_or.at(used, root_of, ensemble.value != 0)
    used = used[ensemble.roots]
    only: NDArray[np.int32] = np.where(used.sum(axis=1) == 1, used.argmax(axis=1), -1).astype(np.int32)
    return only


def _steps(ensemble: Ensemble, root_of: NDArray[np.intp], depth: NDArray[np.int64]) -> float:
    """Return how many nodes a row passes in all trees, if it came to each leaf of a tree as likely as to any other."""
    leaf = ensemble.feature < 0
    n_leaves = np.bincount(root_of[leaf], minlength=len(root_of))[ensemble.roots]
    return float((np.bincount(root_of[leaf], depth[leaf], minlength=len(root_of))[ensemble.roots] / n_leaves).sum())


def _still_open(ensemble: Ensemble, root_of: NDArray[np.intp], cut: float) -> NDArray[np.float64]:
    """Return for each tree by how much those after it can change the lead of one output, or a single output.

    Rounding and the tolerance of the softmax are included, generously.
    """
    value = np.where((ensemble.feature < 0)[:, np.newaxis], ensemble.value.astype(np.float64), 0.0)
    swing = np.abs(value[:, 0]) if ensemble.n_outputs == 1 else np.ptp(value, axis=1)
    size = np.abs(value).max(axis=1)
    most = np.zeros((2, len(root_of)))
    np.maximum.at(most[0], root_of, swing)
    np.maximum.at(most[1], root_of, size)
    swings, sizes = most[:, ensemble.roots]
    n_terms = len(ensemble.roots) + 4
    total = sizes.sum() + np.abs(ensemble.base).max() + abs(cut)
    rounding = 4 * n_terms * float(np.finfo(ensemble.rule.dtype).eps) * total
    still_open: NDArray[np.float64] = np.append(np.cumsum(swings[::-1])[::-1][1:], 0.0)
    still_open += rounding + 2 * _CLOSE * ensemble.rule.divisor
    return still_open
