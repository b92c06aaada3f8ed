"""Columns of data that seem to belong together: what holds of zeros and ones in every row.

That something holds in every row does not prove that it must: see `onetree.domain_of`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, pairwise

import numpy as np
from numpy.typing import NDArray

from onetree.domain.groups import MAX_COMBINATIONS, Declaration, Group, count_joined, join
from onetree.errors import InvalidInputError

_EXPECTED = 10.0  # rows that would break a relation of two columns if they had nothing to do with each other
_MAX_LOOKS = 1_000_000  # at columns, in the search for one-hot groups, which could otherwise take very long
_MAX_RELATIONS = 1_000  # that are tried, since thousands of rare columns exclude each other in millions of ways


def observed_groups(rows: NDArray[np.float64]) -> tuple[Group, ...]:
    """Return the groups of columns of zeros and ones that all rows agree with.

    Columns that are equal; columns of which exactly one is 1 in each row (two of them: one is the opposite of the
    other); columns that imply the next; columns of which no two are 1 in one row. An implication, or that two columns
    exclude each other, counts only if by chance about ten rows would have been against it. What follows from the rest
    is left out, and so is what would leave a group with more than 4,096 combinations. Of very many relations only the
    first thousand are tried.

    Examples
    --------
    >>> age, kind = np.arange(90) % 6, np.arange(90) // 6 % 3
    >>> rows = np.stack([age < 2, age < 4, kind == 0, kind == 1, kind == 2], axis=1)
    >>> [group.text for group in observed_groups(rows.astype(float))]
    ['feature 0 implies feature 1', 'exactly one of feature 2, feature 3 and feature 4 is 1']
    """
    columns = [
        feature
        for feature, column in enumerate(rows.T)
        if np.isin(column, (0.0, 1.0)).all() and 0 < column.sum() < len(rows)
    ][:MAX_COMBINATIONS]  # a group has no more members
    if not columns:
        return ()
    patterns, counts = np.unique(rows[:, columns] == 1, axis=0, return_counts=True)
    observed = _Columns(dict(zip(columns, patterns.T, strict=True)), counts)
    found: list[Group] = []
    relations = chain(observed.equals(), observed.one_hot(), observed.implications(), observed.exclusions())
    for declaration in islice(relations, _MAX_RELATIONS):
        found = _extended(found, declaration)
    return tuple(sorted(found, key=lambda group: group.features))


def _extended(groups: list[Group], declaration: Declaration) -> list[Group]:
    """Add what is said to the groups, unless they say it already or it would leave too many combinations."""
    added = set(declaration.features)
    touched = [group for group in groups if not added.isdisjoint(group.features)]
    try:
        # Most of what is found says nothing new, or too little: the tables at hand tell that quickly.
        n_joined = count_joined(touched, declaration)
        if n_joined is not None and n_joined > MAX_COMBINATIONS:
            return groups
        if len(touched) == 1 and n_joined == len(touched[0].allowed) and added <= set(touched[0].features):
            return groups
        # Not from the tables: what is found must also be found again when it is read from a file.
        (joined,) = join([*(said for group in touched for said in group.declarations), declaration])
    except InvalidInputError:
        return groups
    return groups if joined in touched else [*(group for group in groups if group not in touched), joined]


class _Columns:
    """Columns of zeros and ones, each different pattern of them once."""

    def __init__(self, columns: dict[int, NDArray[np.bool_]], counts: NDArray[np.intp]) -> None:
        first: dict[bytes, list[int]] = {}
        for feature, column in columns.items():
            first.setdefault(column.tobytes(), []).append(feature)
        self.same = list(first.values())
        self.columns = {same[0]: columns[same[0]] for same in self.same}  # of equal ones only the first
        self.n_rows = int(counts.sum())
        self.ones = {feature: int(counts[column].sum()) for feature, column in self.columns.items()}
        # As numbers with a bit for each pattern: a search over sets of them is then quick.
        self.bits = {
            feature: int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little")
            for feature, column in self.columns.items()
        }
        self.every = (1 << len(counts)) - 1

    def equals(self) -> list[Declaration]:
        return [Declaration(tuple(same), "equal") for same in self.same if len(same) > 1]

    def one_hot(self) -> list[Declaration]:
        """Find sets of columns that have each row exactly once."""
        found = []
        waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        for _ in range(_MAX_LOOKS // len(self.bits)):
            if not waiting:
                break
            covered, chosen = waiting.pop()
            if covered == self.every:
                found.append(tuple(sorted(chosen)))
                continue
            open_pattern = ~covered & (covered + 1)  # the lowest bit that is not set
            waiting += [
                (covered | bits, (*chosen, feature))
                for feature, bits in self.bits.items()
                if bits & open_pattern and not bits & covered
            ]
        return [Declaration(chosen, "one-hot") for chosen in sorted(found, key=lambda each: (len(each), each))]

    def implications(self) -> Iterator[Declaration]:
        """Yield chains that say all implications, those that follow from two others left out."""
        order = sorted(self.bits, key=lambda feature: (self.ones[feature], feature))  # causes before effects
        direct = self._direct(order)
        while any(direct.values()):
            n_below: dict[int, int] = {}  # of the longest chain from a feature
            following: dict[int, int | None] = {}  # the next in it
            for cause in reversed(order):
                effect = max(direct[cause], key=n_below.__getitem__, default=None)
                following[cause] = effect
                n_below[cause] = 0 if effect is None else n_below[effect] + 1
            each: int | None = max(order, key=n_below.__getitem__)
            path = []
            while each is not None:
                path.append(each)
                each = following[each]
            for cause, effect in pairwise(path):
                direct[cause].remove(effect)
            yield Declaration(tuple(path), "implies")

    def _direct(self, order: list[int]) -> dict[int, list[int]]:
        """Return for each feature those that it implies, but not by way of another, if that is not likely chance."""
        place = {feature: at for at, feature in enumerate(order)}
        after = self._implied(order)  # as numbers with a bit for each place
        direct = {}
        for cause in order:
            found, left = [], after[place[cause]]
            while left:  # the nearest comes first, so what is left is not implied by those found
                nearest = (left & -left).bit_length() - 1
                found.append(order[nearest])
                left &= ~(after[nearest] | 1 << nearest)
            direct[cause] = [
                effect
                for effect in sorted(found)
                if self.ones[cause] * (self.n_rows - self.ones[effect]) >= _EXPECTED * self.n_rows
            ]
        return direct

    def _implied(self, order: list[int]) -> list[int]:
        """Return for each feature which of the others are 1 wherever it is 1, as numbers with a bit for each."""
        rows = self._words(order)
        found = [_as_number(~(row & ~rows).any(axis=1)) for row in rows]
        return [implied & ~(1 << at) for at, implied in enumerate(found)]

    def exclusions(self) -> Iterator[Declaration]:
        """Yield sets of columns that say all exclusions of two."""
        features = sorted(self.bits)
        rows, ones = self._words(features), np.array([self.ones[feature] for feature in features])
        excluded = [
            _as_number(~(row & rows).any(axis=1) & (n_ones * ones >= _EXPECTED * self.n_rows))
            for row, n_ones in zip(rows, ones, strict=True)
        ]
        said = [0] * len(features)  # for each, those of which it was said already
        for one in range(len(features)):
            left = excluded[one] >> (one + 1) << (one + 1)
            while left := left & ~said[one]:
                chosen = [one, (left & -left).bit_length() - 1]
                fits = excluded[one] & excluded[chosen[1]]
                while fits:
                    chosen.append((fits & -fits).bit_length() - 1)
                    fits &= excluded[chosen[-1]]
                together = sum(1 << each for each in chosen)
                for each in chosen:
                    said[each] |= together
                yield Declaration(tuple(sorted(features[each] for each in chosen)), "at most one")

    def _words(self, features: list[int]) -> NDArray[np.uint64]:
        """Return the columns with 64 patterns in a number, a row for each feature."""
        n_bytes = (self.every.bit_length() + 63) // 64 * 8
        packed = b"".join(self.bits[feature].to_bytes(n_bytes, "little") for feature in features)
        return np.frombuffer(packed, dtype="<u8").reshape(len(features), -1)


def _as_number(mask: NDArray[np.bool_]) -> int:
    """Return a mask as a number, the first entry being the lowest bit."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")
