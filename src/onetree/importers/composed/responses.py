"""What a model of one level makes of its sums: probabilities, scores, or a class, as its library computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onetree.errors import UnsupportedModelError
from onetree.importers.composed.parts import Signal, sums_of
from onetree.model.ensemble import Ensemble


def probabilities(model: Any, ensemble: Ensemble) -> Signal:
    """Return what `predict_proba` returns.

    Parameters
    ----------
    model : fitted classifier
        Without pipelines and the like around it.
    ensemble : Ensemble
        The model as it was read.
    """
    sums, name = sums_of(ensemble), type(model).__name__
    library = _library(model)
    is_binary = ensemble.rule.kind == "score"
    if library == "xgboost":
        return _xgboost(model, sums, is_binary)
    if library == "lightgbm":
        return sums.then("sigmoid", numbers=[_sigmoid(model)]).then("pair") if is_binary else sums.then("softmax")
    if library == "catboost" and is_binary and np.allclose(model.get_scale_and_bias(), (1.0, 0.0), rtol=0, atol=0):
        return sums.then("sigmoid", numbers=[1]).then("pair")
    if ensemble.rule.kind == "soft":
        return sums
    if library == "sklearn" and _is_a(model, "HistGradientBoostingClassifier"):
        return sums.then("expit", numbers=[1]).then("pair") if is_binary else sums.then("numpy-softmax", places=[1])
    if library == "sklearn" and _is_a(model, "GradientBoostingClassifier"):
        factor = 2.0 if model.loss == "exponential" else 1.0
        return sums.then("expit", numbers=[factor]).then("pair") if is_binary else sums.then("numpy-softmax")
    if library == "sklearn" and _is_a(model, "AdaBoostClassifier"):
        if is_binary:
            return decision(model, ensemble).then("mirror").then("divide", numbers=[2]).then("numpy-softmax")
        return sums.then("divide", numbers=[ensemble.n_classes - 1]).then("numpy-softmax", places=[1])
    raise UnsupportedModelError(
        f"the probabilities of {name} are computed in a way that is not read exactly; use a forest, XGBoost, LightGBM, "
        "GradientBoosting or HistGradientBoosting in its place"
    )


def decision(model: Any, ensemble: Ensemble) -> Signal:
    """Return what `decision_function` returns, for models that have it."""
    sums = sums_of(ensemble)
    if _is_a(model, "AdaBoostClassifier") and ensemble.rule.kind == "score":
        return sums.then("scale", numbers=[2])  # the sums of both classes are the negatives of each other
    return sums


def winner(ensemble: Ensemble) -> Signal:
    """Return 1 for the class that `predict` returns, and 0 for the others."""
    rule, sums = ensemble.rule, sums_of(ensemble)
    if rule.kind == "score":
        return sums.then("winner", numbers=[rule.cut, rule.cut_inclusive])
    return sums.then("softmax").then("winner") if rule.softmax else sums.then("winner")


def has_decision(model: Any) -> bool:
    """Whether scikit-learn, which asks for `decision_function` first, finds it."""
    return hasattr(model, "decision_function")


def _xgboost(model: Any, sums: Signal, is_binary: bool) -> Signal:
    objective = model.get_params().get("objective") if hasattr(model, "get_params") else None
    if objective not in ("binary:logistic", "multi:softprob", "multi:softmax"):
        raise UnsupportedModelError(
            f"an XGBoost model with the objective {objective} has no probabilities that are read; train an "
            "XGBClassifier with binary:logistic or multi:softprob"
        )
    return sums.then("xgboost-sigmoid").then("pair") if is_binary else sums.then("softmax")


def _sigmoid(model: Any) -> float:
    """Return the factor of LightGBM's sigmoid, which its model file names."""
    booster = getattr(model, "booster_", model)
    for line in booster.model_to_string(num_iteration=1).splitlines():
        if line.startswith("objective="):
            options = dict(part.partition(":")[::2] for part in line.partition("=")[2].split()[1:])
            return float(options["sigmoid"])
    raise UnsupportedModelError("this LightGBM model does not name its objective; train it with objective='binary'")


def _library(model: Any) -> str:
    names = [base.__module__.split(".")[0] for base in type(model).__mro__]
    # The classes of these libraries also inherit from scikit-learn's, so scikit-learn comes last.
    return next((name for name in ("xgboost", "lightgbm", "catboost", "sklearn") if name in names), names[0])


def _is_a(model: Any, family: str) -> bool:
    return any(base.__name__ == family and base.__module__.startswith("sklearn.") for base in type(model).__mro__)
