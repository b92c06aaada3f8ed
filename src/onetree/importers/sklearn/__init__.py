"""scikit-learn's tree ensembles, one module per family.

Each family is read from its arrays into an `Ensemble` whose sum is formed as scikit-learn forms it. Then it is
decided whether NaN is an input, and the result is compared with the model's own `predict`.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from onetree.errors import UnsupportedModelError
from onetree.importers.outputs import wanted, with_stages
from onetree.importers.self_test import self_test
from onetree.importers.sklearn.adaboost import read_adaboost
from onetree.importers.sklearn.bagging import read_bagging
from onetree.importers.sklearn.gradient_boosting import read_gradient_boosting, read_gradient_boosting_regressor
from onetree.importers.sklearn.hist_gradient_boosting import (
    read_hist_gradient_boosting,
    read_hist_gradient_boosting_regressor,
)
from onetree.importers.sklearn.probabilities import probability_stages, value_stages
from onetree.importers.sklearn.reading import Reading, hard_vote, without_names
from onetree.importers.sklearn.regressors import read_bagging_regressor, read_tree_regressors
from onetree.importers.sklearn.trees import read_trees
from onetree.importers.sklearn.voting import read_voting
from onetree.importers.sklearn.wrappers import split, unwrap
from onetree.model.ensemble import Ensemble

__all__ = ["import_sklearn", "split", "unwrap"]

_READERS: dict[type, Callable[[Any], Reading]] = {
    DecisionTreeClassifier: read_trees,
    RandomForestClassifier: read_trees,
    ExtraTreesClassifier: read_trees,
    BaggingClassifier: read_bagging,
    AdaBoostClassifier: read_adaboost,
    VotingClassifier: read_voting,
    GradientBoostingClassifier: read_gradient_boosting,
    HistGradientBoostingClassifier: read_hist_gradient_boosting,
}
_REGRESSORS: dict[type, Callable[[Any], Reading]] = {
    DecisionTreeRegressor: read_tree_regressors,
    RandomForestRegressor: read_tree_regressors,
    ExtraTreesRegressor: read_tree_regressors,
    BaggingRegressor: read_bagging_regressor,
    GradientBoostingRegressor: read_gradient_boosting_regressor,
    HistGradientBoostingRegressor: read_hist_gradient_boosting_regressor,
}

_REFUSED = {
    "AdaBoostRegressor": "predicts the weighted median of its trees, which no sum of them gives",
    "TransformedTargetRegressor": "applies a function of its own to what its regressor predicts",
}

# They stand around a model and change its classes, so the model inside is not the same function.
_CHANGE_CLASSES = ("CalibratedClassifierCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV")


def import_sklearn(model: Any, *, voting: str = "auto", missing: str = "auto", output: str = "class") -> Ensemble:
    """Read a fitted scikit-learn tree ensemble and check it against its own `predict` and `predict_proba`."""
    name = type(model).__name__
    output = wanted(output, is_regressor=isinstance(model, RegressorMixin), name=name)
    reading = (_regressor_reader if output == "value" else _reader)(model)(model)
    ensemble = _with_voting(model, reading, voting)
    if output != "class":
        stages = value_stages(model) if output == "value" else probability_stages(model, ensemble)
        ensemble = with_stages(ensemble, stages, name)
    live = _deterministic_copy(model)
    if missing == "follow" or (missing == "auto" and reading.met_nan):
        ensemble = replace(ensemble, nan_features=np.full(ensemble.n_features, _takes_nan(live, reading)))

    def predict(X: NDArray[np.float64]) -> NDArray[Any]:
        return _predict(live, reading, X)

    if voting == "hard" and reading.members:

        def predict(X: NDArray[np.float64]) -> NDArray[Any]:
            return hard_vote(reading.members, ensemble.classes, X)

    def numbers(X: NDArray[np.float64]) -> NDArray[Any]:
        return _predict(live, reading, X, method="predict_proba")

    self_test(ensemble, predict, name, largest=reading.largest, numbers=numbers)
    return ensemble


def _predict(live: Any, reading: Reading, X: NDArray[np.float64], method: str = "predict") -> NDArray[Any]:
    with warnings.catch_warnings():  # what stands in front of the trees has kept the names of the columns
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        answers: NDArray[Any] = getattr(live, method)(reading.as_given(X))
        return answers


def _regressor_reader(model: Any) -> Callable[[Any], Reading]:
    """Return the function that reads a regressor of this class, or say why there is none."""
    name = type(model).__name__
    reader = next((read for family, read in _REGRESSORS.items() if isinstance(model, family)), None)
    if reader is None:
        supported = ", ".join(sorted(family.__name__ for family in _REGRESSORS))
        raise UnsupportedModelError(
            f"{name} {_REFUSED.get(name, 'is not supported')}; give a fitted {supported} or a VotingRegressor of these"
        )
    if not hasattr(model, "n_features_in_"):
        raise UnsupportedModelError(f"this {name} is not fitted; call fit(X, y) first")
    return reader


def _reader(model: Any) -> Callable[[Any], Reading]:
    """Return the function that reads a model of this class, or say why there is none."""
    name = type(model).__name__
    supported = ", ".join(sorted(family.__name__ for family in _READERS))
    reader = next((read for family, read in _READERS.items() if isinstance(model, family)), None)
    if name in _CHANGE_CLASSES:
        raise UnsupportedModelError(
            f"{name} changes the classes that its model predicts, and this change cannot be read; "
            "pass the model inside it, if that is the one to be explained"
        )
    if reader is None:
        raise UnsupportedModelError(f"{name} is not supported; give a fitted {supported}")
    if not hasattr(model, "classes_"):
        raise UnsupportedModelError(f"this {name} is not fitted; call fit(X, y) first")
    return reader


def _with_voting(model: Any, reading: Reading, voting: str) -> Ensemble:
    """Return the ensemble under the rule that was asked for."""
    kind = reading.ensemble.rule.kind
    if voting == "auto" or voting == kind:
        return reading.ensemble
    if voting == "hard" and reading.members:
        return reading.ensemble.to_hard_vote()
    rule = "adds scores" if kind.startswith("score") else f"is a {kind} vote"
    raise UnsupportedModelError(
        f'this {type(model).__name__} {rule} and cannot be read with voting="{voting}"; use voting="auto"'
    )


def _takes_nan(live: Any, reading: Reading) -> bool:
    """Ask the model itself: which versions and parameters take NaN is written nowhere else."""
    try:
        _predict(live, reading, np.full((1, reading.ensemble.n_features), np.nan))
    except ValueError:
        return False
    return True


def _deterministic_copy(model: Any) -> Any:
    """Return a shallow copy that adds its trees in order, says nothing and takes unnamed columns."""
    live = without_names(model)
    live.verbose = 0
    if hasattr(live, "n_jobs"):
        live.n_jobs = 1
    if isinstance(live, VotingClassifier):  # its members were fitted on the named columns themselves
        live.estimators_ = [without_names(member) for member in live.estimators_]
    return live
