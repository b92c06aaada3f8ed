"""Domains that nobody has to write down: what data look like, and the neighbourhood of one input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.domain.domain import Domain
from onetree.domain.observed_groups import observed_groups
from onetree.domain.values import Values
from onetree.errors import InvalidInputError
from onetree.model.ensemble import as_ensemble
from onetree.model.frames import as_frame, frame_names, frame_numbers
from onetree.model.inputs import as_numbers, read_inputs, read_row

_ROWS_PER_CHOICE = 10  # seen less often, a few different values may just be few rows


def domain_of(X: Any, *, source: object | None = None, max_choices: int = 10, groups: bool = False) -> Domain:
    """Infer a domain from data: for each column its range, whether it holds integers only, or its few values.

    A column with at most `max_choices` different values, ten rows for each on average, gets those as a finite set. Any
    other has the range from its smallest to its largest value, of integers only if all of them are. A feature may
    be missing iff it is missing in some row. The domain's `origin` says that it was inferred; `Domain.contains` says
    whether other inputs lie in it.

    Parameters
    ----------
    X : array of shape (n_rows, n_features), or data frame
        Numbers, NaN where they are missing. The domain of a frame goes by the names of its columns.
    source : fitted model, path or Ensemble, optional
        Whose inputs these are. Then a frame may have columns of categories, and more columns than the model has.
    max_choices : int
        0 for ranges only.
    groups : bool
        Whether to look for columns of zeros and ones that belong together, too: one-hot columns, columns that imply or
        exclude each other, equal ones. Off by default: that something holds in every row does not prove that it
        must, and with many columns some of it is chance. See `onetree.domain.observed_groups`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.column_stack([np.arange(30) % 2, np.arange(30), np.arange(30) / 4])
    >>> domain_of(rows)
    Domain({0: '0,1', 1: 'integer 0:29', 2: '0:7.25'}, origin='inferred from 30 rows')
    >>> kind = np.arange(30) % 3
    >>> domain_of(np.column_stack([kind == 0, kind == 1, kind == 2]), groups=True)
    Domain({(0, 1, 2): 'one-hot'}, origin='inferred from 30 rows, groups included')
    """
    rows, names = _rows(X, source)
    if len(rows) == 0:
        raise InvalidInputError("X has no rows, so no domain can be inferred; give representative data")
    rows = rows.astype(np.float64)
    values = tuple(_column_values(column, max_choices) for column in rows.T)
    origin = f"inferred from {len(rows):,} rows" if len(rows) > 1 else "inferred from 1 row"
    if not groups:
        return Domain(values, origin, names=names)
    return Domain(values, f"{origin}, groups included", observed_groups(rows), names)


def domain_around(
    x: Any, radius: ArrayLike | None = None, *, source: object | None = None, cells: int | None = None
) -> Domain:
    """Return the neighbourhood of one input, for the tree that explains the model there.

    Parameters
    ----------
    x : array of shape (n_features,), data frame of one row, or a row of one
        The input. Where it is NaN, the feature is always missing. In a frame, the columns go by their names.
    radius : float or array of shape (n_features,), optional
        The domain holds ``x - radius`` to ``x + radius``: 0 fixes a feature, inf leaves it free. Relative to the
        input it is ``0.1 * abs(x)``, relative to the data ``0.5 * X.std(axis=0)``.
    source : fitted model or Ensemble, optional
        Only with `cells`.
    cells : int, optional
        Instead of a radius: so many thresholds of the source to either side of each feature; 0 is the cell of `x`.
        A categorical feature stays what it is, since categories have no neighbours.

    Examples
    --------
    >>> domain_around([5.0, 0.25], [1.0, 0.0])
    Domain({0: '4:6', 1: '0.25'}, origin='around one input')
    """
    if (radius is None) == (cells is None) or (cells is None) != (source is None):
        raise InvalidInputError("give either radius=, or both source= and cells=")
    point, names = _point(x, source)
    if radius is not None:
        low, high = _ends_by_radius(point, radius)
    else:
        low, high = _ends_by_cells(point, source, cells)
    values = tuple(
        Values(choices=(), missing=True) if math.isnan(at) else Values(start, end)
        for at, start, end in zip(point.tolist(), low.tolist(), high.tolist(), strict=True)
    )
    return Domain(values, origin="around one input", names=names)


def _rows(X: Any, source: object | None) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return inputs as numbers, and the names of the columns if they have any."""
    if source is not None:
        ensemble = as_ensemble(source, output="auto")
        return read_inputs(X, ensemble), ensemble.feature_names
    frame = as_frame(X)
    return (as_numbers(X), ()) if frame is None else (frame_numbers(frame), frame_names(frame))


def _point(x: Any, source: object | None) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return one input as numbers, and the names of its features if it has any."""
    if source is not None:
        ensemble = as_ensemble(source, output="auto")
        return read_row(x, ensemble)[0].astype(np.float64), ensemble.feature_names
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a row of a pandas frame
        x = x.to_frame().T
    rows, names = _rows(x if as_frame(x) is not None else np.asarray(x)[np.newaxis], None)
    if len(rows) != 1:
        raise InvalidInputError(f"x must be one input, but it has {len(rows)} rows")
    return rows[0].astype(np.float64), names


def _column_values(column: NDArray[np.float64], max_choices: int) -> Values:
    known = np.unique(column[~np.isnan(column)])
    missing = bool(np.isnan(column).any())
    few = len(known) <= max_choices and len(column) >= _ROWS_PER_CHOICE * len(known)
    if known.size == 0 or (few and np.isfinite(known).all()):
        return Values(choices=tuple(known.tolist()), missing=missing)
    whole = bool(np.isfinite(known).all() and (known == np.floor(known)).all())
    return Values(float(known[0]), float(known[-1]), integer=whole, missing=missing)


def _ends_by_radius(point: NDArray[np.float64], radius: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        reach = np.broadcast_to(np.asarray(radius, dtype=np.float64), point.shape)
    except (TypeError, ValueError):
        raise InvalidInputError(f"radius must be one number or {len(point)}, one per feature, not {radius!r}") from None
    if not (reach >= 0).all():
        raise InvalidInputError("a radius must not be negative or NaN")
    with np.errstate(over="ignore"):
        # An infinite x has no neighbourhood but itself, unless it is left free.
        free = np.isinf(reach)
        low = np.where(free, -np.inf, np.where(np.isinf(point), point, point - np.where(free, 0.0, reach)))
        high = np.where(free, np.inf, np.where(np.isinf(point), point, point + np.where(free, 0.0, reach)))
    return low, high


def _ends_by_cells(point: NDArray[np.float64], source: object, cells: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
    if not isinstance(cells, int) or isinstance(cells, bool) or cells < 0:
        raise InvalidInputError(f"cells must be a non-negative integer, not {cells!r}")
    ensemble = as_ensemble(source, output="auto")
    low, high = np.full(len(point), -np.inf), np.full(len(point), np.inf)
    for feature, at in enumerate(point.tolist()):
        if ensemble.categories[feature] is not None:
            low[feature] = high[feature] = at
            continue
        levels = np.unique(ensemble.threshold[ensemble.feature == feature])
        here = int(np.searchsorted(levels, at))  # levels[here - 1] < x <= levels[here]
        if here - 1 - cells >= 0:
            low[feature] = np.nextafter(levels[here - 1 - cells], np.inf)
        if here + cells < len(levels):
            high[feature] = levels[here + cells]
    return low, high
