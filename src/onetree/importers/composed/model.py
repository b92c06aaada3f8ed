"""A composed model, or any binary one with a threshold, as an ensemble that was compared with the model itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.importers.composed.composites import Composer, is_composed
from onetree.importers.composed.inputs import Inputs
from onetree.importers.composed.parts import composed
from onetree.importers.composed.reduced import reduced
from onetree.importers.self_test import self_test
from onetree.model.ensemble import Ensemble

Read = Callable[..., Ensemble]


def import_composed(model: Any, read: Read, *, missing: str = "auto", threshold: float | None = None) -> Ensemble:
    """Read a model of models, or a binary model that predicts its second class from a probability on.

    Parameters
    ----------
    model : fitted classifier
    read : function
        ``read(member, missing=...)`` reads a member.
    missing : {"auto", "follow", "refuse"}
        NaN is an input if all members take it; "auto" only if one of them met it in training.
    threshold : float, optional
        Class 1 iff ``predict_proba(X)[:, 1] >= threshold``.
    """
    ensemble = _read(model, read, missing, threshold)
    if missing == "auto" and _any_takes_nan(model, read):
        ensemble = _read(model, read, "follow", threshold)
    _compare(model, ensemble, threshold)
    return ensemble


def _read(model: Any, read: Read, missing: str, threshold: float | None) -> Ensemble:
    composer = Composer(lambda member: read(member, missing=missing))
    name = type(model).__name__
    if not hasattr(model, "classes_"):
        raise UnsupportedModelError(f"this {name} is not fitted, or is not a classifier; call fit(X, y) first")
    if threshold is not None and not hasattr(model, "predict_proba"):
        raise UnsupportedModelError(f"threshold= needs probabilities, and this {name} has no predict_proba")
    classes = np.asarray(model.classes_)
    if threshold is None:
        signal, cut, inclusive, last_wins = composer.decided(model)
        made = composed(signal, classes, cut=cut, cut_inclusive=inclusive, last_wins=last_wins)
    else:
        if len(classes) != 2:
            raise InvalidInputError(f"threshold= is for two classes, and this model has {len(classes)}")
        signal, cut = composer.at_threshold(model, threshold)
        made = composed(signal, classes, cut=cut, cut_inclusive=True)
    return reduced(_named(model, made))


def _named(model: Any, ensemble: Ensemble) -> Ensemble:
    """Return the ensemble with the names of the columns that the whole model was fitted on."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or len(names) != ensemble.n_features or ensemble.columns.named:
        return ensemble
    names = tuple(map(str, names))
    return replace(ensemble, feature_names=names, columns=replace(ensemble.columns, named=True))


def _any_takes_nan(model: Any, read: Read) -> bool:
    found: list[bool] = []

    def look(member: Any) -> Ensemble:
        ensemble = read(member, missing="auto")
        found.append(bool(ensemble.nan_features.any()))
        return ensemble

    composer = Composer(look)
    composer.decided(model) if is_composed(model) else composer.probabilities(model)
    return any(found)


def _compare(model: Any, ensemble: Ensemble, threshold: float | None) -> None:
    """Compare the ensemble with the model, on frames if the columns have names."""
    live = _in_order(model)
    inputs = Inputs(ensemble, getattr(model, "feature_names_in_", None))

    def predict(X: NDArray[np.float64]) -> NDArray[Any]:
        if threshold is None:
            return inputs.answers(live.predict, X)
        labels: NDArray[Any] = ensemble.classes[(inputs.answers(live.predict_proba, X)[:, 1] >= threshold).astype(int)]
        return labels

    def taken(X: NDArray[np.float64]) -> NDArray[np.float64]:
        return inputs.taken(live.predict, X)

    self_test(ensemble, predict, type(model).__name__, rows=taken)


def _in_order(model: Any) -> Any:
    """Return a copy in which every model adds its trees in order."""
    live = copy.deepcopy(model)
    todo, seen = [live], set()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, list | tuple):
            todo += [
                part for part in each if isinstance(part, BaseEstimator | list | tuple) or hasattr(part, "estimator")
            ]
        elif isinstance(each, dict):
            todo += list(each.values())
        elif isinstance(each, BaseEstimator) or hasattr(each, "calibrators"):
            if type(each).__module__.startswith("sklearn.") and getattr(each, "n_jobs", None) is not None:
                each.n_jobs = 1
            todo += [part for part in vars(each).values() if isinstance(part, BaseEstimator | list | tuple)]
    return live
