"""The features of CatBoost's JSON: which column each is, and how the numeric ones are cut."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.importers.catboost.entries import entry, hash_of, number, singles

_MISSING = ("AsIs", "AsFalse", "AsTrue")
_NOT_READ = {"text_features": "text", "embedding_features": "embedding"}
_MAX_FEATURES = 1_000_000


@dataclass(frozen=True)
class Features:
    """What a model says of its columns, in the order of the input.

    Parameters
    ----------
    names : tuple of str
        One per column.
    named : bool
        Whether these are names of columns in the training data.
    true_if_missing, has_nans : bool array
        Per column: whether NaN is above every border, and whether it was met in training.
    numeric, categorical : tuple of int
        The columns of the numeric features, and of the categorical ones, as the trees number them.
    borders : tuple of float32 array
        Per numeric feature, ascending.
    values : tuple of tuple of int
        Per categorical feature, the values that single splits ask for.
    """

    names: tuple[str, ...]
    named: bool
    true_if_missing: NDArray[np.bool_]
    has_nans: NDArray[np.bool_]
    numeric: tuple[int, ...]
    categorical: tuple[int, ...]
    borders: tuple[NDArray[np.float32], ...]
    values: tuple[tuple[int, ...], ...]


def read_features(info: dict[str, Any]) -> Features:
    """Return what the entry "features_info" says."""
    for key, kind in _NOT_READ.items():
        others = info.get(key) or []
        if others:
            first = others[0] if isinstance(others, list) and isinstance(others[0], dict) else {}
            name = str(first.get("feature_id") or first.get("flat_feature_index", "?"))
            raise UnsupportedModelError(
                f"feature {name[:80]!r} is a {kind} feature, which is not read; "
                "encode it as numbers and train on these instead"
            )
    has_categories = bool(info.get("categorical_features"))
    categorical = entry(info, "categorical_features", list, '"features_info"') if has_categories else []
    numeric = [] if has_categories and not info.get("float_features") else _numeric(info)
    columns = [
        (entry(feature, "flat_feature_index", int, f"a {kind} feature"), feature)
        for kind, features in (("float", numeric), ("categorical", categorical))
        for position, feature in enumerate(features)
        if _is_numbered(feature, position, kind)
    ]
    if not 0 < len(columns) <= _MAX_FEATURES:
        raise ModelFileError(f"the model has {len(columns)} features; 1 to {_MAX_FEATURES} can be read")
    if {column for column, _ in columns} != set(range(len(columns))):
        raise ModelFileError("the flat_feature_index of the features do not number the columns of the input")
    true_if_missing, has_nans = np.zeros((2, len(columns)), dtype=np.bool_)
    for column, feature in columns[: len(numeric)]:
        true_if_missing[column] = _treatment(feature) == "AsTrue"  # as it is, NaN > border is false
        has_nans[column] = entry(feature, "has_nans", bool, "a float feature")
    by_column = [feature for _, feature in sorted(columns, key=lambda pair: pair[0])]
    return Features(
        names=tuple(str(feature.get("feature_id") or f"x{i}") for i, feature in enumerate(by_column)),
        named=any(feature.get("feature_id") for feature in by_column),
        true_if_missing=true_if_missing,
        has_nans=has_nans,
        numeric=tuple(column for column, _ in columns[: len(numeric)]),
        categorical=tuple(column for column, _ in columns[len(numeric) :]),
        borders=tuple(_borders(feature, f"float feature {at}") for at, feature in enumerate(numeric)),
        values=tuple(_values(feature, f"categorical feature {at}") for at, feature in enumerate(categorical)),
    )


def _numeric(info: dict[str, Any]) -> list[dict[str, Any]]:
    features = entry(info, "float_features", list, '"features_info"')
    if not 0 < len(features) <= _MAX_FEATURES:
        raise ModelFileError(f"the model has {len(features)} float features; 1 to {_MAX_FEATURES} can be read")
    return features


def _is_numbered(feature: Any, position: int, kind: str) -> bool:
    if entry(feature, "feature_index", int, f"a {kind} feature") != position:
        raise ModelFileError(f"{kind} feature {position} has another feature_index")
    return True


def _borders(feature: dict[str, Any], where: str) -> NDArray[np.float32]:
    own = [number(border, where) for border in entry(feature, "borders", list, where)]
    if any(low >= high for low, high in pairwise(own)):
        raise ModelFileError(f"the borders of {where} do not ascend")
    return singles(own)


def _values(feature: dict[str, Any], where: str) -> tuple[int, ...]:
    values = [hash_of(value, where) for value in feature.get("values") or []]
    if len(set(values)) != len(values):
        raise ModelFileError(f"{where} has a value twice")
    return tuple(values)


def _treatment(feature: dict[str, Any]) -> str:
    treatment = entry(feature, "nan_value_treatment", str, "a float feature")
    if treatment not in _MISSING:
        raise ModelFileError(f"the nan_value_treatment of a feature must be one of {', '.join(_MISSING)}")
    return treatment
