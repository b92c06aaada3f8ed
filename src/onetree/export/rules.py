"""The tree as IF-THEN rules, one per leaf, with at most one interval or set per feature.

The rules exclude each other and together cover every input, so their order does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onetree.export.words.conditions import threshold_cuts
from onetree.export.words.decimals import DIGITS, PrintedCut
from onetree.export.words.leaf_words import leaf_words
from onetree.export.words.set_words import left_numbers, numbers, set_phrase
from onetree.export.words.wording import check_writable, feature_words, heading
from onetree.model.categories import MISSING

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

ROOT, NONE = 0, -1  # NONE: no node gives this bound


@dataclass(frozen=True)
class Condition:
    """What a leaf requires of one feature: ``lower < x <= upper``, or a missing value where `missing` is true.

    Of a categorical feature it demands one of `elements` instead, and the bounds say nothing.

    Parameters
    ----------
    feature : int
    lower : float
        -inf is no bound; +inf leaves only the missing value.
    upper : float
        +inf is no bound.
    missing : bool
        Whether a missing value (NaN) meets the condition.
    lower_node, upper_node : int
        The nodes whose thresholds the bounds are, -1 where there is no bound.
    elements : frozenset of int, optional
        Of a categorical feature: the elements (see `onetree.categories.Categories`) that meet the condition, without
        the missing value.
    """

    feature: int
    lower: float
    upper: float
    missing: bool
    lower_node: int = NONE
    upper_node: int = NONE
    elements: frozenset[int] | None = None

    @property
    def empty(self) -> bool:
        """Whether no value meets the condition."""
        return not self.missing and (self.lower >= self.upper if self.elements is None else not self.elements)


def leaf_conditions(tree: Tree) -> Iterator[tuple[int, list[Condition]]]:
    """Return the node of each leaf with its conditions, from left to right.

    Conditions stand in the order in which the path first asks for the feature. A path that contradicts itself, so that
    no input takes it, is left out.
    """
    feature = tree.feature.tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    anything = unconditional(tree)
    conditions: dict[int, Condition] = {}  # of the path to the node at hand, in the order of first use

    # A step goes down to a node with the condition that its parent adds, or (node < 0) takes a condition back.
    stack: list[tuple[int, int, Condition | None]] = [(ROOT, NONE, None)]
    while stack:
        node, at, condition = stack.pop()
        if node == NONE:
            if condition is None:
                del conditions[at]
            else:
                conditions[at] = condition
            continue
        if condition is not None:
            stack.append((NONE, at, conditions.get(at)))
            conditions[at] = condition
        if left[node] == NONE:
            yield node, [condition for condition in conditions.values() if condition != anything[condition.feature]]
            continue
        at = feature[node]
        now = conditions.get(at, anything[at])
        below, above = parted(now, tree, node)
        if not above.empty:
            stack.append((right[node], at, above))
        if not below.empty:
            stack.append((left[node], at, below))


def path_conditions(tree: Tree, path: Iterable[tuple[int, bool]]) -> list[Condition]:
    """Return the conditions of one path: inner nodes from the root on, and whether it goes left there.

    They stand in the order in which the path first asks for the feature.
    """
    anything = unconditional(tree)
    conditions: dict[int, Condition] = {}
    for node, goes_left in path:
        at = int(tree.feature[node])
        below, above = parted(conditions.get(at, anything[at]), tree, node)
        conditions[at] = below if goes_left else above
    return [condition for condition in conditions.values() if condition != anything[condition.feature]]


def unconditional(tree: Tree) -> list[Condition]:
    """Return for each feature the condition that every input meets."""
    return [
        Condition(at, -math.inf, math.inf, takes_nan, elements=None if kind is None else numbers(kind))
        for at, (takes_nan, kind) in enumerate(zip(tree.nan_features.tolist(), tree.categories, strict=True))
    ]


def parted(now: Condition, tree: Tree, node: int) -> tuple[Condition, Condition]:
    """Return what is left of a condition on both sides of a node."""
    return _parted(now, node, float(tree.threshold[node])) if now.elements is None else _parted_set(now, tree, node)


def _parted(now: Condition, node: int, cut: float) -> tuple[Condition, Condition]:
    """Return what is left of a condition on both sides of a threshold."""
    below = (
        now
        if not now.missing and now.upper <= cut
        else replace(now, upper=min(now.upper, cut), missing=False, upper_node=node if cut < math.inf else NONE)
    )
    return below, now if now.lower >= cut else replace(now, lower=cut, lower_node=node)


def _parted_set(now: Condition, tree: Tree, node: int) -> tuple[Condition, Condition]:
    """Return what is left of a condition on both sides of a set test."""
    known, inside = now.elements or frozenset(), left_numbers(tree, node)
    missing_left = bool(tree.subsets[tree.subset[node], MISSING])
    return (
        replace(now, elements=known & inside, missing=now.missing and missing_left),
        replace(now, elements=known - inside, missing=now.missing and not missing_left),
    )


def to_rules(tree: Tree, *, digits: int | None = DIGITS) -> str:
    """Return `tree` as text with one IF-THEN rule per leaf.

    Parameters
    ----------
    tree : Tree
    digits : int or None
        Numbers with up to that many significant digits meet a rule as they reach its leaf, and integers; from six on
        also every float32 number. Thresholds that this does not separate get more digits. None writes them exactly.

    Returns
    -------
    str
        Lines that begin with ``#`` say what the tree is. On features that can be missing, "or missing" says that a
        missing value meets the condition too; without these words it does not.

    Examples
    --------
    >>> from onetree.tree.tree import Tree
    >>> labels = ["kitten", "cat"]
    >>> tree = Tree([0, -1, -1], [2.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], labels, ("age",), [False])
    >>> print(tree.to_rules())
    # Decision tree of depth 1 with 2 leaves, written by onetree.
    IF age <= 2.5 THEN kitten
    IF age > 2.5 THEN cat
    """
    check_writable(tree, "a list of rules")
    names, says, cuts = feature_words(tree), leaf_words(tree, digits), threshold_cuts(tree, digits)
    lines = [f"# {line}" for line in heading(tree)]
    for leaf, conditions in leaf_conditions(tree):
        words = " AND ".join(
            condition_words(condition, names[condition.feature], cuts, tree) for condition in conditions
        )
        lines.append(f"IF {words} THEN {says[leaf]}" if words else f"always: {says[leaf]}")
    return "\n".join(lines)


def condition_words(condition: Condition, name: str, cuts: dict[int, PrintedCut | None], tree: Tree) -> str:
    """Return a condition in words; `cuts` are the thresholds of the nodes."""
    kind, missing = tree.categories[condition.feature], condition.missing
    if kind is not None and condition.elements is not None:
        takes_nan = bool(tree.nan_features[condition.feature])
        text = f"{name} {set_phrase(kind, condition.elements, missing=missing, takes_nan=takes_nan)}"
        return f"({text} or missing)" if missing and condition.elements else text
    if condition.lower == math.inf:
        return f"{name} is missing"
    lower, upper = cuts.get(condition.lower_node), cuts.get(condition.upper_node)
    if lower and upper:
        if lower.number == upper.number:  # "<" below and "<=" above
            return f"{name} = {lower.number}"
        return f"{lower.number} {lower.above} {name} {upper.left} {upper.number}"
    if upper:
        return f"{name} {upper.left} {upper.number}"
    if lower:
        text = f"{name} {lower.right} {lower.number}"
        return f"({text} or missing)" if missing else text
    return f"{name} is known"
