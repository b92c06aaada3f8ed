"""The categories of a CatBoost model: which it knows, and what they are called.

A model keeps no names, only the hash of each category, and of combinations only a hash of those. The names, and
categories that occur in combinations alone, have to come from data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.importers.catboost.features import Features
from onetree.importers.catboost.splits import Splits
from onetree.model.categories import Categories
from onetree.model.columns import Columns, Labels, category_text
from onetree.model.frames import as_frame, columns_by_name, frame_names
from onetree.model.text_hash import text_hash


@dataclass(frozen=True)
class Names:
    """The texts that are known, by column and hash."""

    of_column: Mapping[int, Mapping[int, str]] = field(default_factory=dict)

    def text(self, column: int, code: int) -> str | None:
        """Return the text of a category; None if it is not known."""
        return self.of_column.get(column, {}).get(code)

    def categories(self, column: int, codes: NDArray[np.float64]) -> Categories:
        """Return the categories of a column, those without a name by their hash."""
        texts = [self.text(column, int(code)) for code in codes]
        if all(text is None for text in texts):
            return Categories.equal(codes)
        shown = [f"#{int(code)}" if text is None else text for text, code in zip(texts, codes, strict=True)]
        return Categories.equal(codes, shown)

    def columns(self, features: Features) -> Columns:
        """Return how frames are read: texts by their hash, whatever they are."""
        labels: list[Labels | None] = [None] * len(features.names)
        for column in features.categorical:
            known = self.of_column.get(column, {})
            labels[column] = Labels(tuple(known.values()), tuple(map(float, known)), unknown="hash")
        return Columns(features.named, tuple(labels))


def names_in(data: Any, features: Features) -> Names:
    """Return the names of the categories that occur in some rows, an array or a frame as the model takes them."""
    if data is None:
        return Names()
    frame = as_frame(data)
    if frame is not None:
        every = list(frame.iter_columns())
        places: Sequence[int] = range(len(every))
        if features.named:
            places = columns_by_name(frame_names(frame), _Named(features.names))
        values = {column: every[place].to_list() for column, place in enumerate(places) if column < len(features.names)}
    else:
        rows = np.asarray(data, dtype=object)
        values = {column: rows[:, column].tolist() for column in range(rows.shape[1])} if rows.ndim == 2 else {}
    if len(values) != len(features.names):
        raise InvalidInputError(f"data must have {len(features.names)} columns like those of the training data")
    found = {}
    for column in features.categorical:
        try:
            texts = sorted({category_text(value) for value in set(values[column])})
        except (InvalidInputError, TypeError) as error:
            raise InvalidInputError(f"column {features.names[column]!r} of data {error}") from None
        found[column] = {text_hash(text): text for text in reversed(texts)}
    return Names({column: dict(sorted(own.items())) for column, own in found.items()})


@dataclass(frozen=True)
class _Named:
    """As much of a model as is needed to find its columns."""

    feature_names: tuple[str, ...]
    nan_features: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    categories: tuple[None, ...] = ()
    columns: Columns = field(default_factory=Columns)


def known_codes(features: Features, splits: Splits, names: Names) -> dict[int, NDArray[np.int64]]:
    """Return the categories of each column: those that splits and counters ask about, and those that have a name."""
    found: dict[int, list[NDArray[np.int64]]] = {
        column: [np.array(values, dtype=np.int64), np.array(list(names.of_column.get(column, {})), dtype=np.int64)]
        for column, values in zip(features.categorical, features.values, strict=True)
    }
    for counter in splits.counters:
        combination = counter.combination
        for part in combination.parts:
            if part.border is None:
                found[part.column].append(np.array([part.value]))
        if len(combination.columns) == 1:
            found[combination.columns[0]].append(combination.values_in(counter.hashes))
    return {column: np.unique(np.concatenate(own)) for column, own in found.items()}
