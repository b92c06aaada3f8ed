"""Tests for a set of categories, as libraries have them, in the form that an `Ensemble` holds them in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.model.categories import FIRST, MISSING, OTHER, Categories, used_subsets

_MAX_ELEMENTS = 1 << 27  # entries of the matrix of all sets, 128 MiB
_MAX_NAMED = 1 << 24  # categories that all tests name together; several may share what the file holds once


@dataclass(frozen=True, eq=False)
class SetTest:
    """One test: the categories that it names go to one side, all that are known besides to the other.

    Parameters
    ----------
    node, feature : int
        Where the test stands, and what it tests.
    codes : float64 array
        The categories that it names.
    named_left : bool
        Whether these go left.
    other_left, missing_left : bool
        Whether numbers that are no known category, and NaN, go left.
    """

    node: int
    feature: int
    codes: NDArray[np.float64]
    named_left: bool
    other_left: bool
    missing_left: bool


def known_categories(
    tests: Sequence[SetTest],
    known: Mapping[int, NDArray[np.float64]],
    categories: Callable[[int, NDArray[np.float64]], Categories],
    n_features: int,
) -> tuple[Categories | None, ...]:
    """Return the categories of each feature that is tested for them: those that are known and those that tests name.

    `categories` makes them of a feature and its codes. Features that no test asks about stay ordinary.
    """
    n_named = sum(len(test.codes) for test in tests)
    if n_named > _MAX_NAMED:
        raise UnsupportedModelError(
            f"{len(tests):,} tests name {n_named:,} categories, more than can be held; train with fewer trees, or join "
            "rare categories"
        )
    codes: dict[int, list[NDArray[np.float64]]] = {}
    for test in tests:
        codes.setdefault(test.feature, [known.get(test.feature, np.empty(0))]).append(test.codes)
    return tuple(
        categories(feature, np.unique(np.concatenate(codes[feature]))) if feature in codes else None
        for feature in range(n_features)
    )


def set_fields(
    tests: Sequence[SetTest], categories: tuple[Categories | None, ...], feature: NDArray[Any], names: tuple[str, ...]
) -> dict[str, Any]:
    """Return the fields of an `Ensemble` that hold the tests; `feature` is that of each node."""
    if not tests:
        return {}
    codes = {feature: np.array(kind.codes) for feature, kind in enumerate(categories) if kind is not None}
    width = FIRST + max(map(len, codes.values()))
    if len(tests) * width > _MAX_ELEMENTS:
        raise UnsupportedModelError(
            f"{len(tests):,} tests of up to {width - FIRST:,} categories are more than can be held; train with fewer "
            "trees, or join rare categories"
        )
    subset = np.full(len(feature), -1, dtype=np.int32)
    subsets = np.zeros((len(tests), width), dtype=np.bool_)
    for row, test in enumerate(tests):
        known = codes[test.feature]
        subset[test.node] = row
        subsets[row, FIRST : FIRST + len(known)] = not test.named_left
        subsets[row, FIRST + np.searchsorted(known, test.codes)] = test.named_left
        subsets[row, OTHER], subsets[row, MISSING] = test.other_left, test.missing_left
    _refuse_both(feature, subset, categories, names)
    subset, subsets = used_subsets(subset, subsets)
    return {"categories": categories, "subset": subset, "subsets": subsets}


def _refuse_both(
    feature: NDArray[Any], subset: NDArray[np.int32], categories: tuple[Categories | None, ...], names: tuple[str, ...]
) -> None:
    """Refuse a feature that is a number in some trees: a model that was trained further on data of another kind."""
    categorical = np.array([kind is not None for kind in (*categories, None)])[feature]
    both = categorical & (subset < 0)
    if both.any():
        name = names[int(feature[np.argmax(both)])]
        raise UnsupportedModelError(
            f"feature {name!r} is compared with thresholds at some nodes and by its categories at others, which is "
            "not read; train the whole model on data of one kind"
        )
