"""The tree as text for people: one line per node, yes before no.

Made for reading: thresholds have as few digits as keep them true. Exact thresholds are in the saved file, or come with
``digits=None``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onetree.export.words.conditions import conditions
from onetree.export.words.decimals import DIGITS
from onetree.export.words.leaf_words import leaf_words
from onetree.export.words.wording import check_writable, feature_words, limitations

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

# Deeper nodes carry their depth as a number instead: full indentation of a very deep tree would be quadratic text.
_MAX_INDENT = 40


def to_text(tree: Tree, *, digits: int | None = DIGITS) -> str:
    """Return `tree` as indented text.

    Parameters
    ----------
    tree : Tree
    digits : int or None
        Numbers with up to that many significant digits go where the text says, and integers; from six on also every
        float32 number. Thresholds that this does not separate get more digits. None writes them exactly. The numbers
        of leaves are rounded to as many digits.

    Returns
    -------
    str
        First lines that begin with ``#`` say so if the tree is not exact, only inside a domain, or within a tolerance.

    Examples
    --------
    >>> from onetree.tree.tree import Tree
    >>> labels = ["kitten", "cat"]
    >>> tree = Tree([0, -1, -1], [2.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], labels, ("age",), [False])
    >>> print(tree.to_text())
    age <= 2.5?
      yes: kitten
      no: cat
    """
    check_writable(tree, "text")
    feature, splits = tree.feature.tolist(), conditions(tree, digits)
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    names, says = feature_words(tree), leaf_words(tree, digits)

    lines = [f"# {line}" for line in limitations(tree)]
    stack = [(0, 0, "")]
    while stack:
        node, depth, answer = stack.pop()
        indent = "  " * depth if depth <= _MAX_INDENT else "  " * _MAX_INDENT + f"[{depth}] "
        if left[node] < 0:
            lines.append(f"{indent}{answer}{says[node]}")
            continue
        split = splits[node]
        lines.append(f"{indent}{answer}{names[feature[node]]} {split.asks}?")
        stack += ((right[node], depth + 1, f"{split.no}: "), (left[node], depth + 1, f"{split.yes}: "))
    return "\n".join(lines)
