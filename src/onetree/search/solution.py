"""The result of a search: a faithful tree, and what is proven about its size."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from onetree.base import amounts
from onetree.tree.tree import Tree

Value = int | tuple[int, int]


@dataclass(frozen=True, eq=False)
class Solution:
    """A faithful tree and what is proven about its size.

    Parameters
    ----------
    tree : Tree
        Predicts the ensemble's class everywhere, or everywhere inside `Tree.domain`.
    objective : str
        What was minimised.
    status : {"optimal", "feasible"}
        Whether no smaller tree of the model's own tests exists, or a limit came first.
    value, lower_bound : int or pair of int
        Size of the tree and what is proven: one number for depth or leaves, two in the objective's order
        for the two-stage objectives.
    stats : dict
        Of the search: "cells" and "boxes" of the grid, "states" (boxes of a table, states of a branch and bound, or
        regions of the heuristic), "seconds", "work" in steps, "peak_bytes", and "engine", which found the tree:
        "interval-dp" (any table of boxes), "branch-and-bound", "heuristic", "line" or "the tree itself".
    """

    tree: Tree
    objective: str
    status: str
    value: Value
    lower_bound: Value
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """How much larger than the bound the tree is, at worst: 0.0 when it is optimal."""
        if self.status == "optimal":
            return 0.0
        for value, bound in zip(measures(self.value), measures(self.lower_bound), strict=True):
            if value > bound:
                return (value - bound) / bound if bound > 0 else float(value)
        return 0.0

    def __repr__(self) -> str:
        where = "" if self.tree.domain is None else ", inside a domain"
        return (
            f"Solution({self.objective}: {self.status}, {amounts.leaves(self.tree.n_leaves)}, "
            f"depth {self.tree.depth:,}, {self._distance()}, {amounts.duration(self.stats.get('seconds', 0.0))}{where})"
        )

    def _distance(self) -> str:
        return f"gap {self.gap:.1%}" if self.gap < 1 else f"{amounts.above(self.gap)} the bound"

    def _repr_html_(self) -> str:
        from onetree.display import solution_html

        return solution_html(self)


def best_of(found: Solution, other: Solution) -> Solution:
    """Return the better of two solutions, with the better of their bounds."""
    best = min(found, other, key=lambda each: measures(each.value))
    bound = max(found.lower_bound, other.lower_bound, key=measures)
    return replace(best, lower_bound=bound, status="optimal" if best.value == bound else best.status)


def in_order(objective: str, depth: int, leaves: int) -> Value:
    """Return the measures that an objective names, in its order."""
    values: dict[str, Value] = {
        "depth": depth,
        "leaves": leaves,
        "depth-leaves": (depth, leaves),
        "leaves-depth": (leaves, depth),
    }
    return values[objective]


def measures(value: Value) -> tuple[int, ...]:
    """Return the one or two numbers of a value as a tuple."""
    return value if isinstance(value, tuple) else (value,)
