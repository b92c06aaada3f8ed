"""Categories of LightGBM: which numbers they are, which are known, and what the training data called them.

A category is x without its fraction, so 0 is every x with -1 < x < 1. Splits send the
categories that they name left, and everything else right: other categories, numbers that are none, and NaN.
"""

import operator
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError
from onetree.importers.lightgbm.splits import TreeSplits
from onetree.importers.lightgbm.text import TextModel
from onetree.importers.set_tests import SetTest, known_categories
from onetree.model.categories import Categories
from onetree.model.columns import Columns, Labels, plain_values

_LIST_OF_CATEGORIES = re.compile(r"-?[0-9]{1,10}(:-?[0-9]{1,10})*")
_RANGE_OF_NUMBERS = re.compile(r"\[([^:\[\]]{1,40}):([^:\[\]]{1,40})\]")


def tests_of(trees: Sequence[TreeSplits], roots: Sequence[int]) -> list[SetTest]:
    """Return the splits by categories of all trees."""
    # Converted once: splits can share a set, so that a copy for each could be very much more than the file.
    sets = [[codes.astype(np.float64) for codes in tree.categories] for tree in trees]
    return [
        SetTest(
            node=root + node,
            feature=int(tree.feature[node]),
            codes=own[int(tree.test[node])],
            named_left=True,
            other_left=False,
            missing_left=False,
        )
        for tree, root, own in zip(trees, roots, sets, strict=True)
        for node in np.flatnonzero(tree.test >= 0).tolist()
    ]


def categories_of(model: TextModel, tests: list[SetTest]) -> tuple[Categories | None, ...]:
    """Return the categories of each feature that is tested for them."""
    if not tests:
        return ()
    columns = columns_of(model)

    def of_feature(feature: int, codes: NDArray[np.float64]) -> Categories:
        low = np.where(codes == 0, -1.0, np.nextafter(codes, -np.inf))
        labels = columns.labels_of(feature)
        called = () if labels is None else tuple(map(str, labels.values))
        # The list of names may be longer than that of the categories: not all of them need have occurred.
        shown = tuple(called[int(code)] for code in codes.tolist()) if codes.max(initial=0) < len(called) else ()
        return Categories(tuple(codes.tolist()), low, np.nextafter(codes + 1, -np.inf), shown)

    return known_categories(tests, _known_codes(model), of_feature, len(model.feature_names))


def columns_of(model: TextModel) -> Columns:
    """Return what the columns of a frame mean.

    The file has one list of values per column that was categorical in pandas, in their order. It does not say which
    columns these were, only which features are categorical, and an ordered column is not, while a column of integers
    can be. Where that leaves doubt, the lists wait for a frame, whose categorical columns LightGBM itself counts off.
    """
    n_features = len(model.feature_names)
    numbered = all(name == f"Column_{i}" for i, name in enumerate(model.feature_names))
    columns = Columns(named=not numbered, integers="float32", spaces_replaced=True)
    # Values of other types, such as dates, cannot be kept; a list without values refuses them all.
    lists = [plain_values(values) or () for values in model.pandas_categorical]
    if not lists:
        return columns
    known = _known_codes(model)
    features = tuple(known) if model.categorical_features is None else model.categorical_features
    largest = [known[feature].max(initial=0) if feature in known else 0 for feature in features]
    fits = len(lists) == len(features) and all(map(operator.lt, largest, map(len, lists)))
    if not fits or any(_may_be_codes(info, {len(values) for values in lists}) for info in model.feature_infos):
        return replace(columns, unassigned=tuple(Labels(values, unknown="missing") for values in lists))
    # A category that was not met goes the way of all that a split does not name; -1 is such a number.
    labels = {feature: Labels(values, unknown=-1.0) for feature, values in zip(features, lists, strict=True)}
    return replace(columns, labels=tuple(labels.get(feature) for feature in range(n_features)))


def _known_codes(model: TextModel) -> dict[int, NDArray[np.float64]]:
    """Return the categories that were met in training, by feature; -1 in the list stands for anything else."""
    found = {}
    for feature, info in enumerate(model.feature_infos):
        if _LIST_OF_CATEGORIES.fullmatch(info):
            codes = np.unique(np.array(info.split(":"), dtype=np.float64))
            found[feature] = codes[codes >= 0]
        elif info != "none" and not _RANGE_OF_NUMBERS.fullmatch(info):
            raise ModelFileError(f"feature_infos says {info[:40]!r} of feature {model.feature_names[feature]!r}")
    return found


def _may_be_codes(info: str, sizes: set[int]) -> bool:
    """Whether a column that is not tested for categories may be a categorical one of pandas, of one of these sizes."""
    limits = _RANGE_OF_NUMBERS.fullmatch(info)
    return limits is not None and limits[1] in ("-1", "0") and limits[2].isdecimal() and int(limits[2]) + 1 in sizes
