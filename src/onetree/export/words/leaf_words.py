"""What a leaf says, in words: its class, its class with probabilities, or the number of a regression tree.

The same words in text, rules, graphs, figures and reports; quoting and escaping are left to each format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onetree.export.words.decimals import DIGITS
from onetree.export.words.wording import label_words
from onetree.tree.leaf_values import Outcomes, outcomes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onetree.tree.tree import Tree

_MANY_CLASSES = 4  # beyond which only the most probable are named
_PROBABILITY_DIGITS = 4


def leaf_words(tree: Tree, digits: int | None = DIGITS) -> list[str]:
    """Return what each node says if it is a leaf; nothing for inner nodes."""
    said = outcomes(tree)
    words = outcome_words(tree, said, digits)
    return ["" if index < 0 else words[index] for index in said.index[0].tolist()]


def outcome_words(tree: Tree, said: Outcomes, digits: int | None = DIGITS, *, brief: bool = False) -> list[str]:
    """Return each of the things that leaves say in words.

    Parameters
    ----------
    tree : Tree
    said : Outcomes
        Of this tree.
    digits : int or None
        Significant digits of probabilities and numbers; None is as many as tell them from all others of their type.
    brief : bool
        Of probabilities, name that of the leaf's class alone.
    """
    labels = label_words(tree)
    if said.value is None:
        return [labels[index] for index in said.leaf_class.tolist()]
    if not labels:
        return [number_words(row[0], digits) for row in said.value]
    if brief:
        few = None if digits is None else min(digits, _PROBABILITY_DIGITS - 1)
        own = said.value[np.arange(len(said.value)), said.leaf_class]
        return [
            f"{labels[index]}: {number_words(number, few)}"
            for index, number in zip(said.leaf_class.tolist(), own, strict=True)
        ]
    return [
        f"{labels[index]} ({_probabilities(row, labels, digits)})"
        for index, row in zip(said.leaf_class.tolist(), said.value, strict=True)
    ]


def number_words(number: Any, digits: int | None = DIGITS) -> str:
    """Return a number of a leaf with so many significant digits; with None, as its own type writes it."""
    if digits is None:
        return str(number)
    text = f"{float(number):.{digits}g}"
    return "0" if float(text) == 0 else text


def _probabilities(row: NDArray[np.floating[Any]], labels: list[str], digits: int | None) -> str:
    order = list(range(len(labels)))
    if digits is not None and len(labels) > _MANY_CLASSES:
        order = np.argsort(-row, kind="stable")[: _MANY_CLASSES - 1].tolist()
    few = None if digits is None else min(digits, _PROBABILITY_DIGITS)
    named = [f"{labels[at]}: {number_words(row[at], few)}" for at in order]
    return ", ".join(named if len(named) == len(labels) else [*named, "..."])
