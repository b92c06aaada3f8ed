"""The proof of numbers by branch and bound: the native certificate bounds them over the box of every leaf.

Rounded addition is monotone, so the library's own way of adding, run on the extreme leaf of every tree, bounds its sums
without any error. What comes after the sums is bounded by operations, with slack for rounding; where that leaves
something open, the library's own functions are called. The native code (``cpp/proof``) includes nothing of the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.errors import FidelityError, LimitReachedError
from onetree.model.ensemble import Ensemble
from onetree.model.operations import Kind, Operation
from onetree.model.response import Response
from onetree.tree.tree import Tree
from onetree.verify.blocks import Block
from onetree.verify.deviation import deviation
from onetree.verify.translated import Translated
from onetree.verify.verdict import walk

_SHIFTED = "votes"  # its operation breaks ties between classes, and so is off by less than one vote
_BATCHED = "linear"  # a matrix product, in which the last bit may depend on how many rows there are


@dataclass(frozen=True, eq=False)
class Found:
    """What a certificate of ranges ended in.

    Parameters
    ----------
    worst : float
        The largest deviation, if it is not above what was allowed; otherwise one that is.
    point : float64 array of shape (n_features,), or None
        An input that has it; None if no input has more than what needed not be told apart.
    n_boxes : int
        Leaves that were looked at.
    n_evaluations : int
        How often the library's functions were called, or sums were found to be the worst ones.
    """

    worst: float
    point: NDArray[np.float64] | None
    n_boxes: int
    n_evaluations: int


@dataclass(frozen=True, eq=False)
class _Bounded:
    """A response as the native core bounds it."""

    response: Response

    def dtypes(self) -> list[np.dtype[Any]]:
        return self.response.dtypes()

    def divisors(self) -> NDArray[np.float64]:
        return self.response.divisors()

    def operations(self) -> list[Operation]:
        return bounding_operations(self.response)


def bounding_operations(response: Response) -> list[Operation]:
    """Return operations that bound the numbers of a response; empty if they are the sums themselves."""
    if not any(stage.kind == _SHIFTED for stage in response.stages):
        return response.operations()
    inputs = np.arange(response.n_outputs, dtype=np.int32)
    return [Operation(Kind.UNKNOWN, inputs, response.n_numbers, np.zeros(0), 0.0)]


def certify(
    tree: Tree,
    ensemble: Ensemble,
    blocks: tuple[Block, ...] = (),
    *,
    relative: bool,
    known: float,
    allowed: float,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """Find the largest deviation of the numbers of a tree, or the first above `allowed`.

    Deviations up to `known` are not told apart.
    """
    if tree.value is None or ensemble.response is None:
        raise ValueError("both sides need numbers")
    response = ensemble.response
    on_axes = Translated(tree, ensemble, blocks)
    split, n_leaves = on_axes.tree, on_axes.tree.n_leaves
    value = np.ascontiguousarray(split.value, dtype=np.float64)

    def report(phase: str, elapsed: float, lower: int, upper: int, n_done: int, fraction: float) -> None:
        if progress is not None:
            progress(n_done, n_leaves)

    one_by_one = any(stage.kind == _BATCHED for stage in response.stages)

    def evaluate(leaves: NDArray[np.int32], sums: NDArray[np.float64]) -> NDArray[np.float64]:
        batches = sums[:, np.newaxis] if one_by_one else [sums]
        numbers = np.concatenate([response.numbers(batch) for batch in batches])
        return np.ascontiguousarray(deviation(value[leaves], numbers, relative=relative).max(axis=1))

    try:
        worst, point, _, counts = _core.certify_ranges(
            on_axes.ensemble,
            _Bounded(response),
            split.feature,
            split.threshold,
            split.children_left,
            split.children_right,
            value,
            relative,
            known,
            allowed,
            evaluate,
            0.0 if time_limit is None else time_limit,
            None if progress is None else report,
        )
    except _core.LimitReached:
        raise LimitReachedError(
            f"no verdict within {time_limit:g} seconds; raise time_limit to go through all leaves"
        ) from None
    if progress is not None:
        progress(n_leaves, n_leaves)
    if not point.size:
        return Found(known, None, counts.boxes, counts.fragile)
    point = on_axes.point(point)
    row = point[np.newaxis]
    off = float(deviation(tree.value[walk(tree, row)], ensemble.numbers(row), relative=relative).max())
    if off != worst:
        raise FidelityError(
            f"the search reported that tree and source are {worst!r} apart at {point!r}, but they are {off!r}; "
            "this is a bug in onetree, please report it with the model"
        )
    return Found(worst, point, counts.boxes, counts.fragile)
