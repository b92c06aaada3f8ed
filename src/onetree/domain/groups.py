"""Features that are 0 or 1 and belong together: only some combinations of them can occur.

Declarations say it in words, each about a few features; those that share a feature are joined into one `Group`, a table
of the combinations that satisfy them all. Groups therefore never overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError

MAX_COMBINATIONS = 4096
MAX_ENTRIES = 1 << 29
"""Zeros and ones in all the tables of one call of `join`; a few words can ask for many times their own size."""

WORDS = ("one-hot", "at most one", "implies", "equal")
_TABLE = re.compile(r"[01]+(,[01]+)*")
_ENTRIES_OF_A_JOIN, _ENTRIES_OF_A_ROW = 1 << 15, 32  # that are made in the time that joining takes besides
_MOST_WHILE_JOINING = 16 * MAX_COMBINATIONS  # what is declared later may take most of them away
SPELLINGS = 'write "one-hot", "at most one", "implies", "equal", or the combinations that occur, such as "00,01,11"'

Bits = NDArray[np.bool_]
Names = Sequence[str] | Mapping[int, str]
_Table = tuple[tuple[int, ...], Bits]  # features, and the combinations of them


@dataclass(frozen=True)
class Declaration:
    """A statement about a few features together.

    Parameters
    ----------
    features : tuple of int
        At least two, in an order that matters for "implies" and for tables.
    word : str
        "one-hot": exactly one is 1. "at most one": no two are 1. "implies": each implies the next, x1 <= x2 <= x3.
        "equal": all are 0 or all are 1. Or a table, the combinations that occur: ``"00,01,11"``.

    Examples
    --------
    >>> Declaration((4, 2, 7), "implies").table().astype(int).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    """

    features: tuple[int, ...]
    word: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(int(feature) for feature in self.features))
        if len(self.features) < 2 or len(set(self.features)) < len(self.features) or min(self.features) < 0:
            raise InvalidInputError(
                f"a group has at least two features, each of them once, not {list(self.features[:8])}"
            )
        if len(self.features) > MAX_COMBINATIONS:
            raise InvalidInputError(
                f"a group has at most {MAX_COMBINATIONS:,} features, but this one has {len(self.features):,}"
            )
        if not is_word(self.word):
            raise InvalidInputError(f"{self.word[:80]!r} is not a statement about a group of features; {SPELLINGS}")
        if self.word not in WORDS:
            rows = sorted(set(self.word.split(",")))
            if {len(row) for row in rows} != {len(self.features)}:
                raise InvalidInputError(
                    f"each combination of {self.word[:80]!r} needs {len(self.features)} digits, one for each feature"
                )
            object.__setattr__(self, "word", ",".join(rows))

    @property
    def n_entries(self) -> int:
        """How many zeros and ones the table has."""
        n = len(self.features)
        n_combinations = {"one-hot": n, "at most one": n + 1, "implies": n + 1, "equal": 2}
        return n_combinations[self.word] * n if self.word in WORDS else len(self.word) - self.word.count(",")

    def table(self) -> Bits:
        """Return the combinations that occur, one row each, with the features in the declared order."""
        n = len(self.features)
        if self.word == "one-hot":
            return np.eye(n, dtype=np.bool_)
        if self.word == "at most one":
            return np.eye(n + 1, n, dtype=np.bool_)
        if self.word == "implies":
            return np.tri(n + 1, n, -1, dtype=np.bool_)[:, ::-1]
        if self.word == "equal":
            return np.array([[False] * n, [True] * n])
        digits = np.frombuffer(self.word.replace(",", "").encode(), dtype=np.uint8)
        return np.equal(digits, ord("1")).reshape(-1, n)

    def describe(self, feature_names: Names) -> str:
        """Describe in words what is required of features of these names."""
        *most, last = (feature_names[feature] for feature in self.features)
        listed = f"{', '.join(most)} and {last}"
        if self.word == "one-hot":
            return f"exactly one of {listed} is 1"
        if self.word == "at most one":
            return f"at most one of {listed} is 1"
        if self.word == "implies":
            return ", which implies ".join([*most, last]).replace(", which implies ", " implies ", 1)
        if self.word == "equal":
            return f"{listed} are equal"
        *rows, end = self.word.split(",")
        return f"{listed} together are {', '.join(rows)} or {end}" if rows else f"{listed} together are {end}"


@dataclass(frozen=True, eq=False)
class Group:
    """Features that are 0 or 1, and of which exactly the given combinations occur.

    Parameters
    ----------
    features : tuple of int
        Ascending.
    allowed : bool array of shape (n_combinations, n_features)
        Different rows, in lexicographic order.
    declarations : tuple of Declaration
        How it is spelled; the table itself if nothing is given.

    Examples
    --------
    >>> Group((3, 5), [[0, 0], [1, 1]]).declarations
    (Declaration(features=(3, 5), word='00,11'),)
    """

    features: tuple[int, ...]
    allowed: Bits
    declarations: tuple[Declaration, ...] = ()

    def __post_init__(self) -> None:
        features = tuple(int(feature) for feature in self.features)
        allowed = np.asarray(self.allowed, dtype=np.bool_)
        if allowed.ndim != 2 or allowed.shape[1] != len(features) or allowed.size == 0:
            raise InvalidInputError(f"the table of a group of {len(features)} features has the shape {allowed.shape}")
        allowed = allowed[np.unique(_as_items(allowed), return_index=True)[1]]
        if list(features) != sorted(features):
            raise InvalidInputError(f"the features of a group must be ascending, but are {list(features)}")
        allowed.flags.writeable = False
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "allowed", allowed)
        object.__setattr__(self, "declarations", self.declarations or (Declaration(features, _spelled(allowed)),))

    @classmethod
    def _with_table_of(cls, other: Group, declaration: Declaration) -> Group:
        """Return the group of a declaration whose table is that of another group, in the same order."""
        group = object.__new__(cls)
        object.__setattr__(group, "features", declaration.features)
        object.__setattr__(group, "allowed", other.allowed)
        object.__setattr__(group, "declarations", (declaration,))
        return group

    @property
    def text(self) -> str:
        """What is demanded, with features by number."""
        return "; ".join(self.describe(_numbered(self.features)))

    def describe(self, feature_names: Names) -> list[str]:
        """Describe in words what is required of features of these names."""
        return [declaration.describe(feature_names) for declaration in self.declarations]

    def contain(self, columns: NDArray[np.float64]) -> Bits:
        """Return for each row of the group's own columns, of zeros and ones, whether it is one of the combinations."""
        return _among(columns == 1, self.allowed)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self.features == other.features and np.array_equal(self.allowed, other.allowed)

    def __hash__(self) -> int:
        return hash((self.features, self.allowed.tobytes()))

    def __repr__(self) -> str:
        return f"Group({self.text!r}, n_combinations={len(self.allowed)})"


def _as_items(rows: Bits) -> NDArray[np.void]:
    """Return each row as one item, in the same order; numpy compares these much faster than rows of many columns."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    return packed.view(np.dtype((np.void, packed.shape[1]))).ravel()


def _among(rows: Bits, table: Bits) -> Bits:
    """Return for each row whether the table has it."""
    _, number = np.unique(_as_items(np.vstack([table, rows])), return_inverse=True)
    return np.isin(number[len(table) :], number[: len(table)])


def _spelled(table: Bits) -> str:
    """Return the word for a table."""
    text = np.full((len(table), table.shape[1] + 1), ord(","), dtype=np.uint8)
    text[:, :-1] = np.where(table, ord("1"), ord("0"))
    return text.tobytes().decode()[:-1]


def count_joined(groups: Sequence[Group], declaration: Declaration) -> int | None:
    """Return how many combinations groups have together with a declaration.

    Of more than can be worth counting, how many were found; None if what is left out could make these fewer.
    """
    work, joined = _Work(), (declaration.features, declaration.table())
    for group in groups:
        if len(joined[1]) > _MOST_WHILE_JOINING:
            return None
        joined = _natural_join((group.features, group.allowed), joined, work)
    return len(joined[1])


def is_word(text: object) -> bool:
    """Whether a text is one of the words, or a table, that a declaration can have."""
    return isinstance(text, str) and (text in WORDS or _TABLE.fullmatch(text) is not None)


def join(declarations: Iterable[Declaration], feature_names: Names | None = None) -> tuple[Group, ...]:
    """Return the groups of these declarations, ordered by their first features.

    Parameters
    ----------
    declarations : iterable of Declaration
    feature_names : sequence of str, optional
        For errors only.
    """
    said = list(declarations)
    names = feature_names or _numbered(feature for each in said for feature in each.features)
    work, alike = _Work(), dict[tuple[str, int], Group]()
    groups = []
    for part in _connected(_once(said, names, work)):
        first = part[0]
        shape = (first.word, len(first.features))
        if len(part) > 1 or not _ascend(first.features):
            groups.append(_joined(part, names, work))
        elif shape in alike:
            work.count(first.n_entries)
            groups.append(Group._with_table_of(alike[shape], first))
        else:
            alike[shape] = _joined(part, names, work)
            groups.append(alike[shape])
    return tuple(groups)


@dataclass
class _Work:
    """The cost of joining so far; too much of it is an error, before it takes much time or memory."""

    n_entries: int = field(default=0)

    def count(self, n_entries: int) -> None:
        self.n_entries += n_entries
        if self.n_entries > MAX_ENTRIES:
            raise InvalidInputError(
                "the groups are too large: tables of all combinations that occur "
                f"would have over {MAX_ENTRIES:,} zeros and ones; use fewer features, or one word for many of them"
            )


def _ascend(features: tuple[int, ...]) -> bool:
    return all(one < other for one, other in pairwise(features))


def _numbered(features: Iterable[int]) -> dict[int, str]:
    """Name only the features that occur: a file may claim any number of them."""
    return {feature: f"feature {feature}" for feature in features}


def _once(declarations: list[Declaration], feature_names: Names, work: _Work) -> list[Declaration]:
    """Merge declarations about the same features into one, so that a mapping by features can hold them all."""
    about: dict[tuple[int, ...], Declaration] = {}
    for declaration in declarations:
        known = about.get(declaration.features)
        if known is None or known == declaration:
            about[declaration.features] = declaration
            continue
        work.count(known.n_entries + declaration.n_entries + _ENTRIES_OF_A_JOIN)
        table = known.table()
        both = table[_among(table, declaration.table())]
        if len(both) == 0:
            raise InvalidInputError(
                f"no combination is left: {known.describe(feature_names)}, but {declaration.describe(feature_names)}; "
                "drop one of the two"
            )
        about[declaration.features] = Declaration(declaration.features, _spelled(both))
    return list(about.values())


def _connected(declarations: list[Declaration]) -> list[list[Declaration]]:
    """Part declarations so that two with a common feature are together; in the order of the first features."""
    if len(declarations) < 2:
        return [declarations] if declarations else []
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # A graph of declarations and features, each declaration tied to its features.
    named = [feature for each in declarations for feature in each.features]
    features, feature_of = np.unique(named, return_inverse=True)
    n, said = len(declarations), np.repeat(np.arange(len(declarations)), [len(each.features) for each in declarations])
    ties = coo_array((np.ones(len(said)), (said, n + feature_of)), shape=(n + len(features),) * 2)
    part_of = connected_components(ties, directed=False)[1][:n]
    parts: dict[int, list[Declaration]] = {}
    for part, declaration in zip(part_of.tolist(), declarations, strict=True):
        parts.setdefault(part, []).append(declaration)
    return sorted(parts.values(), key=lambda part: min(min(each.features) for each in part))


def _joined(declarations: list[Declaration], feature_names: Names, work: _Work) -> Group:
    """Join the tables of connected declarations."""
    features, table = _join_all(declarations, work)
    listed = ", ".join(feature_names[each] for each in features[:8]) + (", ..." if len(features) > 8 else "")
    if len(table) == 0:
        raise InvalidInputError(
            f"no combination is left of {listed}: what is said of them together contradicts itself; drop a part of it"
        )
    if len(table) > MAX_COMBINATIONS:
        raise InvalidInputError(
            f"{listed} have more than {MAX_COMBINATIONS:,} combinations together, since what is said of them overlaps; "
            "leave out what ties them together, or say more about them"
        )
    order = np.argsort(features)
    # Not an index, which would leave the rows scattered in memory.
    return Group(tuple(features[at] for at in order), np.take(table, order, axis=1), tuple(declarations))


def _join_all(declarations: Sequence[Declaration], work: _Work) -> tuple[tuple[int, ...], Bits]:
    """Join the tables of connected declarations; one that is too large may not be the join of all of them."""
    about: dict[int, list[int]] = {}
    for place, declaration in enumerate(declarations):
        for feature in declaration.features:
            about.setdefault(feature, []).append(place)
    n_new = [len(declaration.features) for declaration in declarations]
    # What adds no feature only takes combinations away, so the table stays small on the way. Numbers only fall, so the
    # first entry of a place that comes out is the right one.
    ready: list[tuple[int, int]] = []
    joined = {0}
    work.count(declarations[0].n_entries + _ENTRIES_OF_A_JOIN * (len(declarations) - 1))
    added, features, table = declarations[0].features, declarations[0].features, declarations[0].table()
    while len(joined) < len(declarations) and len(table) <= _MOST_WHILE_JOINING:
        for feature in added:
            for place in about[feature]:
                n_new[place] -= 1
                heappush(ready, (n_new[place], place))
        while (place := heappop(ready)[1]) in joined:
            pass
        joined.add(place)
        n_known = len(features)
        declaration = declarations[place]
        work.count(declaration.n_entries)
        features, table = _natural_join((features, table), (declaration.features, declaration.table()), work)
        added = features[n_known:]
    return features, table


def _natural_join(one: _Table, other: _Table, work: _Work) -> _Table:
    """Return the combinations of both tables' features that occur in both; not all if there are too many."""
    work.count(_ENTRIES_OF_A_ROW * len(one[1]))
    (features, rows), (added, more) = one, other
    column = {feature: at for at, feature in enumerate(features)}
    shared = [at for at, feature in enumerate(added) if feature in column]
    new = [at for at, feature in enumerate(added) if feature not in column]
    keys = np.vstack([rows[:, [column[added[at]] for at in shared]], more[:, shared]])
    _, number = np.unique(_as_items(keys), return_inverse=True)
    mine, theirs = np.split(number, [len(rows)])
    order = np.argsort(theirs, kind="stable")
    start = np.searchsorted(theirs[order], mine, side="left")
    times = np.searchsorted(theirs[order], mine, side="right") - start
    if not new and times.all():  # nothing new
        return one
    enough = int(np.searchsorted(np.cumsum(times), _MOST_WHILE_JOINING + 1)) + 1
    at = np.repeat(np.arange(len(times[:enough])), times[:enough])
    within = np.arange(len(at)) - (np.cumsum(times) - times)[at]
    partner = order[start[at] + within]
    work.count(len(at) * (len(features) + len(new)))
    return (*features, *(added[each] for each in new)), np.hstack([rows[at], more[np.ix_(partner, new)]])
