"""The shape in which an export writes the tree: every path written out, or tables that a loop walks through.

Written out, a small tree can be read. A deep one would pass the nesting that compilers and interpreters allow, and one
with shared subtrees would grow beyond all bounds: those become tables, whose size is the number of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onetree.base.amounts import count
from onetree.errors import InvalidInputError
from onetree.export.steps import longest_test, rounded_down
from onetree.tree.leaf_values import outcomes

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

STYLES = ("auto", "nested", "table")

_READABLE_DEPTH, _READABLE_LEAVES = 24, 500  # what a person may still want to read
_MAX_LEAVES = 100_000
_READABLE_RUNS, _MAX_RUNS = 40, 250  # of one set test; SQLite and DuckDB take expressions 1,000 deep


def is_nested(tree: Tree, style: str, max_depth: int, n_times: int = 1) -> bool:
    """Whether `tree` is to be written out, for a target that takes conditions nested up to `max_depth`.

    "auto" writes out what is small, also if it has to be written `n_times`; "nested" asks for it, up to what the target
    takes; "table" never does.
    """
    if style not in STYLES:
        raise InvalidInputError(f"unknown style {style!r}; use one of {', '.join(STYLES)}")
    if style == "auto":
        small = tree.depth <= min(_READABLE_DEPTH, max_depth) and n_times * tree.n_leaves <= _READABLE_LEAVES
        return small and longest_test(tree) <= _READABLE_RUNS
    if style == "nested" and (tree.depth > max_depth or tree.n_leaves > _MAX_LEAVES):
        raise InvalidInputError(
            f"the tree is {tree.depth:,} deep with {count(tree.n_leaves)} leaves, and at most {max_depth} and "
            f'{_MAX_LEAVES:,} are written as nested conditions; use style="table"'
        )
    if style == "nested" and longest_test(tree) > _MAX_RUNS:
        raise InvalidInputError(
            f"a set test takes {longest_test(tree):,} intervals, and at most {_MAX_RUNS} are written as one condition; "
            'use style="table"'
        )
    return style == "nested"


@dataclass(frozen=True)
class Tables:
    """The inner nodes only, root first; a child below zero is a leaf that says outcome ``-1 - child``.

    Outcomes are the classes or, where leaves have numbers, what `onetree.tree.leaf_values.outcomes` lists.
    """

    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]


def tables(tree: Tree, threshold: NDArray[np.floating] | None = None) -> Tables:
    """Return the inner nodes of a tree that has any and no set tests, with other thresholds if they are given."""
    inner = tree.feature >= 0
    (says,) = outcomes(tree).index
    number = np.where(inner, np.cumsum(inner) - 1, -1 - says.astype(np.int64))
    cuts = tree.threshold if threshold is None else threshold
    return Tables(
        tree.feature[inner].tolist(),
        cuts[inner].tolist(),
        number[tree.children_left[inner]].tolist(),
        number[tree.children_right[inner]].tolist(),
    )


def unfolded(tree: Tree) -> Tree:
    """Return the same tree with one parent for each node, level by level; the caller bounds its size."""
    n_nodes = 2 * tree.n_leaves - 1
    if n_nodes == tree.n_nodes:
        return tree
    source = np.empty(n_nodes, dtype=np.intp)  # the node of `tree` that each node stands for
    left, right = np.full(n_nodes, -1, dtype=np.int32), np.full(n_nodes, -1, dtype=np.int32)
    source[0], begin, end = 0, 0, 1
    while begin < end:
        at = np.arange(begin, end)
        at = at[tree.children_left[source[at]] >= 0]
        begin, end = end, end + 2 * at.size
        left[at], right[at] = np.arange(begin, end, 2), np.arange(begin + 1, end, 2)
        source[begin:end:2], source[begin + 1 : end : 2] = (
            tree.children_left[source[at]],
            tree.children_right[source[at]],
        )
    own = {name: getattr(tree, name)[source] for name in ("feature", "threshold", "leaf_class", "subset")}
    own["value"] = None if tree.value is None else tree.value[source]
    return replace(tree, **own, children_left=left, children_right=right)


def float32_thresholds(tree: Tree) -> NDArray[np.float32]:
    """Return the largest float32 at or below each threshold: for float32 inputs the comparisons stay the same."""
    return rounded_down(tree.threshold, np.float32)
