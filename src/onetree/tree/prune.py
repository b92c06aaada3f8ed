"""Pruning with data: a smaller tree, which may differ where no data lie.

A pruned tree is no longer the same function as its source, and says so (`Tree.exact`). `onetree.compare` measures the
difference. Nothing here recurses, and shared subtrees are not written out:
only the paths that data take are followed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from onetree.errors import InvalidInputError
from onetree.model.categories import used_subsets
from onetree.model.inputs import RowsLike, read_inputs
from onetree.model.routing import Routes
from onetree.tree.leaf_values import outcomes
from onetree.tree.tree import LEAF, Tree


def prune(tree: Tree, X: RowsLike) -> Tree:
    """Leave out the splits that no data need.

    From the bottom up, a split one side of which holds no row of `X` gives way to its other side; then two leaves that
    say the same below one split become one leaf. What the tree says of the rows of `X` stays; elsewhere it may change,
    so the result is marked as not exact. See `onetree.compare` for how much did.

    Parameters
    ----------
    tree : Tree
        Its equal subtrees may be shared; each path is pruned on its own.
    X : array of shape (n_rows, n_features) or data frame
        The training data, or other representative inputs; at least one row.

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
    >>> onetree.compare(tree, pruned, X).agreement
    1.0
    """
    rows = read_inputs(X, tree)
    if len(rows) == 0:
        raise InvalidInputError("X has no rows, so every split would go; give the data that the model was trained on")
    used = _used_splits(tree, Routes(tree, rows.astype(np.float64, copy=False)))
    (says,) = outcomes(tree).index
    used.merge_siblings(says.tolist())
    return used.in_place_of(tree)


class _Nodes:
    """A tree while it is being built from the splits of another; children come after their parents."""

    def __init__(self) -> None:
        self.split: list[int] = []  # the node of the other tree whose test this is
        self.left: list[int] = []
        self.right: list[int] = []
        self.leaf: list[int] = []  # the leaf of the other tree that says what this one does

    def add(self, split: int, leaf: int) -> int:
        self.split.append(split)
        self.left.append(LEAF)
        self.right.append(LEAF)
        self.leaf.append(leaf)
        return len(self.split) - 1

    def merge_siblings(self, says: list[int]) -> None:
        """Make a leaf of every split whose sides are leaves that say the same, and so on upwards."""
        for node in range(len(self.split) - 1, -1, -1):  # children come later, so theirs is done
            if self.left[node] != LEAF:
                left, right = self.leaf[self.left[node]], self.leaf[self.right[node]]
                if left != LEAF and right != LEAF and says[left] == says[right]:
                    self.split[node], self.leaf[node] = LEAF, left
                    self.left[node] = self.right[node] = LEAF

    def in_place_of(self, tree: Tree) -> Tree:
        """Return `tree` with these nodes for its own, without those that merging has cut off; no longer exact."""
        kept = np.zeros(len(self.split), dtype=bool)
        kept[0] = True
        for node, (left, right) in enumerate(zip(self.left, self.right, strict=True)):
            if kept[node] and left != LEAF:
                kept[left] = kept[right] = True
        number = np.append(np.cumsum(kept) - 1, LEAF).astype(np.int32)  # the last stands for "no child", index -1
        split = np.array(self.split)[kept]
        leaf = np.array(self.leaf)[kept]
        subset, subsets = used_subsets(np.where(split == LEAF, -1, tree.subset[split]).astype(np.int32), tree.subsets)
        return replace(
            tree,
            feature=np.where(split == LEAF, LEAF, tree.feature[split]),
            threshold=np.where(split == LEAF, 0.0, tree.threshold[split]),
            children_left=number[np.array(self.left)[kept]],
            children_right=number[np.array(self.right)[kept]],
            leaf_class=np.where(leaf == LEAF, LEAF, tree.leaf_class[leaf]),
            value=None if tree.value is None else tree.value[leaf],
            exact=False,
            shares=None,
            subset=subset,
            subsets=subsets,
        )


def _used_splits(tree: Tree, routes: Routes) -> _Nodes:
    """Return the tree of the splits that have rows on both sides."""
    children_left, children_right = tree.children_left.tolist(), tree.children_right.tolist()
    nodes = _Nodes()
    # A node of `tree`, the rows that came to it on one path, and the list and place where its new number is missing.
    stack = [(0, np.arange(len(routes.rows)), [LEAF], 0)]
    while stack:
        node, here, children, place = stack.pop()
        while children_left[node] != LEAF:
            goes_left = routes.go_left(here, node)
            n_left = int(np.count_nonzero(goes_left))
            if 0 < n_left < len(here):
                break
            node = children_left[node] if n_left else children_right[node]
        if children_left[node] == LEAF:
            children[place] = nodes.add(LEAF, node)
        else:
            new = nodes.add(node, LEAF)
            children[place] = new
            stack.append((children_right[node], here[~goes_left], nodes.right, new))
            stack.append((children_left[node], here[goes_left], nodes.left, new))
    return nodes
