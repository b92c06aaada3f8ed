"""The smallest tree with the ensemble's class on every reference row, proven: a search over the cells of the rows.

A node of the search is a set of cells, held as the bits of an integer. What counts are the trees that split on the
ensemble's hyperplanes; hyperplanes that part the cells in the same way are one. The search deepens: it proves that no
tree of size b exists, then tries b + 1, so that it can stop at any time with a bound. For some hundred cells.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from onetree.lowering.grid import Grid
from onetree.support.rows import Rows
from onetree.tree.tree import LEAF, Tree

MAX_STATES = 1_000_000  # sets of cells that are remembered
_LARGE = 10**9

_Question = tuple[int, int]  # a set of cells, and the largest size that is of interest
_Search = Generator[_Question, int, int]


class _OutOfTimeError(Exception):
    pass


@dataclass(frozen=True)
class _Cut:
    left: int  # the cells on the left
    feature: int
    threshold: float


def search_optimum(
    tree: Tree, rows: Rows, grid: Grid, objective: str, seconds: float | None
) -> tuple[Tree, tuple[int, int]]:
    """Search for the tree of least depth or fewest leaves that gives every row its class.

    Parameters
    ----------
    tree : Tree
        One that does, to begin with; it is returned if no smaller one is found.
    rows : Rows
    grid : Grid
    objective : {"depth", "leaves"}
    seconds : float or None

    Returns
    -------
    tree : Tree
    bounds : pair of int
        Least depth and fewest leaves that are proven, for all trees over the ensemble's hyperplanes.
    """
    search = _Optimum(rows, grid, objective == "depth", seconds)
    best, bound = (tree.depth if objective == "depth" else tree.n_leaves), search.bound(search.everything)
    try:
        while bound < best:
            size = search.solve(search.everything, bound)
            if size <= bound:
                tree, best = search.tree(tree), size
            else:
                bound = min(size, best)
    except _OutOfTimeError:
        pass
    n_classes = len(np.unique(rows.classes))
    if objective == "depth":
        return tree, (bound, max(n_classes, bound + 1))
    return tree, (max((n_classes - 1).bit_length(), (bound - 1).bit_length()), bound)


class _Optimum:
    """The search, and what it has found out about sets of cells."""

    def __init__(self, rows: Rows, grid: Grid, by_depth: bool, seconds: float | None) -> None:
        cells, first = np.unique(rows.slabs, axis=0, return_index=True)
        self._by_depth = by_depth
        self._end = None if seconds is None else perf_counter() + seconds
        classes = rows.classes[first]
        apart = _apart(cells, classes)
        # Cells that can share a leaf with few others come first, so that the greedy bound takes them first.
        order = np.argsort([-each.bit_count() for each in apart], kind="stable")
        cells, self._classes = cells[order], classes[order]
        self._apart = _apart(cells, self._classes)
        self._of_class = [_bits(self._classes == each) for each in np.unique(self._classes)]
        self._cuts = _cuts(cells, grid)
        self.everything = (1 << len(cells)) - 1
        self._bounds: dict[int, int] = {}
        self._solved: dict[int, tuple[int, _Cut]] = {}

    def bound(self, cells: int) -> int:
        """Return a size that no tree for these cells is below."""
        known = self._bounds.get(cells)
        if known is None:
            # Cells of which no two fit into one leaf need a leaf each.
            n_leaves, left = 0, cells
            while left:
                n_leaves += 1
                left &= self._apart[(left & -left).bit_length() - 1]
            known = (n_leaves - 1).bit_length() if self._by_depth else n_leaves
            self._bounds[cells] = known
        return known

    def solve(self, cells: int, limit: int) -> int:
        """Return the least size if it is at most `limit`, otherwise a bound above `limit`."""
        stack: list[_Search] = [self._search(cells, limit)]
        answer: int | None = None
        while stack:  # a stack of generators instead of recursion
            try:
                question = next(stack[-1]) if answer is None else stack[-1].send(answer)
            except StopIteration as done:
                stack.pop()
                answer = done.value
            else:
                stack.append(self._search(*question))
                answer = None
        if answer is None:
            raise AssertionError("a search always ends with an answer")
        return answer

    def _search(self, cells: int, limit: int) -> _Search:
        if any(cells & ~each == 0 for each in self._of_class):
            return 0 if self._by_depth else 1
        if cells in self._solved:
            return self._solved[cells][0]
        lowest = self.bound(cells)
        if lowest > limit:
            return lowest
        if (self._end is not None and perf_counter() > self._end) or len(self._bounds) > MAX_STATES:
            raise _OutOfTimeError
        best, least = None, _LARGE
        for _, left, cut in self._ordered(cells):
            right = cells & ~left
            left_bound, right_bound = self.bound(left), self.bound(right)
            size = self._together(left_bound, right_bound)
            if size <= limit:
                left_bound = yield left, self._room(limit, right_bound)
                size = self._together(left_bound, right_bound)
            if size <= limit:
                right_bound = yield right, self._room(limit, left_bound)
                size = self._together(left_bound, right_bound)
            least = min(least, size)
            if size <= limit:
                best, limit = cut, size - 1
                if size == lowest:
                    break
        if best is not None:
            self._solved[cells] = limit + 1, best
            return limit + 1
        self._bounds[cells] = max(lowest, least)
        return self._bounds[cells]

    def _ordered(self, cells: int) -> list[tuple[int, int, _Cut]]:
        """Return the ways to part the cells, the most promising first."""
        found: dict[int, tuple[int, int, _Cut]] = {}
        for cut in self._cuts:
            left = cells & cut.left
            if left and left != cells and left not in found:
                found[left] = self._together(self.bound(left), self.bound(cells & ~left)), left, cut
        return sorted(found.values(), key=lambda each: each[0])

    def _together(self, left: int, right: int) -> int:
        return 1 + max(left, right) if self._by_depth else left + right

    def _room(self, limit: int, other: int) -> int:
        """Return what one side may have at most, given the other side."""
        return limit - 1 if self._by_depth else limit - other

    def tree(self, like: Tree) -> Tree:
        """Read back the tree that was found, for the features and classes of `like`."""
        feature, threshold, children, leaf_class = [LEAF], [0.0], [[LEAF, LEAF]], [LEAF]
        stack = [(0, self.everything)]
        while stack:
            node, cells = stack.pop()
            if cells not in self._solved:
                leaf_class[node] = int(self._classes[(cells & -cells).bit_length() - 1])
                continue
            cut = self._solved[cells][1]
            feature[node], threshold[node] = cut.feature, cut.threshold
            for side, part in enumerate((cells & cut.left, cells & ~cut.left)):
                children[node][side] = len(feature)
                stack.append((len(feature), part))
                feature.append(LEAF)
                threshold.append(0.0)
                children.append([LEAF, LEAF])
                leaf_class.append(LEAF)
        return Tree(
            feature=np.array(feature),
            threshold=np.array(threshold),
            children_left=np.array([left for left, _ in children]),
            children_right=np.array([right for _, right in children]),
            leaf_class=np.array(leaf_class),
            classes=like.classes,
            feature_names=like.feature_names,
            nan_features=like.nan_features,
            exact=False,
            columns=like.columns,
        )


def _bits(chosen: NDArray[np.bool_]) -> int:
    """Return a set of cells as the bits of a number."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


def _cuts(cells: NDArray[np.int32], grid: Grid) -> list[_Cut]:
    """Return one hyperplane for each way to part the cells, in the middle of those that do it."""
    found: dict[int, _Cut] = {}
    everything = (1 << len(cells)) - 1
    for feature, levels in enumerate(grid.levels):
        slabs = np.unique(cells[:, feature])
        for below, above in zip(slabs[:-1].tolist(), slabs[1:].tolist(), strict=True):
            left = _bits(cells[:, feature] <= below)
            if left not in found and everything & ~left not in found:
                found[left] = _Cut(left, feature, float(levels[(below + above) // 2]))
    return list(found.values())


def _apart(cells: NDArray[np.int32], classes: NDArray[np.intp]) -> list[int]:
    """Return for each cell those that share no leaf with it: another class lies in the box around both."""
    n_cells, n_features = cells.shape
    of_class = {each: _bits(classes == each) for each in np.unique(classes).tolist()}
    everything = (1 << n_cells) - 1
    ranks, up_to = [], []
    for feature in range(n_features):
        slabs, rank = np.unique(cells[:, feature], return_inverse=True)
        if len(slabs) > 1:
            ranks.append(rank.tolist())
            up_to.append([0, *(_bits(rank <= each) for each in range(len(slabs)))])
    apart = [everything & ~of_class[each] for each in classes.tolist()]
    for one in range(n_cells):
        rivals = apart[one] & ~of_class[int(classes[one])]
        for other in range(one):
            if classes[one] != classes[other]:
                continue
            between = rivals
            for rank, sets in zip(ranks, up_to, strict=True):
                low, high = (rank[one], rank[other]) if rank[one] < rank[other] else (rank[other], rank[one])
                between &= sets[high + 1] & ~sets[low]
                if not between:
                    break
            if between:
                apart[one] |= 1 << other
                apart[other] |= 1 << one
    return apart
