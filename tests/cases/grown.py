"""Trees of any wanted number of leaves, for tests of what shows or writes trees."""

import numpy as np

from onetree.tree.tree import Tree


def grown_tree(n_leaves, *, n_features=6, n_classes=3, missing=False, feature_names=None, classes=None, seed=0):
    """Split boxes of the unit cube at random, shallow leaves first, so that every leaf can be reached."""
    rng = np.random.default_rng(seed)
    nodes = [[-1, 0.0, -1, -1, 0]]  # feature, threshold, left, right, class
    boxes = [(0, 0, np.zeros(n_features), np.ones(n_features))]  # depth, node, lower, upper
    while len(boxes) < n_leaves:
        boxes.sort(key=lambda box: box[:2])
        depth, node, lower, upper = boxes.pop(int(rng.integers(max(1, len(boxes) // 3))))
        feature = int(rng.integers(n_features))
        cut = float(lower[feature] + rng.uniform(0.3, 0.7) * (upper[feature] - lower[feature]))
        middle = (
            np.where(np.arange(n_features) == feature, cut, upper),
            np.where(np.arange(n_features) == feature, cut, lower),
        )
        left, right = len(nodes), len(nodes) + 1
        nodes[node] = [feature, cut, left, right, -1]
        nodes += [[-1, 0.0, -1, -1, int(label)] for label in rng.permutation(n_classes)[:2]]
        boxes += [(depth + 1, left, lower, middle[0]), (depth + 1, right, middle[1], upper)]
    feature, threshold, left, right, label = zip(*nodes, strict=True)
    return Tree(
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        leaf_class=label,
        classes=[f"class {index}" for index in range(n_classes)] if classes is None else classes,
        feature_names=[f"measure {j}" for j in range(n_features)] if feature_names is None else feature_names,
        nan_features=[missing] * n_features,
    )


def shared_tree(depth):
    """Return a tree with 2 ** depth leaves and two nodes per level: the halves of a level share what is below."""
    n_splits = 2 * depth - 1  # node 0, then two nodes per level
    feature = [0] + [1 + level % 3 for level in range(depth - 1) for _ in range(2)] + [-1, -1]
    left = [1] + [node + 2 - (node % 2 == 0) for node in range(1, n_splits)] + [-1, -1]
    right = [2] + [node + 3 - (node % 2 == 0) for node in range(1, n_splits)] + [-1, -1]
    return Tree(
        feature=feature,
        threshold=[float(node) for node in range(n_splits)] + [0.0, 0.0],
        children_left=left,
        children_right=right,
        leaf_class=[-1] * n_splits + [0, 1],
        classes=["even", "odd"],
        feature_names=["first", "a", "b", "c"],
        nan_features=[False] * 4,
    )
