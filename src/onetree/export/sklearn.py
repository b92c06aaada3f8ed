"""The tree as a fitted scikit-learn `DecisionTreeClassifier`.

The result is scikit-learn's own object and needs onetree no longer: it can be pickled, plotted and converted as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.base.amounts import count
from onetree.errors import InvalidInputError
from onetree.export.shape import unfolded
from onetree.export.steps import written_out
from onetree.model.inputs import RowsLike, read_inputs
from onetree.tree.leaf_probabilities import label_index
from onetree.tree.tree import Tree

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

_UNDEFINED = -2  # scikit-learn's feature and threshold of a leaf
_MAX_NODES = 200_000_000  # 64 bytes each, and 8 for every class
_MAX_SET_NODES = 1_000_000  # of a tree whose set tests are written out


def to_sklearn(tree: Tree, X: RowsLike | None = None, y: ArrayLike | None = None) -> DecisionTreeClassifier:
    """Return a fitted `DecisionTreeClassifier` with the predictions of `tree`.

    scikit-learn rounds inputs to float32 before it compares. Thresholds that come from models which do the same
    (scikit-learn's own forests) are placed so that this changes nothing, and the predictions are equal for **every**
    input. Thresholds of other sources (a text file, a model that compares in float64) can lie between two float32
    values; then the predictions are equal for every float32 input, while a float64 input that rounds across a threshold
    may go the other way. Missing values go right, as in `tree`, also on features where `tree.predict` refuses them.
    Subtrees that `tree` holds once for several parents are written out for each of them, since a scikit-learn tree
    cannot share. So does what lies below a set test, since scikit-learn's trees know thresholds only: the test becomes
    a comparison for each end of an interval of numbers that go the same way, and a tree that takes more than a million
    nodes for that is refused. Whoever counts its leaves or depth counts those comparisons.

    Parameters
    ----------
    tree : Tree
    X : array of shape (n_rows, n_features) or data frame, optional
        Data for `n_node_samples`, `value` and `impurity`. Without data each leaf counts as one sample of its class.
    y : array of shape (n_rows,), optional
        Labels of the rows; the tree's own predictions if left out.

    Notes
    -----
    Data never change a prediction: a leaf whose rows are mostly of another class than the tree says (or that has none)
    keeps a `value` of 1 for the class of the tree. `n_node_samples` and the `value` of inner nodes follow the data.
    The model's attribute `onetree_exact_` is `tree.exact`; `onetree_domain_` says where, as `Domain.to_json` does, or
    is None for everywhere.
    """
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import NODE_DTYPE
    from sklearn.tree._tree import Tree as SklearnTree

    tree = _unfolded(tree)
    samples, counts = _count_leaves(tree) if X is None else _count_rows(tree, X, y)
    value = _fractions(tree, counts)
    inner = tree.feature >= 0

    nodes = np.zeros(tree.n_nodes, dtype=NODE_DTYPE)
    nodes["left_child"] = tree.children_left
    nodes["right_child"] = tree.children_right
    nodes["feature"] = np.where(inner, tree.feature, _UNDEFINED)
    nodes["threshold"] = np.where(inner, tree.threshold, _UNDEFINED)
    nodes["impurity"] = 1.0 - np.square(value).sum(axis=1)  # Gini
    nodes["n_node_samples"] = samples
    nodes["weighted_n_node_samples"] = samples
    # missing_go_to_left stays 0: missing values go right.

    native = SklearnTree(tree.n_features, np.array([tree.n_classes], dtype=np.intp), 1)
    native.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(value[:, np.newaxis, :]),
        }
    )
    model = DecisionTreeClassifier()
    model.n_features_in_ = model.max_features_ = tree.n_features
    model.n_outputs_ = 1
    model.classes_ = tree.classes.copy()
    model.n_classes_ = np.int64(tree.n_classes)
    model.tree_ = native
    # scikit-learn has no comments: the one place to say that a tree was pruned, or is exact only inside a domain.
    model.onetree_exact_ = tree.exact
    model.onetree_domain_ = None if tree.domain is None else tree.domain.to_json(tree.feature_names)
    if tree.columns.named and tree.feature_names != tuple(f"x{i}" for i in range(tree.n_features)):
        model.feature_names_in_ = np.array(tree.feature_names, dtype=object)
    return model


def _unfolded(tree: Tree) -> Tree:
    """Return the same tree with one parent for each node, unless that is too large."""
    if tree.has_subsets:
        plain = written_out(tree, _MAX_SET_NODES)
        if plain is None:
            raise InvalidInputError(
                f"the set tests of the tree take more than {_MAX_SET_NODES:,} nodes if they are written as thresholds, "
                "and scikit-learn's trees have nothing else; use Tree.predict, or an export that shares subtrees: "
                "JSON, code or ONNX"
            )
        return plain
    if 2 * tree.n_leaves - 1 > _MAX_NODES:
        raise InvalidInputError(
            f"the tree has {count(tree.n_leaves)} leaves if equal subtrees are written out, as scikit-learn needs "
            f"them, and that is done for at most {_MAX_NODES // 2:,}; use Tree.predict, or make the model smaller"
        )
    return unfolded(tree)


def _count_leaves(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leaves below each node, in all and per class."""
    counts = np.zeros((tree.n_nodes, tree.n_classes))
    is_leaf = tree.leaf_class >= 0
    counts[is_leaf, tree.leaf_class[is_leaf]] = 1.0
    depth = tree.node_depths()
    order = np.argsort(depth, kind="stable")
    starts = np.searchsorted(depth[order], np.arange(depth.max() + 2))
    for level in range(len(starts) - 2, -1, -1):  # both children of a node are deeper than the node
        nodes = order[starts[level] : starts[level + 1]]
        nodes = nodes[~is_leaf[nodes]]
        counts[nodes] = counts[tree.children_left[nodes]] + counts[tree.children_right[nodes]]
    return counts.sum(axis=1), counts


def _count_rows(tree: Tree, X: RowsLike, y: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows that pass through each node, in all and per class."""
    rows = read_inputs(X, tree)
    label = tree.predict_index(rows) if y is None else label_index(tree.classes, y, len(rows))
    counts = np.zeros((tree.n_nodes, tree.n_classes))
    at = np.arange(len(rows))
    node = np.zeros(len(rows), dtype=np.intp)
    while at.size:
        np.add.at(counts, (node, label[at]), 1.0)
        inside = tree.children_left[node] >= 0
        at, node = at[inside], node[inside]
        goes_left = rows[at, tree.feature[node]] <= tree.threshold[node]
        node = np.where(goes_left, tree.children_left[node], tree.children_right[node])
    return counts.sum(axis=1), counts


def _fractions(tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class fractions per node; at a leaf the largest (the first of them) is always the class of the tree."""
    is_leaf = tree.leaf_class >= 0
    total = counts.sum(axis=1, keepdims=True)
    value = np.full_like(counts, 1.0 / tree.n_classes)
    np.divide(counts, total, out=value, where=total > 0)
    keep = is_leaf & ((total[:, 0] == 0) | (value.argmax(axis=1) != tree.leaf_class))
    value[keep] = 0.0
    value[keep, tree.leaf_class[keep]] = 1.0
    return value
