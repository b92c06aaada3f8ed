"""All splits that the trees of a CatBoost model choose from, in the order that numbers them.

First the borders of the numeric features, then the values of the categorical ones, then the borders of the counters.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.importers.catboost.counters import Counter, read_counters
from onetree.importers.catboost.entries import entry, number
from onetree.importers.catboost.features import Features


@dataclass(frozen=True, eq=False)
class Splits:
    """Splits by number; the arrays of each kind begin where those of the kind before it end.

    Parameters
    ----------
    position : int32 array
        Number of the feature among those of its kind, or of the counter.
    column : int32 array
        Column of the input; -1 for a counter.
    border : float32 array
        Yes iff float32(x), or the counter's number, is above it; 0 for the value of a category.
    value : tuple of int
        For the values of categories: yes iff the category is this one.
    counters : tuple of Counter
    n_borders : int
        How many are borders of numeric features.
    """

    position: NDArray[np.int32]
    column: NDArray[np.int32]
    border: NDArray[np.float32]
    value: tuple[int, ...]
    counters: tuple[Counter, ...]
    n_borders: int

    def value_of(self, split: int) -> int | None:
        """Return the category that a split asks for; None if it is of another kind."""
        at = split - self.n_borders
        return self.value[at] if 0 <= at < len(self.value) else None

    def counter_of(self, split: int) -> Counter | None:
        """Return the counter whose number a split compares; None if it is of another kind."""
        return self.counters[self.position[split]] if split >= self.n_borders + len(self.value) else None

    def number_of(self, split: Any, where: str) -> int:
        """Return the number of a split, which has to agree with its feature and its border."""
        kind = entry(split, "split_type", str, where)
        at = entry(split, "split_index", int, where)
        if not 0 <= at < len(self.border):
            raise ModelFileError(f"{where} has a split_index outside 0..{len(self.border) - 1}")
        if kind == "FloatFeature":
            position = entry(split, "float_feature_index", int, where)
            border = number(split.get("border"), where)
            agrees = at < self.n_borders and self.position[at] == position and float(self.border[at]) == border
        elif kind == "OneHotFeature":
            position = entry(split, "cat_feature_index", int, where)
            value = entry(split, "value", int, where)
            agrees = self.value_of(at) == value and self.position[at] == position
        elif kind == "OnlineCtr":
            border = number(split.get("border"), where)
            agrees = self.counter_of(at) is not None and float(self.border[at]) == border
        else:
            raise UnsupportedModelError(
                f"{where} has a split of the type {kind[:40]!r}, which is not read; train on numbers and categories"
            )
        if not agrees:
            raise ModelFileError(f"{where} has a split that differs from the border with its split_index")
        return at


def read_splits(document: Any, features: Features) -> Splits:
    """Return the splits that a model's features and counters have."""
    counters = tuple(read_counters(document, features))
    groups = [
        *((at, column, own) for at, (column, own) in enumerate(zip(features.numeric, features.borders, strict=True))),
        *(
            (at, column, np.zeros(len(own), dtype=np.float32))
            for at, (column, own) in enumerate(zip(features.categorical, features.values, strict=True))
        ),
        *((at, -1, counter.borders) for at, counter in enumerate(counters)),
    ]
    sizes = [len(borders) for _, _, borders in groups]
    return Splits(
        position=np.repeat(np.array([at for at, _, _ in groups], dtype=np.int32), sizes),
        column=np.repeat(np.array([column for _, column, _ in groups], dtype=np.int32), sizes),
        border=np.concatenate([borders for _, _, borders in groups]),
        value=tuple(value for own in features.values for value in own),
        counters=counters,
        n_borders=sum(map(len, features.borders)),
    )
