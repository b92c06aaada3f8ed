"""A tree as a small drawing in SVG: every node on a line of its own, its "yes" branch below it, then its "no" branch.

So a level costs a step to the right and not the width of a label, and the drawing fits the column of a notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onetree.display.markup import text
from onetree.export.shades import text_colour
from onetree.report.tree_layout import PlacedNode, layout, readable_depth

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

MAX_ENDS = 30
"""Leaves, and branches that are cut off, that are drawn at most."""

_MAX_DEPTH = 12
_FONT, _LINE = 12, 18  # pixels: of letters, and from line to line
_CHARACTER = 7.0  # width of a letter, on average, with some room
_STEP = 30  # to the right per level, and as much more as the longest answer needs
_SMALL = 5.2  # width of a letter of an answer


def tree_svg(tree: Tree) -> tuple[str, int]:
    """Return the drawing, and the depth down to which it goes."""
    depth = min(tree.depth, readable_depth(tree, n_ends=MAX_ENDS, n_columns=_MAX_DEPTH))
    nodes = layout(tree, depth)
    step = _STEP + max(0.0, _SMALL * (max(len(answer) for node in nodes for answer in node.answers) - 3))
    left = [2 + step * node.column for node in nodes]
    middle = [_LINE * (line + 0.5) for line in range(len(nodes))]  # parents first, "yes" before "no"
    width = max(round(x + _CHARACTER * len(node.label) + 12) for x, node in zip(left, nodes, strict=True))
    height = _LINE * len(nodes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="the tree down to depth {depth}" font-family="system-ui,sans-serif" '
        f'font-size="{_FONT}" fill="currentColor" style="max-width:none">'
    ]
    for node, x, y in zip(nodes, left, middle, strict=True):
        for answer, child in zip(node.answers, node.children, strict=False):  # a leaf has no children
            at = middle[child]
            parts += [
                f'<path d="M{x + 5:g} {y + 8:g}V{at:g}H{left[child] - 3:g}" fill="none" '
                'stroke="currentColor" stroke-opacity=".45"/>',
                f'<text x="{x + 8:g}" y="{at - 2:g}" font-size="9.5" fill-opacity=".75">{text(answer)}</text>',
            ]
        parts += _label(node, x, y)
    return "".join([*parts, "</svg>"]), depth


def _label(node: PlacedNode, x: float, y: float) -> list[str]:
    if node.colour is None:
        return [f'<text x="{x:g}" y="{y + 4:g}">{text(node.label)}</text>']
    width = len(node.label) * _CHARACTER + 10
    return [
        f'<rect x="{x:g}" y="{y - 8:g}" width="{width:g}" height="16" rx="4" fill="{node.colour}"/>',
        f'<text x="{x + 5:g}" y="{y + 4:g}" fill="{text_colour(node.colour)}">{text(node.label)}</text>',
    ]
