"""CatBoost's JSON model, read strictly: features, trees and labels as arrays.

Says what is written in the file and that it is whole; what it means for a prediction is said in `catboost.model`.
"""

import json
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.files.strict_json import check_containers, refuse_constant, unique_entries
from onetree.importers.catboost.entries import entry as _entry
from onetree.importers.catboost.entries import number as _number
from onetree.importers.catboost.features import Features, read_features
from onetree.importers.catboost.splits import Splits, read_splits

BINARY = ("Logloss", "CrossEntropy", "Focal")
"""Losses with one score."""

MULTICLASS = ("MultiClass", "MultiClassOneVsAll")
"""Losses with a score per class, the largest of which wins."""

EXPONENT = ("Poisson", "Tweedie")
"""Losses of regressors that predict the exponential of the score."""

REGRESSION = (
    "RMSE",
    "MAE",
    "Quantile",
    "LogLinQuantile",
    "MAPE",
    "Lq",
    "Huber",
    "Expectile",
    "LogCosh",
    "RMSPE",
    *EXPONENT,
)
"""Losses with one score that is not a class."""

_MAX_DEPTH = 30  # a complete tree holds 2**depth leaves; CatBoost itself stops at 16
_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class JsonTree:
    """A tree as node arrays, node 0 the root; an input goes right iff the answer to the split is yes."""

    split: NDArray[np.int32]  # number of the split; -1 at a leaf
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]  # (n_nodes, n_scores)


@dataclass(frozen=True)
class JsonModel:
    """What a JSON model says."""

    loss: str
    labels: NDArray[Any]
    features: Features
    splits: Splits
    trees: tuple[JsonTree, ...]
    scale: float
    bias: NDArray[np.float64]
    probability_threshold: float


def read_json(content: bytes) -> JsonModel:
    """Return what the JSON says, or refuse it if it is broken or holds what is not read."""
    check_containers(content)
    try:
        document: object = json.loads(
            content.decode("utf-8-sig"),
            parse_constant=refuse_constant,
            parse_float=_in_range,
            parse_int=_in_range,
            object_pairs_hook=unique_entries,
        )
    except (ValueError, RecursionError) as error:  # ValueError: bad JSON, bad UTF-8, an absurdly long number
        raise ModelFileError(f"not a JSON file, or cut short: {error}") from None
    info = _entry(document, "model_info", dict, "the model")
    loss = _loss(info)
    features = read_features(_entry(document, "features_info", dict, "the model"))
    splits = read_splits(document, features)
    scale, bias = _scale_and_bias(_entry(document, "scale_and_bias", list, "the model"), loss)
    return JsonModel(
        loss=loss,
        labels=(
            np.empty(0)
            if loss in REGRESSION
            else _labels(_entry(info, "class_params", dict, '"model_info"'), max(2, len(bias)))
        ),
        features=features,
        splits=splits,
        trees=_trees(document, splits, len(bias)),
        scale=scale,
        bias=bias,
        probability_threshold=_probability_threshold(info),
    )


def _in_range(text: str) -> int | float:
    """Return a number; CatBoost stops reading, without an error, where one is beyond float64."""
    number = float(text)
    if abs(number) > _LARGEST:
        raise ValueError(f"numbers must be finite, but {text[:20]} is too large")
    return number if {".", "e", "E"} & set(text) else int(text)


def _loss(info: dict[str, Any]) -> str:
    params = info.get("params", info)  # a sum of models has the loss alone
    if isinstance(params, dict) and isinstance(params.get("loss_function"), str):
        try:
            params = {"loss_function": json.loads(params["loss_function"])}
        except (ValueError, RecursionError):
            raise ModelFileError('"loss_function" is not a JSON text') from None
    loss = _entry(_entry(params, "loss_function", dict, '"model_info"'), "type", str, '"loss_function"')
    if loss not in (*BINARY, *MULTICLASS, *REGRESSION):
        raise UnsupportedModelError(
            f"models with the loss {loss[:40]!r} are not read; train a CatBoostClassifier with the loss "
            f"{', '.join(BINARY + MULTICLASS[:1])} or {MULTICLASS[1]}, or a CatBoostRegressor with one of "
            f"{', '.join(REGRESSION)}"
        )
    return loss


def _scale_and_bias(pair: list[Any], loss: str) -> tuple[float, NDArray[np.float64]]:
    if len(pair) != 2:
        raise ModelFileError('"scale_and_bias" must hold a scale and a bias')
    given = pair[1] if isinstance(pair[1], list) else [pair[1]]
    bias = np.array([_number(number, '"scale_and_bias"') for number in given], dtype=np.float64)
    if (len(bias) < 2) if loss in MULTICLASS else (len(bias) != 1):
        raise ModelFileError(f"the loss {loss!r} does not go with {len(bias)} scores")
    return _number(pair[0], '"scale_and_bias"'), bias


def _labels(params: dict[str, Any], n_classes: int) -> NDArray[Any]:
    """Return the label of each class."""
    kind = _entry(params, "class_label_type", str, '"class_params"')
    names = _entry(params, "class_names", list, '"class_params"')
    chosen = _entry(params, "class_to_label", list, '"class_params"')
    if len(names) == 1:
        raise UnsupportedModelError("this model was trained on one class alone; train it on two or more")
    if len(chosen) != n_classes or any(type(k) not in (int, float) or k != k // 1 or abs(k) > 2**31 for k in chosen):
        raise ModelFileError(f'"class_to_label" must hold {n_classes} integers')
    if sorted(chosen) != chosen:  # CatBoost itself writes them so, and reads no other order
        raise ModelFileError('"class_to_label" must ascend')
    if not names:
        return _distinct(np.array(chosen, dtype=np.int64))
    if not all(0 <= k < len(names) for k in chosen):
        raise ModelFileError('"class_to_label" points outside "class_names"')
    types, dtype = {
        "Integer": ((int,), np.int64),
        "Float": ((int, float), np.float64),
        "String": ((str,), object),
        "Boolean": ((bool,), np.bool_),
    }.get(kind, ((), object))
    if any(type(name) not in types for name in names):
        raise ModelFileError(f'"class_names" are not of the type {kind[:40]!r}')
    try:
        return _distinct(np.array([names[int(k)] for k in chosen], dtype=dtype))
    except OverflowError:
        raise ModelFileError("a class label is too large a number") from None


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    if len(set(labels.tolist())) != len(labels):
        raise ModelFileError("two classes have the same label")
    return labels


def _probability_threshold(info: dict[str, Any]) -> float:
    text = info.get("binclass_probability_threshold", "0.5")
    try:
        threshold = float(text)
    except (TypeError, ValueError, OverflowError):
        threshold = math.nan
    if not 0 <= threshold <= 1:
        raise ModelFileError('"binclass_probability_threshold" must be a number between 0 and 1')
    return threshold


def _trees(document: Any, splits: Splits, n_scores: int) -> tuple[JsonTree, ...]:
    if ("oblivious_trees" in document) == ("trees" in document):
        raise ModelFileError('the model must have either "oblivious_trees" or "trees"')
    if "trees" in document:
        trees = _entry(document, "trees", list, "the model")
        return tuple(_nested(tree, splits, n_scores, f"tree {i}") for i, tree in enumerate(trees))
    trees = _entry(document, "oblivious_trees", list, "the model")
    return tuple(_oblivious(tree, splits, n_scores, f"tree {i}") for i, tree in enumerate(trees))


def _oblivious(tree: object, splits: Splits, n_scores: int, where: str) -> JsonTree:
    """Return a tree that asks the same on each level; bit k of a leaf's number is the answer to split k."""
    asked = [splits.number_of(split, where) for split in _splits_of(tree, where)]
    depth = len(asked)
    given = _entry(tree, "leaf_values", list, where)
    if depth > _MAX_DEPTH or len(given) != n_scores << depth:
        raise ModelFileError(
            f"{where} has {depth} splits and {len(given)} leaf values for {n_scores} scores, which do not go together"
        )
    n_inner = (1 << depth) - 1
    node = np.arange(n_inner, dtype=np.int32)
    # Breadth first, the last split at the root: the leaves then come in the order of their numbers.
    level = np.repeat(np.arange(depth), 1 << np.arange(depth))
    at_node = np.array(asked[::-1], dtype=np.int64)[level]
    leaf = np.full(n_inner + 1, -1, dtype=np.int32)
    value = np.zeros((2 * n_inner + 1, n_scores))
    value[n_inner:] = np.array([_number(number, where) for number in given]).reshape(-1, n_scores)
    return JsonTree(
        split=np.concatenate([at_node.astype(np.int32), leaf]),
        left=np.concatenate([2 * node + 1, leaf]),
        right=np.concatenate([2 * node + 2, leaf]),
        value=value,
    )


def _splits_of(tree: object, where: str) -> list[Any]:
    """Return the splits of a tree; one that is a single leaf has null in their place."""
    if isinstance(tree, dict) and tree.get("splits", ...) is None:
        return []
    return _entry(tree, "splits", list, where)


def _nested(tree: object, splits: Splits, n_scores: int, where: str) -> JsonTree:
    """Return a tree that is written as objects within objects."""
    number_of: list[int] = []  # the split of each node; -1 at a leaf
    children: list[list[int]] = []
    values: list[list[float]] = []
    todo: list[tuple[object, int, int]] = [(tree, -1, 0)]  # an object, its parent, and the side of it
    while todo:
        item, parent, side = todo.pop()
        node = len(number_of)
        if parent >= 0:
            children[parent][side] = node
        children.append([-1, -1])
        if isinstance(item, dict) and "value" in item:
            given = item["value"] if isinstance(item["value"], list) else [item["value"]]
            if len(given) != n_scores or "split" in item:
                raise ModelFileError(f"{where} has a leaf with a split, or with {len(given)} values, not {n_scores}")
            number_of.append(-1)
            values.append([_number(number, where) for number in given])
        else:
            number_of.append(splits.number_of(_entry(item, "split", dict, where), where))
            values.append([0.0] * n_scores)
            todo += [(_entry(item, name, dict, where), node, i) for i, name in ((1, "right"), (0, "left"))]
    sides = np.array(children, dtype=np.int32)
    return JsonTree(
        split=np.array(number_of, dtype=np.int32),
        left=sides[:, 0],
        right=sides[:, 1],
        value=np.array(values),
    )
