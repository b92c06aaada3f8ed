"""The tree of an ensemble that is a single tree: faithful as it is, so no answer has to be larger."""

from __future__ import annotations

import numpy as np

from onetree.lowering.axes import Axes
from onetree.model.categories import used_subsets
from onetree.search.solution import Solution, in_order
from onetree.tree.tree import Tree


def own_tree(axes: Axes, objective: str) -> Solution | None:
    """Return the only tree of an ensemble inside its domain, siblings of one class joined; None if there are several.

    Also None where a missing value goes left at a threshold, which a `Tree` cannot express without a further split.
    """
    ensemble = axes.restricted
    if ensemble.n_trees != 1 or (ensemble.missing_left & ensemble.nan_features[ensemble.feature]).any():
        return None
    classes = ensemble.decide(ensemble.scores_at(np.arange(len(ensemble.feature))[:, np.newaxis]))
    order, stack = [], [int(ensemble.roots[0])]  # parents before their children
    while stack:
        node = stack.pop()
        order.append(node)
        if ensemble.feature[node] >= 0:
            stack += [int(ensemble.children_right[node]), int(ensemble.children_left[node])]
    single = np.full(len(ensemble.feature), -1)  # the class of all leaves below, if there is just one
    for node in reversed(order):
        if ensemble.feature[node] < 0:
            single[node] = classes[node]
        elif single[ensemble.children_left[node]] == single[ensemble.children_right[node]]:
            single[node] = single[ensemble.children_left[node]]
    kept: list[int] = []
    number = np.full(len(ensemble.feature), -1)
    stack = [int(ensemble.roots[0])]
    while stack:
        node = stack.pop()
        number[node] = len(kept)
        kept.append(node)
        if single[node] < 0:
            stack += [int(ensemble.children_right[node]), int(ensemble.children_left[node])]
    at = np.array(kept)
    inner = single[at] < 0
    subset, subsets = used_subsets(np.where(inner, ensemble.subset[at], -1).astype(np.int32), ensemble.subsets)
    tree = Tree(
        feature=np.where(inner, ensemble.feature[at], -1),
        threshold=np.where(inner, ensemble.threshold[at], 0.0),
        children_left=np.where(inner, number[ensemble.children_left[at]], -1),
        children_right=np.where(inner, number[ensemble.children_right[at]], -1),
        leaf_class=np.where(inner, -1, single[at]),
        classes=ensemble.classes,
        feature_names=ensemble.feature_names,
        nan_features=ensemble.nan_features,
        domain=axes.domain,
        categories=ensemble.categories,
        subset=subset,
        subsets=subsets,
    )
    value, bound = in_order(objective, tree.depth, tree.n_leaves), in_order(objective, 0, 1)
    stats = {"engine": "the tree itself", "seconds": 0.0}
    return Solution(tree, objective, "optimal" if value == bound else "feasible", value, bound, stats)
