"""Why one input gets its class: the path through the tree as sentences, one for each feature that it asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onetree.display.markup import bullets, panel
from onetree.export.rules import Condition, condition_words, path_conditions
from onetree.export.words.conditions import threshold_cuts
from onetree.export.words.decimals import PrintedCut
from onetree.export.words.leaf_words import leaf_words
from onetree.export.words.wording import feature_words, limitations, printable
from onetree.model.categories import FIRST
from onetree.model.inputs import read_row
from onetree.model.routing import Routes

if TYPE_CHECKING:
    from onetree.tree.tree import Tree


@dataclass(frozen=True)
class Explanation:
    """The path of one input, in words; iterates over the reasons.

    Parameters
    ----------
    label : label
        The class, or the value of a regression tree.
    reasons : tuple of str
        For each feature that the path asks for, the value and what the path demands of it, such as
        ``"age is 34: 18 <= age < 50"``. Every input that meets all of these demands gets the same from the tree.
    limitations : tuple of str
        Where the tree, and with it the explanation, is not exact; empty if it is everywhere.
    words : str
        What the leaf says, if that is more than a class.
    """

    label: Any
    reasons: tuple[str, ...]
    limitations: tuple[str, ...] = ()
    words: str = ""

    @property
    def said(self) -> str:
        """What the leaf says, in words."""
        return self.words or printable(str(self.label))

    def __iter__(self) -> Iterator[str]:
        return iter(self.reasons)

    def __len__(self) -> int:
        return len(self.reasons)

    def __str__(self) -> str:
        head = f"{self.said}, because" if self.reasons else f"{self.said}, always"
        return "\n".join([head, *(f"  {reason}" for reason in self.reasons), *self.limitations])

    def _repr_html_(self) -> str:
        said = self.words or self.label
        title = f"{said}, because" if self.reasons else f"{said}, always"
        facts = [("note", line) for line in self.limitations]
        return panel(title, facts, bullets(self.reasons))


def explain(tree: Tree, x: Any) -> Explanation:
    """Return the path of one input; see `Tree.explain`."""
    row = read_row(x, tree)
    path, leaf = _path(tree, row)
    names, cuts = feature_words(tree), _cuts(tree, row, path)
    reasons = []
    for condition in path_conditions(tree, path):
        at = condition.feature
        demand = condition_words(condition, names[at], cuts, tree)
        said = f"{names[at]} is {_value(tree, condition, row[0, at])}"
        if demand.startswith("(") and demand.endswith(" or missing)"):  # as in a rule, where AND follows
            demand = demand[1:-1]
        reasons.append(said if demand == said else f"{said}: {demand}")
    if tree.output == "value" and tree.value is not None:
        label = tree.value[leaf, 0]
    else:
        label = tree.classes[int(tree.leaf_class[leaf])]
    plain = label.item() if isinstance(label, np.generic) else label
    words = "" if tree.output == "class" else leaf_words(tree)[leaf]
    return Explanation(plain, tuple(reasons), tuple(limitations(tree)), words)


def _path(tree: Tree, row: NDArray[Any]) -> tuple[list[tuple[int, bool]], int]:
    """Return the inner nodes that an input passes, with whether it goes left there, and the leaf that it ends in."""
    routes, first, node = Routes(tree, row), np.zeros(1, dtype=np.intp), 0
    path = []
    while tree.children_left[node] >= 0:
        goes_left = bool(routes.go_left(first, node)[0])
        path.append((node, goes_left))
        node = int((tree.children_left if goes_left else tree.children_right)[node])
    return path, node


def _cuts(tree: Tree, row: NDArray[Any], path: list[tuple[int, bool]]) -> dict[int, PrintedCut | None]:
    """Return the printed thresholds of a path; exact ones if this input has more digits than they are for."""
    nodes = [node for node, _ in path]
    cuts = threshold_cuts(tree, nodes=nodes)
    for node, goes_left in path:
        cut, value = cuts.get(node), float(row[0, tree.feature[node]])
        if cut is not None and math.isfinite(value):
            number = Decimal(cut.number)
            if (value <= number if cut.inclusive else value < number) != goes_left:
                return threshold_cuts(tree, None, nodes)
    return cuts


def _value(tree: Tree, condition: Condition, value: np.floating[Any]) -> str:
    """Return a value in few digits; a category by its name."""
    if np.isnan(value):
        return "missing"
    kind = tree.categories[condition.feature]
    if kind is not None:
        element = int(kind.element([float(value)])[0])
        if element >= FIRST and kind.names:
            return printable(kind.names[element - FIRST])
        return _digits(value)
    # A float32 number in the digits that distinguish it from its neighbours is another number, on either side of it.
    text = _digits(value)
    return text if condition.lower < float(text) <= condition.upper else _digits(np.float64(value))


def _digits(value: np.floating[Any]) -> str:
    """Return the fewest digits that distinguish a number from all others of its precision."""
    text = np.format_float_positional(value, trim="-")
    return text if len(text) <= 24 else np.format_float_scientific(value, trim="-")
