"""The tree as a graph in the DOT language of Graphviz.

A subtree that several parents share is drawn once. Names and labels come from files: nothing in them can end a string
of the graph, be taken for markup, or be read as one of Graphviz's escapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onetree.export.shades import outcome_colours, text_colour
from onetree.export.words.conditions import conditions
from onetree.export.words.decimals import DIGITS
from onetree.export.words.leaf_words import outcome_words
from onetree.export.words.wording import feature_words, heading
from onetree.tree.leaf_values import outcomes

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

# Graphviz first decodes entities and then reads backslash escapes, so a backslash has to be there twice.
_ESCAPES = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;", "\\": "&#92;&#92;"})
# Light enough for black text, and distinct for most people with colour blindness.
_COLOURS = ("#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6", "#fb9a99", "#ffff99", "#d9d9d9", "#e5c494")
_MAX_LIST = 60  # characters of a set


def to_dot(tree: Tree, *, digits: int | None = DIGITS) -> str:
    """Return `tree` as a DOT graph, for Graphviz and everything else that reads it.

    Parameters
    ----------
    tree : Tree
    digits : int or None
        Numbers with up to that many significant digits go where the graph says, and integers; from six on also every
        float32 number. Thresholds that this does not separate get more digits. None writes them exactly, and long sets
        of categories in full.

    Examples
    --------
    >>> from onetree.tree.tree import Tree
    >>> labels = ["kitten", "cat"]
    >>> tree = Tree([0, -1, -1], [2.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], labels, ("age",), [False])
    >>> print(tree.to_dot())
    // Decision tree of depth 1 with 2 leaves, written by onetree.
    digraph tree {
      node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];
      edge [fontname="sans-serif"];
      0 [label="age ≤ 2.5"];
      1 [label="kitten", fillcolor="#a6cee3"];
      2 [label="cat", fillcolor="#fdbf6f"];
      0 -> 1 [label="yes"];
      0 -> 2 [label="no"];
    }
    """
    names = [name.translate(_ESCAPES) for name in feature_words(tree)]
    said, feature = outcomes(tree), tree.feature.tolist()
    labels = [words.translate(_ESCAPES) for words in outcome_words(tree, said, digits)]
    colours, says = outcome_colours(tree, said, _COLOURS), said.index[0].tolist()
    splits = conditions(tree, digits, limit=None if digits is None else _MAX_LIST, signs=True)
    children = list(zip(tree.children_left.tolist(), tree.children_right.tolist(), strict=True))

    lines = [f"// {line}" for line in heading(tree)]
    lines += ["digraph tree {"]
    lines += ['  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];']
    lines += ['  edge [fontname="sans-serif"];']
    edges = []
    for node, (left, right) in enumerate(children):
        at = feature[node]
        if left < 0:
            colour = colours[says[node]]
            ink = ', fontcolor="#ffffff"' if text_colour(colour) == "#ffffff" else ""
            lines.append(f'  {node} [label="{labels[says[node]]}", fillcolor="{colour}"{ink}];')
            continue
        split = splits[node]
        lines.append(f'  {node} [label="{names[at]} {split.asks.translate(_ESCAPES)}"];')
        edges += [f'  {node} -> {left} [label="{split.yes}"];', f'  {node} -> {right} [label="{split.no}"];']
    return "\n".join([*lines, *edges, "}"])
