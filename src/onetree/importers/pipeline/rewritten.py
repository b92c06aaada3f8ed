"""The trees of an ensemble with other tests at their nodes; what a test decides by itself is left out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.importers.pipeline.elements import Axis
from onetree.model.categories import used_subsets
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble

Index = NDArray[np.intp]


def rewritten(
    model: Ensemble,
    test: Index,
    feature: Index,
    entry: Index,
    axes: Sequence[Axis],
    *,
    names: Sequence[str],
    nan_features: NDArray[np.bool_],
    columns: Columns,
) -> Ensemble:
    """Return the ensemble with its tests replaced.

    Parameters
    ----------
    model : Ensemble
    test : int array of shape (n_nodes,)
        The test that each node makes; -1 at a leaf.
    feature, entry : int array of shape (n_tests,)
        The axis of each test, and which of its entries it is.
    axes : sequence of Axis
        One per feature of the result.
    names, nan_features, columns
        Of the result.
    """
    n_tests = len(feature)
    decided, swapped, missing_left = (np.zeros(n_tests, dtype=np.bool_) for _ in range(3))
    threshold, subset = np.zeros(n_tests), np.full(n_tests, -1, dtype=np.int32)
    width = max((each.categories.n_elements for each in axes if each.categories is not None), default=0)
    subsets = [np.zeros((0, width), dtype=np.bool_)]
    n_subsets = 0
    for at, axis in enumerate(axes):
        own = np.flatnonzero(feature == at)
        decided[own], swapped[own] = axis.decided[entry[own]], axis.swapped[entry[own]]
        threshold[own], missing_left[own] = axis.threshold[entry[own]], axis.missing_left[entry[own]]
        if axis.categories is not None:
            subset[own] = n_subsets + entry[own]
            subsets.append(np.pad(axis.members, ((0, 0), (0, width - axis.members.shape[1]))))
            n_subsets += len(axis.members)
    leaf = test < 0

    def per_node(values: NDArray[Any], of_leaf: float) -> NDArray[Any]:
        return np.append(values, values.dtype.type(of_leaf))[test]  # the last one is for leaves

    flips = per_node(swapped, False)
    left = np.where(flips, model.children_right, model.children_left)
    right = np.where(flips, model.children_left, model.children_right)
    to = np.where(per_node(decided, False), left, np.arange(len(leaf)))
    while not np.array_equal(to[to], to):
        to = to[to]
    kept = _reached(to[model.roots], left, right, to, leaf)
    place = np.full(len(leaf) + 1, -1, dtype=np.int32)  # the last one is for the children of leaves
    place[:-1][kept] = np.arange(np.count_nonzero(kept))
    tests, members = used_subsets(per_node(subset, -1)[kept], np.concatenate(subsets))
    return replace(
        model,
        feature_names=tuple(names),
        nan_features=nan_features,
        columns=columns,
        roots=place[to[model.roots]],
        feature=per_node(feature, -1)[kept].astype(np.int32),
        threshold=per_node(threshold, 0.0)[kept],
        missing_left=per_node(missing_left, False)[kept],
        children_left=np.where(leaf, -1, place[to[left]])[kept],
        children_right=np.where(leaf, -1, place[to[right]])[kept],
        value=model.value[kept],
        categories=tuple(each.categories for each in axes),
        subset=tests,
        subsets=members,
    )


def _reached(roots: Index, left: Index, right: Index, to: Index, leaf: NDArray[np.bool_]) -> NDArray[np.bool_]:
    reached = np.zeros(len(leaf), dtype=np.bool_)
    here = np.unique(roots)
    while len(here):
        reached[here] = True
        inner = here[~leaf[here]]
        here = to[np.concatenate([left[inner], right[inner]])]
    return reached
