"""scikit-learn's steps for missing values: imputers and indicators."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from onetree.importers.sklearn.steps.tracing import Stage, Traced
from onetree.model.frames import is_missing

_INDICATOR = "missingindicator_"


def read_imputer(step: Any, stage: Stage) -> list[Traced]:
    """`SimpleImputer`: the columns that are not empty, then indicators of some."""
    stage.source.computes = True
    columns = _with_gaps(step, stage)
    found = []
    for name in _names_out(step, len(columns)):
        column = columns[int(name.removeprefix(_INDICATOR))]
        found.append(column.changed() if name.startswith(_INDICATOR) else column)
    return found


def read_indicator(step: Any, stage: Stage) -> list[Traced]:
    """`MissingIndicator`: whether a value is missing, for some columns."""
    columns = _with_gaps(step, stage)
    return [columns[at].changed() for at in np.asarray(step.features_).tolist()]


def _with_gaps(step: Any, stage: Stage) -> list[Traced]:
    """Return the columns, with what is a gap in them."""
    gap = step.missing_values
    if is_missing(gap):
        for column in stage.columns:
            if column.raw is not None:
                stage.source.notes[column.raw].meets_gaps = True
        return list(stage.columns)
    columns = (stage.categories(at, [gap], type(step).__name__, closed=False) for at in range(len(stage.columns)))
    return [replace(after, plain=before.plain) for before, after in zip(stage.columns, columns, strict=True)]


def _names_out(step: Any, n_columns: int) -> list[str]:
    """Ask which columns come out, by names that are their numbers."""
    unnamed = copy.copy(step)
    vars(unnamed).pop("feature_names_in_", None)
    if getattr(step, "indicator_", None) is not None:
        unnamed.indicator_ = copy.copy(step.indicator_)
        vars(unnamed.indicator_).pop("feature_names_in_", None)
    return list(map(str, unnamed.get_feature_names_out([str(at) for at in range(n_columns)])))
