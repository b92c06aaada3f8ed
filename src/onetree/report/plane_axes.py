"""The two axes of a plane of cells: a feature of numbers cut into slabs, or a slab for each category.

Each axis knows an input inside each of its slabs, where rows and parts of a tree lie on it, and what its ticks say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onetree.model.categories import FIRST, MISSING, OTHER, Categories
from onetree.report.drawing import plain_ticks, shown
from onetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axis import Axis

_NAN_SLAB = 0.09  # of the range shown, for the slab of missing values
_MAX_TICKS, _MAX_TICK = 40, 14  # slabs with a name, and characters of it
_LEVEL_LETTERS = 50  # of all names together, before they are turned

Bounds = tuple[float, float]
Part = Bounds | frozenset[int]
"""What a leaf leaves of an axis: numbers, with NaN above +inf as in `Tree.boxes`; or elements."""


@dataclass(frozen=True, eq=False)
class NumberAxis:
    """One feature: where its slabs begin and end in the drawing, and a value inside each of them."""

    name: str
    edges: NDArray[np.float64]  # ascending, one more than slabs
    inside: NDArray[np.float64]
    nan_edge: float | None  # where the slab of missing values begins

    @classmethod
    def of(cls, name: str, levels: NDArray[np.float64], takes_nan: bool, limits: Bounds) -> NumberAxis:
        """Return the axis between two limits."""
        low, high = limits
        within = levels[(levels > low) & (levels < high)]
        # Slabs are open below and closed above, so an upper level lies inside; above the last one anything does.
        edges, inside = np.array([low, *within, high]), np.array([*within, high])
        if not takes_nan:
            return cls(name, edges, inside, None)
        edges = np.append(edges, high + _NAN_SLAB * (high - low))
        return cls(name, edges, np.append(inside, np.nan), high)

    @property
    def whole(self) -> Part:
        """Return the part that is everything."""
        return -math.inf, math.inf if self.nan_edge is None else math.nan

    def parted(self, part: Part, tree: Tree, node: int) -> tuple[Part, Part]:
        """Return what a split leaves of a part, left and right."""
        if isinstance(part, frozenset):
            raise ValueError("a part of an axis of numbers is an interval")
        (low, high), cut = part, float(tree.threshold[node])
        return (low, float(np.fmin(high, cut))), (max(low, cut), high)

    def spans(self, part: Part) -> list[Bounds]:
        """Return where a part lies in the drawing, which may be nowhere."""
        if isinstance(part, frozenset):
            raise ValueError("a part of an axis of numbers is an interval")
        low, high = part
        start = self.nan_edge if np.isposinf(low) and self.nan_edge is not None else max(low, self.edges[0])
        top = self.edges[-1] if self.nan_edge is None else self.nan_edge
        end = float(self.edges[-1]) if np.isnan(high) else min(high, top)
        return [(float(start), float(end))] if start < end else []

    def places(self, column: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where values lie in the drawing."""
        if self.nan_edge is None:
            return column
        return np.where(np.isnan(column), (self.nan_edge + float(self.edges[-1])) / 2, column)

    @property
    def turned(self) -> bool:
        """Whether the ticks need more room below the plane than numbers do."""
        return False

    def set_ticks(self, ticks: Axis) -> None:
        """Name the slab of missing values; the other ticks are those of numbers."""
        if self.nan_edge is None:
            return
        located = [tick for tick in ticks.get_majorticklocs() if self.edges[0] <= tick <= self.nan_edge]
        middle = (self.nan_edge + float(self.edges[-1])) / 2
        # A tick so near the strip that its label would touch the word is left out.
        room = 0.06 * float(self.edges[-1] - self.edges[0])
        located = [tick for tick in located if tick < self.nan_edge - room]
        ticks.set_ticks([*located, middle], [*(f"{tick:g}" for tick in located), "missing"])


@dataclass(frozen=True, eq=False)
class CategoryAxis:
    """One categorical feature: a slab of width 1 for each of its elements, "other" and "missing" last."""

    name: str
    kind: Categories
    elements: tuple[int, ...]  # from slab to slab
    nan_edge: None = None  # missing values are an element like any other

    @classmethod
    def of(cls, name: str, kind: Categories, takes_nan: bool) -> CategoryAxis:
        """Return the axis of all elements that can occur."""
        return cls(name, kind, (*range(FIRST, kind.n_elements), OTHER, *([MISSING] if takes_nan else [])))

    @property
    def edges(self) -> NDArray[np.float64]:
        """Return where the slabs begin and end."""
        return np.arange(len(self.elements) + 1, dtype=np.float64) - 0.5

    @property
    def inside(self) -> NDArray[np.float64]:
        """Return a value of each element."""
        return np.array([self.kind.example(element) for element in self.elements])

    @property
    def whole(self) -> Part:
        """Return the part that is everything."""
        return frozenset(self.elements)

    def parted(self, part: Part, tree: Tree, node: int) -> tuple[Part, Part]:
        """Return what a split leaves of a part, left and right."""
        if not isinstance(part, frozenset):
            raise ValueError("a part of an axis of categories is a set")
        members = frozenset(np.flatnonzero(tree.subsets[tree.subset[node]]).tolist())
        return part & members, part - members

    def spans(self, part: Part) -> list[Bounds]:
        """Return where a part lies in the drawing: elements side by side are one span."""
        inside = np.array([False, *(element in part for element in self.elements), False])
        changes = np.flatnonzero(inside[1:] != inside[:-1]) - 0.5
        return [(start, end) for start, end in list(pairwise(changes.tolist()))[::2]]

    def places(self, column: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where values lie in the drawing."""
        slab = np.full(self.kind.n_elements, np.nan)
        slab[list(self.elements)] = np.arange(len(self.elements))
        return slab[self.kind.element(column)]

    @property
    def turned(self) -> bool:
        """Whether the names of the slabs are so long that they are turned below the plane."""
        return sum(map(len, self._named().values())) > _LEVEL_LETTERS

    def _named(self) -> dict[int, str]:
        """Return the slabs that have a tick: all, or of very many each so many."""
        places = range(0, len(self.elements), math.ceil(len(self.elements) / _MAX_TICKS))
        return {place: shown(self.kind.label(self.elements[place]), _MAX_TICK) for place in places}

    def set_ticks(self, ticks: Axis) -> None:
        """Name the slabs."""
        named = self._named()
        ticks.set_ticks(list(named), list(named.values()))
        plain_ticks(ticks.get_ticklabels())
        if getattr(ticks, "axis_name", "") == "x" and self.turned:
            for label in ticks.get_ticklabels():
                label.set(rotation=45, ha="right", rotation_mode="anchor")


PlaneAxis = NumberAxis | CategoryAxis
