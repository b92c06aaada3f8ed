"""Plain CART, tuned: what a tree of that size does without the model.

scikit-learn grows best split first and numbers nodes as it splits, so the tree of n leaves is the beginning of every
larger one. One fit per fold and setting therefore tells how all sizes do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.model.categories import Categories

CRITERIA = ("gini", "entropy")
LEAST_ROWS = (1, 5, 20)  # of a leaf
N_FOLDS = 5
_LARGEST = float(np.finfo(np.float32).max)


def encoded(values: NDArray[np.float64], like: NDArray[np.float64], kinds: Sequence[Categories | None]) -> Any:
    """Return rows as CART takes them: numbers are finite or missing, and each category of `like` has a column."""
    columns = []
    for feature, kind in enumerate(kinds):
        column = values[:, feature]
        if kind is None:
            columns.append(np.clip(column, -_LARGEST, _LARGEST))
        else:
            columns += [(column == value).astype(np.float64) for value in np.unique(like[:, feature])]
    return np.column_stack(columns)


def tuned_carts(
    X: NDArray[Any], y: NDArray[Any], budgets: Sequence[int], random_state: int, step: Callable[[float], object]
) -> list[Any]:
    """Fit a tree for each largest number of leaves; criterion, rows per leaf and leaves by cross-validation.

    Parameters
    ----------
    X, y : arrays
        What to learn from.
    budgets : sequence of int
        At least 1.
    random_state : int
    step : callable
        Receives the share of the work that is done.

    Returns
    -------
    list of sklearn.tree.DecisionTreeClassifier
    """
    from sklearn.tree import DecisionTreeClassifier

    most = max(2, *budgets)
    fold = _folds(y, np.random.default_rng(random_state))
    n_right: dict[tuple[str, int], NDArray[np.intp]] = {}  # [n - 1]: rows that the trees of n leaves get right
    jobs = list(itertools.product(CRITERIA, LEAST_ROWS, np.unique(fold)))
    for done, (criterion, least, each) in enumerate(jobs):
        step(done / len(jobs))
        tree = DecisionTreeClassifier(
            criterion=criterion, min_samples_leaf=least, max_leaf_nodes=most, random_state=random_state
        ).fit(X[fold != each], y[fold != each])
        right = right_by_leaves(tree, X[fold == each], y[fold == each], most)
        n_right[criterion, least] = n_right.get((criterion, least), 0) + right
    found = []
    for budget in budgets:
        # Of equal ones the first setting, and in it the fewest leaves.
        best = max(n_right, key=lambda setting: n_right[setting][:budget].max())
        n_leaves = 1 + int(np.argmax(n_right[best][:budget]))
        found.append(
            DecisionTreeClassifier(
                criterion=best[0],
                min_samples_leaf=best[1],
                random_state=random_state,
                max_leaf_nodes=max(2, n_leaves),
                min_samples_split=2 if n_leaves > 1 else len(y) + 1,
            ).fit(X, y)
        )
    return found


def right_by_leaves(tree: Any, X: NDArray[Any], y: NDArray[Any], n_most: int) -> NDArray[np.intp]:
    """Count for n = 1, 2, ... `n_most` the rows that the first n leaves of a tree get right."""
    arrays = tree.tree_
    leaf = arrays.apply(X.astype(np.float32))
    says = tree.classes_[arrays.value[:, 0].argmax(axis=1)]
    parent = np.zeros(arrays.node_count, dtype=np.intp)
    for children in (arrays.children_left, arrays.children_right):
        parent[children[children >= 0]] = np.flatnonzero(children >= 0)
    found = np.empty(n_most, dtype=np.intp)
    for n_leaves in range(n_most, 0, -1):
        beyond = leaf > 2 * (n_leaves - 1)  # each split has added two nodes
        leaf = np.where(beyond, parent[leaf], leaf)
        found[n_leaves - 1] = np.count_nonzero(says[leaf] == y)
    return found


def _folds(y: NDArray[Any], random: np.random.Generator) -> NDArray[np.intp]:
    """Assign the rows to folds, class by class, so that every fold has its share of each."""
    _, classes = np.unique(y, return_inverse=True)
    fold = np.empty(len(y), dtype=np.intp)
    fold[np.lexsort((random.random(len(y)), classes))] = np.arange(len(y)) % min(N_FOLDS, len(y))
    return fold
