"""scikit-learn's HistGradientBoosting: a sum of trees in float64 that compares its inputs in float64.

Two classes: the second wins iff the sum is above zero; more: the first largest. Splits on categories are refused.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.ensemble import Rule
from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.nodes import DamagedModelError, Nodes, check_size, feature_names, join
from onetree.importers.sklearn.reading import Reading


def read_hist_gradient_boosting(model: Any) -> Reading:
    """Read a `HistGradientBoostingClassifier` without categorical features."""
    name, n_classes = type(model).__name__, len(model.classes_)
    _refuse_categories(model)
    n_outputs = 1 if n_classes <= 2 else n_classes
    if any(len(stage) != n_outputs for stage in model._predictors):
        raise DamagedModelError(f"this {name} does not have {n_outputs} trees in each iteration; fit it again")
    records = [(k, predictor.nodes) for stage in model._predictors for k, predictor in enumerate(stage)]
    check_size(model, sum(len(nodes) for _, nodes in records), n_outputs)
    trees = [_nodes(model, nodes, k, n_outputs) for k, nodes in records]
    base = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1)
    rule = Rule("score") if n_classes == 2 else Rule("scores")
    ensemble = join(model, trees, model.classes_, base, rule)
    return Reading(ensemble, any(_met_nan(nodes) for _, nodes in records), largest=np.inf)


def _refuse_categories(model: Any) -> None:
    categorical = getattr(model, "is_categorical_", None)
    if categorical is None or not np.any(categorical):
        return
    names = feature_names(model)
    shown = ", ".join(repr(names[i]) for i in np.flatnonzero(categorical)[:5])
    raise UnsupportedModelError(
        f"this {type(model).__name__} treats {np.count_nonzero(categorical)} of its features as categories: {shown}; "
        "splits on sets of categories cannot be read. Encode these features as numbers (one-hot or ordinal), and fit "
        "with categorical_features=None"
    )


def _nodes(model: Any, nodes: NDArray[Any], k: int, n_outputs: int) -> Nodes:
    leaf = nodes["is_leaf"] != 0
    if np.any(nodes["is_categorical"][~leaf]):
        raise UnsupportedModelError(f"this {type(model).__name__} splits on categories; fit it on numbers only")
    value = np.zeros((len(nodes), n_outputs))
    value[:, k] = nodes["value"]
    return Nodes(
        feature=np.where(leaf, -1, nodes["feature_idx"]),
        threshold=np.where(leaf, 0.0, nodes["num_threshold"]),
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
