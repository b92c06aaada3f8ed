"""The columns of a YDF model: numbers, truth values and categories, and rows as the library takes them.

Numbers are rounded to float32. A category is an entry of a dictionary; entry 0 stands for every text that is not in it,
and the empty text for a missing value.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.model.columns import Labels

_UNKNOWN = "\x01 not in the dictionary"


@dataclass(frozen=True)
class Feature:
    """A column that the model was trained on; `values` are the entries 1, 2, ... of the dictionary of a category."""

    name: str
    kind: str  # "NUMERICAL", "BOOLEAN" or "CATEGORICAL"
    met_nan: bool
    values: tuple[str, ...] | tuple[int, ...] = ()
    usual: int = 0  # the category that a missing value is taken for

    def labels(self, empty: float) -> Labels | None:
        """Return what a frame can hold; `empty` is the code of the empty text."""
        if self.kind != "CATEGORICAL":
            return None
        codes = [float(code) for code in range(1, len(self.values) + 1)]
        if any(isinstance(value, str) for value in self.values):
            return Labels((*self.values, ""), (*codes, empty), unknown=0.0)
        return Labels(self.values, tuple(codes), unknown=0.0)

    def as_given(self, x: NDArray[np.float64]) -> NDArray[Any]:
        """Return a column of numbers and codes as the library takes it."""
        if self.kind == "NUMERICAL":
            with np.errstate(over="ignore", under="ignore"):
                return x.astype(np.float32)
        if self.kind == "BOOLEAN":
            return x.astype(np.float32) >= 0.5  # the library takes truth values alone, no missing ones
        texts = np.array([_UNKNOWN, *map(str, self.values)], dtype=object)
        whole = np.isin(x, np.arange(1, len(texts)))
        return np.where(np.isnan(x), "", texts[np.where(whole, x, 0).astype(int)]).astype(object)


def read_features(model: Any) -> list[Feature]:
    """Return the columns that the model takes, in its order."""
    columns = model.data_spec().columns
    return [_feature(columns[index]) for index in model.input_features_col_idxs()]


def _feature(column: Any) -> Feature:
    fields = column.DESCRIPTOR.fields_by_name
    kind, dtype = (fields[key].enum_type.values_by_number[getattr(column, key)].name for key in ("type", "dtype"))
    name, met_nan = str(column.name), column.count_nas > 0
    if kind not in ("NUMERICAL", "BOOLEAN", "CATEGORICAL"):
        raise UnsupportedModelError(
            f"the feature {name!r} is of the type {kind}, which is not read; numbers, truth values and categories are"
        )
    if column.HasField("unstacked") if "unstacked" in column.DESCRIPTOR.fields_by_name else False:
        raise UnsupportedModelError(
            f"the feature {name!r} is part of a column of several dimensions, which is not read"
        )
    if kind != "CATEGORICAL":
        return Feature(name, kind, met_nan)
    spec = column.categorical
    if spec.is_already_integerized:
        raise UnsupportedModelError(f"the categories of {name!r} are numbers of YDF's own; train with their values")
    values: list[Any] = [None] * spec.number_of_unique_values
    for text, entry in spec.items.items():
        if not 0 <= entry.index < len(values):
            raise UnsupportedModelError(f"the dictionary of {name!r} is damaged; train the model again")
        values[entry.index] = text
    if None in values[1:]:
        raise UnsupportedModelError(f"the dictionary of {name!r} has gaps, so it is not read")
    if dtype.startswith(("DTYPE_INT", "DTYPE_UINT")):
        values[1:] = [int(text) for text in values[1:]]
    elif dtype not in ("DTYPE_BYTES", "DTYPE_INVALID"):
        raise UnsupportedModelError(f"the categories of {name!r} are of the type {dtype}, which is not read")
    return Feature(name, kind, met_nan, tuple(values[1:]), int(spec.most_frequent_value))
