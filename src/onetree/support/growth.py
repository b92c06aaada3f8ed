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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.support.branches import Branches
from onetree.support.rows import RowMaker, Rows
from onetree.support.split import Split, best_split, cut_in_gap
from onetree.tree import LEAF

TOP_UP = 1_000  # rows of a node, reference and synthetic, that its split is chosen by, at least
_FIRST_POOL = 40_000  # synthetic rows at the root, but ...
_MAX_VALUES = 20_000_000  # ... no more values than this; and ...
_MAX_NODE_VALUES = 400_000  # ... no node is topped up to more than this, since all leaves that wait hold theirs
_NEAR = 0.5  # of the rows of the first pool have values only of rows near them
POOL_MASS = 9.0  # what they weigh together at the root, in reference rows per reference row
_NO_SLAB = np.iinfo(np.int32).max


@dataclass(eq=False)
class Node:
    """A node: a leaf until it is split. Only leaves hold rows."""

    rows: Rows
    pool: Rows
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


def first_pool(maker: RowMaker, rows: Rows, share: float = 1.0) -> Rows:
    """Make the synthetic rows that a growth starts with, or a share of so many."""
    n_rows = int(share * max(min(_FIRST_POOL, _MAX_VALUES // max(1, rows.values.shape[1])), TOP_UP))
    n_near = int(_NEAR * n_rows)
    return maker.mix(rows, n_rows - n_near).joined(maker.mix_near(rows, n_near))


class Growth:
    """A tree that grows."""

    def __init__(self, maker: RowMaker, rows: Rows, pool: Rows, n_classes: int, *, faithful: bool) -> None:
        """Start with a single leaf.

        `faithful`: a leaf has the class of most of its reference rows and is done when they are all of it; otherwise
        synthetic rows count like them.
        """
        self._maker = maker
        self._n_classes = n_classes
        self._faithful = faithful
        self.nodes: list[Node] = []
        self._waiting: list[tuple[float, int]] = []
        self._weight = (1 + POOL_MASS) * len(rows)
        self.n_leaves = 1
        self._add(rows, pool, POOL_MASS * len(rows) / len(pool))

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
        """Let more reference rows take part: each goes to its leaf, which is then looked at anew."""
        place = np.array([0] * len(rows), dtype=np.intp)
        self._waiting.clear()
        for index, node in enumerate(self.nodes):  # children come after their parents
            here = np.flatnonzero(place == index)
            if node.left != LEAF:
                goes_left = rows.slabs[here, node.feature] <= node.cut
                place[here] = np.where(goes_left, node.left, node.right)
            elif len(here):
                self.nodes[index] = self._node(node.rows.joined(rows.take(here)), node.pool, node.pool_weight)
        for index, node in enumerate(self.nodes):
            if node.left == LEAF:
                self._wait(index)

    def _split(self, index: int) -> int:
        """Split a leaf; return by how many the wrong rows changed."""
        node = self.nodes[index]
        split = node.split
        if split is None:
            raise AssertionError("only leaves with a split are waiting")
        everything = node.rows.joined(node.pool)
        slabs, values = everything.slabs[:, split.feature], everything.values[:, split.feature]
        cut = cut_in_gap(split.below, self._maker.grid.levels[split.feature], slabs, values)
        node.feature, node.cut = split.feature, cut
        sides = node.rows.slabs[:, split.feature] <= cut, node.pool.slabs[:, split.feature] <= cut
        node.left = self._add(node.rows.take(sides[0]), node.pool.take(sides[1]), node.pool_weight)
        node.right = self._add(node.rows.take(~sides[0]), node.pool.take(~sides[1]), node.pool_weight)
        self.n_leaves += 1
        nothing = node.rows.take(np.empty(0, dtype=np.intp))
        node.rows, node.pool = nothing, nothing
        return self.nodes[node.left].n_wrong + self.nodes[node.right].n_wrong - node.n_wrong

    def _add(self, rows: Rows, pool: Rows, pool_weight: float) -> int:
        self.nodes.append(self._node(rows, pool, pool_weight))
        self._wait(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _wait(self, index: int) -> None:
        node = self.nodes[index]
        if node.split is not None:
            heapq.heappush(self._waiting, (-node.split.gain * node.share, index))

    def _node(self, rows: Rows, pool: Rows, pool_weight: float) -> Node:
        least, most = rows.slabs.min(axis=0, initial=_NO_SLAB), rows.slabs.max(axis=0, initial=-1)
        n_missing = min(TOP_UP, _MAX_NODE_VALUES // max(1, len(least))) - len(rows) - len(pool)
        if n_missing > 0 and (least < most).any():
            mass = pool_weight * len(pool) if len(pool) else float(len(rows))
            pool = pool.joined(self._maker.mix(rows.joined(pool), n_missing))
            pool_weight = mass / len(pool)
        counts = np.zeros((len(rows) + len(pool), self._n_classes))
        counts[np.arange(len(rows)), rows.classes] = 1.0
        counts[np.arange(len(rows), len(counts)), pool.classes] = pool_weight
        total = counts.sum(axis=0)
        reference = np.bincount(rows.classes, minlength=self._n_classes)
        leaf_class = self._leaf_class(reference, total)
        n_wrong = len(rows) - int(reference[leaf_class])
        split = None
        if n_wrong if self._faithful else len(rows) > 1 and np.count_nonzero(total) > 1:
            slabs = np.concatenate([rows.slabs, pool.slabs])
            if not self._faithful:
                least, most = slabs.min(axis=0), slabs.max(axis=0)
            split = best_split(slabs, counts, least, most)
            # A faithful tree has to part rows of different classes even if that gains nothing at first.
            if split is not None and split.gain <= 0 and not self._faithful:
                split = None
        if split is None:
            pool = pool.take(np.empty(0, dtype=np.intp))  # nobody will ask for it
        return Node(
            rows,
            pool,
            pool_weight,
            leaf_class,
            n_wrong,
            share=float(total.sum()) / self._weight,
            error=float(total.sum() - total[leaf_class]) / self._weight,
            split=split,
        )

    def _leaf_class(self, reference: NDArray[np.intp], total: NDArray[np.float64]) -> int:
        if not self._faithful:
            return int(np.argmax(total))
        likeliest = np.flatnonzero(reference == reference.max())
        return int(likeliest[np.argmax(total[likeliest])])


def as_branches(nodes: list[Node]) -> Branches:
    """Give grown nodes without those that were cut off."""
    return Branches(
        np.array([node.feature for node in nodes], dtype=np.int32),
        np.array([node.cut for node in nodes], dtype=np.int32),
        np.array([node.left for node in nodes], dtype=np.int32),
        np.array([node.right for node in nodes], dtype=np.int32),
        np.array([node.leaf_class for node in nodes], dtype=np.intp),
    ).compact()
