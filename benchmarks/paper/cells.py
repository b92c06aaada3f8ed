"""The class of every cell of an ensemble's grid, and trees whose splits are chosen box by box."""

from __future__ import annotations

import numpy as np

from onetree.tree.tree import Tree


def cells_of(ensemble, levels):
    """The class of every cell, one axis per feature."""
    axes = [np.array([_above(cuts, slab) for slab in range(len(cuts) + 1)]) for cuts in levels]
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    classes = [ensemble.predict_index(points[start : start + 100_000]) for start in range(0, len(points), 100_000)]
    return np.concatenate(classes).astype(np.uint8).reshape([len(axis) for axis in axes])


def tree_of(ensemble, levels, first_split):
    """The tree of the splits (feature, level) that ``first_split(low, high)`` gives for boxes; None for a leaf.

    Both ends of a box are inclusive. The class of a leaf is the ensemble's in its first cell.
    """
    feature, threshold, left, right, leaf_class = [], [], [], [], []
    stack = [(tuple(0 for _ in levels), tuple(len(cuts) for cuts in levels), None, 0)]
    while stack:
        low, high, children, parent = stack.pop()
        node = len(feature)
        if children is not None:
            children[parent] = node
        for array, entry in ((feature, -1), (threshold, 0.0), (left, -1), (right, -1), (leaf_class, -1)):
            array.append(entry)
        found = first_split(low, high)
        if found is None:
            corner = [_above(cuts, slab) for cuts, slab in zip(levels, low, strict=True)]
            leaf_class[node] = int(ensemble.predict_index([corner])[0])
            continue
        axis, level = found
        feature[node], threshold[node] = axis, float(levels[axis][level])
        stack.append((replaced(low, axis, level + 1), high, right, node))
        stack.append((low, replaced(high, axis, level), left, node))
    names, nan = ensemble.feature_names, ensemble.nan_features
    return Tree(feature, threshold, left, right, leaf_class, ensemble.classes, names, nan)


def _above(cuts, slab):
    """A value in a slab: a level belongs to the slab below it; the last slab is entered by one rounding step."""
    if slab < len(cuts):
        return cuts[slab]
    return np.nextafter(cuts[-1], np.inf) if len(cuts) else 0.0


def replaced(values, place, value):
    """The tuple with another value at one place."""
    return (*values[:place], value, *values[place + 1 :])
