"""Encoders of the package category_encoders: like those of scikit-learn, but they leave other columns as they are."""

from collections.abc import Callable, Iterable
from typing import Any

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.steps.tracing import REMEDY, Stage, Traced


def reader_of(step: Any) -> Callable[[Any, Stage], list[Traced]] | None:
    """Return the function that reads a step of this package; None if it is another, or not one of those read."""
    kind = type(step)
    return _READERS.get(kind.__name__) if kind.__module__.startswith("category_encoders.") else None


def _read_same(step: Any, stage: Stage, values: dict[str, Iterable[Any]]) -> list[Traced]:
    """Return one column each."""
    if getattr(step, "drop_invariant", False):
        raise UnsupportedModelError(
            f"{type(step).__name__} drops columns that do not vary; fit it with drop_invariant=False, or {REMEDY}"
        )
    closed = step.handle_unknown == "error"
    found = []
    for at, name in enumerate(step.feature_names_in_):
        if str(name) not in values:
            found.append(stage.columns[at])
            continue
        column = stage.columns[at]
        if column.raw is not None and step.handle_missing != "error":
            stage.source.notes[column.raw].meets_gaps = True
        found.append(stage.categories(at, values[str(name)], type(step).__name__, closed=closed))
    return found


def _read_ordinal(step: Any, stage: Stage) -> list[Traced]:
    return _read_same(step, stage, _listed(step.mapping))


def _read_target(step: Any, stage: Stage) -> list[Traced]:
    return _read_same(step, stage, _listed(step.ordinal_encoder.mapping))


def _read_count(step: Any, stage: Stage) -> list[Traced]:
    if step.min_group_size is not None:
        raise UnsupportedModelError(
            f"CountEncoder joins rare categories, which is not read; fit it without min_group_size, or {REMEDY}"
        )
    return _read_same(step, stage, {str(name): list(own.keys()) for name, own in step.mapping.items()})


def _read_one_hot(step: Any, stage: Stage) -> list[Traced]:
    """Return a column for each value, where the encoded column was."""
    columns = _read_same(step, stage, _listed(step.ordinal_encoder.mapping))
    times = {str(each["col"]): each["mapping"].shape[1] for each in step.mapping}
    names = map(str, step.feature_names_in_)
    return [column for column, name in zip(columns, names, strict=True) for _ in range(times.get(name, 1))]


def _listed(mapping: Iterable[dict[str, Any]]) -> dict[str, Iterable[Any]]:
    return {str(each["col"]): list(each["mapping"].index) for each in mapping}


_READERS = {
    "OrdinalEncoder": _read_ordinal,
    "OneHotEncoder": _read_one_hot,
    "TargetEncoder": _read_target,
    "CountEncoder": _read_count,
}
