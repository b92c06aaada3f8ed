"""The proof by enumeration: one input from every cell of the joint grid.

The thresholds of tree and ensemble together cut each axis into slabs; within a cell neither distinguishes two inputs.
Of a block there is one input for everything that it can be. So there are no cells but those that inputs reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onetree.model.ensemble import Ensemble
from onetree.model.rounding import count_order_fragile
from onetree.tree.tree import Tree
from onetree.verify.blocks import Block
from onetree.verify.deviation import deviation
from onetree.verify.verdict import Verdict, class_map, compares_classes, differing, walk, with_numbers

Axes = list[NDArray[np.float64]]
_CHUNK_VALUES = 1 << 15  # float64 values of inputs held at once, between two looks at the clock


def axis(levels: NDArray[np.float64], lower: float = -math.inf, upper: float = math.inf) -> NDArray[np.float64]:
    """Return one value for each slab that `levels` cut ``lower < x <= upper`` into.

    A level belongs to the slab below it, so it stands for that slab; the last slab is entered by one rounding step.
    """
    if not lower < upper:
        return np.empty(0)
    inside = np.unique(levels[(levels > lower) & (levels < upper)])
    if upper < math.inf:
        return np.append(inside, upper)
    start = inside[-1] if inside.size else lower
    return np.append(inside, math.nextafter(start, math.inf) if start > -math.inf else 0.0)


def joint_axes(tree: Tree, ensemble: Ensemble, blocks: Sequence[Block] = ()) -> Axes:
    """Return for each feature one value per slab of the joint grid, and NaN last where it is an input.

    Features of blocks have one value without a meaning: that of their block takes its place.
    """
    axes = []
    apart = {feature for block in blocks for feature in block.features}
    for feature in range(ensemble.n_features):
        if feature in apart:
            axes.append(np.zeros(1))
            continue
        of_ensemble, of_tree = ensemble.feature == feature, tree.feature == feature
        levels = np.concatenate([ensemble.threshold[of_ensemble], tree.threshold[of_tree]])
        missing = [math.nan] if ensemble.nan_features[feature] and levels.size else []
        axes.append(np.append(axis(levels), missing))
    return axes


def count(axes: Axes, blocks: Sequence[Block] = ()) -> int:
    """Return the number of cells, exactly however large."""
    return math.prod([*(len(values) for values in axes), *(len(block.inputs) for block in blocks)])


def chunks(axes: Axes, blocks: Sequence[Block] = ()) -> Iterator[NDArray[np.float64]]:
    """Yield an input from every cell, some thousand rows at a time, blocks and the last feature changing fastest."""
    n_cells, shape = count(axes, blocks), tuple(len(values) for values in axes)
    size = max(1, _CHUNK_VALUES // max(1, len(axes)))
    for start in range(0, n_cells, size):
        flat = np.arange(start, min(start + size, n_cells))
        rows = np.empty((len(flat), len(axes)))
        in_blocks = []
        for block in blocks:  # digits of the cell number, by hand: numpy stops at 64 axes
            flat, digit = np.divmod(flat, len(block.inputs))
            in_blocks.append(block.inputs[digit])
        for feature in range(len(axes) - 1, -1, -1):
            flat, digit = np.divmod(flat, shape[feature])
            rows[:, feature] = axes[feature][digit]
        for block, inputs in zip(blocks, in_blocks, strict=True):
            rows[:, list(block.features)] = inputs
        yield rows


def prove(
    tree: Tree,
    ensemble: Ensemble,
    axes: Axes,
    blocks: Sequence[Block] = (),
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Compare tree and ensemble in every cell, in class or in numbers or both."""
    n_cells, n_checked, n_fragile = count(axes, blocks), 0, 0
    to_ensemble = class_map(tree, ensemble) if compares_classes(tree) else None
    worst, worst_input = 0.0, None
    for rows in chunks(axes, blocks):
        leaves, scores = walk(tree, rows), ensemble.scores(rows)
        if to_ensemble is not None:
            differs = to_ensemble[tree.leaf_class[leaves]] != ensemble.decide(scores)
            if differs.any():
                first = int(np.argmax(differs))
                return differing(tree, ensemble, "cells", n_checked + first + 1, rows[first])
            n_fragile += count_order_fragile(ensemble, rows)
        if tree.value is not None and tree.tolerance is not None:
            numbers = ensemble.numbers_of(scores)
            off = deviation(tree.value[leaves], numbers, relative=tree.relative).max(axis=1)
            largest = int(np.argmax(off))
            if off[largest] > worst:
                worst, worst_input = float(off[largest]), rows[largest]
            if worst > tree.tolerance:
                return with_numbers(tree, ensemble, "cells", n_checked + largest + 1, worst, worst_input)
        n_checked += len(rows)
        if progress is not None:
            progress(n_checked, n_cells)
    if tree.value is None:
        return Verdict(equivalent=True, method="cells", n_checked=n_checked, n_fragile=n_fragile)
    verdict = with_numbers(tree, ensemble, "cells", n_checked, worst, worst_input)
    return verdict if to_ensemble is None else replace(verdict, n_fragile=n_fragile)
