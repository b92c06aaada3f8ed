"""Categories of LightGBM: which numbers they are, which are known, and what the training data called them.

A category is the whole number that is left of x without its fraction, so 0 is every x with -1 < x < 1. Splits send the
categories that they name left, and everything else right: other categories, numbers that are none, and NaN.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onetree.categories import Categories
from onetree.errors import ModelFileError
from onetree.importers.lightgbm_splits import Splits
from onetree.importers.lightgbm_text import TextModel
from onetree.importers.set_tests import SetTest, known_categories

_LIST_OF_CATEGORIES = re.compile(r"-?[0-9]{1,10}(:-?[0-9]{1,10})*")
_RANGE_OF_NUMBERS = re.compile(r"\[([^:\[\]]{1,40}):([^:\[\]]{1,40})\]")


def tests_of(trees: Sequence[Splits], roots: Sequence[int]) -> list[SetTest]:
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
    known = _known_codes(model)
    names = _names(model, known)

    def of_feature(feature: int, codes: NDArray[np.float64]) -> Categories:
        low = np.where(codes == 0, -1.0, np.nextafter(codes, -np.inf))
        called = names.get(feature, ())
        # The list of names may be longer than that of the categories: not all of them need have occurred.
        shown = tuple(called[int(code)] for code in codes.tolist()) if codes.max(initial=0) < len(called) else ()
        return Categories(tuple(codes.tolist()), low, np.nextafter(codes + 1, -np.inf), shown)

    return known_categories(tests, known, of_feature, len(model.feature_names))


def _known_codes(model: TextModel) -> dict[int, NDArray[np.float64]]:
    """Return the categories that were met in training, by feature; -1 in the list stands for what is none."""
    found = {}
    for feature, info in enumerate(model.feature_infos):
        if _LIST_OF_CATEGORIES.fullmatch(info):
            codes = np.unique(np.array(info.split(":"), dtype=np.float64))
            found[feature] = codes[codes >= 0]
        elif info != "none" and not _RANGE_OF_NUMBERS.fullmatch(info):
            raise ModelFileError(f"feature_infos says {info[:40]!r} of feature {model.feature_names[feature]!r}")
    return found


def _names(model: TextModel, known: dict[int, NDArray[np.float64]]) -> dict[int, tuple[str, ...]]:
    """Return the names of categories 0, 1, ..., by feature, if it is beyond doubt which list belongs to which feature.

    The file has one list per column that was categorical in pandas, in their order, but does not say which columns
    these were. An ordered one is a range of numbers to LightGBM, and a column of whole numbers can be categories.
    """
    lists = model.pandas_categorical
    if len(lists) != len(known) or any(_may_be_codes(info) for info in model.feature_infos):
        return {}
    if any(codes.max(initial=0) >= len(names) for codes, names in zip(known.values(), lists, strict=True)):
        return {}
    return dict(zip(known, lists, strict=True))


def _may_be_codes(info: str) -> bool:
    """Whether a column that is not tested for categories may be an ordered categorical one of pandas."""
    limits = _RANGE_OF_NUMBERS.fullmatch(info)
    return info == "none" or (limits is not None and limits[1] in ("-1", "0") and limits[2].isdecimal())
