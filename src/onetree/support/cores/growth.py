"""Growing the cores of a tree: from the cell of one row outwards, as far as the proof goes.

It starts at the row nearest to the middle of the leaf's rows. First towards the box around them, then towards the box
of the leaf itself; the sides that keep most rows outside move first. The proof is that of `Bounds`, within a budget of
work. Then the native certificate, which also branches, proves the cores a second time and pushes them further out, as
far as its budget goes: it takes the whole ensemble anew for each box, so that of large ones it sees little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.errors import FidelityError
from onetree.lowering.grid import Grid
from onetree.model.ensemble import Ensemble
from onetree.support.cores.bounds import Bounds
from onetree.support.rows import Rows
from onetree.tree.tree import Tree

WORK = 100_000_000  # visited nodes for all leaves together
_LEAST_WORK = 100_000  # of one leaf
_MAX_NODES_PER_TREE = 60  # reached at one depth; boxes that reach more are not worth the time
_HALVINGS = 5
_NATIVE_WORK = 200_000_000  # nodes of the proof times nodes of the ensemble that the certificate is given
_NATIVE_SHARE = 0.25  # of what is left of that, for one round over all cores
_SHARES = (1.0, 0.5, 0.25, 0.125)  # of the way to the box of the leaf, tried in this order

Corner = NDArray[np.int32]


@dataclass(eq=False)
class _Core:
    low: Corner  # slabs, inclusive
    high: Corner  # inclusive
    leaf_class: int

    def with_sides(self, sides: NDArray[np.intp], low: Corner, high: Corner) -> _Core:
        """Return the box with some sides of a larger box: feature, or n_features + feature for upper ends."""
        n_features = len(self.low)
        new_low, new_high = self.low.copy(), self.high.copy()
        below, above = sides[sides < n_features], sides[sides >= n_features] - n_features
        new_low[below], new_high[above] = low[below], high[above]
        return _Core(new_low, new_high, self.leaf_class)

    def holds(self, slabs: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which cells lie in the box."""
        return np.asarray(((slabs >= self.low) & (slabs <= self.high)).all(axis=1))

    def moved(self, low: Corner, high: Corner, share: float) -> _Core:
        """Return the box with all sides moved by a share of their way to a larger box."""
        return _Core(
            self.low - np.floor(share * (self.low - low)).astype(np.int32),
            self.high + np.floor(share * (high - self.high)).astype(np.int32),
            self.leaf_class,
        )


def grow_cores(
    tree: Tree, ensemble: Ensemble, grid: Grid, rows: Rows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of the cores, one per leaf in the order of `Tree.leaves`."""
    leaves = tree.leaves()
    outer_low, outer_high = _slab_boxes(tree, grid)
    place = np.full(tree.n_nodes, -1, dtype=np.intp)
    place[leaves] = np.arange(len(leaves))
    at = place[tree.apply(rows.values)]
    bounds = Bounds(ensemble, grid)
    budget = max(_LEAST_WORK, WORK // len(leaves))
    cores: dict[int, _Core] = {}
    for index, leaf in enumerate(leaves):
        leaf_class = int(tree.leaf_class[leaf])
        chosen = (at == index) & (rows.classes == leaf_class)
        own = rows.slabs[chosen]
        if len(own):  # otherwise no row tells where to begin
            grower = _Grower(bounds, budget)
            core = grower.around(own, leaf_class)
            cores[index] = grower.towards(core, outer_low[index], outer_high[index], own)
    certificate = _Certificate(ensemble, grid)
    certificate.prove_again(cores)
    for share in _SHARES:
        certificate.push(cores, outer_low, outer_high, share)
    return _value_boxes(cores, len(leaves), ensemble, grid)


class _Grower:
    """Grows one core within its budget of work."""

    def __init__(self, bounds: Bounds, budget: int) -> None:
        self._bounds = bounds
        self._end = bounds.work + budget
        self._max_nodes = _MAX_NODES_PER_TREE * bounds.ensemble.n_trees

    def _holds(self, core: _Core) -> bool:
        if self._bounds.work >= self._end:
            return False
        return self._bounds.hold(core.low, core.high, core.leaf_class, self._max_nodes)

    def around(self, own: NDArray[np.int32], leaf_class: int) -> _Core:
        """Grow towards the box around the leaf's rows, in two ways, and keep the core that holds more of them."""
        low, high = own.min(axis=0), own.max(axis=0)
        distance = (np.abs(own - np.median(own, axis=0)) / np.maximum(high - low, 1)).sum(axis=1)
        cell = own[np.argmin(distance)]
        first = _Core(cell.copy(), cell.copy(), leaf_class)
        one_by_one = self.towards(first, low, high, own)
        together = self.towards(self._all_at_once(first, low, high), low, high, own)
        return max(one_by_one, together, key=lambda core: int(core.holds(own).sum()))

    def towards(self, core: _Core, low: Corner, high: Corner, own: NDArray[np.int32]) -> _Core:
        """Move the sides to those of a larger box, first those that keep most of the leaf's rows outside."""
        low, high = np.minimum(core.low, low), np.maximum(core.high, high)
        n_outside = np.concatenate([(own < core.low).sum(axis=0), (own > core.high).sum(axis=0)])
        can_move = np.concatenate([core.low > low, core.high < high])
        order = np.argsort(-n_outside, kind="stable")
        sides = order[can_move[order]]
        groups, stuck = [sides] if len(sides) else [], []
        while groups:
            group = groups.pop()
            larger = core.with_sides(group, low, high)
            if self._holds(larger):
                core = larger
            elif len(group) > 1:
                groups += [group[len(group) // 2 :], group[: len(group) // 2]]
            else:
                stuck.append(int(group[0]))
        rest = core.with_sides(np.array(stuck, dtype=np.intp), low, high)
        return self._all_at_once(core, rest.low, rest.high)

    def _all_at_once(self, core: _Core, low: Corner, high: Corner) -> _Core:
        """Move all sides by the same share of their way, the largest that some halvings find."""
        start, done, far = core, 0.0, 1.0
        for _ in range(_HALVINGS):
            share = far if far == 1.0 and done == 0.0 and core is start else (done + far) / 2
            larger = start.moved(low, high, share)
            if self._holds(larger):
                core, done = larger, share
                if share == 1.0:
                    break
            else:
                far = share if share < 1.0 else np.nextafter(1.0, 0.0)
        return core


class _Certificate:
    """The native proof, within its budget."""

    def __init__(self, ensemble: Ensemble, grid: Grid) -> None:
        self._ensemble = ensemble
        self._grid = grid
        self._n_nodes_left = _NATIVE_WORK // len(ensemble.feature)

    def prove_again(self, cores: dict[int, _Core]) -> None:
        """Prove the cores a second time, as far as the budget goes."""
        some = dict(list(cores.items())[: self._n_nodes_left])
        _, is_refuted = self._look_at(some)
        if is_refuted:
            raise FidelityError(
                "the certificate refutes a core that the bounds have proven; this is a bug in onetree, please report "
                "it with the model"
            )

    def push(self, cores: dict[int, _Core], low: NDArray[np.int32], high: NDArray[np.int32], share: float) -> None:
        """Move all sides of each core by a share of their way to the box of the leaf, where that is proven."""
        larger = {
            index: core.moved(low[index], high[index], share)
            for index, core in cores.items()
            if (core.low > low[index]).any() or (core.high < high[index]).any()
        }
        if len(larger) > self._n_nodes_left:
            return
        holds, _ = self._look_at(larger)
        for (index, core), is_proven in zip(larger.items(), holds, strict=True):
            if is_proven:
                cores[index] = core

    def _look_at(self, cores: dict[int, _Core]) -> tuple[list[bool], bool]:
        """Return which cores are proven, and whether one is refuted; neither means that the budget was too small."""
        if not cores:
            return [], False
        numbered = dict(enumerate(cores.values()))
        lower, upper = _value_boxes(numbered, len(numbered), self._ensemble, self._grid)
        expected = np.array([core.leaf_class for core in cores.values()], dtype=np.int32)
        n_each = max(1, int(_NATIVE_SHARE * self._n_nodes_left) // len(cores))
        holds, counterexamples, counts = _core.certify_boxes(
            self._ensemble, lower, upper, expected, 0.0, None, max_nodes=n_each
        )
        self._n_nodes_left -= counts.nodes
        return [bool(each) for each in holds], len(counterexamples) > 0


def _slab_boxes(tree: Tree, grid: Grid) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the boxes of the leaves as slabs, both ends inclusive."""
    lower, upper = tree.boxes()
    low, high = np.empty(lower.shape, dtype=np.int32), np.empty(lower.shape, dtype=np.int32)
    for feature, levels in enumerate(grid.levels):
        # The slab above the level `lower`, and the slab whose upper end is `upper`; NaN and +inf belong to the last.
        low[:, feature] = np.searchsorted(levels, lower[:, feature], side="right")
        high[:, feature] = np.searchsorted(levels, upper[:, feature])
    return low, high


def _value_boxes(
    cores: dict[int, _Core], n_leaves: int, ensemble: Ensemble, grid: Grid
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return cores as bounds on values; leaves without one get an empty box."""
    lower, upper = np.zeros((n_leaves, ensemble.n_features)), np.zeros((n_leaves, ensemble.n_features))
    index = np.array(list(cores), dtype=np.intp)
    if len(index) == 0:
        return lower, upper
    low, high = np.array([core.low for core in cores.values()]), np.array([core.high for core in cores.values()])
    for feature, levels in enumerate(grid.levels):
        last = np.nan if ensemble.nan_features[feature] else np.inf
        lower[index, feature] = np.append(-np.inf, levels)[low[:, feature]]
        upper[index, feature] = np.append(levels, last)[high[:, feature]]
    return lower, upper
