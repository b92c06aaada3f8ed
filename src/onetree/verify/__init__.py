"""Proof that a tree and an ensemble are the same function, or an input on which they differ.

Shares no code with the engines, nor with the native prediction: a bug in one must not hide in the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onetree.ensemble import Ensemble, as_ensemble
from onetree.errors import InvalidInputError
from onetree.tree import Tree
from onetree.verify import cells, milp
from onetree.verify.verdict import Verdict

__all__ = ["METHODS", "Verdict", "verify"]

METHODS = ("auto", "cells", "milp")


def verify(
    tree: Tree,
    source: Any,
    *,
    method: str = "auto",
    max_cells: int = 2_000_000,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Prove that `tree` predicts the class of `source` for every input, or find an input where it does not.

    Parameters
    ----------
    tree : Tree
    source : fitted model or Ensemble
    method : {"auto", "cells", "milp"}
        "cells" compares one input from every cell of the grid that the thresholds of both span; nothing is left
        unchecked. "milp" asks HiGHS, for every leaf of the tree, for an input in its box that the source gives another
        class; it does not depend on the number of cells. "auto" takes "cells" up to `max_cells`, else "milp".
    max_cells : int
        Most cells to compare one by one.
    progress : callable, optional
        Called now and then with the number of cells or leaves checked and their total.

    Returns
    -------
    Verdict
        True in a condition iff the two are equivalent.

    Examples
    --------
    >>> from onetree import Ensemble, Tree, verify
    >>> from onetree.ensemble import Rule
    >>> labels = ["kitten", "cat"]
    >>> stump = dict(roots=[0], feature=[0, -1, -1], left=[1, -1, -1], right=[2, -1, -1])
    >>> ensemble = Ensemble(
    ...     classes=labels, feature_names=("age",), **stump, threshold=[1.0, 0, 0], missing_left=[False] * 3,
    ...     value=[[0.0, 0], [1, 0], [0, 1]], base=[0.0, 0], rule=Rule("hard"), nan_features=[False],
    ... )
    >>> tree = Tree([0, -1, -1], [2.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], labels, ("age",), [False])
    >>> verdict = verify(tree, ensemble)
    >>> verdict.equivalent, verdict.counterexample.tolist(), str(verdict.tree_class), str(verdict.ensemble_class)
    (False, [2.0], 'kitten', 'cat')
    """
    if method not in METHODS:
        raise InvalidInputError(f"unknown method {method!r}; use one of {', '.join(METHODS)}")
    ensemble = as_ensemble(source)
    _check_domain(tree, ensemble)
    axes = cells.joint_axes(tree, ensemble)
    n_cells = cells.count(axes)
    if method == "auto":
        method = "cells" if n_cells <= max_cells else "milp"
    if method == "milp":
        return milp.prove(tree, ensemble, max_cells=max_cells, progress=progress)
    if n_cells > max_cells:
        raise InvalidInputError(
            f"the thresholds of tree and source span {n_cells:.3g} cells, over max_cells={max_cells:.3g}; "
            'use method="milp", which does not enumerate them, or raise max_cells'
        )
    return cells.prove(tree, ensemble, axes, progress=progress)


def _check_domain(tree: Tree, ensemble: Ensemble) -> None:
    if tree.n_features != ensemble.n_features:
        raise InvalidInputError(
            f"the tree has {tree.n_features} features, but the source has {ensemble.n_features}; "
            "they do not belong together"
        )
    only_source = ensemble.nan_features & ~tree.nan_features
    if only_source.any():
        name = ensemble.feature_names[int(np.argmax(only_source))]
        raise InvalidInputError(
            f"the source takes missing values in {name!r}, but the tree refuses them; "
            'convert the source again, or import it with missing="refuse" to compare without them'
        )
