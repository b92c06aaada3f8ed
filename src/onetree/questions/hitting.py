"""The smallest set that has an element in common with each of some sets."""

from __future__ import annotations

from collections.abc import Sequence


def smallest_hitting_set(sets: Sequence[frozenset[int]]) -> frozenset[int]:
    """Return a smallest set that hits all others, by branching on a set that is not hit yet.

    Examples
    --------
    >>> sorted(smallest_hitting_set([frozenset({1, 2}), frozenset({2, 3}), frozenset({4})]))
    [2, 4]
    """
    best = frozenset(next(iter(sorted(each))) for each in sets)
    todo: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]  # chosen, left out for good
    while todo:
        chosen, excluded = todo.pop()
        open_sets = [each - excluded for each in sets if not each & chosen]
        if not open_sets:
            if len(chosen) < len(best):
                best = chosen
            continue
        if len(chosen) + _disjoint(open_sets) >= len(best):
            continue
        branch = min(open_sets, key=len)
        # Those first that hit most sets: the last pushed is looked at first.
        order = sorted(branch, key=lambda each: (sum(each in other for other in open_sets), -each))
        for number, element in enumerate(order):
            todo.append((chosen | {element}, excluded | set(order[number + 1 :])))
    return best


def _disjoint(sets: Sequence[frozenset[int]]) -> int:
    """Return a number of sets that have nothing in common, so that each needs an element of its own."""
    seen: set[int] = set()
    count = 0
    for each in sorted(sets, key=len):
        if not each & seen:
            seen |= each
            count += 1
    return count
