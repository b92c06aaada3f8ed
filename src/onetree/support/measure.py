"""How well a tree follows its ensemble: on rows, on random points around them, and in proven boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onetree.lowering.grid import Grid
from onetree.model.categories import Categories
from onetree.support.agreement import Agreement
from onetree.support.cores.growth import grow_cores
from onetree.support.cores.regions import Cores
from onetree.support.rows import Rows
from onetree.support.unfolded import Unfolding
from onetree.tree.tree import Tree

N_BOX_POINTS = 10_000


def box_points(
    values: NDArray[np.float64], categories: Sequence[Categories | None], random_state: int
) -> NDArray[np.float64]:
    """Draw points of the bounding box of the data; values are missing as often as in the data.

    Of a categorical feature, all numbers that occur are equally likely.
    """
    random = np.random.default_rng([random_state, N_BOX_POINTS])
    missing = np.isnan(values)
    finite = np.where(np.isfinite(values), values, np.nan)
    some = np.asarray(np.isfinite(values).any(axis=0))
    finite[:, ~some] = 0.0
    low, high = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
    where = random.random((N_BOX_POINTS, values.shape[1]))
    points: NDArray[np.float64] = low * (1 - where) + high * where
    for feature, kind in enumerate(categories):
        if kind is not None and some[feature]:
            points[:, feature] = random.choice(np.unique(finite[~np.isnan(finite[:, feature]), feature]), N_BOX_POINTS)
    points[random.random(points.shape) < missing.mean(axis=0)] = np.nan
    return points


def agreement(tree: Tree, rows: Rows) -> Agreement:
    """Count the rows on which the tree gives the ensemble's class."""
    return Agreement.of(_same(tree, rows))


def _same(tree: Tree, rows: Rows) -> NDArray[np.bool_]:
    if len(rows) == 0:
        return np.zeros(0, dtype=bool)
    same: NDArray[np.bool_] = tree.predict_index(rows.values) == rows.classes
    return same


def measured_cores(tree: Tree, unfolding: Unfolding, grid: Grid, inputs: dict[str, Rows]) -> Cores:
    """Grow the cores of a tree on the columns and count how many inputs of each kind lie in them."""
    lower, upper = grow_cores(tree, unfolding.ensemble, grid, inputs["reference"])
    bare = Cores(tree.leaves(), lower, upper, {})
    coverage = {name: bare.measured(tree, rows.values, _same(tree, rows)) for name, rows in inputs.items()}
    return Cores(bare.leaves, lower, upper, coverage, unfolding if unfolding.source.has_subsets else None)
