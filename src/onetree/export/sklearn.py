"""The tree as a fitted `DecisionTreeClassifier` or `DecisionTreeRegressor` of scikit-learn.

The result is scikit-learn's own object and needs onetree no longer: it can be pickled, plotted and converted as usual.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

_UNDEFINED = -2  # scikit-learn's feature and threshold of a leaf
_MAX_NODES = 200_000_000  # 64 bytes each, and 8 for every class
_MAX_SET_NODES = 1_000_000  # of a tree whose set tests are written out


def to_sklearn(
    tree: Tree, X: RowsLike | None = None, y: ArrayLike | None = None
) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """Return a fitted `DecisionTreeClassifier` or, of a regression tree, `DecisionTreeRegressor` with its predictions.

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
        Labels of the rows, or numbers for a regression tree; the tree's own predictions if left out.

    Raises
    ------
    InvalidInputError
        A leaf of a tree with probabilities has another class than the first with the largest probability, which is what
        a scikit-learn tree says. That happens with a threshold.

    Notes
    -----
    Data never change a prediction: a leaf whose rows are mostly of another class than the tree says (or that has none)
    keeps a `value` of 1 for the class of the tree. `n_node_samples` and the `value` of inner nodes follow the data.
    Where leaves of `tree` have numbers, those of the model have exactly the same, as float64, and inner nodes the mean.
    The model's attributes `onetree_exact_`, `onetree_tolerance_` and `onetree_relative_` are those of the tree;
    `onetree_domain_` says where it is exact, as `Domain.to_json` does, or is None for everywhere.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sklearn.tree._tree import NODE_DTYPE
    from sklearn.tree._tree import Tree as SklearnTree

    tree = _unfolded(tree)
    inner = tree.feature >= 0
    if tree.value is None:
        samples, counts = _count_leaves(tree) if X is None else _count_rows(tree, X, y)
        value = _fractions(tree, counts)
        impurity = 1.0 - np.square(value).sum(axis=1)  # Gini
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # numbers whose squares are too large have no impurity
            samples, value, impurity = _means(tree, tree.value.astype(np.float64), X, y)
        impurity = np.nan_to_num(impurity, nan=0.0, posinf=0.0)

    nodes = np.zeros(tree.n_nodes, dtype=NODE_DTYPE)
    nodes["left_child"] = tree.children_left
    nodes["right_child"] = tree.children_right
    nodes["feature"] = np.where(inner, tree.feature, _UNDEFINED)
    nodes["threshold"] = np.where(inner, tree.threshold, _UNDEFINED)
    nodes["impurity"] = impurity
    nodes["n_node_samples"] = samples
    nodes["weighted_n_node_samples"] = samples
    # missing_go_to_left stays 0: missing values go right.

    native = SklearnTree(tree.n_features, np.array([tree.n_classes or 1], dtype=np.intp), 1)
    native.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(value[:, np.newaxis, :]),
        }
    )
    model = DecisionTreeRegressor() if tree.output == "value" else DecisionTreeClassifier()
    model.n_features_in_ = model.max_features_ = tree.n_features
    model.n_outputs_ = 1
    if tree.output != "value":
        model.classes_ = tree.classes.copy()
        model.n_classes_ = np.int64(tree.n_classes)
    model.tree_ = native
    # scikit-learn has no comments: the one place to say that a tree was pruned, or is exact only inside a domain.
    model.onetree_exact_ = tree.exact
    model.onetree_tolerance_ = tree.tolerance
    model.onetree_relative_ = tree.relative
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


def _means(
    tree: Tree, value: NDArray[np.float64], X: RowsLike | None, y: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return how many rows, or leaves, are below each node, the mean of their numbers, and the impurity."""
    is_leaf = tree.feature < 0
    if tree.output == "probability" and (value[is_leaf].argmax(axis=1) != tree.leaf_class[is_leaf]).any():
        raise InvalidInputError(
            "a leaf has another class than that of its largest probability, which is what a tree of scikit-learn would "
            "say; export code or ONNX, or make the tree without a threshold"
        )
    weight = is_leaf.astype(np.float64)
    error = np.zeros(tree.n_nodes)
    if X is not None:
        rows = read_inputs(X, tree)
        leaf = tree.apply(rows)
        weight = np.bincount(leaf, minlength=tree.n_nodes).astype(np.float64)
        if tree.output == "value" and y is not None:
            np.add.at(error, leaf, (_targets(y, len(rows)) - value[leaf, 0]) ** 2)
    samples, totals, squares = weight.copy(), weight[:, np.newaxis] * value, weight[:, np.newaxis] * value**2
    for nodes in _upwards(tree):
        left, right = tree.children_left[nodes], tree.children_right[nodes]
        for array in (samples, totals, squares, error):
            array[nodes] = array[left] + array[right]
    some = samples[:, np.newaxis]
    mean = np.divide(totals, some, out=np.zeros_like(totals), where=some > 0)
    mean[is_leaf] = value[is_leaf]
    if tree.output == "probability":
        return samples, mean, 1.0 - np.square(mean).sum(axis=1)
    spread = np.divide(squares, some, out=np.zeros_like(squares), where=some > 0)[:, 0] - mean[:, 0] ** 2
    return samples, mean, spread.clip(0.0) + np.divide(error, samples, out=np.zeros_like(error), where=samples > 0)


def _targets(y: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    targets = np.asarray(y, dtype=np.float64)
    if targets.shape != (n_rows,):
        raise InvalidInputError(
            f"y must hold one number for each of the {n_rows} rows of X, but has shape {targets.shape}"
        )
    return targets


def _upwards(tree: Tree) -> Iterator[NDArray[np.intp]]:
    """Return the inner nodes of each depth, the deepest first: both children of a node are deeper than the node."""
    depth = tree.node_depths()
    order = np.argsort(depth, kind="stable")
    starts = np.searchsorted(depth[order], np.arange(depth.max() + 2))
    for level in range(len(starts) - 2, -1, -1):
        nodes = order[starts[level] : starts[level + 1]]
        yield nodes[tree.feature[nodes] >= 0]


def _count_leaves(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leaves below each node, in all and per class."""
    counts = np.zeros((tree.n_nodes, tree.n_classes))
    is_leaf = tree.leaf_class >= 0
    counts[is_leaf, tree.leaf_class[is_leaf]] = 1.0
    for nodes in _upwards(tree):
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
