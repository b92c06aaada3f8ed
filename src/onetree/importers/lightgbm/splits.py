"""LightGBM's splits in the form of the project: left iff float64(x) <= threshold, and a direction for NaN.

Splits by categories keep the number of their set; `lightgbm.categories` says what it means.

Where zero counts as missing, one side of a split can be two intervals; such a split becomes three, and the subtrees
below it are repeated.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.lightgbm.text import TextTree

ZERO_BAND = float(np.float32(1e-35))
"""Inputs from -ZERO_BAND to ZERO_BAND, both inclusive, are zero for LightGBM."""

MISSING_IS_ZERO, MISSING_IS_NAN = 1, 2
"""Kinds of missing value in a decision type; in the third, 0, NaN is compared as zero."""

_BELOW_ZERO = math.nextafter(-ZERO_BAND, -math.inf)  # the largest input that is less than zero for LightGBM
_MAX_NODES = 1 << 22


@dataclass(frozen=True)
class TreeSplits:
    """A tree as node arrays with the meaning they have in `Ensemble`; node 0 is the root."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    value: NDArray[np.float64]
    test: NDArray[np.int64]  # number of the set of categories that goes left; -1 at thresholds and leaves
    categories: tuple[NDArray[np.int64], ...]  # the sets


def canonical_splits(tree: TextTree) -> TreeSplits:
    """Return the tree with every comparison made in float64, zero band and missing values included."""
    categorical = tree.decision_type & 1 == 1
    t, missing_type = np.where(categorical, 0.0, tree.threshold), tree.decision_type >> 2
    default_left = tree.decision_type & 2 == 2
    zero_is_missing = (missing_type == MISSING_IS_ZERO) & ~categorical
    zero_left = np.where(zero_is_missing, default_left, t >= 0)
    n_leaves = len(tree.leaf_value)
    splits = TreeSplits(
        feature=tree.feature,
        threshold=np.append(
            np.where(zero_left, np.maximum(t, ZERO_BAND), np.minimum(t, _BELOW_ZERO)), [0.0] * n_leaves
        ),
        left=tree.left,
        right=tree.right,
        missing_left=np.append(np.where(missing_type == MISSING_IS_NAN, default_left, zero_left), [False] * n_leaves),
        value=np.append(np.zeros(len(t)), tree.leaf_value),
        test=np.append(np.where(categorical, tree.threshold, -1), [-1] * n_leaves).astype(np.int64),
        categories=tree.categories,
    )
    zero_apart = zero_is_missing & np.where(default_left, t < _BELOW_ZERO, t > ZERO_BAND)
    return _with_zero_apart(splits, t, zero_apart) if zero_apart.any() else splits


def _with_zero_apart(splits: TreeSplits, t: NDArray[np.float64], zero_apart: NDArray[np.bool_]) -> TreeSplits:
    """Return the tree in which the splits that take zero out of one side are three splits each.

    Zero goes left past a negative threshold, or right below a positive one. From low to high the four intervals then
    go left, right, left, right, and NaN goes with zero.
    """
    source: list[int] = []  # node that each new node repeats
    threshold: list[float] = []
    missing_left: list[bool] = []
    children: list[list[int]] = []  # left, right
    todo = [(0, -1, 0)]  # node to repeat, its new parent, and the side of it
    while todo:
        node, parent, side = todo.pop()
        new = len(source)
        if parent >= 0:
            children[parent][side] = new
        if new >= _MAX_NODES:
            raise UnsupportedModelError(
                f"with zero_as_missing=True a tree needs more than {_MAX_NODES:,} nodes, since zero needs two "
                "nodes at each split; train with zero_as_missing=False or with fewer leaves"
            )
        left, right = int(splits.left[node]), int(splits.right[node])
        if splits.feature[node] < 0 or not zero_apart[node]:
            source.append(node)
            threshold.append(float(splits.threshold[node]))
            missing_left.append(bool(splits.missing_left[node]))
            children.append([-1, -1])
            if splits.feature[node] >= 0:
                todo += [(right, new, 1), (left, new, 0)]
            continue
        cuts = sorted([float(t[node]), _BELOW_ZERO, ZERO_BAND])
        source += [node] * 3
        threshold += [cuts[1], cuts[0], cuts[2]]
        # NaN follows zero: in the third interval if the threshold is negative, else in the second.
        zero_is_third = bool(t[node] < 0)
        missing_left += [not zero_is_third, False, zero_is_third]
        children += [[new + 1, new + 2], [-1, -1], [-1, -1]]
        todo += [(right, new + 2, 1), (left, new + 2, 0), (right, new + 1, 1), (left, new + 1, 0)]
    origin, sides = np.array(source), np.array(children, dtype=np.int32)
    return TreeSplits(
        feature=splits.feature[origin],
        threshold=np.array(threshold),
        left=sides[:, 0],
        right=sides[:, 1],
        missing_left=np.array(missing_left),
        value=splits.value[origin],
        test=splits.test[origin],
        categories=splits.categories,
    )
