"""scikit-learn's HistGradientBoosting: a sum of trees in float64 that compares its inputs in float64.

Two classes: the second wins iff the sum is above zero; more: the first largest.

A categorical feature is encoded before the trees see it: a number that equals one of the values in the training data,
exactly, is that category, and any other number is taken for missing. The encoder puts the categorical features in front
of the others, and the trees count their features in that order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.categories import Categories
from onetree.ensemble import Rule
from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.importers.set_tests import SetTest, known_categories, set_fields
from onetree.importers.sklearn.nodes import DamagedModelError, Nodes, check_size, feature_names, join
from onetree.importers.sklearn.reading import Reading

_N_BITS = 256  # of a set of categories, in 8 numbers of 32 bits
_EXACT = 1 << 53  # whole numbers up to here are float64 values


@dataclass(frozen=True)
class _Encoding:
    """What stands in front of the trees."""

    column: NDArray[np.intp]  # of the model, for each feature of the trees
    codes: dict[int, NDArray[np.float64]]  # what the encoder calls 0, 1, ..., by feature of the trees
    met_nan: bool = False  # among the categories of the training data


def read_hist_gradient_boosting(model: Any) -> Reading:
    """Read a `HistGradientBoostingClassifier`; categories must be numbers."""
    name, n_classes = type(model).__name__, len(model.classes_)
    n_outputs = 1 if n_classes <= 2 else n_classes
    if any(len(stage) != n_outputs for stage in model._predictors):
        raise DamagedModelError(f"this {name} does not have {n_outputs} trees in each iteration; fit it again")
    encoding = _encoding(model)
    predictors = [(k, predictor) for stage in model._predictors for k, predictor in enumerate(stage)]
    check_size(model, sum(len(predictor.nodes) for _, predictor in predictors), n_outputs)
    names = feature_names(model)
    trees = [_nodes(predictor.nodes, k, n_outputs, encoding, names) for k, predictor in predictors]
    base = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1)
    rule = Rule("score") if n_classes == 2 else Rule("scores")
    ensemble = join(model, trees, model.classes_, base, rule)
    tests = _set_tests(model, [predictor for _, predictor in predictors], ensemble.roots.tolist(), encoding)
    if tests:
        known = {int(encoding.column[own]): codes[~np.isnan(codes)] for own, codes in encoding.codes.items()}
        try:
            categories = known_categories(tests, known, lambda _, codes: Categories.equal(codes), ensemble.n_features)
            ensemble = replace(ensemble, **set_fields(tests, categories, ensemble.feature, ensemble.feature_names))
        except InvalidInputError as error:
            raise DamagedModelError(f"this {name} is damaged: {error}; fit it again") from error
    met_nan = encoding.met_nan or any(_met_nan(predictor.nodes) for _, predictor in predictors)
    return Reading(ensemble, met_nan, largest=np.inf)


def _encoding(model: Any) -> _Encoding:
    n_features, preprocessor = int(model.n_features_in_), getattr(model, "_preprocessor", None)
    if preprocessor is None:
        return _Encoding(np.arange(n_features), {})
    name = type(model).__name__
    categorical = np.asarray(model.is_categorical_)
    if categorical.shape != (n_features,) or categorical.dtype != np.bool_:
        raise DamagedModelError(f"this {name} does not say which of its features are categories; fit it again")
    columns = np.flatnonzero(categorical)
    values = preprocessor.named_transformers_["encoder"].categories_
    if len(values) != len(columns):
        raise DamagedModelError(f"this {name} has {len(columns)} categorical features, but encodes {len(values)}")
    codes, met_nan = {}, False
    for own, column in enumerate(columns.tolist()):
        feature = feature_names(model)[column]
        numbers = _numbers(np.asarray(values[own]), name, feature)
        met_nan |= len(numbers) < len(values[own])
        known = np.asarray(model._bin_mapper.bin_thresholds_[own])
        # The library sets one bit for each without looking whether it is there.
        if len(numbers) > _N_BITS or not np.isin(known, np.arange(_N_BITS)).all():
            raise DamagedModelError(f"feature {feature!r} of this {name} has more than {_N_BITS} categories")
        # What the encoder has but the trees do not know is as good as missing.
        codes[own] = np.where(np.isin(np.arange(len(numbers)), known), numbers, np.nan)
    return _Encoding(np.concatenate([columns, np.flatnonzero(~categorical)]), codes, met_nan)


def _numbers(values: NDArray[Any], name: str, feature: str) -> NDArray[np.float64]:
    """Return the values of a categorical feature, without NaN, if they are numbers that float64 holds."""
    if values.dtype.kind not in "biuf":
        raise UnsupportedModelError(
            f"the categories of feature {feature!r} of this {name} are texts or other objects, and inputs here are "
            f"numbers; encode the feature as numbers first (for instance with OrdinalEncoder) and fit the {name} on "
            "these, still as a categorical feature"
        )
    numbers = values.astype(np.float64)
    if values.dtype.kind in "iu" and np.any(np.abs(numbers) >= _EXACT):
        raise UnsupportedModelError(
            f"feature {feature!r} of this {name} has categories that are whole numbers from 2**53 on, which float64 "
            "inputs cannot tell apart; number them from 0 on and fit again"
        )
    return numbers[~np.isnan(numbers)]


def _members(words: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which of the bits are set, the lowest of the first number being 0."""
    bits: NDArray[np.bool_] = (words[:, np.newaxis] >> np.arange(32, dtype=np.uint32) & 1).ravel() == 1
    return bits


def _set_tests(model: Any, predictors: Sequence[Any], roots: Sequence[int], encoding: _Encoding) -> list[SetTest]:
    """Return the splits by categories: those in the set go left, other known ones right, the rest where NaN goes."""
    tests = []
    for predictor, root in zip(predictors, roots, strict=True):
        nodes, sets = predictor.nodes, np.asarray(predictor.raw_left_cat_bitsets)
        if sets.dtype != np.uint32 or sets.ndim != 2 or sets.shape[1] * 32 != _N_BITS:
            raise DamagedModelError(
                f"this {type(model).__name__} has sets of categories of a wrong shape; fit it again"
            )
        for node in np.flatnonzero((nodes["is_leaf"] == 0) & (nodes["is_categorical"] != 0)).tolist():
            own, row = int(nodes["feature_idx"][node]), int(nodes["bitset_idx"][node])
            codes = encoding.codes[own]
            named = codes[_members(sets[row])[: len(codes)]] if row < len(sets) else np.array([np.nan])
            if np.isnan(named).any():
                raise DamagedModelError(
                    f"this {type(model).__name__} has a split by a set of categories that do not exist; fit it again"
                )
            missing_left = bool(nodes["missing_go_to_left"][node])
            tests.append(
                SetTest(
                    node=root + node,
                    feature=int(encoding.column[own]),
                    codes=named,
                    named_left=True,
                    other_left=missing_left,
                    missing_left=missing_left,
                )
            )
    return tests


def _nodes(nodes: NDArray[Any], k: int, n_outputs: int, encoding: _Encoding, names: Sequence[str]) -> Nodes:
    leaf, by_set = nodes["is_leaf"] != 0, nodes["is_categorical"] != 0
    value = np.zeros((len(nodes), n_outputs))
    value[:, k] = nodes["value"]
    feature = np.where(leaf, 0, nodes["feature_idx"].astype(np.int64))
    if np.any((feature < 0) | (feature >= len(encoding.column))):
        raise DamagedModelError("a tree splits on a feature that does not exist; fit the model again")
    if np.any(by_set[~leaf] != np.isin(feature[~leaf], list(encoding.codes))):
        raise DamagedModelError("a tree takes categories for numbers or numbers for categories; fit the model again")
    lowest = ~leaf & ~by_set & np.isneginf(nodes["num_threshold"])
    if lowest.any():
        column = int(encoding.column[feature[lowest.argmax()]])
        raise UnsupportedModelError(
            f"this model separates -inf from all numbers in feature {names[column]!r}, which no threshold here does; "
            "replace -inf in the training data, for instance by -1e300, and fit the model again"
        )
    return Nodes(
        feature=np.where(leaf, -1, encoding.column[feature]),
        threshold=np.where(leaf | by_set, 0.0, nodes["num_threshold"]),
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        missing_left=nodes["missing_go_to_left"] != 0,
        value=value,
    )


def _met_nan(nodes: NDArray[Any]) -> bool:
    """Whether a tree shows that NaN was in its training data.

    On a feature without NaN in training, NaN goes to the child with more samples (left iff n_left > n_right) and the
    threshold is finite, so any other split is proof.
    """
    inner = nodes[nodes["is_leaf"] == 0]
    larger_left = nodes["count"][inner["left"]] > nodes["count"][inner["right"]]
    return bool(np.any((inner["missing_go_to_left"] != 0) != larger_left) or np.any(np.isinf(inner["num_threshold"])))
