"""What is learned about raw columns while the steps of a pipeline are gone through, and what stands between the steps.

A column between two steps is traced to the one raw column that it depends on. Nothing is computed here: the steps'
own `transform` does that.
"""

import numbers
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.pipeline import Break, Column
from onetree.importers.pipeline.columns import Evaluate, Matrix
from onetree.importers.pipeline.float_order import LARGEST
from onetree.model.frames import as_frame, is_missing

REFUSED = (ValueError, TypeError, OverflowError, FloatingPointError)
"""What a step raises at an input that it does not take."""

REMEDY = 'use pipelines="last-step" for the tree of pipeline[-1], on what the earlier steps produce'


@dataclass
class Notes:
    """What the steps say of a raw column."""

    texts: dict[str, None] = field(default_factory=dict)  # in the order in which they are met
    numbers: dict[float, Any] = field(default_factory=dict)  # by value, what the step calls them
    closed: bool = False  # whether other numbers are refused
    lowest: float = -LARGEST  # smaller numbers are nothing to a step
    meets_gaps: bool = False  # whether some step is made for missing values


@dataclass(frozen=True, eq=False)
class Traced:
    """A column between two steps.

    Parameters
    ----------
    raw : int or None
        The raw column that it depends on.
    breaks, rounded
        As in `Column`.
    plain : bool
        Whether it is the raw column, possibly with its gaps filled.
    """

    raw: int | None
    breaks: tuple[Break, ...] = ()
    rounded: bool = False
    plain: bool = False

    def changed(self, *, rounded: bool = False) -> "Traced":
        """Return a monotone function of the column."""
        return replace(self, plain=False, rounded=self.rounded or rounded)

    def as_column(self) -> Column:
        """Return what `compose` needs to know of it."""
        return Column(self.raw, self.breaks, rounded=self.rounded)


@dataclass(eq=False)
class Source:
    """The raw columns, and the way from numbers to what the first step takes."""

    notes: list[Notes]
    decode: Callable[[Matrix], Any]
    computes: bool = False  # whether a step calculates with numbers, so that float32 would give other results
    read: set[int] | None = None  # the raw columns that are used at all, if that is known
    kept: Sequence[int] = ()  # the raw columns that matrices of numbers have, in their order
    examples: Sequence[float] = ()  # numbers that the steps take, one for each of these


@dataclass(frozen=True, eq=False)
class Stage:
    """What stands between two steps.

    Parameters
    ----------
    source : Source
    run : function
        From what the first step takes to what stands here: an array, a sparse matrix or a data frame.
    columns : tuple of Traced
    is_start : bool
        Whether no step has done anything yet.
    """

    source: Source
    run: Callable[[Any], Any]
    columns: tuple[Traced, ...]
    is_start: bool = False

    @cached_property
    def matrix(self) -> Evaluate:
        """From raw inputs to the numbers that stand here."""
        strict = partial(_run, self.run, self.source.decode)
        return tolerant(strict, self.source, self.columns)

    def broken(self, at: int, points: Iterable[float]) -> Traced:
        """Return a column that does something else below, at and above these points."""
        column = self.columns[at]
        if column.raw is None or self.source.notes[column.raw].texts:
            return column.changed()
        found = np.unique(np.array(list(points), dtype=np.float64))
        return replace(column.changed(), breaks=(*column.breaks, Break(self.matrix, at, found)))

    def from_here(self, at: int, lowest: float) -> None:
        """Note that a step does nothing sensible with smaller numbers of a column, if it is a raw one."""
        column = self.columns[at]
        if column.raw is not None and column.plain:
            note = self.source.notes[column.raw]
            note.lowest = max(note.lowest, lowest)

    def categories(self, at: int, values: Iterable[Any], name: str, *, closed: bool) -> Traced:
        """Return a column of which a step knows these values, and refuses others if it is `closed`."""
        column, known = self.columns[at], []
        note = Notes() if column.raw is None else self.source.notes[column.raw]
        for value in values:
            if is_missing(value):
                note.meets_gaps = True
            elif isinstance(value, str):
                note.texts[value] = None
            elif isinstance(value, numbers.Real | np.bool_):
                known.append(float(value))
                if column.plain:
                    note.numbers[float(value)] = value.item() if hasattr(value, "item") else value
            else:
                raise UnsupportedModelError(
                    f"{name} has the category {value!r} of type {type(value).__name__}; categories must be texts or "
                    f"numbers. {REMEDY[0].upper()}{REMEDY[1:]}"
                )
        note.closed |= closed and column.plain and not note.texts
        return self.broken(at, known)


def _run(run: Callable[[Any], Any], decode: Callable[[Matrix], Any], rows: Matrix) -> Matrix:
    return quiet(lambda: dense(run(decode(rows))))


def quiet(work: Callable[[], Matrix]) -> Matrix:
    """Return what the work returns; what libraries say about unusual inputs is not heard."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return work()


def tolerant(evaluate: Evaluate, source: Source, columns: Sequence[Traced]) -> Evaluate:
    """Return a function that has NaN in these columns where the steps do not take what they depend on."""

    def evaluated(rows: Matrix) -> Matrix:
        try:
            return evaluate(rows)
        except REFUSED:
            if len(rows) == 1:
                return one(rows)
        half = len(rows) // 2
        return np.concatenate([evaluated(rows[:half]), evaluated(rows[half:])])

    def one(row: Matrix) -> Matrix:
        examples = np.array([source.examples])
        refused = [at for at in range(row.shape[1]) if row[0, at] != examples[0, at] and not taken(row, examples, at)]
        row = row.copy()
        row[:, refused] = examples[:, refused]
        found = evaluate(row)
        raw = {source.kept[at] for at in refused}
        found[:, [column.raw in raw for column in columns]] = np.nan
        return found

    def taken(row: Matrix, examples: Matrix, at: int) -> bool:
        alone = examples.copy()
        alone[:, at] = row[:, at]
        try:
            evaluate(alone)
        except REFUSED:
            return False
        return True

    return evaluated


def dense(X: Any) -> Matrix:
    """Return what stands between two steps as a matrix, with NaN for texts."""
    rows = X.toarray() if hasattr(X, "toarray") else X
    frame = as_frame(rows)
    if frame is not None:
        rows = frame.to_numpy()
    rows = np.asarray(rows)
    if rows.dtype.kind in "biuf":
        return rows.astype(np.float64)
    return np.stack([_numbers(column) for column in rows.T], axis=1) if rows.shape[1] else np.empty(rows.shape)


def _numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return np.full(len(column), np.nan)


def names_of(steps: Sequence[object]) -> str:
    """Return the classes of steps, as text."""
    return ", ".join(type(step).__name__ for step in steps)
