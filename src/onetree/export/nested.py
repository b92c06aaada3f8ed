"""The walk along which nested conditions are written: each split, what is true of it, what is not, in that order.

Shared by the languages that have blocks or nested expressions; what a line looks like is theirs to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

TEST, LEAF, OTHERWISE, END = "test", "leaf", "otherwise", "end"


def nested(tree: Tree) -> Iterator[tuple[str, int, int]]:
    """Return the steps of writing a tree out: what comes, at which node, how deep.

    A split is TEST, the steps of its left side, OTHERWISE, those of its right side, END.
    """
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    stack = [(TEST, 0, 0)]
    while stack:
        step, node, depth = stack.pop()
        if step == TEST and left[node] < 0:
            yield LEAF, node, depth
            continue
        yield step, node, depth
        if step == TEST:
            below = depth + 1
            stack += (
                (END, node, depth),
                (TEST, right[node], below),
                (OTHERWISE, node, depth),
                (TEST, left[node], below),
            )
