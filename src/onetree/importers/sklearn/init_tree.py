"""The classifier that a boosted sum starts from, as one tree in front of the others.

What it adds is a function of its probabilities, which no sum of its trees is. But it is constant where all its trees
reach one leaf each, so one tree over all of them holds it, with values that the model itself computes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.nodes import Nodes
from onetree.model.ensemble import Ensemble

_MAX_NODES = 1 << 18


def init_tree(init: Ensemble, values: Callable[[NDArray[np.float32]], NDArray[np.float64]], name: str) -> Nodes:
    """Return one tree with a leaf for each combination of leaves that some input reaches.

    Parameters
    ----------
    init : Ensemble
        The classifier, with thresholds for inputs that are float32 when they are compared.
    values : function
        From inputs to what the model adds for each.
    name : str
        Of the model, for errors.
    """
    feature, threshold = init.feature.tolist(), init.threshold.tolist()
    left, right = init.children_left.tolist(), init.children_right.tolist()
    split: list[int] = []  # the node that each new one copies; -1 at a leaf
    children: list[list[int]] = []
    at_leaf: list[dict[int, tuple[float, float]]] = []  # the box of each leaf: low < x <= high
    # A tree and a node of it, the box so far, the parent and its side.
    todo: list[tuple[int, int, dict[int, tuple[float, float]], int, int]] = [(0, int(init.roots[0]), {}, -1, 0)]
    while todo:
        tree, node, box, parent, side = todo.pop()
        while True:
            own = feature[node]
            if own < 0:
                if tree + 1 == init.n_trees:
                    break
                tree, node = tree + 1, int(init.roots[tree + 1])
                continue
            low, high = box.get(own, (-np.inf, np.inf))
            if high <= threshold[node]:
                node = left[node]
            elif threshold[node] <= low:
                node = right[node]
            else:
                break
        if parent >= 0:
            children[parent][side] = len(split)
        children.append([-1, -1])
        split.append(node if own >= 0 else -1)
        if own < 0:
            at_leaf.append(box)
            continue
        todo += [
            (tree, right[node], {**box, own: (threshold[node], high)}, len(split) - 1, 1),
            (tree, left[node], {**box, own: (low, threshold[node])}, len(split) - 1, 0),
        ]
        if len(split) + len(todo) > _MAX_NODES:
            raise UnsupportedModelError(
                f"this {name} starts from the predictions of an init whose trees divide the inputs into more than "
                f"{_MAX_NODES // 2:,} parts; use a smaller one, or init=None"
            )
    at, sides = np.array(split), np.array(children)
    leaf = at < 0
    found = values(_points(at_leaf, init.n_features))
    value = np.zeros((len(at), found.shape[1]))
    value[leaf] = found
    return Nodes(
        feature=np.where(leaf, -1, init.feature[at]),
        threshold=np.where(leaf, 0.0, init.threshold[at]),
        left=sides[:, 0],
        right=sides[:, 1],
        missing_left=np.zeros(len(at), dtype=np.bool_),
        value=value,
    )


def _points(boxes: list[dict[int, tuple[float, float]]], n_features: int) -> NDArray[np.float32]:
    """Return an input in each box: the largest there is, or next to the lower end where there is no upper one."""
    points: NDArray[Any] = np.zeros((len(boxes), n_features), dtype=np.float32)
    with np.errstate(over="ignore"):
        for row, box in enumerate(boxes):
            for own, (low, high) in box.items():
                points[row, own] = high if np.isfinite(high) else np.nextafter(np.float32(low), np.float32(np.inf))
    return points
