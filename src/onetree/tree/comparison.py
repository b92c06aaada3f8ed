"""How much two trees agree: on rows of data, and in how many of the cells that they cut the space into.

Nothing here recurses, and the number of cells does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.model.categories import MISSING, Categories
from onetree.model.inputs import RowsLike
from onetree.tree.leaf_values import outcomes
from onetree.tree.tree import LEAF, Tree

MAX_BOXES = 2_000_000  # that `compare` counts before it gives up
_BATCH = 1 << 12  # boxes handled at once


@dataclass(frozen=True)
class Comparison:
    """How much two trees agree.

    Parameters
    ----------
    n_rows, n_agreeing : int
        Rows of the data, and those on which both say the same: the class and, if they have any, the numbers.
    n_cells : int
        Cells into which the thresholds and set tests of both trees cut the space.
    n_changed_cells : int or None
        Those in which the trees differ; None if they were too many to count.
    """

    n_rows: int
    n_agreeing: int
    n_cells: int
    n_changed_cells: int | None

    @property
    def agreement(self) -> float:
        """Share of the rows on which both say the same; 1.0 without rows."""
        return self.n_agreeing / self.n_rows if self.n_rows else 1.0

    @property
    def changed(self) -> float | None:
        """Share of the cells in which the trees differ, if counted."""
        return None if self.n_changed_cells is None else self.n_changed_cells / self.n_cells


def compare(before: Tree, after: Tree, X: RowsLike, *, max_boxes: int = MAX_BOXES) -> Comparison:
    """Count the rows and the cells on which two trees say the same.

    On the data that a tree was pruned with, all rows agree; other data show how well it does.

    Parameters
    ----------
    before, after : Tree
        Over the same features and classes; usually a tree and what `prune` left of it.
    X : array of shape (n_rows, n_features) or data frame
        The data to compare on.
    max_boxes : int
        Most leaf boxes, of one tree cut by the other, that are gone through to count cells. The number of cells
        itself does not matter.

    Returns
    -------
    Comparison
    """
    if before.n_features != after.n_features or not np.array_equal(before.classes, after.classes):
        raise InvalidInputError(
            "the trees have different features or classes; compare a tree with what `prune` made of it"
        )
    if not np.array_equal(before.nan_features, after.nan_features):
        raise InvalidInputError("the trees take missing values on different features, so they cannot be compared")
    if before.categories != after.categories:
        raise InvalidInputError("the trees have different categories on a feature, so they cannot be compared")
    if before.output != after.output or _dtype(before) != _dtype(after):
        raise InvalidInputError(
            f"the leaves of one tree say {before.output} and those of the other {after.output}, or in another number "
            "type; compare a tree with what `prune` made of it"
        )
    says = outcomes(before, after).index
    agree = says[0][before.apply(X)] == says[1][after.apply(X)]
    slabs = _Slabs(before, after)
    return Comparison(
        n_rows=len(agree),
        n_agreeing=int(agree.sum()),
        n_cells=slabs.n_cells,
        n_changed_cells=_n_changed_cells(before, after, says, slabs, max_boxes),
    )


def _dtype(tree: Tree) -> np.dtype[Any] | None:
    return None if tree.value is None else tree.value.dtype


class _Slabs:
    """The parts of each feature that two trees distinguish: between thresholds, or elements of a categorical feature.

    The latter have no order. Each has a column of its own, and a test keeps some of the columns of its feature.
    """

    def __init__(self, *trees: Tree) -> None:
        categories, nan_features = trees[0].categories, trees[0].nan_features.tolist()
        self.levels = [  # ascending; +inf among them splits off the missing values
            np.unique(np.concatenate([tree.threshold[_ordinary(tree, feature)] for tree in trees]))
            for feature in range(len(categories))
        ]
        elements = [
            np.zeros(0, dtype=np.intp) if kind is None else _told_apart(kind, nan, feature, trees)
            for feature, (kind, nan) in enumerate(zip(categories, nan_features, strict=True))
        ]
        self.categorical = np.array([kind is not None for kind in categories], dtype=bool)
        self.n = np.where(self.categorical, list(map(len, elements)), [len(cuts) + 1 for cuts in self.levels])
        self.element = np.concatenate([np.zeros(0, dtype=np.intp), *elements])
        owner = np.repeat(np.arange(len(elements)), list(map(len, elements)))
        self.own = owner == np.arange(len(elements))[:, np.newaxis]  # columns of each feature

    @property
    def n_cells(self) -> int:
        return math.prod(self.n.tolist())


def _ordinary(tree: Tree, feature: int) -> NDArray[np.bool_]:
    here: NDArray[np.bool_] = (tree.feature == feature) & (tree.subset < 0)
    return here


def _told_apart(kind: Categories, nan: bool, feature: int, trees: tuple[Tree, ...]) -> NDArray[np.intp]:
    """Return one element for each way through the set tests of a feature."""
    tests = [tree.subsets[np.unique(tree.subset[tree.feature == feature])] for tree in trees]
    elements = np.array([each for each in range(kind.n_elements) if nan or each != MISSING])
    _, first = np.unique(np.concatenate(tests)[:, elements], axis=1, return_index=True)
    return elements[np.sort(first)]


class _Sides:
    """What the tests of one tree keep on either side."""

    def __init__(self, tree: Tree, slabs: _Slabs) -> None:
        self.tree, self.slabs = tree, slabs
        self.place = np.zeros(tree.n_nodes, dtype=np.int64)  # the first slab to the right of a threshold
        for feature, cuts in enumerate(slabs.levels):
            here = _ordinary(tree, feature)
            self.place[here] = np.searchsorted(cuts, tree.threshold[here]) + 1
        self.inside = tree.subsets[:, slabs.element]  # by set, then column

    def of(self, boxes: _Boxes, *, first: bool) -> tuple[_Boxes, _Boxes]:
        """Return what of the boxes goes left and what goes right."""
        tree, node = self.tree, boxes.nodes(first=first)
        row, at, test = np.arange(len(node)), tree.feature[node], tree.subset[node]
        high, low = boxes.high.copy(), boxes.low.copy()
        in_left, in_right = boxes.columns, boxes.columns
        by_set = test >= 0
        cut = np.where(by_set, boxes.low[row, at], self.place[node])
        high[row, at] = np.where(by_set, high[row, at], np.minimum(high[row, at], cut))
        low[row, at] = np.maximum(low[row, at], cut)
        if by_set.any():
            others, inside = ~self.slabs.own[at], self.inside[test]
            in_left = boxes.columns & (others | inside | ~by_set[:, np.newaxis])
            in_right = boxes.columns & (others | ~inside | ~by_set[:, np.newaxis])
        left = replace(boxes, high=high, columns=in_left).at(tree.children_left[node], first=first)
        right = replace(boxes, low=low, columns=in_right).at(tree.children_right[node], first=first)
        # A path may contradict itself, and then no cell is left.
        return left.select(left.widths(self.slabs)[row, at] > 0), right.select(right.widths(self.slabs)[row, at] > 0)


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Some boxes of cells, each with the node of either tree that it has come to."""

    before: NDArray[np.int32]
    after: NDArray[np.int32]
    low: NDArray[np.int64]  # first slab of each feature
    high: NDArray[np.int64]  # last slab, exclusive
    columns: NDArray[np.bool_]  # what is left of the elements of the categorical features

    def nodes(self, *, first: bool) -> NDArray[np.int32]:
        return self.before if first else self.after

    def at(self, nodes: NDArray[np.int32], *, first: bool) -> _Boxes:
        return replace(self, before=nodes) if first else replace(self, after=nodes)

    def widths(self, slabs: _Slabs) -> NDArray[np.int64]:
        """Return the number of slabs of each feature."""
        if not slabs.categorical.any():
            return self.high - self.low
        counts = self.columns.astype(np.int64) @ slabs.own.T
        return np.where(slabs.categorical, counts, self.high - self.low)

    def select(self, chosen: NDArray[np.bool_] | slice) -> _Boxes:
        return _Boxes(*(getattr(self, name)[chosen] for name in _FIELDS))

    @classmethod
    def joined(cls, parts: list[_Boxes]) -> _Boxes:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))


_FIELDS = ("before", "after", "low", "high", "columns")


def _n_changed_cells(
    before: Tree, after: Tree, says: tuple[NDArray[np.int32], ...], slabs: _Slabs, max_boxes: int
) -> int | None:
    """Count the cells in which the trees differ, leaf box by leaf box; None if there are more than `max_boxes`."""
    if before.n_leaves > max_boxes:
        return None
    # A product of widths may be too large for a machine integer.
    dtype = np.int64 if slabs.n_cells < 2**63 else object
    sides = _Sides(before, slabs), _Sides(after, slabs)
    root = np.zeros(1, dtype=np.int32)
    low, columns = np.zeros((1, len(slabs.n)), dtype=np.int64), np.ones((1, len(slabs.element)), dtype=bool)
    stack = [_Boxes(root, root, low, slabs.n[np.newaxis], columns)]
    n_seen = n_changed = 0
    while stack:
        boxes = stack.pop()
        inner_before = before.children_left[boxes.before] != LEAF
        inner_after = after.children_left[boxes.after] != LEAF
        done = ~(inner_before | inner_after)
        n_seen += int(np.count_nonzero(done))
        if n_seen > max_boxes:
            return None
        differs = done & (says[0][boxes.before] != says[1][boxes.after])
        if differs.any():
            widths = boxes.select(differs).widths(slabs).astype(dtype)
            n_changed += int(widths.prod(axis=1).sum())
        parts: list[_Boxes] = []  # through the first tree to its leaves, then through the second
        if inner_before.any():
            parts += sides[0].of(boxes.select(inner_before), first=True)
        if (inner_after & ~inner_before).any():
            parts += sides[1].of(boxes.select(inner_after & ~inner_before), first=False)
        if parts:
            further = _Boxes.joined(parts)
            stack += [further.select(slice(at, at + _BATCH)) for at in range(0, len(further.before), _BATCH)]
    return n_changed
