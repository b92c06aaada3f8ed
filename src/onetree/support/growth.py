"""Growing a tree where the reference rows are, best split first.

Each node holds its reference rows and a pool of synthetic rows: those of its parent that lie in its box, topped up with
new ones mixed inside the node. The first pool has rows mixed all over the data and rows mixed among those near them.
Splits are hyperplanes of the ensemble with rows on both sides: reference rows in a faithful tree, otherwise synthetic
ones will do. A part without reference rows is never split, so the growth stays where the data are. Nothing here
recurses.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.support.branches import Branches
from onetree.support.rows import Numbers, Rows, Sample
from onetree.tree.tree import LEAF

TOP_UP = 1_000  # rows of a node, reference and synthetic, that its split is chosen by, at least
_FIRST_POOL = 40_000  # synthetic rows at the root, but ...
_MAX_VALUES = 20_000_000  # ... no more values than this, and ...
_MAX_STEPS = 40_000_000  # ... no more steps down the ensemble's trees to find their classes; and ...
_MAX_NODE_VALUES = 400_000  # ... no node is topped up to more than this
ENOUGH = 10_000  # rows to choose a split by: of more, some
_NEAR = 0.5  # of the rows of the first pool have values only of rows near them
POOL_MASS = 9.0  # what they weigh together at the root, in reference rows per reference row
_NOTHING = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class Split:
    """A gap between the slabs of rows: every level from `below` to ``above - 1`` parts them in the same way."""

    feature: int
    below: int  # the last slab of the left side
    above: int  # the first slab of the right side
    gain: float  # decrease of the Gini impurity, per unit of weight


@dataclass(eq=False)
class Node:
    """A node: a leaf until it is split. Only leaves hold rows."""

    rows: Numbers
    pool: Numbers
    pool_weight: float  # of each row of the pool; a reference row weighs 1
    leaf_class: int
    n_wrong: int  # reference rows of another class
    share: float  # of the weight of all rows at the root
    error: float  # share of the weight of all rows at the root that has another class
    split: Split | None
    feature: int = LEAF
    cut: int = 0  # a row goes left where its slab is at most this
    left: int = LEAF
    right: int = LEAF


def first_pool(sample: Sample) -> Numbers:
    """Add the synthetic rows that a growth starts with."""
    n_steps = max(1.0, sample.maker.predictor.n_steps)
    n_rows = min(_FIRST_POOL, _MAX_VALUES // max(1, len(sample.columns)), int(_MAX_STEPS / n_steps))
    n_rows = max(n_rows, TOP_UP)
    n_near = int(_NEAR * n_rows)
    return np.concatenate([sample.mix(sample.reference, n_rows - n_near), sample.mix_near(n_near)])


class Growth:
    """A tree that grows."""

    def __init__(self, sample: Sample, pool: Numbers, *, faithful: bool, pool_mass: float = POOL_MASS) -> None:
        """Start with a single leaf.

        `faithful`: a leaf has the class of most of its reference rows and is done when they are all of it; otherwise
        synthetic rows count like them. `pool_mass`: what the pool weighs, in reference rows per reference row.
        """
        self._sample = sample
        self._n_classes = sample.maker.predictor.ensemble.n_classes
        self._faithful = faithful
        self.nodes: list[Node] = []
        self._waiting: list[tuple[float, int]] = []
        n_rows = len(sample.reference)
        self._weight = (1 + pool_mass) * n_rows
        self.n_leaves = 1
        self._add(sample.reference, pool, pool_mass * n_rows / len(pool))

    @property
    def n_wrong(self) -> int:
        """Reference rows on which the tree differs from the ensemble."""
        return sum(node.n_wrong for node in self.nodes if node.left == LEAF)

    def grow(self, *, max_leaves: float, max_wrong: int, step: Callable[[int, int], bool]) -> None:
        """Split the leaves of largest gain times weight, until there are enough, or few rows are wrong.

        `step` is called before each split with the leaves and the wrong rows so far, and says whether to go on.
        """
        n_wrong = self.n_wrong
        while self._waiting and self.n_leaves < max_leaves and (not self._faithful or n_wrong > max_wrong):
            if not step(self.n_leaves, n_wrong):
                break
            _, index = heapq.heappop(self._waiting)
            n_wrong += self._split(index)

    def join(self, rows: Rows) -> None:
        """Let more reference rows take part: each goes to its leaf, whose split is then chosen again."""
        numbers = self._sample.join(rows)
        place = np.zeros(len(numbers), dtype=np.intp)
        self._waiting.clear()
        for index, node in enumerate(self.nodes):  # children come after their parents
            here = np.flatnonzero(place == index)
            if node.left != LEAF:
                goes_left = self._sample.columns[node.feature, numbers[here]] <= node.cut
                place[here] = np.where(goes_left, node.left, node.right)
            elif len(here):
                self.nodes[index] = self._node(np.concatenate([node.rows, numbers[here]]), node.pool, node.pool_weight)
        for index, node in enumerate(self.nodes):
            if node.left == LEAF:
                self._wait(index)

    def _split(self, index: int) -> int:
        """Split a leaf; return by how many the wrong rows changed."""
        node = self.nodes[index]
        split = node.split
        if split is None:
            raise AssertionError("only leaves with a split are waiting")
        node.feature = split.feature
        node.cut = self._sample.level_between(split.feature, split.below, split.above)
        slabs = self._sample.columns[split.feature]
        sides = slabs[node.rows] <= node.cut, slabs[node.pool] <= node.cut
        node.left = self._add(node.rows[sides[0]], node.pool[sides[1]], node.pool_weight)
        node.right = self._add(node.rows[~sides[0]], node.pool[~sides[1]], node.pool_weight)
        self.n_leaves += 1
        node.rows, node.pool = _NOTHING, _NOTHING
        return self.nodes[node.left].n_wrong + self.nodes[node.right].n_wrong - node.n_wrong

    def _add(self, rows: Numbers, pool: Numbers, pool_weight: float) -> int:
        self.nodes.append(self._node(rows, pool, pool_weight))
        self._wait(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _wait(self, index: int) -> None:
        node = self.nodes[index]
        if node.split is not None:
            heapq.heappush(self._waiting, (-node.split.gain * node.share, index))

    def _node(self, rows: Numbers, pool: Numbers, pool_weight: float) -> Node:
        sample = self._sample
        pool, pool_weight = self._topped_up(rows, pool, pool_weight)
        reference = np.bincount(sample.classes[rows], minlength=self._n_classes)
        total = reference + pool_weight * np.bincount(sample.classes[pool], minlength=self._n_classes)
        leaf_class = self._leaf_class(reference, total)
        n_wrong = len(rows) - int(reference[leaf_class])
        split = None
        if n_wrong if self._faithful else len(rows) > 0 and np.count_nonzero(total) > 1:
            split = self._best_split(rows, pool, pool_weight)
        return Node(
            rows,
            pool if split is not None else _NOTHING,  # nobody will ask for it
            pool_weight,
            leaf_class,
            n_wrong,
            share=float(total.sum()) / self._weight,
            error=float(total.sum() - total[leaf_class]) / self._weight,
            split=split,
        )

    def _topped_up(self, rows: Numbers, pool: Numbers, pool_weight: float) -> tuple[Numbers, float]:
        """Return the pool of a node with rows enough to choose a split by, and what each of them weighs."""
        sample = self._sample
        n_missing = min(TOP_UP, _MAX_NODE_VALUES // max(1, len(sample.columns))) - len(rows) - len(pool)
        if n_missing > 0 and _differ(sample.columns, rows):
            mass = pool_weight * len(pool) if len(pool) else float(len(rows))
            pool = np.concatenate([pool, sample.mix(np.concatenate([rows, pool]), n_missing)])
            pool_weight = mass / len(pool)
        return pool, pool_weight

    def _best_split(self, rows: Numbers, pool: Numbers, pool_weight: float) -> Split | None:
        sample = self._sample
        if not self._faithful:
            step = max(1, (len(rows) + len(pool)) // ENOUGH)
            rows, pool = rows[::step], pool[::step]
        found = _core.least_impurity(
            sample.columns, sample.classes, self._n_classes, rows, pool, pool_weight, self._faithful
        )
        # A faithful tree has to part rows of different classes even if that gains nothing at first.
        if found.feature == LEAF or (found.gain <= 0 and not self._faithful):
            return None
        return Split(found.feature, found.below, found.above, found.gain)

    def _leaf_class(self, reference: NDArray[np.intp], total: NDArray[np.float64]) -> int:
        if not self._faithful:
            return int(np.argmax(total))
        likeliest = np.flatnonzero(reference == reference.max())
        return int(likeliest[np.argmax(total[likeliest])])


def _differ(columns: NDArray[np.int32], rows: Numbers) -> bool:
    """Whether some row is unlike another: mostly the first and the last are."""
    if len(rows) < 2:
        return False
    first = columns[:, rows[0]]
    if (first != columns[:, rows[-1]]).any():
        return True
    return bool((columns[:, rows] != first[:, np.newaxis]).any())


def as_branches(nodes: list[Node], leaves: frozenset[int] = frozenset()) -> Branches:
    """Return grown nodes as a tree, with leaves in the place of some of them."""
    kept = [
        replace(node, feature=LEAF, cut=0, left=LEAF, right=LEAF) if index in leaves else node
        for index, node in enumerate(nodes)
    ]
    return Branches(
        np.array([node.feature for node in kept], dtype=np.int32),
        np.array([node.cut for node in kept], dtype=np.int32),
        np.array([node.left for node in kept], dtype=np.int32),
        np.array([node.right for node in kept], dtype=np.int32),
        np.array([node.leaf_class for node in kept], dtype=np.intp),
    ).compact()
