"""scikit-learn's HistGradientBoosting: a sum of trees in float64 that compares its inputs in float64.

Two classes: the second wins iff the sum is above zero; more: the first largest.

A categorical feature is encoded before the trees see it: a value that equals one of those in the training data,
exactly, is that category, and any other is taken for missing. The encoder puts the categorical features in front
of the others, and the trees count their features in that order. Categories that are numbers are these numbers here,
too; texts are 0, 1, ... in the order of the encoder.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.importers.set_tests import SetTest, known_categories, set_fields
from onetree.importers.sklearn.nodes import DamagedModelError, Nodes, check_size, feature_names, join
from onetree.importers.sklearn.reading import Reading
from onetree.importers.sklearn.regressors import NO_CLASSES
from onetree.model.categories import Categories
from onetree.model.columns import Labels, plain_values
from onetree.model.ensemble import Rule

_N_BITS = 256  # of a set of categories, in 8 numbers of 32 bits
_EXACT = 1 << 53  # integers up to here are float64 values
_NO_CATEGORY = "\0 no category"


@dataclass(frozen=True)
class _Encoding:
    """What stands in front of the trees."""

    column: NDArray[np.intp]  # of the model, for each feature of the trees
    codes: dict[int, NDArray[np.float64]]  # what the encoder calls 0, 1, ..., by feature of the trees
    labels: tuple[Labels | None, ...] = ()  # by feature of the model
    met_nan: bool = False  # among the categories of the training data

    def categories(self, feature: int, codes: NDArray[np.float64]) -> Categories:
        """Return the categories of a feature of the model, with names if they are texts."""
        labels = self.labels[feature]
        if labels is None or not _are_texts(labels):
            return Categories.equal(codes)
        name_of = dict(zip(labels.codes, labels.values, strict=True))
        return Categories.equal(codes, [str(name_of[code]) for code in codes.tolist()])

    def as_given(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """Return inputs with texts in place of their codes, and some other text for everything else."""
        of_texts = {at: labels for at, labels in enumerate(self.labels) if labels is not None and _are_texts(labels)}
        if not of_texts:
            return X
        rows = X.astype(object)
        for feature, labels in of_texts.items():
            name_of = dict(zip(labels.codes, labels.values, strict=True))
            rows[:, feature] = [x if np.isnan(x) else name_of.get(x, _NO_CATEGORY) for x in X[:, feature].tolist()]
        return rows


def _are_texts(labels: Labels) -> bool:
    return any(isinstance(value, str) for value in labels.values)


def read_hist_gradient_boosting(model: Any) -> Reading:
    """Read a `HistGradientBoostingClassifier`."""
    n_classes = len(model.classes_)
    rule = Rule("score") if n_classes == 2 else Rule("scores")
    return _read(model, model.classes_, rule, 1 if n_classes <= 2 else n_classes)


def read_hist_gradient_boosting_regressor(model: Any) -> Reading:
    """Read a `HistGradientBoostingRegressor`; what its link makes of the sum is not part of it."""
    return _read(model, NO_CLASSES, Rule("value"), 1)


def _read(model: Any, classes: NDArray[Any], rule: Rule, n_outputs: int) -> Reading:
    name = type(model).__name__
    if any(len(stage) != n_outputs for stage in model._predictors):
        raise DamagedModelError(f"this {name} does not have {n_outputs} trees in each iteration; fit it again")
    encoding = _encoding(model)
    predictors = [(k, predictor) for stage in model._predictors for k, predictor in enumerate(stage)]
    check_size(model, sum(len(predictor.nodes) for _, predictor in predictors), n_outputs)
    names = feature_names(model)
    trees = [_nodes(predictor.nodes, k, n_outputs, encoding, names) for k, predictor in predictors]
    base = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1)
    ensemble = join(model, trees, classes, base, rule, single_precision=False)
    tests = _set_tests(model, [predictor for _, predictor in predictors], ensemble.roots.tolist(), encoding)
    if tests:
        known = {int(encoding.column[own]): codes[~np.isnan(codes)] for own, codes in encoding.codes.items()}
        try:
            categories = known_categories(tests, known, encoding.categories, ensemble.n_features)
            ensemble = replace(ensemble, **set_fields(tests, categories, ensemble.feature, ensemble.feature_names))
        except InvalidInputError as error:
            raise DamagedModelError(f"this {name} is damaged: {error}; fit it again") from error
    ensemble = replace(ensemble, columns=replace(ensemble.columns, labels=encoding.labels))
    met_nan = encoding.met_nan or any(_met_nan(predictor.nodes) for _, predictor in predictors)
    return Reading(ensemble, met_nan, largest=np.inf, as_given=encoding.as_given)


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
    all_labels: list[Labels | None] = [None] * n_features
    for own, column in enumerate(columns.tolist()):
        feature = feature_names(model)[column]
        all_labels[column] = labels = _labels(np.asarray(values[own]), name, feature)
        numbers = np.array(labels.codes)
        met_nan |= len(numbers) < len(values[own])
        known = np.asarray(model._bin_mapper.bin_thresholds_[own])
        # The library sets one bit for each without looking whether it is there.
        if len(numbers) > _N_BITS or not np.isin(known, np.arange(_N_BITS)).all():
            raise DamagedModelError(f"feature {feature!r} of this {name} has more than {_N_BITS} categories")
        # What the encoder has but the trees do not know is as good as missing.
        codes[own] = np.where(np.isin(np.arange(len(numbers)), known), numbers, np.nan)
    order = np.concatenate([columns, np.flatnonzero(~categorical)])
    return _Encoding(order, codes, tuple(all_labels), met_nan)


def _labels(values: NDArray[Any], name: str, feature: str) -> Labels:
    """Return the values of a categorical feature, without NaN, and their numbers."""
    if values.dtype.kind == "O" and _are_numbers(values):  # in an array of objects, with texts in other columns
        return _labels(np.array([np.nan if value is None else value for value in values.tolist()]), name, feature)
    if values.dtype.kind not in "biuf":
        texts = plain_values(value for value in values.tolist() if value is not None and value == value)
        if texts is None or not all(isinstance(text, str) for text in texts):
            raise UnsupportedModelError(
                f"the categories of feature {feature!r} of this {name} are neither texts nor numbers; encode the "
                f"feature as texts or numbers and fit the {name} on these, still as a categorical feature"
            )
        return Labels(texts, unknown=-1.0)
    numbers = values.astype(np.float64)
    if values.dtype.kind in "iu" and np.any(np.abs(numbers) >= _EXACT):
        raise UnsupportedModelError(
            f"feature {feature!r} of this {name} has integer categories of 2**53 and more, which float64 "
            "inputs cannot distinguish; number them from 0 and fit again"
        )
    codes = tuple(numbers[~np.isnan(numbers)].tolist())
    last = codes[-1] if codes else 0.0
    return Labels(plain_values(values[~np.isnan(numbers)]) or codes, codes, unknown=last + max(1.0, math.ulp(last)))


def _are_numbers(values: NDArray[Any]) -> bool:
    """Whether objects are numbers, or missing: their categories go by value, whatever their type."""
    return all(value is None or isinstance(value, int | float | np.integer | np.floating) for value in values.tolist())


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
