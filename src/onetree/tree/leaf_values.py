"""What the leaves of a tree carry beside classes, numbers that its source returns, and whether they are sound.

A leaf of a regression tree carries one number, a leaf of a probability tree one for each class, in the number type of
the library that the source comes from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from onetree.base.limits import is_number
from onetree.errors import InvalidInputError

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

Output = Literal["class", "probability", "value"]

TYPES = ("float32", "float64")


def frozen(value: Any, is_leaf: NDArray[np.bool_]) -> NDArray[np.floating[Any]]:
    """Return the numbers of the leaves as a read-only array that is zero at inner nodes."""
    given = np.asarray(value)
    if given.dtype.kind not in "fiu" or given.ndim != 2 or len(given) != len(is_leaf) or given.shape[1] == 0:
        raise InvalidInputError(
            f"value must hold numbers of shape ({len(is_leaf)}, n_numbers), one row for each node, but is an array of "
            f"{given.dtype} of shape {given.shape}"
        )
    kept = given.dtype if given.dtype.name in TYPES else np.dtype(np.float64)
    array = np.where(is_leaf[:, np.newaxis], given, 0).astype(kept)
    if not np.isfinite(array).all():
        raise InvalidInputError(
            "value must be finite in every leaf; a source with infinite scores cannot be reproduced"
        )
    array.flags.writeable = False
    return array


def check(tree: Tree) -> None:
    """Raise unless the numbers of the leaves fit the classes, and the promise fits the numbers."""
    if tree.value is None:
        if tree.tolerance is not None or tree.relative or not tree.keeps_class:
            raise InvalidInputError("tolerance, relative and keeps_class belong to a tree whose leaves have a value")
        return
    wanted = tree.n_classes or 1
    if tree.value.shape[1] != wanted:
        what = f"a probability for each of the {wanted} classes" if tree.n_classes else "one number without classes"
        raise InvalidInputError(f"value has {tree.value.shape[1]} columns, but a leaf carries {what}")
    if tree.shares is not None:
        raise InvalidInputError("a tree has shares of rows or the numbers of its source, not both")
    check_tolerance(tree.tolerance, relative=tree.relative)


def check_tolerance(tolerance: float | None, *, relative: bool) -> None:
    """Raise unless a tolerance is a number that a distance can be compared with; None promises nothing."""
    if tolerance is None:
        if relative:
            raise InvalidInputError("relative=True needs a tolerance")
        return
    if not is_number(tolerance):
        raise InvalidInputError(f"tolerance must be a number, not {tolerance!r}")
    try:
        number = float(tolerance)
    except OverflowError:  # an integer beyond all floats
        number = math.inf
    if not 0 <= number < math.inf or (relative and number >= 1):
        limit = "at least 0 and below 1, as a share of the score" if relative else "finite and at least 0"
        raise InvalidInputError(f"tolerance must be {limit}, not {tolerance!r}")


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The different things that the leaves of some trees say, numbered; for trees with classes only, the classes.

    Parameters
    ----------
    index : tuple of int32 arrays of shape (n_nodes,)
        For each tree what its leaves say, -1 at inner nodes. Numbers are told apart by their bits.
    leaf_class : int32 array of shape (n_outcomes,)
        The class of each.
    value : array of shape (n_outcomes, n_numbers), optional
        The numbers of each.
    """

    index: tuple[NDArray[np.int32], ...]
    leaf_class: NDArray[np.int32]
    value: NDArray[np.floating[Any]] | None


def outcomes(*trees: Tree) -> Outcomes:
    """Return what the leaves of trees say; they have the same classes and type of numbers, or no numbers at all."""
    if trees[0].value is None:
        return Outcomes(
            tuple(tree.leaf_class for tree in trees), np.arange(trees[0].n_classes, dtype=np.int32), value=None
        )
    leaf_class = np.concatenate([tree.leaf_class for tree in trees])
    value = np.concatenate([tree.value for tree in trees if tree.value is not None])
    is_leaf = leaf_class >= 0
    bits = value[is_leaf].view(np.uint8)
    rows = np.column_stack([leaf_class[is_leaf, np.newaxis].view(np.uint8), bits])
    keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")  # in the order in which they occur
    index = np.full(len(leaf_class), -1, dtype=np.int32)
    index[is_leaf] = rank[number.ravel()]
    at = np.flatnonzero(is_leaf)[np.sort(first)]
    ends = np.cumsum([tree.n_nodes for tree in trees])[:-1]
    return Outcomes(tuple(np.split(index, ends)), leaf_class[at], value[at])


def promise(tree: Tree) -> str:
    """Return what an exact tree with numbers promises, as words that follow others: ", probabilities within 0.05"."""
    if tree.value is None:
        return ""
    numbers = "" if tree.output == "value" else " probabilities"
    if tree.tolerance is None or not tree.exact:
        return f",{numbers}" if numbers else ""
    if tree.tolerance == 0:
        return f", equal{numbers}" if numbers else ", equal values"
    return f",{numbers} within {tolerance_words(tree.tolerance, relative=tree.relative)}"


def tolerance_words(tolerance: float, *, relative: bool) -> str:
    """Return a tolerance with up to four digits, rounded up, so that what is said holds: "0.05", "5 %"."""
    exact = Decimal(repr(tolerance)) * (100 if relative else 1)
    rounded = Context(prec=4, rounding=ROUND_CEILING).create_decimal(exact)
    return f"{float(rounded):.4g}{' %' if relative else ''}"
