"""Features that are 0 or 1 and belong together: only some combinations of them can occur.

Declarations say it in words, each about a few features; those that share a feature are joined into one `Group`, a table
of the combinations that satisfy them all. Groups therefore never overlap. Knows nothing of ensembles or trees.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError

MAX_COMBINATIONS = 4096
WORDS = ("one-hot", "at most one", "implies", "equal")
_TABLE = re.compile(r"[01]+(,[01]+)*")
_MOST_WHILE_JOINING = 16 * MAX_COMBINATIONS  # what is declared later may take most of them away
SPELLINGS = 'write "one-hot", "at most one", "implies", "equal", or the combinations that occur, such as "00,01,11"'

Bits = NDArray[np.bool_]
Names = Sequence[str] | Mapping[int, str]


@dataclass(frozen=True)
class Declaration:
    """What is said of a few features at once.

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
            raise InvalidInputError(f"{self.word!r} says nothing about a group of features; {SPELLINGS}")
        if self.word not in WORDS:
            rows = sorted(set(self.word.split(",")))
            if {len(row) for row in rows} != {len(self.features)}:
                raise InvalidInputError(
                    f"each combination of {self.word!r} needs {len(self.features)} digits, one for each feature"
                )
            object.__setattr__(self, "word", ",".join(rows))

    def table(self) -> Bits:
        """Give the combinations that occur, one row each, with the features in the declared order."""
        n = len(self.features)
        if self.word == "one-hot":
            return np.eye(n, dtype=np.bool_)
        if self.word == "at most one":
            return np.eye(n + 1, n, dtype=np.bool_)
        if self.word == "implies":
            return np.tri(n + 1, n, -1, dtype=np.bool_)[:, ::-1]
        if self.word == "equal":
            return np.array([[False] * n, [True] * n])
        return np.array([[digit == "1" for digit in row] for row in self.word.split(",")])

    def describe(self, feature_names: Names) -> str:
        """Say in words what is demanded of features of these names."""
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
        rows = ("".join("01"[bit] for bit in row) for row in allowed.tolist())
        object.__setattr__(self, "declarations", self.declarations or (Declaration(features, ",".join(rows)),))

    @property
    def text(self) -> str:
        """What is demanded, with features by number."""
        return "; ".join(self.describe(_numbered(self.features)))

    def describe(self, feature_names: Names) -> list[str]:
        """Say in words what is demanded of features of these names."""
        return [declaration.describe(feature_names) for declaration in self.declarations]

    def contain(self, columns: NDArray[np.float64]) -> Bits:
        """Tell for each row of the group's own columns, of zeros and ones, whether it is one of the combinations."""
        every = np.vstack([self.allowed, columns == 1])
        _, number = np.unique(_as_items(every), return_inverse=True)
        return np.isin(number[len(self.allowed) :], number[: len(self.allowed)])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self.features == other.features and np.array_equal(self.allowed, other.allowed)

    def __hash__(self) -> int:
        return hash((self.features, self.allowed.tobytes()))

    def __repr__(self) -> str:
        return f"Group({self.text!r}, n_combinations={len(self.allowed)})"


def _as_items(rows: Bits) -> NDArray[np.void]:
    """Give each row as one item, in the same order; numpy compares these much faster than rows of many columns."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()


def is_word(text: object) -> bool:
    """Whether a text is one of the words, or a table, that a declaration can have."""
    return isinstance(text, str) and (text in WORDS or _TABLE.fullmatch(text) is not None)


def join(declarations: Iterable[Declaration], feature_names: Names | None = None) -> tuple[Group, ...]:
    """Give the groups of these declarations, ordered by their first features.

    Parameters
    ----------
    declarations : iterable of Declaration
    feature_names : sequence of str, optional
        For errors only.
    """
    said = list(declarations)
    names = feature_names or _numbered(feature for each in said for feature in each.features)
    return tuple(_joined(part, names) for part in _connected(_once(said, names)))


def _numbered(features: Iterable[int]) -> dict[int, str]:
    """Name only the features that occur: what a file says is the last of them may be any number."""
    return {feature: f"feature {feature}" for feature in features}


def _once(declarations: list[Declaration], feature_names: Names) -> list[Declaration]:
    """Say everything about the same features in one declaration, so that a mapping by features can hold them all."""
    about: dict[tuple[int, ...], Declaration] = {}
    for declaration in declarations:
        known = about.get(declaration.features)
        if known is None or known == declaration:
            about[declaration.features] = declaration
            continue
        both = {tuple(row) for row in known.table().tolist()} & {tuple(row) for row in declaration.table().tolist()}
        if not both:
            raise InvalidInputError(
                f"no combination is left: {known.describe(feature_names)}, but {declaration.describe(feature_names)}; "
                "drop one of the two"
            )
        word = ",".join("".join("01"[bit] for bit in row) for row in both)
        about[declaration.features] = Declaration(declaration.features, word)
    return list(about.values())


def _connected(declarations: list[Declaration]) -> list[list[Declaration]]:
    """Part declarations so that two with a common feature are together; in the order of the first features."""
    leader: dict[int, int] = {}

    def find(feature: int) -> int:
        while leader.setdefault(feature, feature) != feature:
            leader[feature] = leader[leader[feature]]
            feature = leader[feature]
        return feature

    for declaration in declarations:
        for feature in declaration.features:
            first, second = sorted((find(declaration.features[0]), find(feature)))
            leader[second] = first
    parts: dict[int, list[Declaration]] = {}
    for declaration in declarations:
        parts.setdefault(find(declaration.features[0]), []).append(declaration)
    return [parts[first] for first in sorted(parts)]


def _joined(declarations: list[Declaration], feature_names: Names) -> Group:
    """Join the tables of connected declarations."""
    features, table = _join_all([(each.features, each.table()) for each in declarations])
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
    return Group(tuple(features[at] for at in order), table[:, order], tuple(declarations))


def _join_all(tables: Sequence[tuple[tuple[int, ...], Bits]]) -> tuple[tuple[int, ...], Bits]:
    """Join connected tables; one that is too large may not be the join of all of them."""
    waiting = list(tables)
    features, table = waiting.pop(0)
    while waiting and len(table) <= _MOST_WHILE_JOINING:
        known = set(features)
        # What adds no feature only takes combinations away, so the table stays small on the way.
        new = [len(set(added) - known) if known & set(added) else math.inf for added, _ in waiting]
        features, table = _natural_join((features, table), waiting.pop(new.index(min(new))))
    return features, table


def _natural_join(
    one: tuple[tuple[int, ...], Bits], other: tuple[tuple[int, ...], Bits]
) -> tuple[tuple[int, ...], Bits]:
    """Give the combinations of both tables' features that occur in both; not all if there are too many."""
    (features, rows), (added, more) = one, other
    shared = [feature for feature in features if feature in added]
    new = [at for at, feature in enumerate(added) if feature not in features]
    keys = np.vstack(
        [rows[:, [features.index(each) for each in shared]], more[:, [added.index(each) for each in shared]]]
    )
    _, number = np.unique(_as_items(keys), return_inverse=True)
    mine, theirs = np.split(number, [len(rows)])
    order = np.argsort(theirs, kind="stable")
    start = np.searchsorted(theirs[order], mine, side="left")
    times = np.searchsorted(theirs[order], mine, side="right") - start
    enough = int(np.searchsorted(np.cumsum(times), _MOST_WHILE_JOINING + 1)) + 1
    at = np.repeat(np.arange(len(times[:enough])), times[:enough])
    within = np.arange(len(at)) - (np.cumsum(times) - times)[at]
    partner = order[start[at] + within]
    return (*features, *(added[each] for each in new)), np.hstack([rows[at], more[np.ix_(partner, new)]])
