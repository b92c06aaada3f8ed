"""The right answer, found the slow and obvious way.

Shares no code with the engines: of the package it uses only the reference prediction of an ensemble. Every box of the
raw grid is solved, for every depth; no hyperplane is dropped and no bound is used. Where features depend on each other,
the grid has gaps, cells that no input reaches: a box may hold any of those beside cells of one class.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

GAP = -1  # class of a cell that no input reaches
NEVER = 10_000  # more splits than any grid here has: no tree of that depth exists


def axes(ensemble):
    """One value per position of every feature: below, at and between the thresholds, and NaN where it is an input."""
    axes = []
    for feature in range(ensemble.n_features):
        thresholds = np.unique(ensemble.threshold[ensemble.feature == feature])
        thresholds = thresholds[np.isfinite(thresholds)]
        above = np.nextafter(thresholds[-1:], np.inf) if thresholds.size else np.zeros(1)
        missing = [np.nan] if ensemble.nan_features[feature] else []
        axes.append(np.concatenate([thresholds, above, missing]))  # a threshold belongs to the cell below it
    return axes


def points(ensemble):
    """One point of every cell, a row each, the last feature changing fastest."""
    return np.array(list(itertools.product(*axes(ensemble))), dtype=np.float64)


def cells(ensemble):
    """The class index of every cell, an array with one axis per feature."""
    return ensemble.predict_index(points(ensemble)).reshape([len(axis) for axis in axes(ensemble)])


def inputs_inside(ensemble, domain, *trees):
    """Inputs of a domain, some from every cell that it reaches: all products of what lies on or next to a split.

    The splits are those of the ensemble and of the trees, which must have its thresholds.
    """
    axes = []
    for feature, (kind, values) in enumerate(zip(ensemble.categories, domain.values, strict=True)):
        near = {0.0, 1.0, *ensemble.threshold[ensemble.feature == feature].tolist()}
        if kind is not None:
            near |= {*kind.codes, *kind.low.tolist(), *kind.high.tolist()}
        if values is not None:
            near |= {values.low, values.high, *(values.choices or ())}
        near |= {math.nextafter(x, way) for x in near for way in (-math.inf, math.inf)}
        near |= {round(x) + step for x in near if abs(x) < 1e9 for step in (-1.0, 0.0, 1.0)}
        missing = [math.nan] if ensemble.nan_features[feature] else []
        axis = np.array([*sorted(near), *missing])
        axis = axis if values is None else axis[values.contain(axis)]
        if not any(feature in group.features for group in domain.groups):
            # One input of those that no split of this feature tells apart will do.
            places = [place for each in (ensemble, *trees) for place in _places(each, feature, axis).values()]
            places = np.stack(places or [np.zeros(len(axis))])
            axis = axis[np.sort(np.unique(places, axis=1, return_index=True)[1])]
        axes.append(axis)
    X = np.array(list(itertools.product(*axes)), dtype=np.float64)
    return X[domain.contains(X)]


def _places(splits, feature, x):
    """Where values of a feature lie on each of its axes: between its thresholds, or inside a set test or not."""
    if splits.categories[feature] is None:
        levels = np.unique(splits.threshold[splits.feature == feature])
        levels = levels[np.isfinite(levels)]
        return {feature: np.where(np.isnan(x), len(levels) + 1, np.searchsorted(levels, x))}
    tests = np.unique(splits.subsets[splits.subset[splits.feature == feature]], axis=0)
    elements = splits.categories[feature].element(x)
    return {(feature, number): np.where(test[elements], 0, 1) for number, test in enumerate(tests)}


def cells_inside(ensemble, domain):
    """The class index of every cell, GAP where the domain does not come; each set test is an axis of its own."""
    X = inputs_inside(ensemble, domain)
    places = {}
    for feature in range(ensemble.n_features):
        places |= _places(ensemble, feature, X[:, feature])
    if not places:
        return ensemble.predict_index(X[:1])
    at = tuple(places.values())
    cells = np.full([place.max() + 1 for place in at], GAP)
    cells[at] = ensemble.predict_index(X)
    return cells


def _solve_boxes(cells, leaf, combine):
    """Value of the whole grid, from the values of all its boxes.

    Boxes of one shape are solved together: ``solved[shape][start]`` is the value of the box with these edge lengths
    that begins at cell ``start``. Smaller shapes come first, so both sides of every split are known.
    """
    # low, high: smallest and largest class in the box; equal when it is homogeneous, the wrong way round without any
    solved, low, high = {}, {}, {}
    for shape in itertools.product(*(range(1, n + 1) for n in cells.shape)):
        if max(shape) == 1:
            low[shape], high[shape] = np.where(cells == GAP, NEVER, cells), cells
            solved[shape] = leaf(np.ones(cells.shape, dtype=bool))
            continue
        values = []
        for axis, length in enumerate(shape):
            for at in range(1, length):
                first, second = list(shape), list(shape)
                first[axis], second[axis] = at, length - at
                first, second = tuple(first), tuple(second)
                n_starts = cells.shape[axis] - length + 1
                before = (slice(None),) * axis + (slice(0, n_starts),)
                after = (slice(None),) * axis + (slice(at, at + n_starts),)
                values.append(combine(solved[first][before], solved[second][after]))
                low[shape] = np.minimum(low[first][before], low[second][after])
                high[shape] = np.maximum(high[first][before], high[second][after])
        solved[shape] = np.minimum(leaf(low[shape] >= high[shape]), np.minimum.reduce(values))
    return solved[cells.shape][(0,) * cells.ndim]


def least_splits(cells):
    """S(d) for d = 0, 1, ...: the fewest splits of a tree of depth at most d for these cells, NEVER if there is none.

    A tree without idle splits uses each hyperplane at most once on a path, so greater depths change nothing.
    """
    n_depths = sum(cells.shape) - cells.ndim + 1

    def leaf(homogeneous):
        return np.repeat(np.where(homogeneous, 0, NEVER)[..., np.newaxis], n_depths, axis=-1)

    def combine(first, second):
        splits = np.full(first.shape, NEVER)
        splits[..., 1:] = np.minimum(1 + first[..., :-1] + second[..., :-1], NEVER)
        return splits

    return _solve_boxes(cells, leaf, combine)


def pareto(cells):
    """All (depth, leaves) of which neither can be made smaller without making the other larger, least depth first."""
    front = []
    for depth, splits in enumerate(least_splits(cells).tolist()):
        if splits < NEVER and (not front or splits + 1 < front[-1][1]):
            front.append((depth, splits + 1))
    return front


def value_of(front, objective):
    """The optimum of an objective, in the form of ``Solution.value``, read off a Pareto front."""
    (least_depth, leaves), (depth, least_leaves) = front[0], front[-1]
    return {
        "depth": least_depth,
        "leaves": least_leaves,
        "depth-leaves": (least_depth, leaves),
        "leaves-depth": (least_leaves, depth),
    }[objective]


def brute_force(ensemble, objective):
    """The optimum of an objective, in the form of ``Solution.value``."""
    return value_of(pareto(cells(ensemble)), objective)


def brute_force_front(ensemble):
    """The whole Pareto front of an ensemble: (depth, leaves) pairs, least depth first."""
    return pareto(cells(ensemble))


def published_depth_leaves(cells):
    """(depth, leaves) that the paper's recursion for depth, then leaves, returns; for comparison only.

    Every subtree is forced to its own least depth, so the leaves can exceed the optimum.
    """
    big = NEVER  # the price of a level of depth, in splits

    def leaf(homogeneous):
        return np.where(homogeneous, 0, big * big)

    def combine(first, second):
        return big * (1 + np.maximum(first // big, second // big)) + 1 + first % big + second % big

    depth, splits = divmod(int(_solve_boxes(cells, leaf, combine)), big)
    return depth, splits + 1
