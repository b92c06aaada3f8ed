"""Cores: for each leaf a box in which its class is proven, and how much of the data lies in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.model.inputs import RowsLike, read_inputs
from onetree.support.agreement import Agreement
from onetree.support.unfolded import Unfolding
from onetree.tree.tree import Tree


@dataclass(frozen=True)
class Coverage:
    """How many inputs lie in proven boxes, and how the tree does on the others.

    Parameters
    ----------
    n_inside, n_inputs : int
    outside : Agreement
        With the ensemble, on the inputs that lie in no core.
    """

    n_inside: int
    n_inputs: int
    outside: Agreement

    @property
    def share(self) -> float | None:
        """Share of the inputs that lie in a core, None if there are none."""
        return self.n_inside / self.n_inputs if self.n_inputs else None


@dataclass(frozen=True, eq=False)
class Cores:
    """One box per leaf in which the ensemble is proven to give the class of the leaf.

    Parameters
    ----------
    leaves : int32 array of shape (n_leaves,)
        Node indices, in the order of `Tree.leaves`.
    lower, upper : float64 array of shape (n_leaves, n_features)
        The core is ``lower < x <= upper``, with missing values where `upper` is NaN, as in `Tree.boxes`. It lies inside
        the box of the leaf; ``lower == upper`` means that the leaf has no core. With `unfolding`, one entry per
        column of that instead of one per feature.
    coverage : dict
        `Coverage` of the "reference" rows, the random points of the "box", and the "held_out" rows unless they joined
        the reference rows.
    unfolding : Unfolding or None
        Of a model with set tests: the columns that they were turned into.
    """

    leaves: NDArray[np.int32]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    coverage: dict[str, Coverage]
    unfolding: Unfolding | None = None

    def contain(self, tree: Tree, X: RowsLike) -> NDArray[np.bool_]:
        """Return which rows lie in the core of their leaf, so that their class is proven."""
        rows = read_inputs(X, tree).astype(np.float64, copy=False)
        place = np.empty(tree.n_nodes, dtype=np.intp)
        place[self.leaves] = np.arange(len(self.leaves))
        at = place[tree.apply(rows)]
        if self.unfolding is not None:
            rows = self.unfolding.rows(rows)
        lower, upper = self.lower[at], self.upper[at]
        above = (rows > lower) | (np.isneginf(lower) & np.isneginf(rows))
        inside = (above & ((rows <= upper) | np.isnan(upper))) | (np.isnan(rows) & np.isnan(upper))
        return np.asarray(inside.all(axis=1))

    def measured(self, tree: Tree, X: NDArray[np.float64], same: NDArray[np.bool_]) -> Coverage:
        """Count the rows of `X` in cores, given on which of them tree and ensemble agree."""
        inside = self.contain(tree, X) if len(X) else np.zeros(0, dtype=bool)
        return Coverage(int(inside.sum()), len(X), Agreement.of(same[~inside]))

    def report(self) -> dict[str, Any]:
        """Return the figures as values that `json` writes."""
        return {
            name: {"share": found.share, "agreement_outside": found.outside.share}
            for name, found in self.coverage.items()
        }

    def lines(self) -> list[str]:
        """Return the figures for people."""
        names = {"reference": "reference rows", "held_out": "held-out rows", "box": "random points"}
        return [
            f"class proven on {names[name]:<14} {Agreement(found.n_inside, found.n_inputs)}; "
            f"same class on the others: {found.outside}"
            for name, found in self.coverage.items()
        ]
