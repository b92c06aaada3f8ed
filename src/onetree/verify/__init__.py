"""Proof that a tree and an ensemble are the same function, or within a tolerance; or an input on which they differ.

Shares no code with the engines, nor with the native prediction: a bug in one must not hide in the other. The search
runs native code, but its own (``cpp/proof``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from onetree.base.limits import flag
from onetree.base.progress import Progress, ProgressOption, Reporter, reporting
from onetree.domain.domain import Domain, DomainLike, as_domain
from onetree.errors import InvalidInputError, LimitReachedError
from onetree.model.ensemble import Ensemble, as_ensemble
from onetree.tree.tree import Tree
from onetree.verify import cells, milp, milp_numbers, search
from onetree.verify.blocks import Block, blocks_of
from onetree.verify.inside import Inside
from onetree.verify.ranges import certify
from onetree.verify.verdict import Deviation, Verdict, compares_classes, walk

__all__ = ["METHODS", "Deviation", "Verdict", "verify", "worst_deviation"]

METHODS = ("auto", "search", "cells", "milp")
_FEW_CELLS = 200_000  # quickly enumerated

_Steps = Callable[[int, int], None]  # cells or leaves: those that are done, and all


def verify(
    tree: Tree,
    source: Any,
    *,
    domain: DomainLike | None = None,
    method: str = "auto",
    max_cells: int = 2_000_000,
    time_limit: float | None = None,
    progress: ProgressOption = None,
    find_worst: bool = True,
) -> Verdict:
    """Prove that `tree` predicts the class of `source` for every input, or find an input where it does not.

    A tree with numbers, probabilities or those of a regressor, is compared in them: they must be within its tolerance
    of what the source's library returns, as real numbers, for every input. Its classes are compared as well, unless it
    was made with ``keep_class=False``. A tree that was made for a domain is compared inside that domain only, which the
    verdict says.

    Parameters
    ----------
    tree : Tree
    source : fitted model, path or Ensemble
    domain : Domain or mapping, optional
        Compare inside this domain instead of the tree's own; ``{}`` is everywhere.
    method : {"auto", "search", "cells", "milp"}
        "search" proves for every leaf of the tree, by branch and bound on the trees of the source, that no input in
        its box has another class; it does not depend on the number of cells. "cells" compares one input from every
        cell of the grid that the splits of both span, if any input of the domain reaches it; nothing is left unchecked.
        "milp" asks HiGHS for an input of another class in every leaf, an independent and much slower proof. Numbers are
        proven in the same three ways: the range of each over a box, in every cell, by their extremes in a leaf. "auto"
        takes "cells" while they are few (200,000, or `max_cells` if that is less), else "search".
    max_cells : int
        Most cells to compare one by one.
    time_limit : float, optional
        Seconds; `LimitReachedError` is raised when they have passed without a verdict. "cells" and "milp" look at the
        clock after a block of cells or a leaf.
    progress : callable, False or None
        As in `born_again`, with the phase "proof": `done` counts the cells or leaves. There is no verdict after
        `StopSearch`, but a `LimitReachedError`.
    find_worst : bool
        Whether "search" is to find the worst deviation of a tree with numbers; False proves that they are within the
        tolerance and stops there, which may be faster.

    Returns
    -------
    Verdict
        True in a condition iff the two are equivalent. For a tree with numbers, it has the worst deviation and the
        input where it occurs.

    Examples
    --------
    >>> from onetree import Ensemble, Tree, verify
    >>> from onetree.model.ensemble import Rule
    >>> labels = ["kitten", "cat"]
    >>> stump = dict(roots=[0], feature=[0, -1, -1], children_left=[1, -1, -1], children_right=[2, -1, -1])
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
    if tree.value is not None and tree.tolerance is None:
        raise InvalidInputError(
            "the tree does not say how near its numbers are to those of a source, so there is nothing to prove; "
            "worst_deviation(tree, source) tells how near they are"
        )
    ensemble, where, blocks = _compared(tree, source, domain, time_limit)
    with reporting(progress) as report:
        steps = None if report is None else _steps(report)
        if where is None:
            return _prove(tree, ensemble, blocks, method, max_cells, time_limit, steps, find_worst)
        inside = Inside(tree, ensemble, where, apart={feature for block in blocks for feature in block.features})
        verdict = _prove(inside.tree, inside.ensemble, blocks, method, max_cells, time_limit, steps, find_worst)
    points = (verdict.counterexample, verdict.worst_input)
    counterexample, worst_input = (None if point is None else inside.point(point) for point in points)
    return replace(verdict, domain=where, counterexample=counterexample, worst_input=worst_input)


def _prove(
    tree: Tree,
    ensemble: Ensemble,
    blocks: tuple[Block, ...],
    method: str,
    max_cells: int,
    time_limit: float | None,
    progress: _Steps | None,
    find_worst: bool,
) -> Verdict:
    def by_search() -> Verdict:
        return search.prove(tree, ensemble, blocks, time_limit=time_limit, progress=progress, find_worst=find_worst)

    if method == "search":
        return by_search()
    if method == "milp":
        return _by_milp(tree, ensemble, blocks, max_cells, _limited(progress, time_limit))
    axes = cells.joint_axes(tree, ensemble, blocks)
    n_cells = cells.count(axes, blocks)
    if method == "auto" and n_cells > min(max_cells, _FEW_CELLS):
        return by_search()
    if n_cells > max_cells:
        raise InvalidInputError(
            f"the splits of tree and source span {n_cells:.3g} cells, over max_cells={max_cells:.3g}; "
            'use method="search", which does not enumerate them, or raise max_cells'
        )
    return cells.prove(tree, ensemble, axes, blocks, progress=_limited(progress, time_limit))


def _by_milp(
    tree: Tree, ensemble: Ensemble, blocks: tuple[Block, ...], max_cells: int, progress: _Steps | None
) -> Verdict:
    if compares_classes(tree):
        verdict = milp.prove(tree, ensemble, blocks, max_cells=max_cells, progress=progress)
        if tree.value is None or not verdict:
            return verdict
    return milp_numbers.prove(tree, ensemble, blocks, max_cells=max_cells, progress=progress)


def worst_deviation(
    tree: Tree,
    source: Any,
    *,
    relative: bool = False,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    progress: ProgressOption = None,
) -> Deviation:
    """Find how far, at worst, the numbers of a tree are from those of a source, whatever the tree promises.

    For trees that are not exact, such as pruned ones or support trees, and for a source that a tree was not made of.

    Parameters
    ----------
    tree : Tree
        With numbers.
    source : fitted model, path or Ensemble
    relative : bool
        Deviations are shares of the source's number.
    domain, time_limit, progress
        As in `verify`.

    Returns
    -------
    Deviation
        Proven as "search" proves: no input is further off. Classes are not compared.
    """
    if tree.value is None:
        raise InvalidInputError("the tree has classes only, no numbers that could deviate; compare it by verify")
    relative = flag("relative", relative)
    ensemble, where, blocks = _compared(tree, source, domain, time_limit)
    one, other, inside = tree, ensemble, None
    if where is not None:
        inside = Inside(tree, ensemble, where, apart={feature for block in blocks for feature in block.features})
        one, other = inside.tree, inside.ensemble
    with reporting(progress) as report:
        found = certify(
            one,
            other,
            blocks,
            relative=relative,
            known=0.0,
            allowed=math.inf,
            time_limit=time_limit,
            progress=None if report is None else _steps(report),
        )
    point = found.point if inside is None or found.point is None else inside.point(found.point)
    if point is None:
        return Deviation(found.worst, relative, domain=where)
    row = point[np.newaxis]
    own, numbers = tree.value[walk(tree, row)[0]], ensemble.numbers(row)[0]
    return Deviation(found.worst, relative, point, own, numbers, where)


def _compared(
    tree: Tree, source: Any, domain: DomainLike | None, time_limit: float | None
) -> tuple[Ensemble, Domain | None, tuple[Block, ...]]:
    """Return the source, the inputs on which it is compared with a tree, and its blocks there."""
    ensemble = _source_of(tree, source)
    _check_features(tree, ensemble)
    where = as_domain(tree.domain if domain is None else domain, ensemble)
    _check_missing(tree, ensemble, where)
    if time_limit is not None and not time_limit > 0:
        raise InvalidInputError(f"time_limit must be positive, not {time_limit!r}")
    return ensemble, where, blocks_of(tree, ensemble, where)


def _source_of(tree: Tree, source: Any) -> Ensemble:
    """Return the source as an ensemble that says what the tree says."""
    as_it_is = tree.output == "class" or isinstance(source, Ensemble)
    ensemble = as_ensemble(source, output="auto" if as_it_is else tree.output)
    if tree.output == "probability" and ensemble.output == "class":
        raise InvalidInputError(
            "the tree has probabilities, but nothing beside the class of the source is known; give the model itself, "
            'or read it by Ensemble.from_model(model, output="probability")'
        )
    if (tree.output == "value") != (ensemble.output == "value"):
        sides = ("a regressor", "a classifier")
        one, other = sides if tree.output == "value" else sides[::-1]
        raise InvalidInputError(f"the tree is of {one}, but the source is {other}; they do not belong together")
    return ensemble


def _steps(report: Reporter) -> _Steps:
    """Return what the three proofs call: as `Progress` it goes on to the caller, who may ask to stop."""
    started = time.monotonic()

    def tell(n_done: int, n_all: int) -> None:
        step = Progress("proof", time.monotonic() - started, None, None, n_done, n_done / n_all)
        if report.tell(step) and n_done < n_all:
            raise LimitReachedError("stopped before there was a verdict")

    return tell


def _limited(progress: _Steps | None, time_limit: float | None) -> _Steps | None:
    """Return a callback that also stops the proof when its time is up before it is done."""
    if time_limit is None:
        return progress
    end = time.monotonic() + time_limit

    def report(n_done: int, n_all: int) -> None:
        if progress is not None:
            progress(n_done, n_all)
        if n_done < n_all and time.monotonic() >= end:
            raise LimitReachedError(f"no verdict within {time_limit:g} seconds; raise time_limit")

    return report


def _check_features(tree: Tree, ensemble: Ensemble) -> None:
    if tree.n_features != ensemble.n_features:
        raise InvalidInputError(
            f"the tree has {tree.n_features} features, but the source has {ensemble.n_features}; "
            "they do not belong together"
        )


def _check_missing(tree: Tree, ensemble: Ensemble, domain: Domain | None) -> None:
    taken = ensemble.nan_features.copy()
    for feature, values in enumerate(() if domain is None else domain.values):
        if values is not None:
            taken[feature] = values.missing
    only_source = taken & ~tree.nan_features
    if only_source.any():
        name = ensemble.feature_names[int(np.argmax(only_source))]
        raise InvalidInputError(
            f"the source takes missing values in {name!r}, but the tree refuses them; "
            'convert the source again, or import it with missing="refuse" to compare without them'
        )
