"""What stands around a model without changing its classes: pipelines, searches over parameters, frozen estimators.

A pipeline's trees see what its earlier steps make of an input. `split` returns these steps, to be composed with the
model. `unwrap` leaves them out: then the tree sees what they produce, too. Whoever asks for that is warned, and the
features are named as the steps name them.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from onetree.errors import UnsupportedModelError
from onetree.model.ensemble import Ensemble


@dataclass(frozen=True)
class Surroundings:
    """What pipelines around a model say of its features.

    Parameters
    ----------
    steps : tuple of str
        The transformers in front of the model.
    given : tuple of str or None
        Names of the columns that the first of them was fitted on, if it knows them.
    produced : tuple of str or None
        Names of the columns that the model gets, if the last of them knows.
    """

    steps: tuple[str, ...] = ()
    given: tuple[str, ...] | None = None
    produced: tuple[str, ...] | None = None

    def name(self, ensemble: Ensemble) -> Ensemble:
        """Return the ensemble with the names of its features, so that it never takes frames of what the steps get."""
        known = self.produced is not None and len(self.produced) == ensemble.n_features
        produced = self.produced if known else ensemble.feature_names if ensemble.columns.named else None
        # A scaler keeps the names of its columns: a frame does not show whether it has been scaled.
        told = produced is not None and self.given is not None and not set(produced) <= set(self.given)
        columns = replace(ensemble.columns, named=told, steps="" if told else ", ".join(self.steps))
        return replace(ensemble, feature_names=produced or ensemble.feature_names, columns=columns)


def split(model: Any) -> tuple[Any, list[Any]]:
    """Return the model inside, and all steps of pipelines before it."""
    before: list[Any] = []
    while True:
        if isinstance(model, Pipeline):
            steps = _steps(model)
            before += [step for step in steps[:-1] if not _is_idle(step)]
            model = steps[-1]
        elif isinstance(model, BaseSearchCV):
            model = _best(model)
        elif _is_frozen(model):
            model = model.estimator
        else:
            return model, before


def unwrap(model: Any) -> tuple[Any, Surroundings | None]:
    """Return the model inside, and what the pipelines around it say.

    Warns
    -----
    UserWarning
        If the features of the model inside are not those of the model given.
    """
    around: Surroundings | None = None
    while True:
        if isinstance(model, Pipeline):
            model, around = _last_step(model, around)
        elif isinstance(model, BaseSearchCV):
            model = _best(model)
        elif _is_frozen(model):
            model = model.estimator
        else:
            return model, around


def _is_frozen(model: Any) -> bool:
    return type(model).__name__ == "FrozenEstimator" and type(model).__module__.startswith("sklearn.")


def _is_idle(step: Any) -> bool:
    """Whether a step does nothing when the pipeline predicts: those that resample the training data, too."""
    if step is None or isinstance(step, str):
        return True
    return hasattr(step, "fit_resample") and not hasattr(step, "transform")


def _steps(pipeline: Pipeline) -> list[Any]:
    steps = [step for _, step in pipeline.steps]
    if not steps or steps[-1] is None or isinstance(steps[-1], str):
        raise UnsupportedModelError("this Pipeline does not end in a model; add a tree ensemble as its last step")
    return steps


def _last_step(pipeline: Pipeline, around: Surroundings | None) -> tuple[Any, Surroundings | None]:
    steps = _steps(pipeline)
    before = tuple(type(step).__name__ for step in steps[:-1] if not _is_idle(step))
    if not before:
        return steps[-1], around
    warnings.warn(
        f"the Pipeline is read without its first steps ({', '.join(before)}): the tree predicts from the features that "
        "they produce. Give it pipeline[:-1].transform(X), not X",
        stacklevel=5,  # whoever called Ensemble.from_model
    )
    if around is None:
        around = Surroundings(given=_given_names(pipeline))
    return steps[-1], replace(around, steps=around.steps + before, produced=_produced_names(pipeline, around.produced))


def _given_names(pipeline: Pipeline) -> tuple[str, ...] | None:
    given = getattr(pipeline, "feature_names_in_", None)
    return tuple(map(str, given)) if given is not None else None


def _produced_names(pipeline: Pipeline, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the names of the features that the first steps produce; not every transformer can tell."""
    try:
        return tuple(map(str, pipeline[:-1].get_feature_names_out(names)))
    except (AttributeError, ValueError, TypeError, NotFittedError):
        return None


def _best(search: BaseSearchCV) -> Any:
    name = type(search).__name__
    if not hasattr(search, "best_estimator_"):
        raise UnsupportedModelError(f"this {name} has no best_estimator_; call fit(X, y) with refit=True first")
    return search.best_estimator_
