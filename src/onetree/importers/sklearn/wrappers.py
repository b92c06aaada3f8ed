"""What stands around a model without changing its classes: pipelines, searches over parameters, frozen estimators.

A pipeline's trees see what its earlier steps make of an input, and so does the tree that is made from them. Whoever
passes a pipeline is told, and the features are named as the steps name them.
"""

import warnings
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from onetree.errors import UnsupportedModelError


def unwrap(model: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return the model inside, and the names of its features where a pipeline gives them.

    Warns
    -----
    UserWarning
        If the features of the model inside are not those of the model given.
    """
    names: tuple[str, ...] | None = None
    while True:
        if isinstance(model, Pipeline):
            model, names = _last_step(model, names)
        elif isinstance(model, BaseSearchCV):
            model = _best(model)
        elif type(model).__name__ == "FrozenEstimator" and type(model).__module__.startswith("sklearn."):
            model = model.estimator
        else:
            return model, names


def _last_step(pipeline: Pipeline, names: tuple[str, ...] | None) -> tuple[Any, tuple[str, ...] | None]:
    steps = [step for _, step in pipeline.steps]
    if not steps or steps[-1] is None or isinstance(steps[-1], str):
        raise UnsupportedModelError("this Pipeline does not end in a model; add a tree ensemble as its last step")
    before = [type(step).__name__ for step in steps[:-1] if step is not None and step != "passthrough"]
    if not before:
        return steps[-1], names if names is not None else _given_names(pipeline)
    warnings.warn(
        f"the Pipeline is read without its first steps ({', '.join(before)}): the tree predicts from the features that "
        "they produce. Give it pipeline[:-1].transform(X), not X",
        stacklevel=5,  # whoever called Ensemble.from_model
    )
    return steps[-1], _produced_names(pipeline, names)


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
