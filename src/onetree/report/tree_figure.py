"""The tree as a drawing: the root on the left, one line per leaf, so that every label is level and in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onetree.base.amounts import count, leaves
from onetree.errors import InvalidInputError
from onetree.export.shades import text_colour
from onetree.export.words.decimals import DIGITS
from onetree.report.drawing import as_tree, foreground, new_figure
from onetree.report.tree_layout import PlacedNode, layout, readable_depth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FONT = 9.0  # points
_CHARACTER, _LINE = 0.078, 0.25  # inches of that font: width with some room, and distance of lines
_GAP = 0.5  # inches between columns, for lines and answers


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
    shown_depth = min(tree.depth, readable_depth(tree) if max_depth is None else max_depth)
    nodes = layout(tree, shown_depth, digits)
    left, right = _columns(nodes)
    n_lines = 1 + max(node.line for node in nodes)
    note = ""
    if shown_depth < tree.depth:
        n_drawn = sum(node.colour is not None for node in nodes)
        note = f"drawn to depth {shown_depth} of {tree.depth}: {count(n_drawn)} of {leaves(tree.n_leaves)}"
    width = max(right[-1] + 0.1, 0.05 + len(note) * _CHARACTER)
    height = _LINE * (n_lines + (1.5 if note else 0.0)) + 0.2
    if ax is None:
        figure, ax = new_figure(width, height)
        figure.set_layout_engine("none")
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    _draw(ax, nodes, left, right, note, (width, height))
    return ax


def _columns(nodes: list[PlacedNode]) -> tuple[list[float], list[float]]:
    """Return the left and right edge of each depth in inches, as wide as its longest label."""
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
    ax: Axes, nodes: list[PlacedNode], left: list[float], right: list[float], note: str, size: tuple[float, float]
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


def _height(node: PlacedNode) -> float:
    """Return the middle of the node's line, in inches from the top."""
    return 0.1 + _LINE * (node.line + 0.5)
