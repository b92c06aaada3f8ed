"""Where the nodes of a drawn tree stand, and what they say: the root on the left, one line per leaf.

Nothing recurses, and only what is drawn is walked through: a tree of a billion leaves is cut off like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from onetree.base.amounts import leaves
from onetree.errors import InvalidInputError
from onetree.export.shades import outcome_colours
from onetree.export.words.conditions import conditions
from onetree.export.words.decimals import DIGITS
from onetree.export.words.leaf_words import outcome_words
from onetree.report.drawing import class_colours, labels_of, shown
from onetree.tree.leaf_values import outcomes
from onetree.tree.tree import Tree

READABLE = 60
"""Leaves up to which a tree is drawn whole if nothing else is asked for."""

_READABLE_DEPTH = 15  # columns, likewise
_MAX_LINES = 1000  # beyond, the picture would be larger than what image files can hold
_MAX_LIST = 36  # characters of a set


@dataclass
class PlacedNode:
    """A node as it is drawn."""

    label: str
    column: int
    colour: str | None = None  # of a leaf
    answers: tuple[str, str] = ("yes", "no")
    children: list[int] = field(default_factory=list)
    line: float = 0.0


def readable_depth(tree: Tree, *, n_ends: int = READABLE, n_columns: int = _READABLE_DEPTH) -> int:
    """Return the depth, `n_columns` at most, to which no more than `n_ends` branches end, in leaves or cut off."""
    paths, ended = {0: 1}, 0  # paths to each inner node of one depth; those that ended in leaves above
    for depth in range(min(tree.depth, n_columns)):
        below: dict[int, int] = {}
        for node, count in paths.items():
            if tree.feature[node] < 0:
                ended += count
                continue
            for child in (int(tree.children_left[node]), int(tree.children_right[node])):
                below[child] = below.get(child, 0) + count
        if ended + sum(below.values()) > n_ends:
            return depth
        paths = below
    return n_columns


def layout(tree: Tree, max_depth: int, digits: int | None = DIGITS) -> list[PlacedNode]:
    """Lay out the nodes: leaves and ends on lines of their own from top to bottom, the others half way."""
    said = outcomes(tree)
    labels = labels_of(outcome_words(tree, said, digits, brief=True))
    colours = outcome_colours(tree, said, class_colours(tree.n_classes))
    below: list[int] | None = None
    nodes: list[PlacedNode] = []
    asked: dict[int, int] = {}  # node of the tree, by its place among those that are drawn
    stack: list[tuple[int, int, int]] = [(0, 0, -1)]
    n_lines = 0
    while stack:
        if n_lines > _MAX_LINES:
            raise InvalidInputError(
                f"the tree has more than {_MAX_LINES} branches down to depth {max_depth}; choose a smaller max_depth"
            )
        node, depth, parent = stack.pop()
        here = len(nodes)
        if parent >= 0:
            nodes[parent].children.append(here)
        if tree.feature[node] < 0:
            label = int(said.index[0][node])
            nodes.append(PlacedNode(labels[label], depth, colours[label], line=n_lines))
            n_lines += 1
        elif depth == max_depth:
            below = tree.leaves_below() if below is None else below
            nodes.append(PlacedNode(f"… {leaves(below[node])}", depth, line=n_lines))
            n_lines += 1
        else:
            asked[here] = node
            nodes.append(PlacedNode(shown(tree.feature_names[tree.feature[node]]), depth))
            stack.append((int(tree.children_right[node]), depth + 1, here))
            stack.append((int(tree.children_left[node]), depth + 1, here))
    splits = conditions(tree, digits, limit=_MAX_LIST, signs=True, nodes=list(asked.values()))
    for here, node in asked.items():
        nodes[here].label += f" {splits[node].asks}"
        nodes[here].answers = (splits[node].yes, splits[node].no)
    for drawn in reversed(nodes):  # children come after their parents
        if drawn.children:
            drawn.line = sum(nodes[child].line for child in drawn.children) / 2
    return nodes
