"""What scikit-learn's `predict_proba` makes of the sums of a tree ensemble, and `predict` of those of a regressor."""

from typing import Any

from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier

from onetree.errors import UnsupportedModelError
from onetree.importers.outputs import no_probabilities
from onetree.model.ensemble import Ensemble
from onetree.model.stages import Stage


def probability_stages(model: Any, ensemble: Ensemble) -> list[Stage]:
    """Return the stages from the sums to what `predict_proba` returns; each takes what the one before it gives."""
    is_binary, name = ensemble.rule.kind == "score", type(model).__name__
    if ensemble.rule.kind == "hard" or not hasattr(model, "predict_proba"):
        raise no_probabilities(name, "a hard vote counts classes and has no probabilities")
    if ensemble.n_classes == 1 and ensemble.rule.kind != "soft":
        raise no_probabilities(name, "there is one class alone")
    if isinstance(model, HistGradientBoostingClassifier):
        return _logistic(1.0) if is_binary else [Stage("numpy-softmax", (), places=(1,))]
    if isinstance(model, GradientBoostingClassifier):
        return _logistic(2.0 if model.loss == "exponential" else 1.0) if is_binary else [Stage("numpy-softmax", ())]
    if isinstance(model, AdaBoostClassifier):
        if is_binary:  # the sums of both classes are the negatives of each other
            return [
                Stage("scale", (), (2.0,)),
                Stage("mirror", ()),
                Stage("divide", (), (2.0,)),
                Stage("numpy-softmax", ()),
            ]
        return [Stage("divide", (), (float(ensemble.n_classes - 1),)), Stage("numpy-softmax", (), places=(1,))]
    return []  # the sums are class fractions


def _logistic(factor: float) -> list[Stage]:
    return [Stage("expit", (), (factor,)), Stage("pair", ())]


def value_stages(model: Any) -> list[Stage]:
    """Return the stages from the sum to what the `predict` of a regressor returns."""
    link = type(getattr(getattr(model, "_loss", None), "link", None)).__name__
    if link == "LogLink":
        return [Stage("numpy-exp", ())]
    if link in ("NoneType", "IdentityLink"):
        return []
    raise UnsupportedModelError(
        f"the loss of this {type(model).__name__} has the link {link}, which is not read; train it with another loss"
    )
