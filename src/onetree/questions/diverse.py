"""Several inputs of a wanted class, each the nearest that is not like one before it.

"features": an input is like an earlier one if it changes all features that the earlier one changes, so each next one
leaves at least one of these alone. That is a choice for every earlier one; the search branches over the choices and
takes the branch with the least bound first, so no branch is searched that cannot be the next.
"disjoint": an input is like an earlier one if it changes any feature that the earlier one changes.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from onetree.questions.ask import Found

DIVERSITIES = ("features", "disjoint")

Changed = Callable[[Found], frozenset[int]]
Find = Callable[[frozenset[int]], Found]


@dataclass(frozen=True)
class Several:
    """Inputs in the order in which they were found; whether there are more, and how far away at least."""

    found: tuple[Found, ...]
    rest: str  # "more", "none" or "limit"
    bound: float = 0.0


def several(find: Find, changed: Changed, n: int, diverse: str) -> Several:
    """Return up to `n` inputs.

    Parameters
    ----------
    find : callable
        The nearest input with some features fixed.
    changed : callable
        The features that an input changes.
    n : int
    diverse : {"features", "disjoint"}
    """
    return _disjoint(find, changed, n) if diverse == "disjoint" else _Branches(find, changed).first(n)


def _disjoint(find: Find, changed: Changed, n: int) -> Several:
    kept: list[Found] = []
    fixed: frozenset[int] = frozenset()
    while len(kept) < n:
        found = find(fixed)
        if found.point is None:
            return Several(tuple(kept), found.status, found.lower_bound)
        kept.append(found)
        if not changed(found):
            return Several(tuple(kept), "none")
        fixed |= changed(found)
    return Several(tuple(kept), "more")


class _Branches:
    """Sets of features that are fixed; what was found with them, or a bound for what would be."""

    def __init__(self, find: Find, changed: Changed) -> None:
        self._find, self._changed = find, changed
        self._heap: list[tuple[float, int, frozenset[int]]] = [(0.0, 0, frozenset())]
        self._solved: dict[frozenset[int], Found] = {}
        self._seen = {frozenset[int]()}

    def first(self, n: int) -> Several:
        kept: list[Found] = []
        while len(kept) < n:
            found = self._next([self._changed(each) for each in kept])
            if found.point is None:
                return Several(tuple(kept), found.status, found.lower_bound)
            kept.append(found)
            if not self._changed(found):
                return Several(tuple(kept), "none")  # nothing has to change, and all else changes more
            if found.status == "limit":
                return Several(tuple(kept), "more" if len(kept) == n else "limit")
        return Several(tuple(kept), "more")

    def _next(self, earlier: Sequence[frozenset[int]]) -> Found:
        """Return the nearest input that does not change all features of an earlier one."""
        while self._heap:
            bound, number, fixed = heapq.heappop(self._heap)
            if fixed not in self._solved:
                found = self._solved[fixed] = self._find(fixed)
                if found.status == "none":
                    continue
                bound = max(bound, found.lower_bound)
                if found.status == "limit":
                    return self._best_so_far(earlier, min(bound, self._heap[0][0]) if self._heap else bound)
                if self._heap and self._heap[0][0] < bound:
                    heapq.heappush(self._heap, (bound, number, fixed))
                    continue
            found = self._solved[fixed]
            like = [each for each in earlier if each <= self._changed(found)]
            if not like:
                heapq.heappush(self._heap, (bound, number, fixed))  # its own features are branched on next time
                return found
            for feature in sorted(sorted(like, key=len)[0]):
                branch = fixed | {feature}
                if branch not in self._seen:
                    self._seen.add(branch)
                    heapq.heappush(self._heap, (bound, len(self._seen), branch))
        return Found("none", None, -1, float("inf"), float("inf"), 0)

    def _best_so_far(self, earlier: Sequence[frozenset[int]], bound: float) -> Found:
        """Return the nearest of what was found in all branches; nothing open is nearer than the bound."""
        usable = [
            each
            for each in self._solved.values()
            if each.point is not None and not any(before <= self._changed(each) for before in earlier)
        ]
        if not usable:
            return Found("limit", None, -1, float("inf"), bound, 0)
        best = min(usable, key=lambda each: each.cost)
        return replace(best, status="limit", lower_bound=min(bound, best.cost))
