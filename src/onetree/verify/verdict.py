"""The result of a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.amounts import counted, leaves
from onetree.domain.domain import Domain
from onetree.model.ensemble import Ensemble
from onetree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Verdict:
    """Result of `onetree.verify`; true in a condition iff tree and source are equivalent.

    Parameters
    ----------
    equivalent : bool
    method : str
        The proof that was used: "search", "cells" or "milp".
    n_checked : int
        Cells compared, or leaves of the tree examined, up to the end or to the counterexample.
    counterexample : float64 array of shape (n_features,), or None
        An input on which the two differ, for both `Tree.predict` and the source.
    tree_class, ensemble_class : label or None
        What the two predict there.
    n_fragile : int or None
        Cells so near to a tie that the order of adding may decide their class; None if not counted. "search" takes
        cells in which every tree ends in the same leaf for one, and counts none where one score is compared with a
        cut. Tree and source agree in these cells too, but the source library may not agree with itself if it adds in
        another order, on several threads for instance.
    domain : Domain or None
        The inputs that the verdict is about; None for all.
    """

    equivalent: bool
    method: str
    n_checked: int
    counterexample: NDArray[np.float64] | None = None
    tree_class: Any = None
    ensemble_class: Any = None
    n_fragile: int | None = None
    domain: Domain | None = None

    def __bool__(self) -> bool:
        return self.equivalent

    def __repr__(self) -> str:
        checked = counted(self.n_checked, "cell") if self.method == "cells" else leaves(self.n_checked)
        where = "" if self.domain is None else " inside a domain"
        if self.equivalent:
            return f"Verdict(equal{where}, {self.method}: {checked} checked)"
        said = f"the tree says {self.tree_class!s}, the model {self.ensemble_class!s}"
        return f"Verdict(not equal{where}: {said}; {self.method}: {checked} checked)"

    def _repr_html_(self) -> str:
        from onetree.display import verdict_html

        return verdict_html(self)


def differing(tree: Tree, ensemble: Ensemble, method: str, n_checked: int, point: NDArray[np.float64]) -> Verdict:
    """Return the verdict for an input on which the two differ."""
    return Verdict(
        equivalent=False,
        method=method,
        n_checked=n_checked,
        counterexample=point,
        tree_class=tree.classes[tree.leaf_class[walk(tree, point[np.newaxis])[0]]],
        ensemble_class=ensemble.predict(point[np.newaxis])[0],
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


def class_map(tree: Tree, ensemble: Ensemble) -> NDArray[np.intp]:
    """Return the ensemble's index of each class of the tree, -1 for a label that the ensemble does not have."""
    index = {label: i for i, label in enumerate(_typed_labels(ensemble.classes))}
    return np.array([index.get(label, -1) for label in _typed_labels(tree.classes)], dtype=np.intp)


def _typed_labels(classes: NDArray[Any]) -> list[tuple[type, Any]]:
    """Return the labels with their types: 1, True and 1.0 are equal in Python, but not the same label."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in classes.tolist()]
    return [(type(label), label) for label in plain]
