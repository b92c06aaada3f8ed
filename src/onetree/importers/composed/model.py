"""A composed model, or any classifier with a threshold or bands, as an ensemble, compared with the model itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from onetree.errors import UnsupportedModelError
from onetree.importers.composed.bands import cut_probabilities, expected, place_of
from onetree.importers.composed.composites import Composer
from onetree.importers.composed.inputs import Inputs
from onetree.importers.composed.parts import composed
from onetree.importers.composed.reduced import reduced
from onetree.importers.outputs import Asked, wanted
from onetree.importers.self_test import self_test
from onetree.model.ensemble import Ensemble

Read = Callable[..., Ensemble]


def import_composed(model: Any, read: Read, asked: Asked, *, missing: str = "auto") -> Ensemble:
    """Read a model of models, or any classifier whose classes a threshold or bands make.

    Parameters
    ----------
    model : fitted classifier or regressor
    read : function
        ``read(member, missing=..., output=...)`` reads a member.
    asked : Asked
    missing : {"auto", "follow", "refuse"}
        NaN is an input if all members take it; "auto" only if one of them met it in training.
    """
    name = type(model).__name__
    # CatBoost's regressors are none of scikit-learn's.
    is_regressor = isinstance(model, RegressorMixin) or getattr(model, "_estimator_type", None) == "regressor"
    asked = replace(asked, output=wanted(asked.output, is_regressor=is_regressor, name=name))
    ensemble = _read(model, read, missing, asked)
    if missing == "auto" and _any_takes_nan(model, read, asked):
        ensemble = _read(model, read, "follow", asked)
    _compare(model, ensemble, asked)
    return ensemble


def _read(model: Any, read: Read, missing: str, asked: Asked) -> Ensemble:
    composer = Composer(lambda member, output: read(member, missing=missing, output=output))
    return reduced(_named(model, _composed(model, composer, asked)))


def _composed(model: Any, composer: Composer, asked: Asked) -> Ensemble:
    name = type(model).__name__
    if asked.output == "value":
        return composed(composer.value(model), np.empty(0))
    if not hasattr(model, "classes_"):
        raise UnsupportedModelError(f"this {name} is not fitted, or is not a classifier; call fit(X, y) first")
    what = "threshold=" if asked.threshold is not None else "bands=" if asked.bands is not None else "output="
    needs = asked.cuts_probability or asked.output == "probability"
    if needs and not hasattr(model, "predict_proba"):
        raise UnsupportedModelError(f"{what} needs probabilities, and this {name} has no predict_proba")
    classes = np.asarray(model.classes_)
    if asked.cuts_probability:
        place_of(asked, classes)
        return cut_probabilities(asked, composer.probabilities(model), classes)
    response = composer.probabilities(model) if needs else None  # first: its members then serve the class, too
    signal, cut, inclusive, last_wins = composer.decided(model)
    return composed(signal, classes, cut=cut, cut_inclusive=inclusive, last_wins=last_wins, response=response)


def _named(model: Any, ensemble: Ensemble) -> Ensemble:
    """Return the ensemble with the names of the columns that the whole model was fitted on."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or len(names) != ensemble.n_features or ensemble.columns.named:
        return ensemble
    names = tuple(map(str, names))
    return replace(ensemble, feature_names=names, columns=replace(ensemble.columns, named=True))


def _any_takes_nan(model: Any, read: Read, asked: Asked) -> bool:
    found: list[bool] = []

    def look(member: Any, output: str) -> Ensemble:
        ensemble = read(member, missing="auto", output=output)
        found.append(bool(ensemble.nan_features.any()))
        return ensemble

    _composed(model, Composer(look), asked)
    return any(found)


def _compare(model: Any, ensemble: Ensemble, asked: Asked) -> None:
    """Compare the ensemble with the model, on frames if the columns have names."""
    live = _in_order(model)
    inputs = Inputs(ensemble, getattr(model, "feature_names_in_", None))

    def predict(X: NDArray[np.float64]) -> NDArray[Any]:
        if not asked.cuts_probability:
            try:
                return inputs.answers(live.predict, X)
            except (ValueError, TypeError) as error:
                name = type(model).__name__
                raise UnsupportedModelError(f"this {name} cannot predict, says its own library: {error}") from error
        return expected(asked, inputs.answers(live.predict_proba, X), np.asarray(model.classes_))

    def numbers(X: NDArray[np.float64]) -> NDArray[Any]:
        return inputs.answers(live.predict_proba, X)

    def taken(X: NDArray[np.float64]) -> NDArray[np.float64]:
        return inputs.taken(live.predict, X)

    self_test(ensemble, predict, type(model).__name__, rows=taken, numbers=numbers)


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
