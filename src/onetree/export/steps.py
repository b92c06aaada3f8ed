"""Set tests as steps along the number line, for formats that know comparisons only.

Numbers that neighbour each other and go to the same side are one step, so that code is as short as it can be. What
comes out is exact for every float64 number: between two categories, one float beside them, infinite, or missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.model.categories import FIRST, MISSING, OTHER

if TYPE_CHECKING:
    from onetree.tree.tree import Tree


class Run(NamedTuple):
    """The numbers ``low < x <= high``; None is no bound."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class Steps:
    """Where a set test sends each number: the side changes after every cut, where ``x <= cut`` ends.

    Parameters
    ----------
    cuts : tuple of float
        Ascending.
    first : bool
        Whether numbers up to the first cut go left.
    missing : bool
        Whether NaN goes left.
    """

    cuts: tuple[float, ...]
    first: bool
    missing: bool

    @property
    def last(self) -> bool:
        """Whether numbers above all cuts go left."""
        return self.first ^ bool(len(self.cuts) % 2)

    @property
    def negated(self) -> bool:
        """Whether the test is shorter said by what goes right."""
        return self.first and len(self.cuts) != 1

    def runs(self) -> list[Run]:
        """Return the runs of numbers that go left or, where that is `negated`, right."""
        bounds = [None, *self.cuts, None]
        skip = 0 if self.first and not self.negated else 1
        return [Run(low, high) for low, high in list(pairwise(bounds))[skip::2]]


def steps_of(tree: Tree, node: int, dtype: type[np.floating[Any]] = np.float64) -> Steps:
    """Return the set test of a node, for inputs of a type: for float32 each cut is the next float32 at or below it."""
    kind = tree.categories[tree.feature[node]]
    members = tree.subsets[tree.subset[node]]
    if kind is None:
        raise ValueError(f"node {node} is no set test")
    if (kind.low == -np.inf).any():
        raise InvalidInputError(
            "a category that begins at -inf cannot be told from -inf itself by comparisons; "
            "let its interval begin at a finite number"
        )
    points = rounded_down(np.stack([kind.low, kind.high], axis=1).ravel(), dtype)
    side = np.full(len(points) + 1, members[OTHER])  # of what lies below each point, and of what lies above all
    side[1::2] = members[FIRST : kind.n_elements]
    # Intervals that touch, or that are nothing in this type, have nothing between them. -inf is always below.
    some = np.concatenate([[True], points[:-1] < points[1:], points[-1:] < np.inf])
    side, upper = side[some], np.concatenate([points, [np.inf]])[some]
    changes = np.flatnonzero(side[:-1] != side[1:])
    return Steps(tuple(upper[changes].tolist()), bool(side[0]), bool(members[MISSING]))


def rounded_down(numbers: NDArray[np.float64], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """Return the largest number of a type at or below each: for inputs of that type comparisons stay the same."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = numbers.astype(dtype)
        below = np.nextafter(rounded, dtype(-np.inf))
    return np.where(rounded > numbers, below, rounded)


def is_point(run: Run, dtype: type[np.floating[Any]] = np.float64) -> bool:
    """Whether a run is a single number of the type: its upper bound."""
    if run.low is None or run.high is None:
        return False
    with np.errstate(over="ignore", under="ignore"):
        return bool(np.nextafter(dtype(run.low), dtype(np.inf)) == run.high)


def longest_test(tree: Tree) -> int:
    """Return the number of runs of the set test that has most."""
    return max((len(steps_of(tree, node).runs()) for node in _different_tests(tree).values()), default=0)


def _different_tests(tree: Tree) -> dict[tuple[int, int], int]:
    """Return a node for each feature and set that are tested."""
    return {(int(tree.feature[node]), int(tree.subset[node])): int(node) for node in set_nodes(tree)}


def set_nodes(tree: Tree) -> NDArray[np.intp]:
    """Return the nodes that are set tests."""
    return np.flatnonzero(tree.subset >= 0)


def thresholds_only(tree: Tree) -> Tree:
    """Return the same function without set tests: each becomes a search among its cuts, with shared subtrees below.

    On features that take no missing values, NaN goes where a number above all others does.
    """
    if not tree.has_subsets:
        return tree
    steps = {key: steps_of(tree, node) for key, node in _different_tests(tree).items()}
    tests = {int(node): steps[int(tree.feature[node]), int(tree.subset[node])] for node in set_nodes(tree)}
    takes_nan, feature = tree.nan_features.tolist(), tree.feature.tolist()
    asks_first = {  # whether the value is known at all
        node: not test.cuts or (takes_nan[feature[node]] and test.missing is not test.last)
        for node, test in tests.items()
    }
    size = np.ones(tree.n_nodes, dtype=np.int32)
    for node, test in tests.items():
        size[node] = len(test.cuts) + asks_first[node]
    start = np.cumsum(size, dtype=np.int32) - size
    of = np.repeat(np.arange(tree.n_nodes), size)
    own_left, own_right = (_placed(children, start) for children in (tree.children_left, tree.children_right))
    threshold, left, right = tree.threshold[of], own_left[of], own_right[of]
    for node, test in tests.items():
        sides = (int(own_right[node]), int(own_left[node]))
        at = int(start[node])
        if asks_first[node]:
            missing = test.missing if takes_nan[feature[node]] else test.last
            threshold[at], left[at], right[at] = math.inf, at + 1 if test.cuts else sides[test.first], sides[missing]
            at += 1
        _search(test, at, sides, threshold, left, right)
    kept = _reached(left, right)  # all, unless a test sends everything to one side
    place = np.cumsum(kept, dtype=np.int32) - 1
    return replace(
        tree,
        feature=tree.feature[of[kept]],
        threshold=threshold[kept],
        children_left=_placed(left[kept], place),
        children_right=_placed(right[kept], place),
        leaf_class=tree.leaf_class[of[kept]],
        value=None if tree.value is None else tree.value[of[kept]],
        categories=(),
        subset=np.zeros(0, dtype=np.int32),
        subsets=np.zeros((0, 0), dtype=np.bool_),
        shares=None,  # of leaves that are now counted otherwise
    )


def _placed(children: NDArray[np.int32], start: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.where(children < 0, np.int32(-1), start[children])


def _reached(left: NDArray[np.int32], right: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether the root leads to each node; parents come first."""
    reached = [False] * len(left)
    reached[0] = True
    for node, (yes, no) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if reached[node] and yes >= 0:
            reached[yes] = reached[no] = True
    return np.array(reached)


def _search(
    test: Steps,
    at: int,
    sides: tuple[int, int],
    threshold: NDArray[np.float64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
) -> None:
    """Write a balanced search among the cuts of a test into the nodes from `at` on, parents first."""
    stack = [(0, len(test.cuts), -1, left)] if test.cuts else []
    while stack:
        begin, end, parent, child_of = stack.pop()
        middle = (begin + end) // 2
        if parent >= 0:
            child_of[parent] = at
        threshold[at] = test.cuts[middle]
        left[at], right[at] = (sides[test.first ^ bool(region % 2)] for region in (middle, middle + 1))
        if middle + 1 < end:
            stack.append((middle + 1, end, at, right))
        if begin < middle:
            stack.append((begin, middle, at, left))
        at += 1


def written_out(tree: Tree, max_nodes: int) -> Tree | None:
    """Return `thresholds_only` with one parent for each node; None if that takes more nodes.

    Comparisons of categorical features that a path has already decided are left out.
    """
    plain = thresholds_only(tree)
    feature, threshold = plain.feature.tolist(), plain.threshold.tolist()
    left, right = plain.children_left.tolist(), plain.children_right.tolist()
    categorical = {at for at, kind in enumerate(tree.categories) if kind is not None}
    takes_nan = tree.nan_features.tolist()
    source: list[int] = []
    children: tuple[list[int], list[int]] = ([], [])
    # What is known of categorical features on the way to a node: low < x <= high, or also missing.
    known: dict[int, tuple[float, float, bool]] = {
        at: (-math.inf, math.inf, takes_nan[at]) for at in sorted(categorical)
    }
    stack = [(0, -1, 0, known)]
    while stack:
        node, parent, side, known = stack.pop()
        while feature[node] in categorical:
            low, high, missing = known[feature[node]]
            if high <= threshold[node] and not missing:
                node = left[node]
            elif low >= threshold[node]:
                node = right[node]
            else:
                break
        here = len(source)
        if here == max_nodes:
            return None
        if parent >= 0:
            children[side][parent] = here
        source.append(node)
        children[0].append(-1)
        children[1].append(-1)
        if feature[node] < 0:
            continue
        below = above = known
        if feature[node] in categorical:
            low, high, missing = known[feature[node]]
            below = known | {feature[node]: (low, min(high, threshold[node]), False)}
            above = known | {feature[node]: (max(low, threshold[node]), high, missing)}
        stack += ((right[node], here, 1, above), (left[node], here, 0, below))
    own = {name: getattr(plain, name)[source] for name in ("feature", "threshold", "leaf_class")}
    own["value"] = None if plain.value is None else plain.value[source]
    left_of, right_of = (np.array(each, dtype=np.int32) for each in children)
    return replace(plain, **own, children_left=left_of, children_right=right_of)
