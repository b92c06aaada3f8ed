"""The result of a proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.amounts import counted, leaves
from onetree.domain.domain import Domain
from onetree.model.ensemble import Ensemble
from onetree.tree.leaf_values import tolerance_words
from onetree.tree.tree import Tree
from onetree.verify.deviation import deviation


@dataclass(frozen=True, eq=False)
class Verdict:
    """Result of `onetree.verify`; true in a condition iff tree and source are equivalent.

    A tree with numbers is equivalent if they are within its tolerance of the source's on every input, and its classes,
    where it promises them, are the source's.

    Parameters
    ----------
    equivalent : bool
    method : str
        The proof that was used: "search", "cells" or "milp".
    n_checked : int
        Cells compared, or leaves of the tree examined, up to the end or to the counterexample.
    counterexample : float64 array of shape (n_features,), or None
        An input on which the two differ, for both `Tree.predict` and the source; with numbers, by more than the
        tolerance or in class.
    tree_class, ensemble_class : label or None
        What the two predict there, if they predict classes.
    n_fragile : int or None
        Cells so near to a tie that the order of adding may decide their class; None if not counted. "search" takes
        cells in which every tree ends in the same leaf for one, and counts none where one score is compared with a
        cut. Tree and source agree in these cells too, but the source library may not agree with itself if it adds in
        another order, on several threads for instance.
    domain : Domain or None
        The inputs that the verdict is about; None for all.
    tolerance : float or None
        Of a tree with numbers: what they were compared within.
    relative : bool
        Whether this is a share of the source's number.
    worst : float or None
        The largest deviation of a number of the tree from the source's, in the unit of the tolerance and rounded up to
        a float64. Of equivalent ones no input has a larger one; by "milp" it is the largest that was met, near the
        largest there is. Of others it is that of the counterexample. None if it was not looked for.
    worst_input : float64 array of shape (n_features,), or None
        An input where it occurs; None if all numbers are equal.
    tree_value, ensemble_value : array of shape (n_numbers,), or None
        The numbers of the two there.
    """

    equivalent: bool
    method: str
    n_checked: int
    counterexample: NDArray[np.float64] | None = None
    tree_class: Any = None
    ensemble_class: Any = None
    n_fragile: int | None = None
    domain: Domain | None = None
    tolerance: float | None = None
    relative: bool = False
    worst: float | None = None
    worst_input: NDArray[np.float64] | None = None
    tree_value: NDArray[Any] | None = None
    ensemble_value: NDArray[Any] | None = None

    def __bool__(self) -> bool:
        return self.equivalent

    def __repr__(self) -> str:
        checked = counted(self.n_checked, "cell") if self.method == "cells" else leaves(self.n_checked)
        where = "" if self.domain is None else " inside a domain"
        if self.equivalent:
            return f"Verdict({self.kept}{where}, {self.method}: {checked} checked)"
        return f"Verdict(not {self.kept}{where}: {self.difference}; {self.method}: {checked} checked)"

    @property
    def kept(self) -> str:
        """What is proven or refuted, in words: "equal", "within 0.05 (at most 0.0499)"."""
        if self.tolerance is None or (self.tolerance == 0 and not self.worst):
            return "equal"
        within = f"within {tolerance_words(self.tolerance, relative=self.relative)}"
        if not self.equivalent or self.worst is None:
            return within
        return f"{within} (at most {tolerance_words(self.worst, relative=self.relative)})"

    @property
    def difference(self) -> str:
        """What the two say at the counterexample, in words; empty if there is none."""
        if self.counterexample is None:
            return ""
        if self.tree_value is None or self.ensemble_value is None:
            return f"the tree says {self.tree_class!s}, the model {self.ensemble_class!s}"
        column = int(np.argmax(deviation(self.tree_value, self.ensemble_value, relative=self.relative)))
        said = f"the tree says {self.tree_value[column]}, the model {self.ensemble_value[column]}"
        return said if self.tree_class is None else f"{said} for column {column}"

    def _repr_html_(self) -> str:
        from onetree.display import verdict_html

        return verdict_html(self)


@dataclass(frozen=True, eq=False)
class Deviation:
    """Result of `onetree.worst_deviation`.

    Parameters
    ----------
    worst : float
        The largest deviation of a number of the tree from the source's, rounded up to a float64.
    relative : bool
        Whether it is a share of the source's number.
    input : float64 array of shape (n_features,), or None
        An input where it occurs; None if all numbers are equal.
    tree_value, ensemble_value : array of shape (n_numbers,), or None
        The numbers of the two there.
    domain : Domain or None
        The inputs that it is about; None for all.
    """

    worst: float
    relative: bool = False
    input: NDArray[np.float64] | None = None
    tree_value: NDArray[Any] | None = None
    ensemble_value: NDArray[Any] | None = None
    domain: Domain | None = None

    def __repr__(self) -> str:
        where = "" if self.domain is None else " inside a domain"
        share = " of the source's number" if self.relative else ""
        return f"Deviation(at most {self.worst!r}{share}{where})"


def differing(tree: Tree, ensemble: Ensemble, method: str, n_checked: int, point: NDArray[np.float64]) -> Verdict:
    """Return the verdict for an input on which the two differ."""
    return Verdict(
        equivalent=False,
        method=method,
        n_checked=n_checked,
        counterexample=point,
        tolerance=tree.tolerance,
        relative=tree.relative,
        tree_class=tree.classes[tree.leaf_class[walk(tree, point[np.newaxis])[0]]],
        ensemble_class=ensemble.predict(point[np.newaxis])[0],
    )


def with_numbers(
    tree: Tree, ensemble: Ensemble, method: str, n_checked: int, worst: float, point: NDArray[np.float64] | None
) -> Verdict:
    """Return the verdict on the numbers of a tree, whose worst deviation is that at `point`; None if it has none."""
    if tree.value is None or tree.tolerance is None:
        raise ValueError("the tree has no numbers, or promises nothing of them")
    is_kept = worst <= tree.tolerance
    verdict = Verdict(
        equivalent=is_kept,
        method=method,
        n_checked=n_checked,
        tolerance=tree.tolerance,
        relative=tree.relative,
        worst=worst,
        worst_input=point,
    )
    if point is None:
        return verdict
    row = point[np.newaxis]
    leaf = walk(tree, row)[0]
    verdict = replace(verdict, tree_value=tree.value[leaf], ensemble_value=ensemble.numbers(row)[0])
    if is_kept:
        return verdict
    has_classes = tree.n_classes > 0
    return replace(
        verdict,
        counterexample=point,
        tree_class=tree.classes[tree.leaf_class[leaf]] if has_classes else None,
        ensemble_class=ensemble.predict(row)[0] if has_classes else None,
    )


def walk(tree: Tree, rows: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the leaf of each row: the plain reading of the tree's arrays that the proofs rely on."""
    node = np.zeros(len(rows), dtype=np.intp)
    element = {j: kind.element(rows[:, j]) for j, kind in enumerate(tree.categories) if kind is not None}
    at = np.flatnonzero(tree.feature[node] >= 0)
    while at.size:
        here = node[at]
        goes_left = rows[at, tree.feature[here]] <= tree.threshold[here]  # NaN compares false and goes right
        for j, elements in element.items():
            tested = tree.feature[here] == j
            goes_left[tested] = tree.subsets[tree.subset[here[tested]], elements[at[tested]]]
        node[at] = np.where(goes_left, tree.children_left[here], tree.children_right[here])
        at = at[tree.feature[node[at]] >= 0]
    return node


def compares_classes(tree: Tree) -> bool:
    """Whether the classes of a tree are part of what it promises."""
    return tree.value is None or (tree.n_classes > 0 and tree.keeps_class)


def class_map(tree: Tree, ensemble: Ensemble) -> NDArray[np.intp]:
    """Return the ensemble's index of each class of the tree, -1 for a label that the ensemble does not have."""
    index = {label: i for i, label in enumerate(_typed_labels(ensemble.classes))}
    return np.array([index.get(label, -1) for label in _typed_labels(tree.classes)], dtype=np.intp)


def _typed_labels(classes: NDArray[Any]) -> list[tuple[type, Any]]:
    """Return the labels with their types: 1, True and 1.0 are equal in Python, but not the same label."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in classes.tolist()]
    return [(type(label), label) for label in plain]
