"""The tree as a drawing: the root on the left, one line per leaf, so that every label is level and in full.

Nothing recurses, and only what is drawn is walked through: a tree of a billion leaves is cut off like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onetree.errors import InvalidInputError
from onetree.export.conditions import conditions
from onetree.export.decimals import DIGITS
from onetree.report.drawing import as_tree, class_colours, foreground, labels_of, new_figure, shown, text_colour
from onetree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

READABLE = 60
"""Leaves up to which a tree is drawn whole if nothing else is asked for."""

_READABLE_DEPTH = 15  # columns, likewise
_MAX_LINES = 1000  # beyond, the picture would be larger than what image files can hold
_FONT = 9.0  # points
_CHARACTER, _LINE = 0.078, 0.25  # inches of that font: width with some room, and distance of lines
_MAX_LIST = 36  # characters of a set
_GAP = 0.5  # inches between columns, for lines and answers


@dataclass
class _Node:
    """A node as it is drawn."""

    label: str
    column: int
    colour: str | None = None  # of a leaf
    answers: tuple[str, str] = ("yes", "no")
    children: list[int] = field(default_factory=list)
    line: float = 0.0


def plot_tree(
    source: object, *, max_depth: int | None = None, digits: int | None = DIGITS, ax: Axes | None = None
) -> Axes:
    """Draw a tree from left to right; upper branches are "yes".

    Parameters
    ----------
    source : Tree, Solution or fitted BornAgainTreeClassifier
    max_depth : int, optional
        Cut off what is deeper; a branch that is cut off says how many leaves it has. By default a tree is drawn whole
        up to 60 leaves and depth 15, and larger ones as deep as 60 ends of branches go. A note says what is left out.
    digits : int or None
        Numbers with up to that many significant digits go where the drawing says; see `onetree.export.text.to_text`.
    ax : matplotlib Axes, optional
        Where to draw, with letters made smaller if need be. By default a new figure, as large as the tree needs.

    Returns
    -------
    matplotlib Axes
    """
    tree = as_tree(source)
    if max_depth is not None and max_depth < 0:
        raise InvalidInputError(f"max_depth must be 0 or more, not {max_depth!r}")
    shown_depth = min(tree.depth, _readable_depth(tree) if max_depth is None else max_depth)
    nodes = _layout(tree, shown_depth, digits)
    left, right = _columns(nodes)
    n_lines = 1 + max(node.line for node in nodes)
    note = ""
    if shown_depth < tree.depth:
        n_drawn = sum(node.colour is not None for node in nodes)
        note = f"drawn to depth {shown_depth} of {tree.depth}: {n_drawn:,} of {tree.n_leaves:,} leaves"
    width = max(right[-1] + 0.1, 0.05 + len(note) * _CHARACTER)
    height = _LINE * (n_lines + (1.5 if note else 0.0)) + 0.2
    if ax is None:
        figure, ax = new_figure(width, height)
        figure.set_layout_engine("none")
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    _draw(ax, nodes, left, right, note, (width, height))
    return ax


def _readable_depth(tree: Tree) -> int:
    """Depth to which no more than `READABLE` branches end, in leaves or cut off."""
    paths, ended = {0: 1}, 0  # paths to each inner node of one depth; those that ended in leaves above
    for depth in range(min(tree.depth, _READABLE_DEPTH)):
        below: dict[int, int] = {}
        for node, count in paths.items():
            if tree.feature[node] < 0:
                ended += count
                continue
            for child in (int(tree.children_left[node]), int(tree.children_right[node])):
                below[child] = below.get(child, 0) + count
        if ended + sum(below.values()) > READABLE:
            return depth
        paths = below
    return _READABLE_DEPTH


def _layout(tree: Tree, max_depth: int, digits: int | None) -> list[_Node]:
    """Lay out the nodes: leaves and ends on lines of their own from top to bottom, the others half way."""
    labels = labels_of(tree.classes.tolist())
    colours = class_colours(tree.n_classes)
    splits = conditions(tree, digits, limit=_MAX_LIST, signs=True)
    below: list[int] | None = None
    nodes: list[_Node] = []
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
            label = int(tree.leaf_class[node])
            nodes.append(_Node(labels[label], depth, colours[label], line=n_lines))
            n_lines += 1
        elif depth == max_depth:
            below = tree.leaves_below() if below is None else below
            nodes.append(_Node(f"… {below[node]:,} leaves", depth, line=n_lines))
            n_lines += 1
        else:
            split = splits[node]
            name = shown(tree.feature_names[tree.feature[node]])
            nodes.append(_Node(f"{name} {split.asks}", depth, answers=(split.yes, split.no)))
            stack.append((int(tree.children_right[node]), depth + 1, here))
            stack.append((int(tree.children_left[node]), depth + 1, here))
    for drawn in reversed(nodes):  # children come after their parents
        if drawn.children:
            drawn.line = sum(nodes[child].line for child in drawn.children) / 2
    return nodes


def _columns(nodes: list[_Node]) -> tuple[list[float], list[float]]:
    """Give the left and right edge of each depth in inches, as wide as its longest label."""
    gap = _GAP + (0.45 if any(node.answers != ("yes", "no") for node in nodes) else 0.0)
    widths = [0] * (1 + max(node.column for node in nodes))
    for node in nodes:
        widths[node.column] = max(widths[node.column], len(node.label))
    left, right, x = [], [], 0.1
    for width in widths:
        left.append(x)
        right.append(x + width * _CHARACTER + 0.1)
        x = right[-1] + gap
    return left, right


def _draw(
    ax: Axes, nodes: list[_Node], left: list[float], right: list[float], note: str, size: tuple[float, float]
) -> None:
    width, height = size
    ax.set_axis_off()
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    box = ax.get_window_extent()
    scale = min(1.0, box.width / ax.figure.dpi / width, box.height / ax.figure.dpi / height)
    font, ink = max(_FONT * scale, 2.0), foreground()
    lines: dict[str, Any] = {"color": ink, "linewidth": 0.8 * scale, "zorder": 1}
    for node in nodes:
        label = ax.text(
            left[node.column] + 0.05,
            _height(node),
            node.label,
            fontsize=font,
            va="center",
            color=ink if node.colour is None else text_colour(node.colour),
            parse_math=False,
            zorder=2,
        )
        if node.colour is not None:
            label.set_bbox({"boxstyle": "round,pad=0.18", "facecolor": node.colour, "edgecolor": ink, "linewidth": 0.4})
        if not node.children:
            continue
        # The column is as wide as its longest label, and letters differ: the line starts where this label ends.
        end = float(ax.transData.inverted().transform(label.get_window_extent().corners())[:, 0].max()) + 0.05
        bend = max(end, right[node.column] + 0.08)
        ax.plot([end, bend], [_height(node)] * 2, **lines)
        for answer, child in zip(node.answers, (nodes[each] for each in node.children), strict=True):
            at = _height(child)
            ax.plot([bend, bend, left[child.column]], [_height(node), at, at], **lines)
            ax.text(bend + 0.04, at - 0.02, answer, fontsize=font * 0.78, color=ink, alpha=0.8, va="bottom")
    if note:
        ax.text(0.05, height - 0.1, note, fontsize=font, style="italic", color=ink, va="bottom")


def _height(node: _Node) -> float:
    """Give the middle of the node's line, in inches from the top."""
    return 0.1 + _LINE * (node.line + 0.5)
