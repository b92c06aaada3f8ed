"""Data frames of pandas, polars and whatever else narwhals reads: their columns as the numbers that a model compares.

Columns are found by name and categories by value; what names and values mean to a model is in `columns`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.model.columns import Columns, Labels, Reader

if TYPE_CHECKING:
    import narwhals as nw

SINGLE = (
    ", with which the model's pipeline computes in float32, and may get other results than the tree, which was made "
    "for float64; convert them to float64, for the pipeline and for the tree"
)

_N_LISTED = 8
_MISSING = ("NAType", "NaTType")  # of pandas, which need not be installed


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame as narwhals has it; None if `X` is anything else."""
    if isinstance(X, np.ndarray | list | tuple) or np.isscalar(X) or hasattr(X, "toarray"):
        return None
    import narwhals as nw

    try:
        found = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InvalidInputError(f"X has two columns of one name; rename one of them: {error}") from None
    if isinstance(found, nw.LazyFrame):
        raise InvalidInputError("X is a lazy frame; give X.collect()")
    return found if isinstance(found, nw.DataFrame) else None


def needs_model(X: Any) -> bool:
    """Whether `X` is a frame with columns of categories or texts, whose numbers only a model knows."""
    frame = as_frame(X)
    return frame is not None and any(map(_holds_categories, frame.iter_columns()))


def has_gaps(X: Any) -> bool:
    """Whether a value is missing in some column of a frame."""
    frame = as_frame(X)
    return frame is not None and any(
        column.is_null().any() or (column.dtype.is_float() and column.is_nan().any()) for column in frame.iter_columns()
    )


def frame_names(frame: nw.DataFrame[Any]) -> tuple[str, ...]:
    """Return the names of all columns as text; numbers and the like are names too."""
    return tuple(map(str, frame.columns))


def frame_numbers(frame: nw.DataFrame[Any]) -> NDArray[Any]:
    """Return all columns of a frame of which no model is known, so that they must be numbers."""
    return _joined([_read_column(each, None) for each in frame.iter_columns()], len(frame))


def columns_by_name(given: Sequence[str], model: Reader, *, what: str = "X") -> list[int]:
    """Return the place of each feature among columns of these names.

    Raises
    ------
    InvalidInputError
        If a feature has no column or several, or if the names do not tell what the columns are.
    """
    if model.columns.steps:
        raise InvalidInputError(
            f"the model stands behind other steps of a pipeline ({model.columns.steps}), and the names of the columns "
            f"of {what} do not show whether these have been applied; give an array of their output, such as "
            "np.asarray(pipeline[:-1].transform(X))"
        )
    place = {name: at for at, name in enumerate(given)}
    times = Counter(given)
    wanted = [_name_in(place, name, model.columns) for name in model.feature_names]
    absent = [name for name, found in zip(model.feature_names, wanted, strict=True) if found is None]
    if absent:
        raise InvalidInputError(
            f"{what} has no column for {len(absent)} of {len(wanted)} features: {listed(absent)}; its columns are "
            f"{listed(given)}"
        )
    twice = next((name for name in wanted if name is not None and times[name] > 1), None)
    if twice is not None:
        raise InvalidInputError(f"{what} has the column {twice!r} twice; rename one of them")
    return [place[name] for name in wanted if name is not None]


def listed(names: Iterable[str]) -> str:
    """Return some names as text, shortened if there are many."""
    known = list(names)
    return ", ".join(map(repr, known[:_N_LISTED])) + (", ..." if len(known) > _N_LISTED else "")


def _name_in(place: dict[str, int], name: str, columns: Columns) -> str | None:
    if name in place:
        return name
    if columns.spaces_replaced:
        spaced = [given for given in place if given.replace(" ", "_") == name]
        if len(spaced) == 1:
            return spaced[0]
    return None


def read_frame(frame: nw.DataFrame[Any], model: Reader) -> NDArray[Any]:
    """Return the columns of a frame that the features name, in their order, as the model reads them."""
    columns, names = model.columns, model.feature_names
    given = frame_names(frame)
    if columns.named or columns.steps:
        places = columns_by_name(given, model)
    elif len(given) == len(names):
        places = list(range(len(names)))
    else:
        raise InvalidInputError(
            f"X has {len(given)} columns, but the model has {len(names)} features, and was fitted on data without "
            "names to choose them by; select the columns in the order of the training data"
        )
    # Not `frame.get_column`: a name need not be text.
    every = list(frame.iter_columns())
    chosen = [every[place] for place in places]
    labels = labels_among([_holds_categories(column) for column in chosen], model, "X")
    if not columns.single:
        _refuse_single([column for column, own in zip(chosen, labels, strict=True) if own is None])
    # scikit-learn reads categories that are numbers as these numbers, other libraries as their codes.
    plain = all(own is None for own in labels)
    return _joined(
        [
            _read_column(column, own, by_value=plain and kind is None)
            for column, own, kind in zip(chosen, labels, model.categories, strict=True)
        ],
        len(frame),
    )


def _refuse_single(columns: Iterable[nw.Series[Any]]) -> None:
    import narwhals as nw

    for column in columns:
        if column.dtype == nw.Float32:
            raise InvalidInputError(f"column {str(column.name)!r} of X holds float32 numbers{SINGLE}")


def labels_among(is_categorical: Sequence[bool], model: Reader, what: str) -> list[Labels | None]:
    """Return the labels of each feature, where necessary by the columns of categories or texts."""
    columns = model.columns
    labels = [columns.labels_of(feature) for feature in range(len(is_categorical))]
    if columns.unassigned:
        categorical = [at for at, holds in enumerate(is_categorical) if holds]
        if len(categorical) != len(columns.unassigned):
            raise InvalidInputError(
                f"{what} has {len(categorical)} columns of categories or texts among the features, but the model was "
                f"fitted with {len(columns.unassigned)}, not saying which; give them the types of the training data"
            )
        for at, own in zip(categorical, columns.unassigned, strict=True):
            labels[at] = own
    return labels


def _holds_categories(column: nw.Series[Any]) -> bool:
    import narwhals as nw

    return column.dtype in (nw.Categorical, nw.Enum, nw.String)


def _read_column(column: nw.Series[Any], labels: Labels | None, *, by_value: bool = True) -> NDArray[Any]:
    """Return one column as numbers, NaN where a value is missing.

    Without labels, categories that are numbers are these numbers, if they may be read `by_value`.
    """
    import narwhals as nw

    name = str(column.name)
    if labels is not None:
        return _codes(column, name, labels)
    kind = column.dtype
    if kind in (nw.Float32, nw.Float64):
        floats: NDArray[Any] = np.asarray(column.to_numpy())
        return floats
    if kind.is_numeric() or kind == nw.Boolean:
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if kind in (nw.Categorical, nw.Enum) and not by_value:
        raise InvalidInputError(
            f"column {name!r} of X holds categories, but the model does not say which number stands for which; give "
            "the numbers that it was trained on, for instance the codes of the categories"
        )
    missing = column.is_null().to_list()
    values = column.to_list()
    numbers = [math.nan if gap else as_number(value) for value, gap in zip(values, missing, strict=True)]
    if any(number is None for number in numbers):
        example = next(value for value, number in zip(values, numbers, strict=True) if number is None)
        raise InvalidInputError(
            f"column {name!r} of X holds {example!r}, but the model reads numbers there; encode it as in the training "
            "data"
        )
    return np.array(numbers, dtype=np.float64)


def as_number(value: object) -> float | None:
    """Return a number of whatever type as float, None for anything else: text is not parsed."""
    if isinstance(value, str | bytes):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _codes(column: nw.Series[Any], name: str, labels: Labels) -> NDArray[np.float64]:
    """Return the numbers of the categories that the values of a column are."""
    values = column.to_list()
    try:  # each value once, since there are few
        number_of = {value: labels.gap(value) if is_missing(value) else labels.number(value) for value in set(values)}
    except InvalidInputError as error:
        raise InvalidInputError(f"column {name!r} of X {error}") from None
    except TypeError:  # a list, for instance
        raise InvalidInputError(f"column {name!r} of X holds {values[0]!r}, which is not a category") from None
    return np.array([number_of[value] for value in values], dtype=np.float64)


def is_missing(value: object) -> bool:
    """Whether a single value is missing, in Python, numpy or pandas."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _joined(columns: Sequence[NDArray[Any]], n_rows: int) -> NDArray[Any]:
    single = bool(columns) and all(column.dtype == np.float32 for column in columns)
    rows = np.empty((n_rows, len(columns)), dtype=np.float32 if single else np.float64, order="F")
    for at, column in enumerate(columns):
        rows[:, at] = column
    return rows
