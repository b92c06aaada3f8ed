"""CatBoost's classifiers with numeric features, live or as JSON.

Scores are float64, from 0, in the order of the trees; the sum is multiplied by the scale, then the bias is added.
Inputs are float32 when they are compared. The JSON is exact for the model that wrote it, though CatBoost itself does
not always read the same numbers back from it.
"""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.errors import missing as missing_package
from onetree.importers.catboost.file import BINARY, JsonModel, JsonTree, read_json
from onetree.importers.cut import last_score
from onetree.importers.self_test import self_test
from onetree.importers.sizes import too_many_values
from onetree.importers.thresholds import canonical_thresholds
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble, Rule


def import_catboost(model: Any, *, missing: str = "auto") -> Ensemble:
    """Read a fitted `CatBoostClassifier` or `CatBoost` and check it against its own `predict`."""
    try:
        import catboost
    except ImportError:
        raise missing_package("catboost", "catboost") from None
    name = type(model).__name__
    if not isinstance(model, catboost.CatBoost):
        raise UnsupportedModelError(f"{name} is not a model of CatBoost; give a fitted CatBoostClassifier")
    if not model.is_fitted():
        raise UnsupportedModelError(f"this {name} is not fitted; call fit(X, y) first")
    _refuse_features_that_are_no_numbers(model)
    with tempfile.TemporaryDirectory(prefix="onetree-") as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        content = path.read_bytes()
    ensemble = _ensemble(read_json(content), missing)
    self_test(ensemble, lambda X: np.ravel(model.predict(X, prediction_type="Class", thread_count=1)), name)
    return ensemble


def parse_catboost_json(content: bytes, *, missing: str = "auto") -> Ensemble:
    """Read an ensemble from the content of a file that CatBoost's `save_model(path, format="json")` wrote."""
    return _ensemble(read_json(content), missing)


def _refuse_features_that_are_no_numbers(model: Any) -> None:
    """Refuse what the JSON format cannot even hold without the training data."""
    for kind, indices in (
        ("categorical", model.get_cat_feature_indices()),
        ("text", model.get_text_feature_indices()),
        ("embedding", model.get_embedding_feature_indices()),
    ):
        if len(indices):
            raise UnsupportedModelError(
                f"feature {model.feature_names_[indices[0]]!r} is a {kind} feature, which is not read; "
                "encode it as numbers and train on these alone"
            )


def _ensemble(model: JsonModel, missing: str) -> Ensemble:
    if not model.trees:
        raise UnsupportedModelError("this CatBoost model has no trees; train it for at least one iteration")
    rule, trees = _one_score(model) if model.loss in BINARY else _score_per_class(model)
    sizes = [len(tree.feature) for tree in trees]
    n_scores, n_features = len(model.bias), len(model.feature_names)
    if too_many_values(sum(sizes), n_scores):
        raise UnsupportedModelError(
            f"{sum(sizes):,} nodes with {n_scores} scores each are more than can be held; use fewer or smaller trees"
        )
    roots = np.cumsum([0, *sizes[:-1]])
    offset = np.repeat(roots, sizes)
    feature = np.concatenate([tree.feature for tree in trees])
    leaf = feature < 0
    false_if_missing = np.array(
        [treatment != "AsTrue" for treatment in model.missing]
    )  # as it is, NaN > border is false
    try:
        return Ensemble(
            classes=model.labels,
            feature_names=model.feature_names,
            roots=roots,
            feature=feature,
            threshold=canonical_thresholds(np.concatenate([tree.border for tree in trees])),
            children_left=np.where(leaf, -1, np.concatenate([tree.left for tree in trees]) + offset),
            children_right=np.where(leaf, -1, np.concatenate([tree.right for tree in trees]) + offset),
            missing_left=false_if_missing[feature],  # what a leaf gets here is not used
            value=np.concatenate([tree.value for tree in trees]),
            base=np.zeros(n_scores),
            rule=rule,
            columns=Columns(named=model.named),
            nan_features=model.has_nans if missing == "auto" else np.full(n_features, missing == "follow"),
        )
    except InvalidInputError as error:
        raise ModelFileError(str(error)) from None


def _one_score(model: JsonModel) -> tuple[Rule, Sequence[JsonTree]]:
    """Return a cut that takes scale and bias into account: class 1 iff scale * score + bias > cut of CatBoost."""
    scale, bias, threshold = abs(model.scale), float(model.bias[0]), model.probability_threshold
    cut = None
    if 0 < threshold < 1:
        logit = -math.log(1 / threshold - 1)
        if scale == 0:  # the bias alone decides
            return Rule("score", cut=logit), [_one_leaf(model.bias)]
        cut = last_score(lambda score: scale * score + bias <= logit)
    if cut is None:
        raise UnsupportedModelError(
            f"with scale {model.scale!r}, bias {bias!r} and probability threshold {threshold!r} the class never "
            "changes; see set_scale_and_bias and set_probability_threshold"
        )
    if model.scale > 0:
        return Rule("score", cut=cut), model.trees
    # Rounding knows no sign, so opposite scale and opposite leaves give the same score.
    return Rule("score", cut=cut), [replace(tree, value=-tree.value) for tree in model.trees]


def _score_per_class(model: JsonModel) -> tuple[Rule, Sequence[JsonTree]]:
    """Return the trees, the bias as a last tree of one leaf; the first largest score wins."""
    if model.scale == 0:
        return Rule("scores"), [_one_leaf(model.bias)]
    power_of_two = abs(math.frexp(model.scale)[0]) == 0.5
    with np.errstate(over="ignore", under="ignore"):
        trees = [replace(tree, value=tree.value * model.scale) for tree in model.trees]
        exact = power_of_two and all(
            np.array_equal(new.value / model.scale, old.value) for new, old in zip(trees, model.trees, strict=True)
        )
    if not exact:
        raise UnsupportedModelError(
            f"the scores of the classes are multiplied by {model.scale!r}, which rounds them; "
            "call set_scale_and_bias(1, bias) first: without a bias the classes stay the same"
        )
    if model.bias.any():
        trees.append(_one_leaf(model.bias))
    return Rule("scores"), trees


def _one_leaf(value: NDArray[np.float64]) -> JsonTree:
    nothing = np.full(1, -1, dtype=np.int32)
    return JsonTree(nothing, np.zeros(1, dtype=np.float32), nothing, nothing, value[np.newaxis])
