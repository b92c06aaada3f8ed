"""How many leaves each tolerance costs: the steps of that function, each proven, and the least tolerance of a size.

The fewest leaves are a function of the tolerance that goes down in steps. A tree that is found for one tolerance often
keeps a smaller one, and that there is no step below it takes one more search, for the next smaller number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from onetree.errors import LimitReachedError
from onetree.search.solution import Solution

Solve = Callable[[float], Solution]


class Steps:
    """The fewest leaves as a function of the tolerance, asked for where it matters.

    Parameters
    ----------
    solve : callable
        The tree with the fewest leaves for a tolerance, with the least tolerance that its shape allows as its own. One
        that is not proven, or `LimitReachedError`, ends the search.
    largest : float
        A tolerance beyond which no tree is smaller.
    smallest : float
        A tolerance below which none is looked for.
    """

    def __init__(self, solve: Solve, largest: float, smallest: float = 0.0) -> None:
        self._solve, self._largest, self.smallest = solve, largest, smallest
        self._known: dict[float, Solution] = {}  # by the tolerance that was asked for

    def first(self) -> Solution:
        """Return the tree of the largest tolerance."""
        return self._at(self._largest)

    def least(self, found: Solution, max_leaves: int) -> Solution:
        """Return the tree of the least tolerance with at most so many leaves, given some such tree."""
        while _tolerance(found) > self.smallest:
            below = self._at(float(np.nextafter(_tolerance(found), 0.0)))
            if below.tree.n_leaves > max_leaves:
                break
            found = below
            # Trees may be many between here and the step: half of the way at a time.
            low = max((at for at, each in self._known.items() if each.tree.n_leaves > max_leaves), default=0.0)
            middle = low / 2 + _tolerance(found) / 2
            if low < middle < _tolerance(found):
                tried = self._at(middle)
                if tried.tree.n_leaves <= max_leaves:
                    found = tried
        return found

    def below(self, found: Solution) -> Solution | None:
        """Return the tree of the next step down, given one of the least tolerance; None after the last."""
        if _tolerance(found) <= self.smallest:
            return None
        return self._at(float(np.nextafter(_tolerance(found), 0.0)))

    def _at(self, tolerance: float) -> Solution:
        # What is known of another tolerance holds here if its tree keeps this one.
        for asked, each in self._known.items():
            if _tolerance(each) <= tolerance <= asked:
                return each
        found = self._solve(tolerance)
        if found.status != "optimal":
            raise LimitReachedError("a limit was reached before the tree of a tolerance was proven")
        self._known[tolerance] = found
        return found


def _tolerance(found: Solution) -> float:
    return found.tree.tolerance or 0.0


def every_step(steps: Steps, max_leaves: int | None) -> list[Solution]:
    """Return a tree for every number of leaves that is the fewest for some tolerance, each with its least tolerance.

    From the fewest leaves on; a step at a smallest tolerance that is not 0 is left out, unless it is the only one. At a
    limit, those that are proven by then, with ``stats["complete"]`` False.
    """
    front: list[Solution] = []
    try:
        found: Solution | None = steps.first()
        while found is not None and (max_leaves is None or found.tree.n_leaves <= max_leaves):
            least = steps.least(found, found.tree.n_leaves)
            if front and 0 < _tolerance(least) <= steps.smallest:
                break
            front.append(least)
            found = steps.below(least)
    except LimitReachedError:
        if not front:
            raise
        front = [replace(each, stats={**each.stats, "complete": False}) for each in front]
    return front
