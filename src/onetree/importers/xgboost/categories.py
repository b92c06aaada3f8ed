"""The parts of a model file of XGBoost that deal with categories, with their structure checked.

How a test decides is in `importers/xgboost/model.py`. Raises nothing but `ModelFileError`.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError
from onetree.importers.xgboost.entries import check_numbers, entry, floats, integers

END_OF_CATEGORIES = 1 << 24
"""XGBoost takes no number from here on as a category: float32 does not hold every integer any more."""

NODE_CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes")

_WHOLE_NUMBER_TYPES = range(9, 17)  # of categories that are numbers, from int8 to uint64; float types are not written


def node_categories(document: Mapping[str, Any], categorical: NDArray[np.bool_], where: str) -> list[NDArray[np.int64]]:
    """Return the categories that each categorical node of a tree names, in the order of these nodes."""
    if not categorical.any() and not any(key in document for key in NODE_CATEGORIES):
        return []  # old files of models without categories
    categories, nodes, begins, sizes = (
        integers(entry(document, key, list | np.ndarray, where), f'"{key}" of {where}') for key in NODE_CATEGORIES
    )
    if not np.array_equal(nodes, np.flatnonzero(categorical)):
        raise ModelFileError(f'"categories_nodes" of {where} does not name the nodes that "split_type" says')
    if len(sizes) != len(nodes) or np.any((sizes < 1) | (sizes > len(categories))) or sizes.sum() != len(categories):
        raise ModelFileError(f'"categories_sizes" of {where} does not divide its {len(categories)} categories')
    if not np.array_equal(begins, np.cumsum(sizes) - sizes):
        raise ModelFileError(f'"categories_segments" of {where} does not go with "categories_sizes"')
    if np.any((categories < 0) | (categories >= END_OF_CATEGORIES)):
        raise ModelFileError(f"{where} has a category that is not in 0..{END_OF_CATEGORIES - 1}")
    found = np.split(categories, np.cumsum(sizes)[:-1]) if len(nodes) else []
    if any(np.any(np.diff(named) <= 0) for named in found):
        raise ModelFileError(f"{where} has a node whose categories are not ascending")
    return found


def split_conditions(
    document: Mapping[str, Any], column: Mapping[str, NDArray[np.int64]], where: str
) -> NDArray[np.float32]:
    """Return the thresholds and leaf values of a tree; at splits by categories, where some versions write NaN, zero."""
    what = f'"split_conditions" of {where}'
    conditions = entry(document, "split_conditions", list | np.ndarray, where)
    kinds, children = column["split_type"], column["left_children"]
    if len(kinds) == len(children) == len(conditions):
        check_numbers(conditions, what)
        conditions = conditions.copy()
        for node in np.flatnonzero((kinds == 1) & (children >= 0)).tolist():
            conditions[node] = 0.0
    return floats(conditions, what)


def category_values(model: Mapping[str, Any], n_features: int) -> dict[int, tuple[str, ...] | tuple[int, ...]]:
    """Return what the training data called categories 0, 1, ... of each feature, where the file says it.

    Versions from 3.1 on write this for models that were trained on data frames.
    """
    encoding = model.get("cats", {}).get("enc", []) if isinstance(model.get("cats", {}), dict) else None
    if not isinstance(encoding, list) or len(encoding) not in (0, n_features):
        raise ModelFileError(f'"cats" must hold the categories of {n_features} features')
    found: dict[int, tuple[str, ...] | tuple[int, ...]] = {}
    for feature, column in enumerate(encoding):
        values = _column_values(column, f'"cats" of feature {feature}')
        if values:
            found[feature] = values
    return found


def _column_values(column: Any, where: str) -> tuple[str, ...] | tuple[int, ...]:
    values = integers(entry(column, "values", list | np.ndarray, where), where)
    if "offsets" not in column:
        if entry(column, "type", int, where) not in _WHOLE_NUMBER_TYPES:
            raise ModelFileError(f"{where} has categories of an unknown type")
        return tuple(values.tolist())
    offsets = integers(entry(column, "offsets", list | np.ndarray, where), where)
    if len(offsets) == 0 == len(values):
        return ()
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(values) or np.any(np.diff(offsets) < 0):
        raise ModelFileError(f"{where} has offsets that do not go with its texts")
    if np.any((values < -128) | (values > 255)):
        raise ModelFileError(f"{where} has texts that are not bytes")
    text = (values % 256).astype(np.uint8).tobytes()
    if not text.isascii():
        # XGBoost's Python package cuts such texts at wrong places: its offsets count characters, not bytes.
        return ()
    return tuple(text[begin:end].decode() for begin, end in pairwise(offsets.tolist()))
