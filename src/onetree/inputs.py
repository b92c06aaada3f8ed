"""Input arrays: what a prediction accepts, the same for ensembles and trees."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError


def check_input(X: ArrayLike, n_features: int, nan_features: NDArray[np.bool_]) -> NDArray[Any]:
    """Give `X` as a float32 or float64 array in C or Fortran order, copied only if it must be.

    NaN is refused on every feature where `nan_features` is false.
    """
    if hasattr(X, "toarray"):
        raise InvalidInputError("X is a sparse matrix; give X.toarray(), a dense array")
    rows = np.asarray(X)
    if rows.dtype.kind not in "biufO":
        raise InvalidInputError(f"X has dtype {rows.dtype}, but numbers are needed; encode text and dates first")
    if rows.dtype != np.float32 and rows.dtype != np.float64:
        try:
            rows = rows.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"X holds something that is not a number: {error}") from None
    if rows.ndim != 2:
        raise InvalidInputError(
            f"X must have two dimensions, rows and features, but its shape is {rows.shape}; "
            "for a single row use X.reshape(1, -1)"
        )
    if rows.shape[1] != n_features:
        raise InvalidInputError(f"X has {rows.shape[1]} features, but the model has {n_features}")
    # One sum is NaN if any value is; it can also be NaN as inf - inf, so then the columns are looked at.
    with np.errstate(all="ignore"):
        suspicious = not nan_features.all() and bool(np.isnan(rows.sum()))
    if suspicious:
        refused = np.flatnonzero(np.isnan(rows).any(axis=0) & ~nan_features)
        if refused.size:
            raise InvalidInputError(
                f"X has missing values (NaN) in column {refused[0]}, where the model does not take them; "
                'fill them, or import the model with missing="follow" if its library takes NaN'
            )
    if not (rows.flags.c_contiguous or rows.flags.f_contiguous) or not rows.dtype.isnative:
        rows = np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("="))
    return rows
