"""The example of three trees over two features. The paper prints its own only as a picture, so this one is ours."""

from __future__ import annotations

import numpy as np

from onetree.model.ensemble import Ensemble, Rule

# Feature, threshold, left, right of each split; a leaf is its class.
# The best first split is none of theirs.
TREES = (
    (1, 2.0, (0, 1.0, 0, 1), 0),
    (1, 2.0, (0, 3.0, 0, 1), (0, 2.0, 1, 0)),
    (0, 4.0, (1, 3.0, 0, 1), (1, 3.0, 0, 1)),
)


def three_trees():
    """Return the ensemble: every tree has one vote."""
    feature, threshold, left, right, value, roots = [], [], [], [], [], []
    for tree in TREES:
        roots.append(len(feature))
        waiting = [(tree, None, 0)]
        while waiting:
            node, children, parent = waiting.pop()
            number = len(feature)
            if children is not None:
                children[parent] = number
            is_leaf = not isinstance(node, tuple)
            feature.append(-1 if is_leaf else node[0])
            threshold.append(0.0 if is_leaf else node[1])
            left.append(-1)
            right.append(-1)
            value.append(np.eye(2)[node] if is_leaf else np.zeros(2))
            if not is_leaf:
                waiting += [(node[3], right, number), (node[2], left, number)]
    return Ensemble(
        classes=np.arange(2),
        feature_names=("x1", "x2"),
        roots=np.array(roots, dtype=np.int32),
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold),
        children_left=np.array(left, dtype=np.int32),
        children_right=np.array(right, dtype=np.int32),
        missing_left=np.zeros(len(feature), dtype=bool),
        value=np.array(value),
        base=np.zeros(2),
        rule=Rule("hard"),
        nan_features=np.zeros(2, dtype=bool),
    )
