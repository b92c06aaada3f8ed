"""scikit-learn's encoders of categories: finitely many values, each with numbers of its own."""

from typing import Any

from onetree.importers.sklearn.steps.tracing import Stage, Traced


def read_one_hot(step: Any, stage: Stage) -> list[Traced]:
    """`OneHotEncoder`: a column for each category but those that it drops or joins."""
    columns = _known(step, stage)
    return [column for column, n in zip(columns, step._n_features_outs, strict=True) for _ in range(n)]


def read_ordinal(step: Any, stage: Stage) -> list[Traced]:
    """`OrdinalEncoder`: one column each."""
    return _known(step, stage)


def read_target(step: Any, stage: Stage) -> list[Traced]:
    """`TargetEncoder`: one column each, or one per class."""
    n_columns = len(step.classes_) if step.target_type_ == "multiclass" else 1
    return [column for column in _known(step, stage) for _ in range(n_columns)]


def _known(step: Any, stage: Stage) -> list[Traced]:
    closed = getattr(step, "handle_unknown", "ignore") == "error"
    return [
        stage.categories(at, values, type(step).__name__, closed=closed) for at, values in enumerate(step.categories_)
    ]
