"""Pruning a grown tree to some numbers of leaves, with the least error that is possible by making nodes leaves.

A tree knapsack from the bottom up. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onetree.support.growth import Node
from onetree.tree.tree import LEAF


def cut_back(nodes: list[Node], budgets: Sequence[int]) -> list[frozenset[int]]:
    """Return for each number of leaves the nodes to make leaves of, so that the weight of the wrong rows is least.

    Of equal errors the one with fewest leaves.
    """
    most = max(budgets)
    errors: list[NDArray[np.float64]] = [np.empty(0)] * len(nodes)  # [k - 1]: least error with k leaves
    shares: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * len(nodes)  # [k - 1]: leaves of the left side then
    for index in range(len(nodes) - 1, -1, -1):  # children come after their parents
        node = nodes[index]
        if node.left == LEAF:
            errors[index], shares[index] = np.array([node.error]), np.zeros(1, dtype=np.intp)
        else:
            errors[index], shares[index] = _combined(node.error, errors[node.left], errors[node.right], most)
            errors[node.left] = errors[node.right] = np.empty(0)
    return [_leaves(nodes, shares, 1 + int(np.argmin(errors[0][:budget]))) for budget in budgets]


def _leaves(nodes: list[Node], shares: list[NDArray[np.intp]], n_leaves: int) -> frozenset[int]:
    """Read back which nodes are the leaves."""
    leaves, stack = set(), [(0, n_leaves)]
    while stack:
        index, n_here = stack.pop()
        if n_here == 1:
            leaves.add(index)
        else:
            node, n_left = nodes[index], int(shares[index][n_here - 1])
            stack += [(node.left, n_left), (node.right, n_here - n_left)]
    return frozenset(leaves)


def _combined(
    own: float, left: NDArray[np.float64], right: NDArray[np.float64], max_leaves: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the least error of a node for each number of leaves, and how many of them are on the left."""
    n_most = min(max_leaves, len(left) + len(right))
    error = np.full(n_most, np.inf)
    n_left = np.zeros(n_most, dtype=np.intp)
    error[0] = own
    for more, with_left in enumerate(left):
        n_right = min(len(right), n_most - more - 1)
        if n_right <= 0:
            break
        together = with_left + right[:n_right]
        places = slice(more + 1, more + 1 + n_right)
        better = together < error[places]
        error[places] = np.where(better, together, error[places])
        n_left[places] = np.where(better, more + 1, n_left[places])
    return error, n_left
