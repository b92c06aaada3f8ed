"""From a model and rows to its frontier: one growth, trees of several sizes, and CART beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.base.limits import is_integer
from onetree.base.progress import Progress, ProgressOption, Reporter, reporting
from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble, as_ensemble
from onetree.model.inputs import RowsLike
from onetree.support.agreement import Agreement
from onetree.support.build import reference_values
from onetree.support.clock import Clock
from onetree.support.frontier.cart import encoded, tuned_carts
from onetree.support.frontier.result import Frontier, FrontierPoint
from onetree.support.frontier.score import Difference, Score
from onetree.support.rows import RowMaker
from onetree.support.small import small_trees
from onetree.support.unfolded import Unfolding
from onetree.tree.tree import Tree

HELD_OUT = 0.2  # of the rows are set aside to measure on, unless others are given


def frontier(
    model: object,
    X: RowsLike,
    y: ArrayLike | None = None,
    *,
    leaves: Sequence[int] = (8, 16, 32, 64),
    held_out: Any = None,
    random_state: int = 0,
    progress: ProgressOption = None,
) -> Frontier:
    """Show how well trees of some sizes follow a model, and whether they are worth more than CART.

    For each number of leaves, the tree that `support_tree` would build, and on how many held-out rows it gives the
    class of the model. With `y`, also how often the model, the tree, and scikit-learn's CART are right: CART is trained
    on the same rows with `y`, and tuned by cross-validation.

    Parameters
    ----------
    model : fitted model, path of a model file, or Ensemble
    X : array of shape (n_rows, n_features), or data frame
        Rows to build the trees from: the training data, or others like those to come.
    y : array of shape (n_rows,), optional
        Their true classes.
    leaves : sequence of int
        Largest numbers of leaves.
    held_out : array or data frame, or a pair of one and its classes, optional
        Rows that neither the model nor the trees have seen, to measure on; with `y`, a pair ``(X_test, y_test)``.
        Otherwise a fifth of `X` is set aside. The trees do not see it, but the model may have, so accuracies are then
        too high, and the result says so.
    random_state : int
        Seed of the synthetic rows, the rows set aside, and CART.
    progress : callable or False, optional
        Called with a `Progress`; by default a bar where somebody looks.

    Returns
    -------
    Frontier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X[:400], y[:400])
    >>> found = frontier(forest, X[:400], y[:400], leaves=(4, 8), held_out=(X[400:], y[400:]))
    >>> [point.tree.n_leaves <= point.max_leaves for point in found.points]
    [True, True]
    >>> found.trees[8].exact
    False
    """
    budgets = _budgets(leaves)
    if not is_integer(random_state, 0):
        raise InvalidInputError(f"random_state must be a non-negative integer, not {random_state!r}")
    ensemble = as_ensemble(model)
    unfolding = Unfolding.of(ensemble)
    values = reference_values(X, unfolding.source, "X")
    labels = None if y is None else _labels(y, len(values), "y")
    test, test_labels = _held_out(held_out, unfolding.source, with_labels=y is not None)
    seen = test is None
    if test is None:
        values, test, labels, test_labels = _set_aside(values, labels, random_state)
    maker = RowMaker(unfolding.ensemble, random_state, unfolding.origin)
    with reporting(progress) as reporter:
        clock = Clock(None, reporter)
        rows = maker.label(unfolding.rows(values))
        trees = [unfolding.tree(tree) for tree in small_trees(maker, rows, budgets, clock)]
        classes = maker.label(unfolding.rows(test)).classes
        predicted = [tree.predict_index(test) for tree in trees]
        points = [
            FrontierPoint(budget, tree, Agreement.of(found == classes))
            for budget, tree, found in zip(budgets, trees, predicted, strict=True)
        ]
        score = None
        if labels is not None and test_labels is not None:
            score = Score.of(ensemble.classes[classes], test_labels)
            carts = _carts(ensemble, values, labels, test, budgets, random_state, clock, reporter)
            points = [
                _compared(point, tree, found, cart, test_labels)
                for point, tree, found, cart in zip(points, trees, predicted, carts, strict=True)
            ]
    return Frontier(
        points=tuple(points),
        model=score,
        n_rows=len(values),
        n_held_out=len(test),
        may_be_seen=seen,
        seconds=clock.elapsed,
    )


def _budgets(leaves: Sequence[int]) -> list[int]:
    budgets = list(leaves) if isinstance(leaves, Sequence | np.ndarray) else [leaves]
    if not budgets or not all(is_integer(each, 1) for each in budgets):
        raise InvalidInputError(f"leaves must be positive integers, such as (8, 16, 32), not {leaves!r}")
    return sorted({int(each) for each in budgets})


def _labels(y: ArrayLike, n_rows: int, name: str) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        raise InvalidInputError(f"{name} must have one class for each of {n_rows:,} rows, not shape {labels.shape}")
    return labels


def _held_out(
    held_out: Any, ensemble: Ensemble, *, with_labels: bool
) -> tuple[NDArray[np.float64] | None, NDArray[Any] | None]:
    if held_out is None:
        return None, None
    is_pair = isinstance(held_out, tuple) and len(held_out) == 2
    if is_pair != with_labels:
        wanted = "a pair (X_test, y_test), as y is given" if with_labels else "rows alone, as y is not given"
        raise InvalidInputError(f"held_out must be {wanted}")
    rows, labels = held_out if is_pair else (held_out, None)
    values = reference_values(rows, ensemble, "held_out")
    return values, None if labels is None else _labels(labels, len(values), "y_test of held_out")


def _set_aside(
    values: NDArray[np.float64], labels: NDArray[Any] | None, random_state: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[Any] | None, NDArray[Any] | None]:
    n_aside = int(HELD_OUT * len(values))
    if n_aside == 0:
        raise InvalidInputError(f"{len(values)} rows are too few to set some aside; give held_out=, rows to measure on")
    order = np.random.default_rng([random_state, len(values)]).permutation(len(values))
    kept, aside = np.sort(order[n_aside:]), np.sort(order[:n_aside])
    if labels is None:
        return values[kept], values[aside], None, None
    return values[kept], values[aside], labels[kept], labels[aside]


def _carts(
    ensemble: Ensemble,
    values: NDArray[np.float64],
    labels: NDArray[Any],
    test: NDArray[np.float64],
    budgets: Sequence[int],
    random_state: int,
    clock: Clock,
    reporter: Reporter | None,
) -> list[tuple[int, NDArray[Any]]]:
    """Return the leaves of the tuned CART of each size, and its predictions."""

    def step(share: float) -> None:
        if reporter is not None:
            reporter.tell(Progress("cart", clock.elapsed, None, None, round(100 * share), share))

    carts = tuned_carts(encoded(values, values, ensemble.categories), labels, budgets, random_state, step)
    inputs = encoded(test, values, ensemble.categories)
    return [(int(cart.get_n_leaves()), cart.predict(inputs)) for cart in carts]


def _compared(
    point: FrontierPoint, tree: Tree, found: NDArray[Any], cart: tuple[int, NDArray[Any]], y: NDArray[Any]
) -> FrontierPoint:
    predicted = tree.classes[found]
    return FrontierPoint(
        point.max_leaves,
        tree,
        point.agreement,
        score=Score.of(predicted, y),
        cart=Score.of(cart[1], y),
        cart_leaves=cart[0],
        lead=Difference.of(predicted == y, cart[1] == y),
    )
