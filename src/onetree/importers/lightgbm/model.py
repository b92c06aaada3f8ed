"""LightGBM's classifiers and regressors, live or as model text.

Scores are float64, from 0, in the order of the trees; what LightGBM calls the initial score is inside the first tree.
The class is read off rounded probabilities, so it is not always the class with the larger score.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.errors import missing as missing_package
from onetree.importers.lightgbm.categories import categories_of, columns_of, tests_of
from onetree.importers.lightgbm.objectives import REGRESSION, objective_of, rule_of, stages_of
from onetree.importers.lightgbm.splits import MISSING_IS_NAN, TreeSplits, canonical_splits
from onetree.importers.lightgbm.text import TextModel, read_text
from onetree.importers.outputs import wanted, with_stages
from onetree.importers.self_test import self_test
from onetree.importers.set_tests import set_fields
from onetree.importers.sizes import too_many_values
from onetree.model.ensemble import Ensemble
from onetree.model.response import Response


def import_lightgbm(model: Any, *, missing: str = "auto", output: str = "class") -> Ensemble:
    """Read a fitted `LGBMClassifier`, `LGBMRegressor` or `Booster` and check it against its own `predict`."""
    try:
        import lightgbm
    except ImportError:
        raise missing_package("lightgbm", "lightgbm") from None
    name = type(model).__name__
    if isinstance(model, lightgbm.Booster):
        booster, classes = model, None
    elif isinstance(model, lightgbm.LGBMClassifier):
        booster, classes = _booster_of(model), np.asarray(model.classes_)
    elif isinstance(model, lightgbm.LGBMRegressor):
        booster, classes = _booster_of(model), None
    else:
        raise UnsupportedModelError(
            f"{name} is not a model of LightGBM that is read; give a fitted LGBMClassifier, LGBMRegressor or Booster"
        )
    _refuse_long_sigmoid(booster)
    text = read_text(booster.model_to_string().encode())
    is_regressor = isinstance(model, lightgbm.LGBMRegressor) or objective_of(text)[0] in REGRESSION
    output = wanted(output, is_regressor=is_regressor, name=name)
    ensemble = _ensemble(text, missing, output)
    if output == "value":
        self_test(ensemble, lambda X: _unnamed(model.predict, X), name)
        return ensemble
    if classes is None:

        def numbers(X: NDArray[np.float64]) -> NDArray[Any]:
            predicted = np.asarray(booster.predict(X))
            return predicted if predicted.ndim == 2 else np.stack([1 - predicted, predicted], axis=1)

        self_test(ensemble, lambda X: _class_of(np.asarray(booster.predict(X))), name, numbers=numbers)
        return ensemble
    if len(classes) != ensemble.n_classes:
        raise UnsupportedModelError(
            f"this {name} was trained on {len(classes)} classes but has an objective for {ensemble.n_classes}; "
            "train on at least two classes with the objective that belongs to their number"
        )
    ensemble = replace(ensemble, classes=classes)
    self_test(
        ensemble,
        lambda X: _unnamed(model.predict, X),
        name,
        numbers=lambda X: _unnamed(model.predict_proba, X),
    )
    return ensemble


def parse_lightgbm_text(content: bytes, *, missing: str = "auto", output: str = "auto") -> Ensemble:
    """Read an ensemble from the content of a file that LightGBM's `save_model` wrote; classes are 0, 1, ..."""
    text = read_text(content)
    is_regressor = objective_of(text)[0] in REGRESSION
    return _ensemble(text, missing, wanted(output, is_regressor=is_regressor, name="this LightGBM model"))


def _booster_of(classifier: Any) -> Any:
    name = type(classifier).__name__
    if not getattr(classifier, "fitted_", True) or getattr(classifier, "_Booster", None) is None:
        raise UnsupportedModelError(f"this {name} is not fitted; call fit(X, y) first")
    if classifier.get_params().get("pred_early_stop"):
        raise UnsupportedModelError(
            f"this {name} leaves trees out of a prediction (pred_early_stop=True), so it is not a sum of its trees; "
            "call set_params(pred_early_stop=False)"
        )
    return classifier.booster_


def _refuse_long_sigmoid(booster: Any) -> None:
    sigmoid = getattr(booster, "params", {}).get("sigmoid")
    if sigmoid is not None and float(f"{float(sigmoid):g}") != float(sigmoid):
        raise UnsupportedModelError(
            f"LightGBM's model text keeps six digits of sigmoid={sigmoid!r}, which is not exact; "
            f"train with sigmoid={float(sigmoid):g}"
        )


def _class_of(probability: NDArray[np.float64]) -> NDArray[Any]:
    return np.argmax(probability, axis=1) if probability.ndim == 2 else (probability > 0.5).astype(np.intp)


def _unnamed(function: Callable[[Any], Any], X: NDArray[np.float64]) -> NDArray[Any]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        answers: NDArray[Any] = function(X)
        return answers


def _ensemble(model: TextModel, missing: str, output: str) -> Ensemble:
    rule, n_classes = rule_of(model, output)
    n_outputs = model.n_trees_per_iteration
    trees: list[TreeSplits] = []
    n_nodes = 0
    for text_tree in model.trees:
        trees.append(canonical_splits(text_tree))
        n_nodes += len(trees[-1].feature)
        if too_many_values(n_nodes, n_outputs):
            raise UnsupportedModelError(
                f"{n_nodes:,} nodes with {n_outputs} scores each are more than can be held; use fewer or smaller trees"
            )
    sizes = [len(tree.feature) for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    offset = np.repeat(roots, sizes)
    feature = np.concatenate([tree.feature for tree in trees])
    leaf = feature < 0
    value = np.zeros((n_nodes, n_outputs))
    group = np.repeat(np.arange(len(trees)) % n_outputs, sizes)
    value[np.arange(n_nodes), group] = np.concatenate([tree.value for tree in trees])
    tests = tests_of(trees, roots.tolist())
    try:
        ensemble = Ensemble(
            classes=np.arange(n_classes) if n_classes else np.empty(0),
            feature_names=model.feature_names,
            roots=roots,
            feature=feature,
            threshold=np.concatenate([tree.threshold for tree in trees]),
            children_left=np.where(leaf, -1, np.concatenate([tree.left for tree in trees]) + offset),
            children_right=np.where(leaf, -1, np.concatenate([tree.right for tree in trees]) + offset),
            missing_left=np.concatenate([tree.missing_left for tree in trees]),
            value=value,
            base=np.zeros(n_outputs),
            rule=rule,
            nan_features=_nan_features(model, missing),
            columns=columns_of(model),
            **set_fields(tests, categories_of(model, tests), feature, model.feature_names),
        )
    except InvalidInputError as error:
        raise ModelFileError(str(error)) from None
    if output == "class":
        return ensemble
    if rule.combination is not None:  # probabilities that decide
        return replace(ensemble, response=Response(rule.combination.members, rule.combination.stages))
    return with_stages(ensemble, stages_of(model, output), "LightGBM model")


def _nan_features(model: TextModel, missing: str) -> NDArray[np.bool_]:
    """Return where NaN is an input. LightGBM marks the splits on a feature iff NaN was met there in training.

    It marks a categorical feature also if rare categories were merged. There NaN goes where these go, so it
    costs nothing, but it says nothing about other features.
    """
    n_features = len(model.feature_names)
    if missing != "auto":
        return np.full(n_features, missing == "follow")
    used, met, categorical = np.zeros((3, n_features), dtype=np.bool_)
    for tree in model.trees:
        feature = tree.feature[: len(tree.threshold)]
        used[feature] = True
        met[feature[tree.decision_type >> 2 == MISSING_IS_NAN]] = True
        categorical[feature[tree.decision_type & 1 == 1]] = True
    # Features without a split are not marked; where other features have gaps they may too, at no cost.
    return met | (~used & met[~categorical].any())
