"""Data-driven pruning: what the tree says where no data lie is given up for a smaller tree.

A pruned tree is no longer the same function as its source, and says so (`Tree.exact`). `compare` tells how much of the
function is left. Knows nothing of ensembles. Nothing here recurses, and shared subtrees are not written out: only the
paths that data take are followed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError
from onetree.inputs import check_input
from onetree.tree import LEAF, Tree

MAX_BOXES = 2_000_000  # that `compare` counts before it gives up
_BATCH = 1 << 12  # boxes handled at once


def prune(tree: Tree, X: ArrayLike) -> Tree:
    """Leave out the splits that no data need.

    From the bottom up, a split one side of which holds no row of `X` gives way to its other side; then two leaves of
    one class below the same split become one leaf. The classes of the rows of `X` stay what they were; elsewhere they
    may change, so the result is marked as not exact. See `compare` for how much did.

    Parameters
    ----------
    tree : Tree
        Its equal subtrees may be shared; each path is pruned on its own.
    X : array of shape (n_rows, n_features)
        The training data, or any other inputs that stand for those to come; at least one row.

    Returns
    -------
    Tree
        With ``exact`` False.

    Examples
    --------
    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = onetree.born_again(RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)).tree
    >>> pruned = prune(tree, X)
    >>> pruned.n_leaves < tree.n_leaves, pruned.exact
    (True, False)
    >>> compare(tree, pruned, X).agreement
    1.0
    """
    rows = check_input(X, tree.n_features, tree.nan_features)
    if len(rows) == 0:
        raise InvalidInputError("X has no rows, so every split would go; give the data that the model was trained on")
    used = _used_splits(tree, rows.astype(np.float64, copy=False))
    used.merge_siblings()
    return used.in_place_of(tree)


@dataclass(frozen=True)
class Comparison:
    """How much two trees agree.

    Parameters
    ----------
    n_rows, n_agreeing : int
        Rows of the data, and those on which both say the same class.
    n_cells : int
        Cells into which the thresholds of both trees cut the space.
    n_changed_cells : int or None
        Those in which the classes differ; None if they were too many to count.
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
        """Share of the cells in which the classes differ, if counted."""
        return None if self.n_changed_cells is None else self.n_changed_cells / self.n_cells


def compare(before: Tree, after: Tree, X: ArrayLike, *, max_boxes: int = MAX_BOXES) -> Comparison:
    """Count the rows and the cells on which two trees say the same.

    On the very data that a tree was pruned with, all rows agree; on other data they tell how it will do.

    Parameters
    ----------
    before, after : Tree
        Over the same features and classes; usually a tree and what `prune` left of it.
    X : array of shape (n_rows, n_features)
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
    agree = before.predict_index(X) == after.predict_index(X)
    levels = _levels(before, after)
    return Comparison(
        n_rows=len(agree),
        n_agreeing=int(agree.sum()),
        n_cells=math.prod(len(cuts) + 1 for cuts in levels),
        n_changed_cells=_n_changed_cells(before, after, levels, max_boxes),
    )


class _Nodes:
    """A tree while it is being built; children come after their parents."""

    def __init__(self) -> None:
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.leaf_class: list[int] = []

    def add(self, feature: int, threshold: float, leaf_class: int) -> int:
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.left.append(LEAF)
        self.right.append(LEAF)
        self.leaf_class.append(leaf_class)
        return len(self.feature) - 1

    def merge_siblings(self) -> None:
        """Make a leaf of every split whose sides are leaves of one class, and so on upwards."""
        for node in range(len(self.feature) - 1, -1, -1):  # children come later, so theirs is done
            if self.left[node] != LEAF:
                left, right = self.leaf_class[self.left[node]], self.leaf_class[self.right[node]]
                if left == right != LEAF:
                    self.feature[node], self.threshold[node], self.leaf_class[node] = LEAF, 0.0, left
                    self.left[node] = self.right[node] = LEAF

    def in_place_of(self, tree: Tree) -> Tree:
        """Give `tree` with these nodes for its own, without those that merging has cut off; no longer exact."""
        kept = np.zeros(len(self.feature), dtype=bool)
        kept[0] = True
        for node, (left, right) in enumerate(zip(self.left, self.right, strict=True)):
            if kept[node] and left != LEAF:
                kept[left] = kept[right] = True
        number = np.append(np.cumsum(kept) - 1, LEAF).astype(np.int32)  # the last stands for "no child", index -1
        return replace(
            tree,
            feature=np.array(self.feature, dtype=np.int32)[kept],
            threshold=np.array(self.threshold)[kept],
            children_left=number[np.array(self.left)[kept]],
            children_right=number[np.array(self.right)[kept]],
            leaf_class=np.array(self.leaf_class, dtype=np.int32)[kept],
            exact=False,
        )


def _used_splits(tree: Tree, rows: NDArray[np.float64]) -> _Nodes:
    """Give the tree of the splits that have rows on both sides."""
    feature, threshold = tree.feature.tolist(), tree.threshold.tolist()
    children_left, children_right = tree.children_left.tolist(), tree.children_right.tolist()
    nodes = _Nodes()
    # A node of `tree`, the rows that came to it on one path, and the list and place where its new number is missing.
    stack = [(0, np.arange(len(rows)), [LEAF], 0)]
    while stack:
        node, here, children, place = stack.pop()
        while children_left[node] != LEAF:
            goes_left = rows[here, feature[node]] <= threshold[node]
            n_left = int(np.count_nonzero(goes_left))
            if 0 < n_left < len(here):
                break
            node = children_left[node] if n_left else children_right[node]
        if children_left[node] == LEAF:
            children[place] = nodes.add(LEAF, 0.0, int(tree.leaf_class[node]))
        else:
            new = nodes.add(feature[node], threshold[node], LEAF)
            children[place] = new
            stack.append((children_right[node], here[~goes_left], nodes.right, new))
            stack.append((children_left[node], here[goes_left], nodes.left, new))
    return nodes


Levels = list[NDArray[np.float64]]


def _levels(*trees: Tree) -> Levels:
    """Give the thresholds of all trees per feature, ascending; +inf among them splits off the missing values."""
    return [
        np.unique(np.concatenate([tree.threshold[tree.feature == feature] for tree in trees]))
        for feature in range(trees[0].n_features)
    ]


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Some boxes of cells, each with the node of either tree that it has come to."""

    before: NDArray[np.int32]
    after: NDArray[np.int32]
    low: NDArray[np.int64]  # first slab of each feature
    high: NDArray[np.int64]  # last slab, exclusive

    def nodes(self, *, first: bool) -> NDArray[np.int32]:
        return self.before if first else self.after

    def at(self, nodes: NDArray[np.int32], *, first: bool) -> _Boxes:
        return replace(self, before=nodes) if first else replace(self, after=nodes)

    def select(self, chosen: NDArray[np.bool_] | slice) -> _Boxes:
        return _Boxes(self.before[chosen], self.after[chosen], self.low[chosen], self.high[chosen])

    @classmethod
    def joined(cls, parts: list[_Boxes]) -> _Boxes:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))


_FIELDS = ("before", "after", "low", "high")


def _n_changed_cells(before: Tree, after: Tree, levels: Levels, max_boxes: int) -> int | None:
    """Count the cells in which the classes differ, leaf box by leaf box; None if there are more than `max_boxes`."""
    if before.n_leaves > max_boxes:
        return None
    n_slabs = np.array([len(cuts) + 1 for cuts in levels], dtype=np.int64)
    # A product of widths may be too large for a machine integer.
    dtype = np.int64 if math.prod(n_slabs.tolist()) < 2**63 else object
    places = _places(before, levels), _places(after, levels)
    root = np.zeros(1, dtype=np.int32)
    stack = [_Boxes(root, root, np.zeros((1, len(levels)), dtype=np.int64), n_slabs[np.newaxis])]
    n_seen = n_changed = 0
    while stack:
        boxes = stack.pop()
        inner_before = before.children_left[boxes.before] != LEAF
        inner_after = after.children_left[boxes.after] != LEAF
        done = ~(inner_before | inner_after)
        n_seen += int(np.count_nonzero(done))
        if n_seen > max_boxes:
            return None
        differs = done & (before.leaf_class[boxes.before] != after.leaf_class[boxes.after])
        if differs.any():
            widths = (boxes.high - boxes.low)[differs].astype(dtype)
            n_changed += int(widths.prod(axis=1).sum())
        parts: list[_Boxes] = []  # through the first tree to its leaves, then through the second
        if inner_before.any():
            parts += _sides(before, places[0], boxes.select(inner_before), first=True)
        if (inner_after & ~inner_before).any():
            parts += _sides(after, places[1], boxes.select(inner_after & ~inner_before), first=False)
        if parts:
            further = _Boxes.joined(parts)
            stack += [further.select(slice(at, at + _BATCH)) for at in range(0, len(further.before), _BATCH)]
    return n_changed


def _places(tree: Tree, levels: Levels) -> NDArray[np.int64]:
    """Give for each split the first slab that lies to its right."""
    place = np.zeros(tree.n_nodes, dtype=np.int64)
    for feature, cuts in enumerate(levels):
        here = tree.feature == feature
        place[here] = np.searchsorted(cuts, tree.threshold[here]) + 1
    return place


def _sides(tree: Tree, places: NDArray[np.int64], boxes: _Boxes, *, first: bool) -> tuple[_Boxes, _Boxes]:
    """Give what of the boxes goes left and what goes right in the first or second tree."""
    node = boxes.nodes(first=first)
    row, at, cut = np.arange(len(node)), tree.feature[node], places[node]
    high, low = boxes.high.copy(), boxes.low.copy()
    high[row, at] = np.minimum(high[row, at], cut)
    low[row, at] = np.maximum(low[row, at], cut)
    left = replace(boxes, high=high).at(tree.children_left[node], first=first)
    right = replace(boxes, low=low).at(tree.children_right[node], first=first)
    # A path may contradict itself, and then no cell is left.
    return left.select(boxes.low[row, at] < high[row, at]), right.select(low[row, at] < boxes.high[row, at])
