"""What a model of one level makes of its sums, beside probabilities: scores, or a class, as its library does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onetree.importers.composed.parts import Signal, after, member_of, sums_of
from onetree.model.ensemble import Ensemble, Rule


def decision(model: Any, ensemble: Ensemble) -> Signal:
    """Return what `decision_function` returns, for models that have it."""
    if type(model).__module__.startswith("lightgbm.") and member_of(ensemble).divisor != 1.0:
        # A random forest, of which these scores are not averaged.
        rule = Rule("scores") if ensemble.rule.combination is not None else replace(ensemble.rule, divisor=1.0)
        ensemble = replace(ensemble, rule=rule, response=None)
    sums = sums_of(ensemble)
    if _is_a(model, "AdaBoostClassifier") and ensemble.rule.kind == "score":
        return sums.then("scale", numbers=[2])  # the sums of both classes are the negatives of each other
    return sums


def winner(ensemble: Ensemble) -> Signal:
    """Return 1 for the class that `predict` returns, and 0 for the others."""
    rule, sums = ensemble.rule, sums_of(ensemble)
    if rule.combination is not None:
        return after(ensemble, rule.combination.stages).then("winner")
    if rule.kind == "score":
        return sums.then("winner", numbers=[rule.cut, rule.cut_inclusive])
    return sums.then("softmax").then("winner") if rule.softmax else sums.then("winner")


def has_decision(model: Any) -> bool:
    """Whether scikit-learn, which asks for `decision_function` first, finds it."""
    return hasattr(model, "decision_function")


def _is_a(model: Any, family: str) -> bool:
    return any(base.__name__ == family and base.__module__.startswith("sklearn.") for base in type(model).__mro__)
