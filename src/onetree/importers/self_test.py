"""Every import checks itself: the ensemble against the live model, on inputs where differences are likely.

The model comes as a function from inputs to labels.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import FidelityError, UnsupportedModelError
from onetree.model.categories import Categories
from onetree.model.ensemble import Ensemble
from onetree.model.walking import Walks

N_ROWS = 1000
"""Rows of each kind: random, on the thresholds, and with missing values where they are an input."""

FLOAT32_MAX = float(np.finfo(np.float32).max)

# Next to nothing on both sides of zero, fractions, and numbers that are too large for this or that library.
_NO_CATEGORIES = [0.0, -0.0, 1e-300, -1e-300, -0.5, 0.5, -1.0, -2.0, 2.0**24, 2.0**31, 2.0**32 + 1]

_MAX_VALUES = 4_000_000  # fewer rows for models with very many features or trees

_rows_compared: ContextVar[list[int] | None] = ContextVar("rows_compared", default=None)


@contextmanager
def rows_compared() -> Iterator[list[int]]:
    """Collect the number of rows of each self-test that runs inside; every one of them found no difference."""
    counts: list[int] = []
    token = _rows_compared.set(counts)
    try:
        yield counts
    finally:
        _rows_compared.reset(token)


def self_test(
    ensemble: Ensemble,
    predict: Callable[[NDArray[np.float64]], NDArray[Any]],
    model_name: str,
    *,
    largest: float = FLOAT32_MAX,
    margins: Callable[[NDArray[np.float64]], NDArray[Any]] | None = None,
    rows: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    numbers: Callable[[NDArray[np.float64]], NDArray[Any]] | None = None,
) -> int:
    """Compare the ensemble with the model; return the number of rows compared.

    Parameters
    ----------
    ensemble : Ensemble
    predict : function
        The model: float64 inputs in, labels or values out.
    model_name : str
        For the message.
    largest : float
        Largest magnitude of an input that the model takes; infinity where infinite inputs are fine.
    margins : function, optional
        The model's own scores, if it gives them: they must be those of the ensemble to the last bit.
    rows : function, optional
        From the rows that are tried to those that the model takes, such as integers.
    numbers : function, optional
        The model's own probabilities, which must be those of the ensemble to the last bit if that has them.

    Raises
    ------
    FidelityError
        If a row gets another class, or other numbers, from the ensemble than from the model.
    """
    X = sample_rows(ensemble, np.random.default_rng(0), largest=largest)
    X = X if rows is None else rows(X)
    scores = quick_scores(ensemble, X)
    if margins is not None and not np.array_equal(np.asarray(margins(X)).reshape(len(X), -1), scores):
        raise FidelityError(
            f"import self-test: the margins of this {model_name} differ from those of the ensemble read from it, on "
            f"{sys.platform}; please report this with the version of its library"
        )
    compared = [] if ensemble.output == "value" else [(predict(X), ensemble.classes[ensemble.decide(scores)])]
    if ensemble.response is not None:
        own = predict if ensemble.output == "value" else numbers
        if own is None:
            raise TypeError("an ensemble with probabilities is compared with those of its model")
        found = ensemble.numbers_of(scores)
        _check_finite(found, X, model_name)
        compared.append((np.asarray(own(X)).reshape(found.shape), found))
    for expected, found in compared:
        _check_equal(np.asarray(expected), found, X, model_name)
    counts = _rows_compared.get()
    if counts is not None:
        counts.append(len(X))
    return len(X)


def _check_finite(found: NDArray[Any], X: NDArray[np.float64], model_name: str) -> None:
    wrong = ~np.isfinite(found).all(axis=1)
    if wrong.any():
        raise UnsupportedModelError(
            f"this {model_name} predicts {found[wrong][0].tolist()} for an input such as {X[wrong][0].tolist()}, and "
            "no leaf can come close to a number that is not finite; train it on targets of a smaller scale"
        )


def _check_equal(expected: NDArray[Any], found: NDArray[Any], X: NDArray[np.float64], model_name: str) -> None:
    if found.dtype != expected.dtype and "f" in (found.dtype.kind, expected.dtype.kind) and found.ndim == 2:
        raise FidelityError(
            f"import self-test: this {model_name} returns {expected.dtype}, but the ensemble read from it {found.dtype}"
        )
    differs = (expected != found).reshape(len(X), -1).any(axis=1)
    if np.any(differs):
        row = int(np.argmax(differs))
        raise FidelityError(
            f"import self-test: the ensemble read from this {model_name} differs from the model itself on "
            f"{np.count_nonzero(differs)} of {len(X)} inputs, for instance {X[row].tolist()}: "
            f"{found[row]!r} instead of {expected[row]!r}; if its `predict` is the library's own, please report this"
        )


def quick_scores(ensemble: Ensemble, X: NDArray[np.float64]) -> NDArray[Any]:
    """Return what `ensemble.scores` returns; the leaves are found by native code."""
    walks = Walks.of(ensemble, ensemble.roots, missing_left=ensemble.missing_left)
    return ensemble.scores_at(walks.leaves(X).T)


def sample_rows(ensemble: Ensemble, rng: np.random.Generator, *, largest: float = FLOAT32_MAX) -> NDArray[np.float64]:
    """Return inputs spread around the thresholds, inputs on and next to them, and inputs with gaps.

    A categorical feature takes all of its categories in the first, and numbers at the ends of them in the second.
    """
    n_features = ensemble.n_features
    n_rows = max(10, min(N_ROWS, _MAX_VALUES // max(1, n_features, ensemble.n_trees)))
    random = rng.standard_normal((n_rows, n_features))
    adjacent = random.copy()
    # Far out, yet so that libraries which add up all inputs to find infinite ones see no overflow.
    extremes = [-1e30, 1e30] if np.isfinite(largest) else [-np.inf, np.inf, -1e300, 1e300]
    for feature, cuts in _cuts(ensemble):
        low, high = cuts[0] / 2, cuts[-1] / 2  # halves, so that no difference overflows
        margin = 0.1 * (high - low) + 0.01 * max(abs(low), abs(high), 1.0)
        random[:, feature] = 2 * rng.uniform(low - margin, high + margin, n_rows)
        # Each column takes all its points once before any of them twice, in an order of its own.
        points = np.concatenate([_points_at(cuts), extremes])
        adjacent[:, feature] = rng.permutation(np.resize(rng.permutation(points), n_rows))
    for feature, categories in enumerate(ensemble.categories):
        if categories is not None:
            others = rng.permutation(np.concatenate([categories.codes, _NO_CATEGORIES]))
            random[:, feature] = rng.permutation(np.resize(others, n_rows))
            points = rng.permutation(_points_of(categories))
            adjacent[:, feature] = rng.permutation(np.resize(points, n_rows))
    kinds = [random, adjacent]
    if ensemble.nan_features.any():
        with_gaps = adjacent[rng.permutation(n_rows)]
        rate = rng.choice([0.1, 0.5, 1.0], size=(n_rows, 1), p=[0.5, 0.45, 0.05])
        gaps = (rng.random(with_gaps.shape) < rate) & ensemble.nan_features
        kinds.append(np.where(gaps, np.nan, with_gaps))
    return np.clip(np.concatenate(kinds), -largest, largest)


def _cuts(ensemble: Ensemble) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the features that have finite thresholds, and these, ascending."""
    nodes = np.flatnonzero((ensemble.feature >= 0) & (ensemble.subset < 0) & np.isfinite(ensemble.threshold))
    nodes = nodes[np.argsort(ensemble.feature[nodes], kind="stable")]
    features, begins = np.unique(ensemble.feature[nodes], return_index=True)
    for feature, of_feature in zip(features.tolist(), np.split(nodes, begins[1:]), strict=False):
        yield feature, np.unique(ensemble.threshold[of_feature])


def _points_of(categories: Categories) -> NDArray[np.float64]:
    """Return the codes, the ends of the categories and their neighbours, and numbers that may not be a category."""
    codes = np.array(categories.codes)
    ends = np.unique(np.concatenate([codes, categories.low, categories.high]))
    halfway = [codes - 0.5, codes + 0.5, codes - 1, codes + 1]
    points = np.concatenate([_points_at(ends[np.isfinite(ends)]), *halfway, _NO_CATEGORIES, [-1e30, 1e30]])
    # scikit-learn's encoder refuses infinity, the neighbour of a large category.
    finite: NDArray[np.float64] = points[np.isfinite(points)]
    return finite


def _points_at(cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each cut and its neighbours on both sides, among float64 and among float32 values."""
    with np.errstate(over="ignore", under="ignore"):
        single = np.clip(cuts, -FLOAT32_MAX, FLOAT32_MAX).astype(np.float32)
        around = [single, np.nextafter(single, np.float32(-np.inf)), np.nextafter(single, np.float32(np.inf))]
        return np.concatenate(
            [cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), *(x.astype(np.float64) for x in around)]
        )
