"""The leaves of a tree as regions: what each asks of every feature, in words, and its share of a domain's volume."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.domain.values import Values
from onetree.model.categories import MISSING
from onetree.questions.wording import interval, members, plain
from onetree.tree.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """``low < x <= high``; also a missing value, or only that if `low` is +inf."""

    low: float = -math.inf
    high: float = math.inf
    missing: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing is inside."""
        return not self.low < self.high and not self.missing

    def holds(self, numbers: Floats) -> NDArray[np.bool_]:
        """Return which numbers, none of them missing, are inside."""
        return np.asarray((self.low < numbers) & (numbers <= self.high))


Region = dict[int, Interval | frozenset[int]]  # feature: an interval, or the elements of a categorical one


def leaf_regions(tree: Tree) -> Iterator[tuple[int, int, Region]]:
    """Return for each leaf its number from left to right, its node, and its region; empty regions are left out."""
    stack: list[tuple[int, Region]] = [(0, {})]
    number = -1
    feature, left, right = tree.feature.tolist(), tree.children_left.tolist(), tree.children_right.tolist()
    threshold, subset = tree.threshold.tolist(), tree.subset.tolist()
    while stack:
        node, region = stack.pop()
        at = feature[node]
        if at < 0:
            number += 1
            empty = any(not each if isinstance(each, frozenset) else each.empty for each in region.values())
            if not empty:
                yield number, node, region
            continue
        takes_nan = bool(tree.nan_features[at])
        kind = tree.categories[at]
        if kind is not None:
            everything = frozenset(each for each in range(kind.n_elements) if takes_nan or each != MISSING)
            now = region.get(at, everything)
            assert isinstance(now, frozenset)  # noqa: S101 - for the type checker
            inside = frozenset(np.flatnonzero(tree.subsets[subset[node]]).tolist())
            down: tuple[Interval | frozenset[int], Interval | frozenset[int]] = (now & inside, now - inside)
        else:
            own = region.get(at, Interval(missing=takes_nan))
            assert isinstance(own, Interval)  # noqa: S101 - for the type checker
            cut = threshold[node]
            down = (
                Interval(own.low, min(own.high, cut), False),
                Interval(max(own.low, cut), own.high, own.missing),
            )
        stack.append((right[node], region | {at: down[1]}))
        stack.append((left[node], region | {at: down[0]}))


def described(tree: Tree, region: Region, source: Any) -> tuple[dict[str, tuple[Any, ...]], tuple[str, ...]]:
    """Return the bounds of each feature that a region restricts, and a sentence about it; None is a missing value.

    `source` is the ensemble, for the names of categories.
    """
    bounds: dict[str, tuple[Any, ...]] = {}
    sentences = []
    for feature, own in sorted(region.items()):
        name, kind = tree.feature_names[feature], tree.categories[feature]
        if isinstance(own, frozenset):
            assert kind is not None  # noqa: S101 - for the type checker
            bounds[name] = tuple(
                None if each == MISSING else plain(source, feature, kind.example(each)) for each in sorted(own)
            )
            sentences.append(members(name, kind, sorted(own)))
        elif not own.low < own.high:
            bounds[name] = (None,)
            sentences.append(f"{name} is missing")
        else:
            bounds[name] = (own.low, own.high, None) if own.missing else (own.low, own.high)
            ending = " or is missing" if own.missing else ""
            sentences.append(f"{interval(name, own.low, own.high)}{ending}")
    return bounds, tuple(sentences)


class Volume:
    """Shares of the volume of a domain, without missing values: lengths of ranges, numbers of integers and categories.

    Parameters
    ----------
    tree : Tree
    domain : Domain or None
    rows : float64 array or None
        Where the domain does not bound a feature, it is the range of these rows.
    """

    def __init__(self, tree: Tree, domain: Domain | None, rows: Floats | None) -> None:
        self._tree, self._domain = tree, domain
        values = (None,) * tree.n_features if domain is None else domain.values
        self._values = [self._bounded(own, None if rows is None else rows[:, at]) for at, own in enumerate(values)]
        self._groups = () if domain is None else domain.groups
        self._grouped = {feature for group in self._groups for feature in group.features}

    @staticmethod
    def _bounded(own: Values | None, column: Floats | None) -> Values | None:
        own = own or Values()
        if own.choices is not None or (math.isfinite(own.low) and math.isfinite(own.high)):
            return own
        known = np.zeros(0) if column is None else column[np.isfinite(column)]
        if not known.size:
            return None
        low, high = max(own.low, float(known.min())), min(own.high, float(known.max()))
        return Values(low, high, integer=own.integer) if low <= high else None

    def share(self, region: Region) -> float | None:
        """Return the share of a region; None if a feature that it restricts has no finite range."""
        total = 1.0
        for feature, own in region.items():
            if feature in self._grouped:
                continue
            share = self._of_feature(feature, own)
            if share is None:
                return None
            total *= share
        for group in self._groups:
            inside = np.ones(len(group.allowed), dtype=bool)
            for column, feature in enumerate(group.features):
                if feature in region:
                    inside &= self._holds(feature, region[feature], group.allowed[:, column].astype(np.float64))
            total *= float(inside.mean())
        return total

    def _holds(self, feature: int, own: Interval | frozenset[int], numbers: Floats) -> NDArray[np.bool_]:
        if isinstance(own, Interval):
            return own.holds(numbers)
        kind = self._tree.categories[feature]
        assert kind is not None  # noqa: S101 - for the type checker
        return np.isin(kind.element(numbers), list(own))

    def _of_feature(self, feature: int, own: Interval | frozenset[int]) -> float | None:
        kind, values = self._tree.categories[feature], self._values[feature]
        if isinstance(own, frozenset):
            assert kind is not None  # noqa: S101 - for the type checker
            told = None if self._domain is None else self._domain.values[feature]
            if told is None or told.choices is None:
                known = [code for code in kind.codes if told is None or told.contain(np.array([code]))[0]]
            else:
                known = list(told.choices)
            return float(self._holds(feature, own, np.array(known)).mean()) if known else None
        if values is None:
            return None
        if values.choices is not None:
            return float(own.holds(np.array(values.choices)).mean()) if values.choices else None
        low, high = max(own.low, values.low), min(own.high, values.high)
        if values.integer:  # low < x <= high, but the lowest value of all belongs to it
            first = values.low if own.low < values.low else math.floor(low) + 1
            return max(0.0, math.floor(high) - first + 1) / (values.high - values.low + 1)
        return max(0.0, high - low) / (values.high - values.low)
