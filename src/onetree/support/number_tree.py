"""From an ensemble and reference rows to a tree that follows the ensemble's numbers where the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.limits import DEFAULT_OBJECTIVE
from onetree.model.ensemble import Ensemble
from onetree.search.solution import in_order
from onetree.support.agreement import NumberAgreement
from onetree.support.branches import Branches
from onetree.support.clock import Clock
from onetree.support.measure import box_points
from onetree.support.number_growth import NumberMaker, grown
from onetree.support.rows import Rows, set_aside
from onetree.support.solution import SupportSolution
from onetree.support.unfolded import Unfolding
from onetree.tree.leaf_values import tolerance_words
from onetree.tree.tree import LEAF, Tree
from onetree.verify import Deviation, worst_deviation

_SHORTEST = 1e-3  # seconds: a proof that starts when the time is over says that it was


def number_support(
    unfolding: Unfolding,
    values: NDArray[np.float64],
    others: NDArray[np.float64] | None,
    max_leaves: int,
    certify: bool,
    random_state: int,
    clock: Clock,
) -> SupportSolution:
    """Build a tree of at most so many leaves from rows, and measure it on these and the others."""
    maker = NumberMaker(unfolding.ensemble, random_state, unfolding.origin)
    rows = maker.label(unfolding.rows(values))
    if others is None:
        rows, aside = set_aside(rows, random_state)
    else:
        aside = maker.label(unfolding.rows(others))
    box = maker.label(unfolding.rows(box_points(values, unfolding.source.categories, random_state)))
    branches, numbers = grown(maker, rows, max_leaves, clock)
    tree = _tree(branches, numbers, maker)
    whole = unfolding.tree(tree)
    proven = _proven(whole, unfolding.source, clock) if certify else None
    return SupportSolution(
        tree=whole,
        objective=DEFAULT_OBJECTIVE,
        status="support",
        value=in_order(DEFAULT_OBJECTIVE, tree.depth, tree.n_leaves),
        lower_bound=in_order(DEFAULT_OBJECTIVE, 0, 1),
        stats={"seconds": clock.elapsed, "engine": "support"},
        promise=_promise(max_leaves, proven),
        fidelity=None,
        reference=_measured(tree, rows, maker),
        held_out=_measured(tree, aside, maker),
        box=_measured(tree, box, maker),
        deviation=proven,
    )


def _tree(branches: Branches, numbers: NDArray[np.float64], maker: NumberMaker) -> Tree:
    ensemble = maker.predictor.ensemble
    response = ensemble.response
    if response is None:
        raise AssertionError("only an ensemble with numbers is followed in them")
    value = numbers[branches.leaf_class].astype(response.dtype)
    leaf_class = np.argmax(value, axis=1)  # 0 where there is one number only, as a regression tree has it
    return Tree(
        feature=branches.feature,
        threshold=branches.thresholds(maker.grid),
        children_left=branches.left,
        children_right=branches.right,
        leaf_class=np.where(branches.left != LEAF, LEAF, leaf_class),
        classes=ensemble.classes,
        feature_names=ensemble.feature_names,
        nan_features=ensemble.nan_features,
        exact=False,
        columns=ensemble.columns,
        value=value,
        keeps_class=ensemble.n_classes == 0,
    )


def _measured(tree: Tree, rows: Rows, maker: NumberMaker) -> NumberAgreement:
    """Compare the numbers of a tree with the ensemble's, and their classes if there are any."""
    if len(rows) == 0:
        return NumberAgreement(0, 0, None, None)
    own, numbers = tree.numbers(rows.values), maker.numbers_at(rows.slabs)
    apart = np.abs(own.astype(np.float64) - numbers).max(axis=1)
    same: NDArray[Any] = apart == 0
    if tree.n_classes:
        same = tree.predict_index(rows.values) == maker.predictor.classes_at(rows.slabs)
    return NumberAgreement(int(np.count_nonzero(same)), len(rows), float(apart.mean()), float(apart.max()))


def _proven(tree: Tree, source: Ensemble, clock: Clock) -> Deviation:
    left = clock.left
    return worst_deviation(tree, source, time_limit=None if left is None else max(left, _SHORTEST), progress=False)


def _promise(max_leaves: int, proven: Deviation | None) -> str:
    promise = f"at most {max_leaves:,} leaves"
    if proven is None:
        return f"{promise}, no promise about any row"
    return (
        f"{promise}; every input's numbers are within {tolerance_words(proven.worst, relative=False)} of the ensemble's"
    )
