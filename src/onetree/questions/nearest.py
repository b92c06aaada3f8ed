"""The nearest input of a wanted class under a sum of distances.

The native search minimises a sum of costs over the axes, or the largest of them. A sum that has the largest
difference in it is neither: it is found by a few searches, each below a cap on the largest difference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from onetree.base.limits import check_choice
from onetree.errors import InvalidInputError
from onetree.questions.around import Around, is_same
from onetree.questions.ask import Asker, Found
from onetree.questions.costs import NORMS, Terms

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def norm_parts(norm: str | Mapping[str, float]) -> dict[str, float]:
    """Return how much each distance counts: one alone, or a weighted sum."""
    if isinstance(norm, str):
        check_choice("norm", norm, NORMS)
        return {norm: 1.0}
    if not isinstance(norm, Mapping) or not norm:
        raise InvalidInputError(f'norm must be one of {", ".join(NORMS)}, or a sum such as {{"l1": 1, "l0": 0.5}}')
    for name, weight in norm.items():
        check_choice("norm", name, NORMS)
        if not (np.isfinite(weight) and weight > 0):
            raise InvalidInputError(f"the weight of {name} in norm must be positive and finite, but is {weight!r}")
    return {name: float(norm[name]) for name in NORMS if name in norm}


def norm_words(parts: Mapping[str, float]) -> str:
    """Return a sum of distances as text."""
    return " + ".join(name if weight == 1 else f"{weight:g} {name}" for name, weight in parts.items())


class Nearest:
    """Finds the nearest input of a wanted class, with some more features fixed each time.

    Parameters
    ----------
    asker : Asker
    row : float64 array of shape (n_features,)
    wanted : bool array of shape (n_classes,)
    terms : Terms
        What changes cost and which are allowed; the norm is that of `parts`.
    parts : mapping
        How much each distance counts, as `norm_parts` returns it.
    at_most : float
        Distances beyond this are of no interest.
    """

    def __init__(
        self,
        asker: Asker,
        row: Floats,
        wanted: Bools,
        terms: Terms,
        parts: Mapping[str, float],
        at_most: float = np.inf,
    ) -> None:
        self._asker, self._row, self._wanted = asker, row, wanted
        self._terms, self._parts, self._at_most = terms, dict(parts), at_most

    def find(self, fixed: Collection[int] = ()) -> Found:
        """Return the nearest input, or at a limit the best and a bound."""
        if list(self._parts) == ["linf"]:
            return self._scaled(self._parts["linf"], fixed)
        sums = {name: weight for name, weight in self._parts.items() if name != "linf"}
        costs, near = self._costs(sums, fixed)
        if "linf" not in self._parts:
            return self._asker.nearest((costs, near), self._wanted, at_most=self._at_most)
        return self._with_largest(costs, self._costs({"linf": self._parts["linf"]}, fixed)[0], near)

    def _costs(self, parts: Mapping[str, float], fixed: Collection[int]) -> tuple[Floats, Around]:
        found = []
        for name, weight in parts.items():
            terms = replace(self._terms, norm=name, fixed={*self._terms.fixed, *fixed})
            own, near = terms.costs(self._asker.options, self._row)
            found.append(weight * own)
        return reduce(np.add, found), near

    def _scaled(self, weight: float, fixed: Collection[int]) -> Found:
        costs = self._costs({"linf": weight}, fixed)
        return self._asker.nearest(costs, self._wanted, largest=True, at_most=self._at_most)

    def _with_largest(self, sums: Floats, largest: Floats, near: Around) -> Found:
        """Return the least of a sum plus the largest difference.

        An input with a largest difference below the cap has a sum of at least that of the input found there. To be
        better than the best, it needs a largest difference below what is left; so the cap falls until there is none.
        """
        best, bound, cap = Found("none", None, -1, np.inf, np.inf, 0), self._at_most, np.inf
        n_boxes = 0
        while True:
            costs = np.where(largest < cap, sums, np.inf)
            found = self._asker.nearest((costs, near), self._wanted, at_most=bound)
            n_boxes += found.n_boxes
            if found.point is not None:
                most = _largest_at(found.point, near, largest)
                cost = found.cost + most
                if cost <= bound and (best.point is None or cost < best.cost):
                    best, bound = replace(found, cost=cost), cost
                left = bound - found.cost
                cap = min(most, left if best.point is not None else np.nextafter(left, np.inf))  # the bound is allowed
            if found.status == "limit":
                return replace(best, status="limit", lower_bound=min(bound, found.lower_bound), n_boxes=n_boxes)
            if found.point is None or cap <= 0:
                status = "none" if best.point is None else "optimal"
                return replace(best, status=status, lower_bound=best.cost, n_boxes=n_boxes)


def _largest_at(point: Floats, near: Around, numbers: Floats) -> float:
    """Return the largest of the numbers of the options that an input has."""
    at, found = 0, 0.0
    for axis in range(len(near)):
        choices = near[axis]
        same = np.ones(len(choices.allowed), dtype=bool)
        for column, feature in enumerate(choices.features):
            same &= is_same(choices.values[:, column], float(point[feature]))
        found = max(found, float(numbers[at : at + len(same)][same].min()))
        at += len(same)
    return found
