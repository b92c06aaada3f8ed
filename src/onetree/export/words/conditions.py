"""What each split asks, in words: the same words in text, rules, graphs, figures, reports, and comments of source code.

The numbers come from `decimals`, which says on what inputs they are true, and sets of categories from `set_words`.
Quoting and escaping are left to each format.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from onetree.export.words.decimals import DIGITS, PrintedCut, printed_cuts
from onetree.export.words.set_words import set_tests

if TYPE_CHECKING:
    from onetree.tree.tree import Tree


class SplitWords(NamedTuple):
    """A split in words; all but the answers follow the name of the feature."""

    asks: str  # "< 50", "in {red, blue}", "is known"
    yes: str  # the answer that leads left: "yes" or "yes or missing"
    no: str
    left: str  # what holds on the left: "< 50"
    right: str  # ">= 50 or missing"
    cut: PrintedCut | None = None  # the pieces, of a finite threshold


_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">"}


def conditions(
    tree: Tree,
    digits: int | None = DIGITS,
    *,
    limit: int | None = None,
    signs: bool = False,
    nodes: Sequence[int] | None = None,
) -> dict[int, SplitWords]:
    """Return what each inner node asks, in words, by node.

    Parameters
    ----------
    tree : Tree
    digits : int or None
        Numbers with up to that many significant digits are routed by the words as by the tree, and integers; from six
        on also every float32 number. Thresholds that this does not separate get more digits. None is exact.
    limit : int, optional
        Characters of a list of categories; longer ones are abbreviated.
    signs : bool
        Whether to write ≤ and ≥ for <= and >=.
    nodes : sequence of int, optional
        Inner nodes to speak of; by default all. Thresholds of others need not look different from theirs.
    """
    said: dict[int, SplitWords] = {
        node: SplitWords(test.asks, test.yes, test.no, test.holds, test.fails)
        for node, test in set_tests(tree, limit, nodes).items()
    }
    takes_nan = tree.nan_features.tolist()
    for node, cut in threshold_cuts(tree, digits, nodes).items():
        missing = " or missing" if takes_nan[tree.feature[node]] else ""
        if cut is None:
            said[node] = SplitWords("is known", "yes", "no", "is known", "is missing")
            continue
        left, right = (_SIGNS[sign] if signs else sign for sign in (cut.left, cut.right))
        asks = f"{left} {cut.number}"
        said[node] = SplitWords(asks, "yes", f"no{missing}", asks, f"{right} {cut.number}{missing}", cut)
    return said


def threshold_cuts(
    tree: Tree, digits: int | None = DIGITS, nodes: Sequence[int] | None = None
) -> dict[int, PrintedCut | None]:
    """Return the threshold of each node that has one as a reader sees it; None is +inf, which only NaN is not below."""
    found: dict[int, PrintedCut | None] = {}
    on_threshold = (tree.feature >= 0) & (tree.subset < 0)
    if nodes is not None:
        on_threshold &= np.isin(np.arange(tree.n_nodes), nodes)
    for feature in np.unique(tree.feature[on_threshold]).tolist():
        asking = np.flatnonzero(on_threshold & (tree.feature == feature)).tolist()
        values = tree.threshold[asking].tolist()
        words = printed_cuts((value for value in values if math.isfinite(value)), digits)
        found.update((node, words.get(value)) for node, value in zip(asking, values, strict=True))
    return found
