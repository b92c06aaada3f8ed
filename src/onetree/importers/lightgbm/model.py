"""LightGBM's classifiers, live or as model text.

Scores are float64, from 0, in the order of the trees; what LightGBM calls the initial score is inside the first tree.
The class is read off rounded probabilities, so it is not always the class with the larger score.
"""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.errors import missing as missing_package
from onetree.importers.cut import last_score
from onetree.importers.lightgbm.categories import categories_of, columns_of, tests_of
from onetree.importers.lightgbm.splits import MISSING_IS_NAN, TreeSplits, canonical_splits
from onetree.importers.lightgbm.text import TextModel, read_text
from onetree.importers.self_test import self_test
from onetree.importers.set_tests import set_fields
from onetree.importers.sizes import too_many_values
from onetree.model.combination import Combination
from onetree.model.ensemble import Ensemble, Rule
from onetree.model.stages import Member, Stage

_NO_SIGMOID = "the sigmoid of the objective must be a positive number, not {!r}"


def import_lightgbm(model: Any, *, missing: str = "auto") -> Ensemble:
    """Read a fitted `LGBMClassifier` or `Booster` and check it against its own `predict`."""
    try:
        import lightgbm
    except ImportError:
        raise missing_package("lightgbm", "lightgbm") from None
    name = type(model).__name__
    if isinstance(model, lightgbm.Booster):
        booster, classes = model, None
    elif isinstance(model, lightgbm.LGBMClassifier):
        booster, classes = _booster_of(model), np.asarray(model.classes_)
    else:
        raise UnsupportedModelError(f"{name} is not a classifier of LightGBM; give a fitted LGBMClassifier or Booster")
    _refuse_long_sigmoid(booster)
    ensemble = _ensemble(read_text(booster.model_to_string().encode()), missing)
    if classes is None:
        self_test(ensemble, lambda X: _class_of(np.asarray(booster.predict(X))), name)
        return ensemble
    if len(classes) != ensemble.n_classes:
        raise UnsupportedModelError(
            f"this {name} was trained on {len(classes)} classes but has an objective for {ensemble.n_classes}; "
            "train on at least two classes with the objective that belongs to their number"
        )
    ensemble = replace(ensemble, classes=classes)
    self_test(ensemble, lambda X: _predict_unnamed(model, X), name)
    return ensemble


def parse_lightgbm_text(content: bytes, *, missing: str = "auto") -> Ensemble:
    """Read an ensemble from the content of a file that LightGBM's `save_model` wrote; classes are 0, 1, ..."""
    return _ensemble(read_text(content), missing)


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


def _predict_unnamed(classifier: Any, X: NDArray[np.float64]) -> NDArray[Any]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        labels: NDArray[Any] = classifier.predict(X)
        return labels


def _ensemble(model: TextModel, missing: str) -> Ensemble:
    rule, n_classes = _rule(model)
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
    output = np.repeat(np.arange(len(trees)) % n_outputs, sizes)
    value[np.arange(n_nodes), output] = np.concatenate([tree.value for tree in trees])
    tests = tests_of(trees, roots.tolist())
    try:
        return Ensemble(
            classes=np.arange(n_classes),
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


def _rule(model: TextModel) -> tuple[Rule, int]:
    """Return the rule and the number of classes."""
    if not model.trees:
        raise UnsupportedModelError("this LightGBM model has no trees; train it for at least one iteration")
    n_iterations, rest = divmod(len(model.trees), model.n_trees_per_iteration)
    if rest:
        raise ModelFileError(f"{len(model.trees)} trees cannot be {model.n_trees_per_iteration} per iteration")
    divisor = float(n_iterations) if model.average_output else 1.0
    name, options = (model.objective or ("custom",))[0], dict(part.partition(":")[::2] for part in model.objective[1:])
    if name == "binary":
        if model.n_classes != 1 or model.n_trees_per_iteration != 1:
            raise ModelFileError(
                'the objective "binary" has one score, but num_class or num_tree_per_iteration is not 1'
            )
        return Rule("score", divisor=divisor, cut=_cut(options.get("sigmoid", ""))), 2
    if name in ("multiclass", "multiclassova"):
        if not 2 <= model.n_classes == model.n_trees_per_iteration or options.get("num_class") != str(model.n_classes):
            raise ModelFileError("num_class, num_tree_per_iteration and the number in the objective do not agree")
        if name == "multiclass":
            return Rule("scores", divisor=divisor, softmax=True), model.n_classes
        # The first largest of rounded sigmoids: large scores are all 1.
        sigmoid = Stage("sigmoid", (0,), (_factor(options.get("sigmoid", "")),))
        members = (Member(model.n_classes, divisor=divisor),)
        return Rule("combined", combination=Combination(members, (sigmoid,))), model.n_classes
    raise UnsupportedModelError(
        f'the objective "{name[:40]}" does not name a class; train with objective="binary" or "multiclass"'
    )


def _cut(sigmoid: str) -> float:
    """Return the largest score that is class 0: the last whose probability, as LightGBM rounds it, is 0.5."""
    factor = _factor(sigmoid)
    cut = last_score(lambda score: 1.0 / (1.0 + math.exp(-factor * score)) <= 0.5, lowest=0.0)
    if cut is None:
        raise ModelFileError(_NO_SIGMOID.format(sigmoid[:40]))
    return cut


def _factor(sigmoid: str) -> float:
    try:
        factor = float(sigmoid)
    except ValueError:
        factor = math.nan
    if not 0 < factor < math.inf:
        raise ModelFileError(_NO_SIGMOID.format(sigmoid[:40]))
    return factor


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
