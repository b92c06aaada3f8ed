"""Set tests in words: which categories, and what happens to other numbers.

Missing values are mentioned separately, with the answer or the condition, as they are for thresholds. Quoting and
escaping are left to each format.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from onetree.export.words.wording import printable
from onetree.model.categories import FIRST, MISSING, OTHER, Categories

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

_OTHER_COSTS = 2  # words: a set is better said without "other" than a little shorter


class SetWords(NamedTuple):
    """A set test in words."""

    asks: str  # follows the name of the feature: "in {red, blue}"
    yes: str
    no: str
    fails: str  # what is true on the right, the missing value included

    @property
    def holds(self) -> str:
        """What is true on the left, the missing value included."""
        return self.asks + self.yes.removeprefix("yes")


def numbers(kind: Categories) -> frozenset[int]:
    """Return the elements that are numbers: all but the missing value."""
    return frozenset((OTHER, *range(FIRST, kind.n_elements)))


def left_numbers(tree: Tree, node: int) -> frozenset[int]:
    """Return the elements that a set test sends left, without the missing value."""
    return frozenset(np.flatnonzero(tree.subsets[tree.subset[node]]).tolist()) - {MISSING}


def set_tests(tree: Tree, limit: int | None = None, among: Sequence[int] | None = None) -> dict[int, SetWords]:
    """Return all set tests, or those among some nodes, in words, by node."""
    nodes = np.flatnonzero(tree.subset >= 0).tolist()
    if among is not None:
        nodes = [node for node in among if tree.subset[node] >= 0]
    keys = list(zip(tree.feature[nodes].tolist(), tree.subset[nodes].tolist(), strict=True))
    words = {key: set_test(tree, node, limit) for key, node in dict(zip(keys, nodes, strict=True)).items()}
    return {node: words[key] for key, node in zip(keys, nodes, strict=True)}


def set_test(tree: Tree, node: int, limit: int | None = None) -> SetWords:
    """Return a set test in words; a list of more than `limit` characters is abbreviated."""
    at = int(tree.feature[node])
    kind = tree.categories[at]
    if kind is None:
        raise ValueError(f"node {node} is not a set test")
    inside = left_numbers(tree, node)
    takes_nan, missing_left = bool(tree.nan_features[at]), bool(tree.subsets[tree.subset[node], MISSING])
    missing_right = takes_nan and not missing_left
    missing_left = takes_nan and missing_left
    asks = set_phrase(kind, inside, missing=missing_left, takes_nan=takes_nan, limit=limit)
    fails = set_phrase(kind, numbers(kind) - inside, missing=missing_right, takes_nan=takes_nan, limit=limit)
    said, said_right = (phrase in ("is known", "is missing") for phrase in (asks, fails))
    return SetWords(
        asks,
        "yes or missing" if missing_left and not said else "yes",
        "no or missing" if missing_right and not said else "no",
        f"{fails} or missing" if missing_right and not said_right else fails,
    )


def set_phrase(
    kind: Categories, inside: AbstractSet[int], *, missing: bool, takes_nan: bool, limit: int | None = None
) -> str:
    """Return which numbers are meant, by those inside or those outside; `missing` is whether NaN is meant too."""
    outside = numbers(kind) - inside
    if takes_nan and not (inside if missing else outside):
        return "is missing" if missing else "is known"
    cost = [len(kind.labels(listed)) + _OTHER_COSTS * (OTHER in listed) for listed in (inside, outside)]
    if cost[0] < cost[1] or (cost[0] == cost[1] and OTHER not in inside):
        return f"in {_listed(kind, inside, limit)}"
    return f"not in {_listed(kind, outside, limit)}"


def _listed(kind: Categories, elements: AbstractSet[int], limit: int | None) -> str:
    words = [printable(word) for word in kind.labels(elements)]
    if limit is not None:
        words = [word if len(word) <= limit // 2 else word[: limit // 2 - 1] + "…" for word in words]
    if limit is not None and sum(len(word) + 2 for word in words) > limit:
        kept, length = 0, len(f"… {len(words)} more")
        while length + len(words[kept]) + 2 <= limit:
            length += len(words[kept]) + 2
            kept += 1
        words[kept:] = [f"… {len(words) - kept} more"]
    return "{" + ", ".join(words) + "}"
