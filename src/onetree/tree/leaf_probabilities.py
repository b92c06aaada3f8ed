"""Which leaf of a tree a row ends in, and the share of each class among the rows that ended there.

Rows do not change the class of a leaf, which is the ensemble's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError
from onetree.model.routing import Routes

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

_ROUNDING = 1e-6  # of a sum of shares
_OVER = 1.0 + 1e-9  # how far the leaf's own class stands above a class that has more rows


def leaf_numbers(tree: Tree, rows: NDArray[np.floating]) -> NDArray[np.integer]:
    """Return the leaf of each row, counted from left to right as in `Tree.leaves` and `Tree.boxes`.

    Unlike the node index of `Tree.apply`, this distinguishes paths that share a leaf.
    """
    below = tree.leaves_below()
    # Python's own integers, where equal subtrees make more leaves than 64 bits can count.
    n_below = np.array(below, dtype=np.int64 if below[0] < 2**62 else object)
    number = np.zeros(len(rows), dtype=n_below.dtype)
    routes = Routes(tree, rows)
    at, node = np.arange(len(rows)), np.zeros(len(rows), dtype=np.intp)
    while True:
        inside = tree.children_left[node] >= 0
        at, node = at[inside], node[inside]
        if not at.size:
            return number
        left, right = tree.children_left[node], tree.children_right[node]
        goes_left = routes.go_left(at, node)
        number[at] += np.where(goes_left, 0, n_below[left])
        node = np.where(goes_left, left, right)


@dataclass(frozen=True, eq=False)
class LeafShares:
    """The class shares of the leaves that rows ended in; there are no more of those than rows, however large the tree.

    The largest share, the first of them, is always that of the leaf's own class: where another class has more rows, the
    leaf's own is counted as often as that one.

    Parameters
    ----------
    leaves : integer array of shape (n_seen,)
        Numbers of the leaves with rows, ascending.
    shares : float64 array of shape (n_seen, n_classes)
        Each row adds up to 1.
    """

    leaves: NDArray[np.integer]
    shares: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.shares.shape[:-1] != self.leaves.shape or self.shares.ndim != 2:
            raise InvalidInputError(
                f"{len(self.leaves)} leaves with rows need as many lists of shares, not {self.shares.shape}"
            )
        if not np.all(self.leaves[1:] > self.leaves[:-1]) or np.any(self.leaves[:1] < 0):
            raise InvalidInputError("the numbers of the leaves with rows must be non-negative and ascend")
        if not (np.all(self.shares >= 0) and np.all(np.abs(self.shares.sum(axis=1) - 1.0) < _ROUNDING)):
            raise InvalidInputError("the shares of the classes in a leaf must be non-negative and add up to 1")
        for array in (self.leaves, self.shares):
            array.flags.writeable = False

    def check(self, tree: Tree) -> None:
        """Refuse shares of another tree, as far as can be seen."""
        if self.shares.shape[1] != tree.n_classes:
            raise InvalidInputError(f"shares of {self.shares.shape[1]} classes for a tree of {tree.n_classes}")
        if len(self.leaves) and int(self.leaves[-1]) >= tree.n_leaves:
            raise InvalidInputError(f"shares of leaf {int(self.leaves[-1])}, but the tree has {tree.n_leaves} leaves")

    @classmethod
    def of(
        cls, tree: Tree, rows: NDArray[np.floating], label_index: NDArray[np.intp], weight: NDArray[np.float64]
    ) -> LeafShares:
        """Count rows with their weights; a leaf whose rows weigh nothing has none."""
        leaves, first, at = np.unique(leaf_numbers(tree, rows), return_index=True, return_inverse=True)
        counts = np.zeros((len(leaves), tree.n_classes))
        np.add.at(counts, (at, label_index), weight)
        own = tree.predict_index(rows[first])
        kept = np.flatnonzero(counts.sum(axis=1) > 0)
        counts, own = counts[kept], own[kept]
        outvoted = np.flatnonzero(counts.argmax(axis=1) != own)
        counts[outvoted, own[outvoted]] = _OVER * counts[outvoted].max(axis=1)
        return cls(leaves[kept], counts / counts.sum(axis=1, keepdims=True))

    def at(self, tree: Tree, rows: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the shares in the leaf of each row; in a leaf not seen before, all belongs to its class."""
        number = leaf_numbers(tree, rows)
        place = np.searchsorted(self.leaves, number)
        seen = place < len(self.leaves)
        seen[seen] = self.leaves[place[seen]] == number[seen]
        found = np.zeros((len(rows), tree.n_classes))
        found[seen] = self.shares[place[seen]]
        found[~seen, tree.predict_index(rows[~seen])] = 1.0
        return found


def label_index(classes: NDArray[Any], y: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Return the index of each label among the classes of a tree."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise InvalidInputError(
            f"y must hold one label for each of the {n_rows} rows of X, but has shape {labels.shape}"
        )
    known = {label: index for index, label in enumerate(classes.tolist())}
    try:
        found = [known.get(label, -1) for label in labels.tolist()]
    except TypeError as error:  # a list, for instance
        raise InvalidInputError(f"y holds something that is not a label: {error}") from None
    if -1 in found:
        unknown = sorted({repr(label) for label, at in zip(labels.tolist(), found, strict=True) if at < 0})
        raise InvalidInputError(
            f"y holds the labels {', '.join(unknown[:8])}, but the model only knows {list(known)[:20]}; "
            "leave those rows out"
        )
    return np.array(found, dtype=np.intp)


def weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Return the weight of each row; 1 if none are given."""
    given = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if given.shape != (n_rows,) or not np.all(np.isfinite(given)) or np.any(given < 0):
        raise InvalidInputError(f"sample_weight must hold {n_rows} finite, non-negative numbers, one for each row of X")
    return given
