"""The tree as text for people: one line per node, yes before no.

Made for reading: thresholds are rounded. Exact thresholds are in the saved file, or come with ``digits=None``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onetree.export.set_words import set_tests
from onetree.export.wording import check_writable, feature_words, label_words, limitations

if TYPE_CHECKING:
    from onetree.tree import Tree

# Deeper nodes carry their depth as a number instead: full indentation of a very deep tree would be quadratic text.
_MAX_INDENT = 40


def to_text(tree: Tree, *, digits: int | None = 6) -> str:
    """Give `tree` as indented text.

    Parameters
    ----------
    tree : Tree
    digits : int or None
        Significant digits of the thresholds; None writes them exactly.

    Returns
    -------
    str
        First lines that begin with ``#`` say so if the tree is not exact, or only inside a domain.

    Examples
    --------
    >>> from onetree.tree import Tree
    >>> labels = ["kitten", "cat"]
    >>> tree = Tree([0, -1, -1], [2.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], labels, ("age",), [False])
    >>> print(tree.to_text())
    age <= 2.5?
      yes: kitten
      no: cat
    """
    check_writable(tree, "text")
    feature, threshold, sets = tree.feature.tolist(), tree.threshold.tolist(), set_tests(tree)
    left, right, leaf_class = (
        tree.children_left.tolist(),
        tree.children_right.tolist(),
        tree.leaf_class.tolist(),
    )
    names, labels = feature_words(tree), label_words(tree)
    takes_nan = tree.nan_features.tolist()

    lines = [f"# {line}" for line in limitations(tree)]
    stack = [(0, 0, "")]
    while stack:
        node, depth, answer = stack.pop()
        indent = "  " * depth if depth <= _MAX_INDENT else "  " * _MAX_INDENT + f"[{depth}] "
        if left[node] < 0:
            lines.append(f"{indent}{answer}{labels[leaf_class[node]]}")
            continue
        at, cut = feature[node], threshold[node]
        yes, no = "yes", "no or missing" if takes_nan[at] else "no"
        if node in sets:
            asks, yes, no = sets[node]
            test = f"{names[at]} {asks}?"
        elif math.isinf(cut):  # only a missing value is not <= +inf
            test, no = f"{names[at]} is known?", "no"
        else:
            test = f"{names[at]} <= {cut!r}?" if digits is None else f"{names[at]} <= {cut:.{digits}g}?"
        lines.append(f"{indent}{answer}{test}")
        stack += ((right[node], depth + 1, f"{no}: "), (left[node], depth + 1, f"{yes}: "))
    return "\n".join(lines)
