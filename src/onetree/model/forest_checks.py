"""Whether node arrays are a forest: every node reached from one root, in one way.

No step recurses on the depth of a tree.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError

Index = NDArray[np.int32]


def check_forest(roots: Index, feature: Index, left: Index, right: Index, n_features: int) -> None:
    """Refuse arrays that are not trees over `n_features` features with these roots."""
    n_nodes, leaf = len(feature), feature < 0
    if len(roots) == 0:
        raise InvalidInputError("an ensemble needs at least one tree")
    refuse(feature >= n_features, "splits on a feature that does not exist")
    refuse(feature < -1, "has a feature below -1")
    for name, child in (("left", left), ("right", right)):
        refuse(leaf & (child != -1), f"is a leaf with a {name} child")
        refuse(~leaf & ((child < 0) | (child >= n_nodes)), f"has a {name} child that does not exist")
    if roots.min() < 0 or roots.max() >= n_nodes:
        raise InvalidInputError("a root of the ensemble is a node that does not exist")
    times_reached = np.bincount(np.concatenate([left[~leaf], right[~leaf], roots]), minlength=n_nodes)
    refuse(times_reached > 1, "is reached in more than one way (a shared node or a cycle)")
    refuse(times_reached < 1, "belongs to no tree")
    inner = np.flatnonzero(~leaf)
    if (left[inner] > inner).all() and (right[inner] > inner).all():
        return  # children come after their parents, so there is no cycle
    is_root = np.zeros(n_nodes, dtype=np.bool_)
    is_root[roots] = True
    root, _ = node_depths(roots, feature, left, right)
    refuse(~is_root[root], "lies on a cycle")


def node_depths(roots: Index, feature: Index, left: Index, right: Index) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the root of each node and its depth.

    Each round doubles the distance to the ancestor looked at, so a chain of 100,000 nodes takes 17 rounds. A node on
    a cycle, or below one, gets a "root" that is not one.
    """
    n_nodes, inner = len(feature), np.flatnonzero(feature >= 0)
    ancestor = np.arange(n_nodes)
    ancestor[left[inner]] = inner
    ancestor[right[inner]] = inner
    ancestor[roots] = roots
    depth = (ancestor != np.arange(n_nodes)).astype(np.int64)
    for _ in range(n_nodes.bit_length()):
        further = ancestor[ancestor]
        if np.array_equal(further, ancestor):
            break
        depth += depth[ancestor]
        ancestor = further
    return ancestor, depth


def refuse(bad: NDArray[Any], what: str) -> None:
    """Raise if a node is bad, naming the first."""
    if bad.any():
        raise InvalidInputError(f"node {int(np.argmax(bad))} of the ensemble {what}")


def without_decided(
    roots: Index, feature: Index, left: Index, right: Index, instead: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], Index, Index, Index]:
    """Leave out nodes that only pass inputs on, and what then belongs to no tree.

    Parameters
    ----------
    roots, feature, left, right : int32 array
        The forest.
    instead : intp array of shape (n_nodes,)
        The node itself, or the child that all inputs go to.

    Returns
    -------
    kept : bool array of shape (n_nodes,)
    roots, left, right : int32 array
        Of the kept nodes, in their new numbers.
    """
    end = instead
    while not np.array_equal(end, end[end]):  # each round doubles the length of the chain looked at
        end = end[end]
    decided = end != np.arange(len(end))
    first = end[roots].astype(np.int32)
    remaining = np.where(decided, -1, feature).astype(np.int32)
    below_left = np.where(remaining >= 0, end[left], -1).astype(np.int32)
    below_right = np.where(remaining >= 0, end[right], -1).astype(np.int32)
    top, _ = node_depths(first, remaining, below_left, below_right)
    kept = np.isin(top, first) & ~decided
    number = np.append(np.cumsum(kept) - 1, -1).astype(np.int32)  # the last stands for "no child", index -1
    return kept, number[first], number[below_left[kept]], number[below_right[kept]]
