"""imbalanced-learn: scikit-learn's models, fitted on samples that were balanced before.

Samplers work while a model is fitted and do nothing when it predicts. Its forests and boosted models are scikit-learn's
own; its pipelines, and the members of its bagged models, are read without the samplers in them.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from onetree.importers.self_test import FLOAT32_MAX, self_test
from onetree.model.ensemble import Ensemble


def without_samplers(model: Any) -> Any:
    """Return a model that predicts the same and has no sampler in it; the model itself if it has none."""
    if isinstance(model, Pipeline):
        steps = [(name, without_samplers(step)) for name, step in model.steps if not hasattr(step, "fit_resample")]
        same = len(steps) == len(model.steps) and all(a[1] is b[1] for a, b in zip(steps, model.steps, strict=True))
        return model if same or not steps else Pipeline(steps)  # imbalanced-learn's differs by its samplers alone
    if isinstance(model, BaseSearchCV) and hasattr(model, "best_estimator_"):
        return _with(model, "best_estimator_", without_samplers(model.best_estimator_))
    if type(model).__name__ == "FrozenEstimator":
        return _with(model, "estimator", without_samplers(model.estimator))
    members = getattr(model, "estimators_", None)
    if isinstance(members, list):
        plain = [_only_step(without_samplers(member)) for member in members]
        if any(new is not old for new, old in zip(plain, members, strict=True)):
            return _with(model, "estimators_", plain)
    return model


def check_bagging(ensemble: Ensemble, model: Any) -> None:
    """Compare what was read with the bagged model itself, whose members have samplers."""
    if isinstance(model, BaggingClassifier) and not ensemble.has_subsets:
        predict, numbers = (_method(model, name) for name in ("predict", "predict_proba"))
        self_test(ensemble, predict, type(model).__name__, largest=FLOAT32_MAX, numbers=numbers)


def _method(model: Any, name: str) -> Callable[[NDArray[np.float64]], NDArray[Any]]:
    live = copy.copy(model)
    vars(live).pop("feature_names_in_", None)
    live.n_jobs = 1
    return lambda X: np.asarray(getattr(live, name)(X))


def _only_step(member: Any) -> Any:
    return member.steps[0][1] if isinstance(member, Pipeline) and len(member.steps) == 1 else member


def _with(model: Any, attribute: str, value: Any) -> Any:
    if getattr(model, attribute) is value:
        return model
    changed = copy.copy(model)
    setattr(changed, attribute, value)
    return changed
