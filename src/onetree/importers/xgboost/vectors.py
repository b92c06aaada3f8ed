"""Trees of XGBoost with a vector in each leaf (`multi_strategy="multi_output_tree"`), in the layout of the others.

Older versions have the vectors in "base_weights", one for each node; newer ones in "leaf_weights", one for each leaf,
whose number stands where the right child of an inner node is. Raises nothing but `ModelFileError`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError
from onetree.importers.xgboost.entries import check_numbers, entry, floats, integers

_STATISTICS = ("loss_changes", "sum_hessian")  # older versions do not write them


def without_vectors(
    document: Mapping[str, Any], n_scores: int, where: str
) -> tuple[dict[str, Any], NDArray[np.float32]]:
    """Return a tree with the number zero at each leaf, and the vector of each node, zero at inner nodes."""
    left, right = (
        integers(entry(document, key, list | np.ndarray, where), f'"{key}" of {where}')
        for key in ("left_children", "right_children")
    )
    conditions = entry(document, "split_conditions", list | np.ndarray, where)
    if not len(left) == len(right) == len(conditions):
        raise ModelFileError(f"{where} has nodes without children or without a split condition")
    check_numbers(conditions, f'"split_conditions" of {where}')
    leaf = left < 0
    key = "leaf_weights" if "leaf_weights" in document else "base_weights"
    weights = floats(entry(document, key, list | np.ndarray, where), f'"{key}" of {where}')
    if key == "leaf_weights":
        at = np.where(leaf, right, 0)
        n_leaves = np.count_nonzero(leaf)
        fits = len(weights) == n_scores * n_leaves and bool(np.all((at >= 0) & (at < n_leaves)))
        right = np.where(leaf, -1, right)
    else:
        at, fits = np.arange(len(left)), len(weights) == n_scores * len(left)
    if not fits:
        raise ModelFileError(f'"{key}" of {where} does not hold {n_scores} numbers for each leaf')
    vectors = np.where(leaf[:, np.newaxis], weights.reshape(-1, n_scores)[at], np.float32(0))
    plain = {key: value for key, value in document.items() if key != "leaf_weights"}
    plain["base_weights"] = np.zeros(len(left), dtype=np.float32)
    plain["right_children"] = right
    plain["split_conditions"] = [0.0 if end else float(x) for end, x in zip(leaf.tolist(), conditions, strict=True)]
    for name in _STATISTICS:
        plain.setdefault(name, np.zeros(len(left), dtype=np.float32))
    return plain, vectors
