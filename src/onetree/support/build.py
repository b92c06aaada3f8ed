"""From an ensemble and reference rows to a tree that follows the ensemble where the rows are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onetree.base.limits import DEFAULT_OBJECTIVE, check_choice, is_integer, seconds
from onetree.base.progress import ProgressOption, reporting
from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble, as_ensemble
from onetree.model.inputs import RowsLike, read_inputs
from onetree.search.solution import in_order
from onetree.search.wanted import wanted_of
from onetree.support.clock import Clock
from onetree.support.growth import Growth, as_branches, first_pool
from onetree.support.measure import agreement, box_points, measured_cores
from onetree.support.number_tree import number_support
from onetree.support.optimal import search_optimum
from onetree.support.rows import RowMaker, Sample, set_aside
from onetree.support.small import small_trees
from onetree.support.solution import SupportSolution
from onetree.support.unfolded import Unfolding
from onetree.tree.tree import Tree

DEFAULT_LEAVES = 256


def support_tree(
    model: object,
    X: RowsLike,
    *,
    output: str = "auto",
    max_leaves: int | None = None,
    fidelity: float | None = None,
    certify: bool = False,
    held_out: RowsLike | None = None,
    optimal: str | None = None,
    time_limit: float | None = None,
    random_state: int = 0,
    progress: ProgressOption = None,
) -> SupportSolution:
    """Build a tree that follows an ensemble of any size where the data are.

    Splits are the ensemble's own hyperplanes; parts of the space without reference rows are never split.

    Parameters
    ----------
    model : fitted model, path or Ensemble
        What the tree is to follow; a path leads to a file that `load_ensemble` reads.
    X : array of shape (n_rows, n_features) or data frame
        The reference rows: the training data, or other inputs that stand for those to come. Classes are not needed.
    output : {"auto", "class", "probability", "value"}
        What a leaf says: a class; a probability for each class; or a number, as a regressor does. "auto" is a number
        for regressors and a class for classifiers. A tree with numbers goes with `max_leaves`; how far they are from
        the model's on average and at worst is measured.
    max_leaves : int, optional
        Promise no more than that many leaves, and nothing about agreement; 256 if `fidelity` is not given either.
    fidelity : float, optional
        Promise that this share of the reference rows gets the ensemble's class, 1.0 for all of them.
    certify : bool
        Find for each leaf a core: a box in which its class is proven. Of a tree with numbers, prove how far at worst
        they are from the model's, over all inputs: `worst_deviation`, which takes long for large models.
    held_out : array of shape (n_rows, n_features) or data frame, optional
        Rows to measure the agreement on. Otherwise a fifth of `X` is set aside for that; with `fidelity` these rows
        join once the tree has been measured on them, so that the promise holds for all of `X`.
    optimal : {"leaves", "depth"}, optional
        With ``fidelity=1.0``: search for the tree with the fewest leaves or of the least depth, and prove it. For some
        hundred rows.
    time_limit : float, optional
        Seconds; when they are over, an optimal search returns the best tree so far with what is proven, and a tree
        of at most `max_leaves` has those that it has by then.
    random_state : int
        Seed of the synthetic rows and of the rows set aside.
    progress : callable, False or None
        As in `born_again`.

    Returns
    -------
    SupportSolution

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    >>> solution = support_tree(forest, X, fidelity=1.0)
    >>> solution.promise
    'every reference row gets the class of the ensemble'
    >>> bool((solution.tree.predict(X) == forest.predict(X)).all()), solution.tree.exact
    (True, False)
    """
    _check(fidelity, max_leaves, optimal, random_state)
    seconds(time_limit)
    with reporting(progress) as report:
        clock = Clock(time_limit, report)
        return _followed(model, X, output, max_leaves, fidelity, certify, held_out, optimal, random_state, clock)


def _followed(
    model: object,
    X: RowsLike,
    output: str,
    max_leaves: int | None,
    fidelity: float | None,
    certify: bool,
    held_out: RowsLike | None,
    optimal: str | None,
    random_state: int,
    clock: Clock,
) -> SupportSolution:
    """Build what `support_tree` is asked for."""
    wanted = wanted_of(model, output)
    is_class = wanted.output == "class"
    if not is_class and fidelity is not None:
        raise InvalidInputError(
            "fidelity= and optimal= are about classes, and this tree has numbers; give max_leaves= instead"
        )
    unfolding = Unfolding.of(as_ensemble(wanted.ensemble) if is_class else wanted.ensemble)
    values = reference_values(X, unfolding.source, "X")
    others = None if held_out is None else reference_values(held_out, unfolding.source, "held_out")
    if not is_class:
        return number_support(unfolding, values, others, max_leaves or DEFAULT_LEAVES, certify, random_state, clock)
    ensemble = unfolding.ensemble
    maker = RowMaker(ensemble, random_state, unfolding.origin)
    rows = maker.label(unfolding.rows(values))
    if others is None:
        rows, aside = set_aside(rows, random_state)
    else:
        aside = maker.label(unfolding.rows(others))
    joined = False
    if fidelity is None:
        (tree,) = small_trees(maker, rows, [max_leaves or DEFAULT_LEAVES], clock)
        on_aside, lower_bound = agreement(tree, aside), (0, 1)
    else:
        sample = Sample(maker, rows)
        growth = Growth(sample, first_pool(sample), faithful=True)
        tree = _faithful_tree(growth, maker, len(rows), fidelity, clock)
        on_aside = agreement(tree, aside)
        joined = others is None and len(aside) > 0
        if joined:
            growth.join(aside)
            rows = rows.joined(aside)
            tree = _faithful_tree(growth, maker, len(rows), fidelity, clock)
        n_classes = len(np.unique(rows.classes)) if fidelity == 1.0 else 1
        lower_bound = (n_classes - 1).bit_length(), n_classes
        if optimal is not None:
            tree, lower_bound = search_optimum(tree, rows, maker.grid, optimal, clock.left)
    box = maker.label(unfolding.rows(box_points(values, unfolding.source.categories, random_state)))
    inputs = {"reference": rows, "box": box}
    if not joined:
        inputs["held_out"] = aside
    cores = measured_cores(tree, unfolding, maker.grid, inputs) if certify else None
    objective = optimal or DEFAULT_OBJECTIVE
    value, bound = in_order(objective, tree.depth, tree.n_leaves), in_order(objective, *lower_bound)
    return SupportSolution(
        tree=unfolding.tree(tree),
        objective=objective,
        status="support-optimal" if optimal is not None and value == bound else "support",
        value=value,
        lower_bound=bound,
        stats={"seconds": clock.elapsed, "engine": "support"},
        promise=_promise(fidelity, max_leaves or DEFAULT_LEAVES, certify),
        fidelity=fidelity,
        reference=agreement(tree, rows),
        held_out=on_aside,
        box=agreement(tree, box),
        cores=cores,
    )


def _faithful_tree(growth: Growth, maker: RowMaker, n_rows: int, fidelity: float, clock: Clock) -> Tree:
    """Grow until the promise is kept."""
    growth.grow(max_leaves=math.inf, max_wrong=_allowed(fidelity, n_rows), step=clock.of_rows(n_rows))
    return as_branches(growth.nodes).as_tree(maker.predictor.ensemble, maker.grid)


def _check(
    fidelity: float | None,
    max_leaves: int | None,
    optimal: str | None,
    random_state: int,
) -> None:
    if fidelity is not None and max_leaves is not None:
        raise InvalidInputError(
            "fidelity= and max_leaves= exclude each other: rows may need more leaves than allowed; give one of them"
        )
    if fidelity is not None and not 0 < fidelity <= 1:
        raise InvalidInputError(f"fidelity is a share of the rows, above 0 and at most 1, not {fidelity!r}")
    if max_leaves is not None and not is_integer(max_leaves, 1):
        raise InvalidInputError(f"max_leaves must be a positive integer, not {max_leaves!r}")
    if optimal is not None:
        check_choice("optimal", optimal, ("leaves", "depth"))
        if fidelity != 1.0:
            raise InvalidInputError("optimal= needs trees that are right on every row; give fidelity=1.0 with it")
    if not is_integer(random_state, 0):
        raise InvalidInputError(f"random_state must be a non-negative integer, not {random_state!r}")


def reference_values(X: RowsLike, ensemble: Ensemble, name: str) -> NDArray[np.float64]:
    """Read rows, of which there must be some."""
    values = read_inputs(X, ensemble).astype(np.float64)
    if len(values) == 0:
        raise InvalidInputError(f"{name} has no rows; give the data that the model was trained on")
    return values


def _allowed(fidelity: float, n_rows: int) -> int:
    """Return the largest number of wrong rows that keeps the promise."""
    n_right = math.ceil(fidelity * n_rows)
    while n_right > 0 and (n_right - 1) / n_rows >= fidelity:  # the product may have been rounded up
        n_right -= 1
    return n_rows - n_right


def _promise(fidelity: float | None, max_leaves: int, certify: bool) -> str:
    if fidelity is None:
        promise = f"at most {max_leaves:,} leaves, no promise about any row"
    elif fidelity == 1.0:
        promise = "every reference row gets the class of the ensemble"
    else:
        promise = f"at least {fidelity:.6g} of the reference rows get the class of the ensemble"
    return f"{promise}; inside the cores every input gets the class of the ensemble" if certify else promise
