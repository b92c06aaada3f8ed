"""The proof by branch and bound: the native certificate shows for every leaf box that no input has another class.

Numbers are proven likewise, by `onetree.verify.ranges`.

Walks down the tree once, restricting the trees of the ensemble as it goes, so that the number of cells does not matter.
Its native code (``cpp/proof``) includes nothing of the search. A counterexample counts only if the reference
predictions of both sides confirm it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from onetree import _core
from onetree.errors import FidelityError, InvalidInputError, LimitReachedError
from onetree.model.ensemble import Ensemble
from onetree.model.rounding import sums_are_exact
from onetree.tree.tree import Tree
from onetree.verify.blocks import Block
from onetree.verify.ranges import certify
from onetree.verify.translated import Translated
from onetree.verify.verdict import Verdict, class_map, compares_classes, differing, walk, with_numbers

MAX_CLASSES = 1 << 16  # a class is two bytes in the native core


def prove(
    tree: Tree,
    ensemble: Ensemble,
    blocks: tuple[Block, ...] = (),
    *,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    find_worst: bool = True,
) -> Verdict:
    """Prove the box of every leaf, or find an input where the ensemble says something else.

    Without `find_worst` the numbers of a tree are shown to be within its tolerance, and nothing more.
    """
    if tree.value is None or tree.tolerance is None:
        return prove_classes(tree, ensemble, blocks, time_limit=time_limit, progress=progress)
    started, n_fragile = time.monotonic(), None
    n_leaves = tree.n_leaves if compares_classes(tree) else 0

    def report(n_done: int, n_all: int) -> None:
        if progress is not None:
            progress(n_done, n_all + n_leaves)

    if compares_classes(tree):
        classes = prove_classes(tree, ensemble, blocks, time_limit=time_limit, progress=report)
        if not classes:
            return classes
        n_fragile = classes.n_fragile
        if time_limit is not None:
            time_limit = max(time_limit - (time.monotonic() - started), 1e-3)
    found = certify(
        tree,
        ensemble,
        blocks,
        relative=tree.relative,
        known=0.0 if find_worst else tree.tolerance,
        allowed=tree.tolerance,
        time_limit=time_limit,
        progress=lambda n_done, n_all: report(n_done + n_leaves, n_all),
    )
    verdict = with_numbers(tree, ensemble, "search", found.n_boxes, found.worst, found.point)
    if not find_worst and verdict:
        verdict = replace(verdict, worst=None)
    return replace(verdict, n_fragile=n_fragile)


def prove_classes(
    tree: Tree,
    ensemble: Ensemble,
    blocks: tuple[Block, ...] = (),
    *,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Prove the box of every leaf, or find an input to which the ensemble gives another class."""
    if ensemble.n_classes > MAX_CLASSES:
        raise InvalidInputError(
            f'the source has {ensemble.n_classes} classes and the search takes at most {MAX_CLASSES}; use method="milp"'
        )
    to_ensemble = class_map(tree, ensemble)
    classes = np.where(to_ensemble < 0, ensemble.n_classes, to_ensemble)  # a label that no input has
    on_axes = Translated(tree, ensemble, blocks)
    split, n_leaves = on_axes.tree, on_axes.tree.n_leaves

    def report(phase: str, elapsed: float, lower: int, upper: int, n_done: int, fraction: float) -> None:
        if progress is not None:
            progress(n_done, n_leaves)

    try:
        point, counts = _core.certify_tree(
            on_axes.ensemble,
            split.feature,
            split.threshold,
            split.children_left,
            split.children_right,
            classes.astype(np.int32)[split.leaf_class],
            0.0 if time_limit is None else time_limit,
            None if progress is None else report,
        )
    except _core.LimitReached:
        raise LimitReachedError(
            f"no verdict within {time_limit:g} seconds; raise time_limit to go through all leaves"
        ) from None
    if point.size:
        point = on_axes.point(point)
        same = to_ensemble[tree.leaf_class[walk(tree, point[np.newaxis])]] == ensemble.predict_index(point[np.newaxis])
        if same.all():
            raise FidelityError(
                f"the search reported that tree and source differ at {point!r}, but they agree there; "
                "this is a bug in onetree, please report it with the model"
            )
        return differing(tree, ensemble, "search", counts.boxes, point)
    if progress is not None:
        progress(n_leaves, n_leaves)
    # One score is bounded by the library's own way of adding: its proof never needs to know what is fragile.
    n_fragile = None if ensemble.rule.kind == "score" else counts.fragile
    if n_fragile and sums_are_exact(ensemble):
        n_fragile = 0
    return Verdict(equivalent=True, method="search", n_checked=counts.boxes, n_fragile=n_fragile)
