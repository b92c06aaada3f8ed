"""What a page holds of a tree and of data: plain lists that JSON can carry, small enough to open anywhere.

Equal subtrees stay shared: the page unfolds them where a reader looks, so a tree of millions of leaves takes no
more room than its nodes. Says nothing about where a tree comes from, and writes no HTML.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.export.words.conditions import threshold_cuts
from onetree.export.words.wording import printable
from onetree.model.categories import OTHER, used_subsets
from onetree.report.leaf_groups import embed_said, leaf_groups
from onetree.tree.tree import Tree

MAX_NODES = 400_000  # a page of 17 MB if all thresholds differ, much less as a rule
MAX_ROWS = 1_000
MAX_VALUES = 100_000  # of all embedded rows together


def embed_tree(tree: Tree) -> dict[str, Any]:
    """Return the nodes as compact lists.

    ``feature`` has an entry per node: the feature of a split, ``-1 - group`` of a leaf (see `leaf_groups`); so has
    ``number``, the index of the node in the tree. ``cut``, ``left`` and ``right`` have one per split, in the order of
    the nodes; ``cut`` is an index into ``levels``, where null stands for +inf, or on a categorical feature into
    ``sets``, where a 1 stands for each element that goes left. ``words`` has what to write for each level, such as
    "<= 50", and the same with all digits. ``said`` is what leaves say beside their class (see `embed_said`). Of a tree
    with more than `MAX_NODES` nodes the deepest are left out: a split that loses a child has 0 for both, and ``below``
    counts its leaves as pairs of node and number.
    """
    depth = tree.node_depths()
    # By depth, so that what is left out is deepest. A child is deeper than each of its parents and still comes later.
    order = np.argsort(depth, kind="stable")[:MAX_NODES]
    place = np.zeros(tree.n_nodes, dtype=np.intp)
    place[order] = np.arange(len(order))  # what is left out has place 0, like the root, which is nobody's child
    feature = tree.feature[order]
    inner = feature >= 0
    splits = order[inner]
    left, right = place[tree.children_left[splits]], place[tree.children_right[splits]]
    cut_off = (left == 0) | (right == 0)
    test, sets = used_subsets(tree.subset[splits], tree.subsets)
    at_threshold = splits[test < 0]
    # By feature and value: how a threshold is written depends on the others of its feature.
    order_of_cuts = np.stack([tree.feature[at_threshold].astype(np.float64), tree.threshold[at_threshold]])
    levels, first, cut = np.unique(order_of_cuts, axis=1, return_index=True, return_inverse=True)
    test[test < 0] = cut.ravel()
    return {
        "feature": np.where(inner, feature, -1 - leaf_groups(tree).of_node[order]).tolist(),
        "said": embed_said(tree, order),
        "number": order.tolist(),
        "levels": [None if math.isinf(level) else level for level in levels[1].tolist()],
        "words": _words(tree, at_threshold[first]),
        "sets": ["".join("1" if member else "0" for member in row) for row in sets.tolist()],
        "cut": test.tolist(),
        "left": np.where(cut_off, 0, left).tolist(),
        "right": np.where(cut_off, 0, right).tolist(),
        "below": _leaves_below(tree, splits[cut_off], place),
    }


def _words(tree: Tree, nodes: NDArray[np.intp]) -> list[list[str]]:
    short, exact = threshold_cuts(tree), threshold_cuts(tree, None)
    return [
        ["" if cut is None else f"{cut.left} {cut.number}" for cut in (short[node], exact[node])]
        for node in nodes.tolist()
    ]


def embed_categories(tree: Tree) -> list[dict[str, Any] | None]:
    """Return what each categorical feature makes of a number, and the words for its elements; null for the others."""
    return [
        None
        if kind is None
        else {
            "codes": list(kind.codes),
            "low": [_number(x) for x in kind.low.tolist()],
            "high": [_number(x) for x in kind.high.tolist()],
            "other": _number(kind.example(OTHER)),
            "labels": [printable(kind.label(element)) for element in range(kind.n_elements)],
            "names": list(kind.names),
        }
        for kind in tree.categories
    ]


def embed_rows(tree: Tree, rows: NDArray[Any] | None) -> dict[str, Any] | None:
    """Return the first rows: one list per feature that the tree tests, null for a missing value."""
    if rows is None:
        return None
    tested = np.unique(tree.feature[tree.feature >= 0])
    n_shown = min(len(rows), MAX_ROWS, max(1, MAX_VALUES // max(1, len(tested))))
    shown = rows[:n_shown].astype(np.float64)
    return {
        "n_rows": len(rows),
        "n_shown": n_shown,
        "columns": [{"feature": int(j), "values": [_number(x) for x in shown[:, j].tolist()]} for j in tested],
    }


def _leaves_below(tree: Tree, nodes: NDArray[np.intp], place: NDArray[np.intp]) -> list[list[int]]:
    if not nodes.size:
        return []
    counts = tree.leaves_below()
    return [[int(place[node]), counts[node]] for node in nodes.tolist()]


def _number(x: float) -> float | str | None:
    """Return a value for JSON, which has neither NaN nor infinity."""
    if math.isnan(x):
        return None
    return x if math.isfinite(x) else ("inf" if x > 0 else "-inf")
