"""CatBoost's counters: a number for each combination of categories, from a table that training left in the model.

A table knows a combination by a hash of 64 bits, formed of the hashes of its categories and of yes or no for each
split that belongs to it. What the table does not know gets the number of an empty count. All numbers are float32.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.importers.catboost.entries import entry, hash_of, number, singles
from onetree.importers.catboost.features import Features

Hashes = NDArray[np.uint64]

_FACTOR = 0x4906BA494954CB65
_BACK = pow(_FACTOR, -1, 1 << 64)
_EMPTY = (1 << 64) - 1  # stands in the table where nothing is
_MEANS = ("BinarizedTargetMeanValue", "FloatTargetMeanValue")
_SHARES = ("Counter", "FeatureFreq")
_PER_CLASS = ("Borders", "Buckets")
_MAX_PARTS = 16  # a tree has at most as many levels


@dataclass(frozen=True)
class Part:
    """A split that belongs to a combination: x > border of a number, or whether a category is this one."""

    column: int
    border: np.float32 | None
    value: int = 0


@dataclass(frozen=True)
class Combination:
    """The columns whose categories are combined, and the splits that belong to them, in the order of the hash."""

    columns: tuple[int, ...]
    parts: tuple[Part, ...]

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """All columns that it depends on."""
        return tuple(dict.fromkeys((*self.columns, *(part.column for part in self.parts))))

    def values_in(self, hashes: Hashes) -> NDArray[np.int64]:
        """Return all values of a single category that can have one of these hashes, whatever its splits say."""
        found = [self._solved(hashes, bits) for bits in range(1 << len(self.parts))]
        return np.unique(np.concatenate(found))

    def _solved(self, hashes: Hashes, bits: int) -> NDArray[np.int64]:
        """Return the values, undoing one step of the hash after the other."""
        rest = hashes
        for at in reversed(range(len(self.parts))):
            rest = rest * np.uint64(_BACK) - np.uint64(_FACTOR * (bits >> at & 1) % (1 << 64))
        value = (rest * np.uint64(_BACK) * np.uint64(_BACK)).view(np.int64)
        return value[(value >= -(1 << 31)) & (value < 1 << 31)]


@dataclass(frozen=True, eq=False)
class Counter:
    """A number for each combination.

    Parameters
    ----------
    combination : Combination
    hashes : uint64 array
        What the table knows, ascending.
    numbers : float32 array
        The number of each.
    otherwise : float32
        The number of anything else.
    borders : float32 array
        What the number is compared with, ascending.
    """

    combination: Combination
    hashes: Hashes
    numbers: NDArray[np.float32]
    otherwise: np.float32
    borders: NDArray[np.float32]

    def of(self, hashes: Hashes) -> NDArray[np.float32]:
        """Return the number of each combination, given by its hash; of any shape."""
        if not len(self.hashes):
            return np.full(hashes.shape, self.otherwise)
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[at] == hashes, self.numbers[at], self.otherwise)


def next_hash(hashes: Hashes, value: NDArray[Any]) -> Hashes:
    """Return hashes with one more value: that of a category, or 1 or 0 for a split."""
    with np.errstate(over="ignore"):
        factor = np.uint64(_FACTOR)
        return factor * (hashes + factor * value.astype(np.int64).view(np.uint64))


def read_counters(document: Any, features: Features) -> list[Counter]:
    """Return the counters of a model, in the order that numbers their splits."""
    info = document["features_info"].get("ctrs")
    if not info:
        return []
    listed = entry(document["features_info"], "ctrs", list, '"features_info"')
    tables = entry(document, "ctr_data", dict, "the model")
    known: dict[str, tuple[Hashes, NDArray[np.float64], float]] = {}
    return [_counter(item, tables, known, features, f"counter {i}") for i, item in enumerate(listed)]


def _counter(item: Any, tables: dict[str, Any], known: dict[str, Any], features: Features, where: str) -> Counter:
    kind = entry(item, "ctr_type", str, where)
    if kind not in (*_MEANS, *_SHARES, *_PER_CLASS):
        raise UnsupportedModelError(f"{where} is of the type {kind[:40]!r}, which is not read; train with simple_ctr")
    name = entry(item, "identifier", str, where)
    if name not in known:
        known[name] = _table(tables.get(name), where)
    hashes, counts, denominator = known[name]
    target = entry(item, "target_border_idx", int, where)
    prior, prior_total, shift, scale = (
        np.float32(number(item.get(key), where)) for key in ("prior_numerator", "prior_denomerator", "shift", "scale")
    )
    good, total = _good_and_total(kind, counts, denominator, target, where)
    with np.errstate(all="ignore"):
        # The last entry is the empty count.
        ratio = (good.astype(np.float32) + prior) / (total.astype(np.float32) + prior_total)
        numbers = (ratio + shift) * scale
    if np.isnan(numbers).any():
        raise ModelFileError(f"{where} divides by zero")
    borders = [number(border, where) for border in entry(item, "borders", list, where)]
    if any(borders[i] >= borders[i + 1] for i in range(len(borders) - 1)):
        raise ModelFileError(f"the borders of {where} do not ascend")
    return Counter(_combination(item, features, where), hashes, numbers[:-1], numbers[-1], singles(borders))


def _table(table: Any, where: str) -> tuple[Hashes, NDArray[np.float64], float]:
    """Return the hashes of a table, ascending, the counts of each, and the denominator of shares."""
    stride = entry(table, "hash_stride", int, f"the table of {where}")
    flat = entry(table, "hash_map", list, f"the table of {where}")
    if stride < 2 or len(flat) % stride:
        raise ModelFileError(f"the table of {where} has {len(flat)} entries, not a multiple of {stride}")
    keys = []
    for text in flat[::stride]:
        if type(text) is not str or not text.isascii() or not text.isdecimal() or int(text[:21]) > _EMPTY:
            raise ModelFileError(f"the table of {where} has a hash that is not a number of 64 bits")
        keys.append(int(text))
    hashes = np.array(keys, dtype=np.uint64)
    counts = np.array([number(x, f"the table of {where}") for i, x in enumerate(flat) if i % stride])
    counts = counts.reshape(len(hashes), stride - 1)
    used = hashes != _EMPTY
    hashes, counts = hashes[used], counts[used]
    order = np.argsort(hashes)
    hashes = hashes[order]
    if np.any(hashes[1:] == hashes[:-1]):
        raise ModelFileError(f"the table of {where} has a hash twice")
    return hashes, counts[order], number(table.get("counter_denominator"), f"the table of {where}")


def _good_and_total(
    kind: str, counts: NDArray[np.float64], denominator: float, target: int, where: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both sides of the ratio for each row of a table, and for an empty count."""
    n_counts, fits = counts.shape[1], True
    counts = np.vstack([counts, np.zeros(n_counts)])
    if kind in _MEANS:
        fits, good, total = n_counts == 2, counts[:, 0], counts[:, -1]
    elif kind in _SHARES:
        fits, good, total = n_counts == 1, counts[:, 0], np.full(len(counts), denominator)
    else:
        fits = n_counts >= 2 and 0 <= target < n_counts - (kind == "Borders")
        total = counts.sum(axis=1)
        good = counts[:, target] if kind == "Buckets" and fits else counts[:, target + 1 :].sum(axis=1)
    if not fits:
        raise ModelFileError(f"{where} of the type {kind!r} does not go with its table of {n_counts} counts")
    return good, total


def _combination(item: Any, features: Features, where: str) -> Combination:
    elements = entry(item, "elements", list, where)
    if not 0 < len(elements) <= _MAX_PARTS:
        raise ModelFileError(f"{where} combines {len(elements)} elements; 1 to {_MAX_PARTS} can be read")
    columns: list[int] = []
    parts: list[Part] = []
    for element in elements:
        kind = entry(element, "combination_element", str, where)
        if kind == "float_feature":
            at = _place(element, "float_feature_index", features.numeric, where)
            (border,) = singles([number(element.get("border"), where)])
            parts.append(Part(features.numeric[at], border))
            continue
        at = _place(element, "cat_feature_index", features.categorical, where)
        if kind == "cat_feature_value" and not parts:
            columns.append(features.categorical[at])
        elif kind == "cat_feature_exact_value":
            parts.append(Part(features.categorical[at], None, hash_of(element.get("value"), where)))
        else:
            raise ModelFileError(f"{where} combines {kind[:40]!r}, or in another order than CatBoost does")
    if not columns:
        raise ModelFileError(f"{where} counts no category")
    return Combination(tuple(columns), tuple(parts))


def _place(element: Any, key: str, columns: tuple[int, ...], where: str) -> int:
    at = entry(element, key, int, where)
    if not 0 <= at < len(columns):
        raise ModelFileError(f"{where} has a {key} outside 0..{len(columns) - 1}")
    return at
