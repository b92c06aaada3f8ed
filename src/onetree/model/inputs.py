"""Inputs: what a prediction accepts, the same for ensembles, trees and everything that takes rows.

Arrays go by position. Data frames (pandas, polars, whatever narwhals reads) go by the names of their columns, and
columns of categories by value; see `columns`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError
from onetree.model.columns import Labels, Reader
from onetree.model.frames import SINGLE, as_frame, as_number, columns_by_name, is_missing, labels_among, read_frame

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    RowsLike = ArrayLike | IntoDataFrame
else:
    RowsLike = Any
"""An array of shape (n_rows, n_features), or a data frame."""


def read_inputs(X: RowsLike, model: Reader) -> NDArray[Any]:
    """Return `X` as a float32 or float64 array in C or Fortran order, as the model reads it; copied only if it must be.

    Parameters
    ----------
    X : array of shape (n_rows, n_features), or data frame
        The columns of a frame are found by their names, in any order; others are ignored. A column of categories is
        read by its values.
    model : Ensemble or Tree

    Raises
    ------
    InvalidInputError
        If a column is missing or cannot be read as the model read it, or if a value is missing where the model
        does not take that.
    """
    rows = read_with_gaps(X, model)
    # One sum is NaN if any value is; it can also be NaN as inf - inf, so then the columns are looked at.
    with np.errstate(all="ignore"):
        if not model.nan_features.all() and np.isnan(rows.sum()):
            refuse_gaps(rows, model)
    return rows


def read_with_gaps(X: RowsLike, model: Reader) -> NDArray[Any]:
    """Return `X` as `read_inputs` does, but leave it to the caller to refuse missing values: see `refuse_gaps`."""
    frame = as_frame(X)
    if frame is not None:
        return _above_lowest(read_frame(frame, model), model)
    given = getattr(X, "dtype", None)
    if not model.columns.single and given in (np.float32, np.float16):
        raise InvalidInputError(f"X holds {given} numbers{SINGLE}")
    if (model.columns.hashed and not _holds_floats(X)) or (model.columns.labels and _holds_texts(X)):
        rows = _read_values(X, model)
    else:
        rows = as_numbers(X, integers=model.columns.integers)
    if rows.shape[1] != len(model.feature_names):
        raise InvalidInputError(f"X has {rows.shape[1]} features, but the model has {len(model.feature_names)}")
    return _above_lowest(rows, model)


def _above_lowest(rows: NDArray[Any], model: Reader) -> NDArray[Any]:
    """Return the rows, unless they hold numbers that the steps of a pipeline do not take."""
    for at, lowest in enumerate(model.columns.lowest):
        if lowest is not None and (rows[:, at] < lowest).any():
            raise InvalidInputError(
                f"column {at} ({model.feature_names[at]!r}) of X holds {float(np.nanmin(rows[:, at]))!r}, but the "
                f"steps of the pipeline take no number below {float(lowest)!r} there"
            )
    return rows


def refuse_gaps(rows: NDArray[Any], model: Reader) -> None:
    """Refuse NaN on the features where the model does not take it."""
    refused = np.flatnonzero(np.isnan(rows).any(axis=0) & ~model.nan_features)
    if refused.size:
        at = int(refused[0])
        raise InvalidInputError(
            f"X has missing values in column {at} ({model.feature_names[at]!r}), where the model does not take "
            'them; fill them, or import the model with missing="follow" if its library takes NaN'
        )


def read_row(x: Any, model: Reader) -> NDArray[Any]:
    """Return one input as `read_inputs` does, an array of one row.

    Parameters
    ----------
    x : array of shape (n_features,), mapping from names to values, or a frame or array of one row
        A mapping and a row of a pandas frame go by name, their categories by value.
    model : Ensemble or Tree
    """
    if hasattr(x, "to_dict") and hasattr(x, "index") and as_frame(x) is None:  # a row of pandas
        x = x.to_dict() if not all(isinstance(name, int) for name in x.index) else np.asarray(x)
    if isinstance(x, Mapping):
        rows = _read_mapping(x, model)
        refuse_gaps(rows, model)
    else:
        rows = read_inputs(x if as_frame(x) is not None or np.ndim(x) != 1 else [x], model)
    if len(rows) != 1:
        raise InvalidInputError(f"one input is needed, but {len(rows):,} rows were given; give one of them")
    return rows


def as_numbers(X: Any, *, integers: str = "float64") -> NDArray[Any]:
    """Return an array of two dimensions as float32 or float64, by position."""
    if hasattr(X, "toarray"):
        raise InvalidInputError("X is a sparse matrix; give X.toarray(), a dense array")
    rows = np.asarray(X)
    if rows.dtype.kind not in "biufO":
        raise InvalidInputError(
            f"X has dtype {rows.dtype}, but arrays must hold numbers; give texts in a data frame, if the model was "
            "fitted on one"
        )
    if rows.dtype != np.float32 and rows.dtype != np.float64:
        try:
            rows = rows.astype(np.float64 if rows.dtype.kind == "O" else integers)
        except (TypeError, ValueError):
            raise InvalidInputError(f"X holds {_no_number(rows)!r}, which is not a number") from None
    if rows.ndim != 2:
        raise InvalidInputError(
            f"X must have two dimensions, rows and features, but its shape is {rows.shape}; "
            "for a single row use X.reshape(1, -1)"
        )
    if not (rows.flags.c_contiguous or rows.flags.f_contiguous) or not rows.dtype.isnative:
        rows = np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("="))
    return rows


def _holds_floats(X: Any) -> bool:
    return bool(np.asarray(X).dtype.kind == "f") or hasattr(X, "toarray")


def _holds_texts(X: Any) -> bool:
    given = np.asarray(X)
    return given.dtype.kind in "UT" or (given.dtype == object and any(isinstance(each, str) for each in given.flat))


def _read_values(X: Any, model: Reader) -> NDArray[np.float64]:
    """Return an array of values, not of codes, as CatBoost reads it: an integer is the category of that name."""
    given = np.asarray(X, dtype=object)
    if given.ndim != 2 or given.shape[1] != len(model.feature_names):
        return np.asarray(as_numbers(np.zeros(given.shape)), dtype=np.float64)  # refused by its shape
    rows = np.empty(given.shape)
    for at, name in enumerate(model.feature_names):
        labels = model.columns.labels_of(at)
        known: dict[tuple[type, object], float] = {}
        for row, value in enumerate(given[:, at].tolist()):
            key = (type(value), value)
            if key not in known:
                known[key] = _value_as_number(value, labels, name, "X")
            rows[row, at] = known[key]
    return rows


def _read_mapping(x: Mapping[Any, Any], model: Reader) -> NDArray[np.float64]:
    names, values = [str(name) for name in x], list(x.values())
    chosen = [values[place] for place in columns_by_name(names, model, what="the input")]
    labels = labels_among([isinstance(value, str) for value in chosen], model, "the input")
    rows = np.empty((1, len(chosen)))
    for at, (name, value, own) in enumerate(zip(model.feature_names, chosen, labels, strict=True)):
        rows[0, at] = _value_as_number(value, own, name, "the input")
    return np.asarray(_above_lowest(rows, model), dtype=np.float64)


def _value_as_number(value: object, labels: Labels | None, name: str, what: str) -> float:
    if is_missing(value):
        return float("nan") if labels is None else labels.gap(value)
    try:
        number = as_number(value) if labels is None else labels.number(value)  # type: ignore[arg-type]
    except (InvalidInputError, TypeError) as error:
        raise InvalidInputError(f"{name!r} of {what} {error}") from None
    if number is None:
        raise InvalidInputError(f"{name!r} of {what} is {value!r}, but the model reads a number there")
    return number


def _no_number(rows: NDArray[Any]) -> object:
    """Return the first entry that is not a number."""
    for value in rows.ravel().tolist():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return rows
