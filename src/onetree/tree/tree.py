"""The one tree: frozen arrays, prediction, leaf boxes, and its file.

Nothing here recurses: a tree may be 100,000 splits deep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree import _core
from onetree.base.amounts import count, counted, leaves
from onetree.domain.domain import Domain
from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.model.categories import Categories, SetTests
from onetree.model.columns import Columns
from onetree.model.inputs import RowsLike, read_inputs, read_with_gaps, refuse_gaps
from onetree.model.walking import Walks
from onetree.tree import leaf_values

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from onnx import ModelProto
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from onetree.display import Explanation
    from onetree.tree.leaf_probabilities import LeafShares
    from onetree.tree.leaf_values import Output

LEAF = -1  # feature and children of a leaf, class of an inner node
_DEFECTS = {
    _core.Defect.FEATURE: "feature index outside 0..{last_feature}",
    _core.Defect.LEFT: "left child that does not come after it",
    _core.Defect.RIGHT: "right child that does not come after it",
    _core.Defect.THRESHOLD: "threshold of NaN or -inf",
    _core.Defect.INNER_CLASS: "class although it is not a leaf",
    _core.Defect.LEAF_CHILD: "child although it is a leaf",
    _core.Defect.LEAF_CLASS: "class index outside 0..{last_class}",
    _core.Defect.UNREACHABLE: "position that cannot be reached from the root",
}


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree as parallel arrays; node 0 is the root and children come after their parents.

    An input goes left where ``x[feature] <= threshold``. A missing value (NaN) always goes right, so a threshold of
    +inf splits off exactly the missing values. On a categorical feature there are no thresholds but set tests: an input
    goes left where its element, which may be that of NaN, is in the set.

    Parameters
    ----------
    feature : int32 array of shape (n_nodes,)
        The feature that a node tests, -1 at a leaf.
    threshold : float64 array of shape (n_nodes,)
        Never NaN or -inf; 0 at a leaf and at a set test.
    children_left, children_right : int32 array of shape (n_nodes,)
        Node indices, -1 at a leaf.
    leaf_class : int32 array of shape (n_nodes,)
        Index into `classes`, -1 at an inner node; 0 at every leaf of a regression tree.
    classes : array of shape (n_classes,)
        The labels, of any type; empty for a regression tree.
    feature_names : tuple of str
    nan_features : bool array of shape (n_features,)
        Where NaN is an input; elsewhere `predict` refuses it.
    exact : bool
        Whether the tree is the same function as its source, with `tolerance` within that; False after pruning.
    domain : Domain, optional
        Where it is: outside, `predict` gives no meaningful class. None means everywhere.
    categories : tuple of Categories or None
        What a categorical feature makes of its numbers; None is an ordinary feature. Empty if all are.
    subset : int32 array of shape (n_nodes,)
        Row of `subsets` that a set test asks for; -1 at leaves and at thresholds.
    subsets : bool array of shape (n_subsets, n_elements)
        One column per element (see `Categories`), as many as the feature with the most elements needs.
    shares : LeafShares, optional
        Class shares of rows in the leaves, as `with_shares` counts them for `predict_proba`.
    columns : Columns
        What the columns of a data frame mean; unless it says otherwise, they are numbers, found by the features' names.
    value : float32 or float64 array of shape (n_nodes, n_numbers), optional
        What a leaf says beside its class, zero at inner nodes: a probability for each class, or the one number of a
        regression tree. None for a tree that has classes only.
    tolerance : float, optional
        How far, at most, the numbers are from those that the source returns, everywhere. 0 means equal. None promises
        nothing, and is all that a tree without `value` has.
    relative : bool
        Whether `tolerance` is a share of the source's number instead of a distance.
    keeps_class : bool
        Whether an exact probability tree has the source's class everywhere; otherwise a leaf has that of its own
        largest probability.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    children_left: NDArray[np.int32]
    children_right: NDArray[np.int32]
    leaf_class: NDArray[np.int32]
    classes: NDArray[Any]
    feature_names: tuple[str, ...]
    nan_features: NDArray[np.bool_]
    exact: bool = True
    domain: Domain | None = None
    categories: tuple[Categories | None, ...] = ()
    subset: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    subsets: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))
    shares: LeafShares | None = None
    columns: Columns = field(default_factory=Columns)
    value: NDArray[np.floating[Any]] | None = None
    tolerance: float | None = None
    relative: bool = False
    keeps_class: bool = True

    def __post_init__(self) -> None:
        for name in ("feature", "children_left", "children_right", "leaf_class"):
            self._freeze(name, np.int32)
        self._freeze("threshold", np.float64)
        self._freeze("nan_features", np.bool_)
        self._freeze("classes", None)
        object.__setattr__(self, "feature_names", tuple(str(name) for name in self.feature_names))
        object.__setattr__(self, "columns", self.columns.of_features(self.feature_names))
        _check_structure(self)
        if self.value is not None:
            object.__setattr__(self, "value", leaf_values.frozen(self.value, self.feature == LEAF))
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", float(self.tolerance))
        leaf_values.check(self)
        tests = SetTests.of(
            self.categories, self.subset, self.subsets, feature=self.feature, n_features=self.n_features
        )
        for name in ("categories", "subset", "subsets"):
            object.__setattr__(self, name, getattr(tests, name))
        if self.has_subsets:
            object.__setattr__(self, "threshold", np.where(self.subset >= 0, 0.0, self.threshold))
            self.threshold.flags.writeable = False
        if self.shares is not None:
            self.shares.check(self)

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: getattr(self, own.name) for own in fields(self)}  # not what is computed from them

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A pickle forgets that arrays are read-only, and an older one may lack fields.
        self.__init__(**{own.name: state[own.name] for own in fields(self) if own.name in state})  # type: ignore[misc]

    def _freeze(self, name: str, dtype: type | None) -> None:
        given = np.asarray(getattr(self, name))
        if given.ndim != 1:
            raise InvalidInputError(f"{name} must be a 1-d array, but its shape is {given.shape}")
        array = np.array(given, dtype=dtype, order="C")
        # A wider integer is only narrowed if nothing is lost, so that a node index never wraps around.
        is_cast = array.dtype != given.dtype and given.size > 0
        if is_cast and not np.array_equal(array, given, equal_nan=given.dtype.kind == "f"):
            raise InvalidInputError(f"{name} holds values that do not fit into {array.dtype}")
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    @property
    def n_nodes(self) -> int:
        """Number of nodes held, inner nodes and leaves."""
        return len(self.feature)

    @property
    def n_features(self) -> int:
        """Number of features of an input."""
        return len(self.feature_names)

    @property
    def n_classes(self) -> int:
        """Number of class labels; none for a regression tree."""
        return len(self.classes)

    @property
    def output(self) -> Output:
        """What a leaf says: "class", "probability" (a class and one number for each), or the "value" of a regressor."""
        if self.value is None:
            return "class"
        return "probability" if self.n_classes else "value"

    @property
    def has_subsets(self) -> bool:
        """Whether some node is a set test."""
        return bool((self.subset >= 0).any())

    @cached_property
    def depth(self) -> int:
        """Number of splits on the longest path."""
        return int(self.node_depths().max())

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves; a leaf that several paths share counts once for each path."""
        return self.leaves_below()[0]

    def node_depths(self) -> NDArray[np.int64]:
        """Length of the longest path from the root to each node."""
        depth = [0] * self.n_nodes
        # Parents come first, so the depth of a node is final when the node is reached.
        for node, (left, right) in enumerate(
            zip(self.children_left.tolist(), self.children_right.tolist(), strict=True)
        ):
            if left != LEAF:
                below = depth[node] + 1
                depth[left] = max(depth[left], below)
                depth[right] = max(depth[right], below)
        return np.array(depth, dtype=np.int64)

    def leaves(self) -> NDArray[np.int32]:
        """Node indices of the leaves from left to right, one per path."""
        left, right = self.children_left.tolist(), self.children_right.tolist()
        found, stack = [], [0]
        while stack:
            node = stack.pop()
            if left[node] == LEAF:
                found.append(node)
            else:
                stack += (right[node], left[node])
        return np.array(found, dtype=np.int32)

    def boxes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds of the leaves in the order of `leaves`.

        Returns
        -------
        lower, upper : float64 array of shape (n_leaves, n_features)
            The box is ``lower < x <= upper``; a lower bound of -inf is no bound. Missing values lie above +inf: a
            box holds them where `upper` is NaN, and holds nothing else where `lower` is +inf as well. A path that
            contradicts itself has an empty box.

        Raises
        ------
        UnsupportedModelError
            The tree has set tests, which cut out no boxes.
        """
        if self.has_subsets:
            raise UnsupportedModelError(
                "the tree has set tests on categorical features, so its leaves are not boxes; "
                "follow `subset` and `subsets` from the root instead"
            )
        below = np.array(self.leaves_below(), dtype=np.intp)
        lower = np.empty((self.n_leaves, self.n_features))
        upper = np.empty((self.n_leaves, self.n_features))
        # All nodes of one depth at a time: node, first leaf below it, bounds.
        node, first = np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
        low = np.full((1, self.n_features), -np.inf)
        high = np.where(self.nan_features, np.nan, np.inf)[np.newaxis]
        while node.size:
            inner = self.children_left[node] != LEAF
            lower[first[~inner]], upper[first[~inner]] = low[~inner], high[~inner]
            node, first, low, high = node[inner], first[inner], low[inner], high[inner]
            row, at, cut = np.arange(len(node)), self.feature[node], self.threshold[node]
            left_high, right_low = high.copy(), low.copy()
            left_high[row, at] = np.fmin(high[row, at], cut)
            right_low[row, at] = np.maximum(low[row, at], cut)
            left, right = self.children_left[node], self.children_right[node]
            node, first = np.concatenate([left, right]), np.concatenate([first, first + below[left]])
            low, high = np.concatenate([low, right_low]), np.concatenate([left_high, high])
        return lower, upper

    def leaves_below(self) -> list[int]:
        """Count the leaves below each node, one per path: integers of any size, since shared subtrees multiply."""
        n_below = [1] * self.n_nodes
        left, right = self.children_left.tolist(), self.children_right.tolist()
        for node in range(self.n_nodes - 1, -1, -1):  # children come later, so theirs are known
            if left[node] != LEAF:
                n_below[node] = n_below[left[node]] + n_below[right[node]]
        return n_below

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """Class labels of the rows of `X`, or the numbers of a regression tree.

        Parameters
        ----------
        X : array of shape (n_rows, n_features) or data frame
            Columns of an array are the features in their order: float32 or float64 as they are, other numbers as
            float64, or as the source's library rounds them. The columns of a frame are found by their names, and
            categories are read by value, as the source read them. Infinities are inputs like any other; missing
            values are refused on features where the source does not take them.
        """
        if self.output == "value":
            return self.numbers(X)[:, 0]
        labels: NDArray[Any] = self.classes.take(self.predict_index(X))
        return labels

    def predict_index(self, X: RowsLike) -> NDArray[np.int32]:
        """Like `predict`, but indices into `classes`."""
        if self.output == "value":
            raise InvalidInputError("a regression tree has no classes; use predict")
        return self._found(X, Walks.values_and_gaps)

    def numbers(self, X: RowsLike) -> NDArray[np.floating[Any]]:
        """Return the `value` of each row's leaf, of shape (n_rows, n_numbers)."""
        if self.value is None:
            raise InvalidInputError(
                'this tree has classes only; born_again(model, output="probability", tolerance=0.05) makes one with '
                "probabilities"
            )
        return self.value.take(self.apply(X), axis=0)

    def with_shares(self, X: RowsLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Tree:
        """Return the same tree with the class shares of rows in its leaves, for `predict_proba`; its file keeps them.

        Parameters
        ----------
        X : array of shape (n_rows, n_features) or data frame
            As in `predict`; usually the training data.
        y : array of shape (n_rows,)
            Their true labels.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts.
        """
        from onetree.tree.leaf_probabilities import LeafShares, label_index, weights

        if self.value is not None:
            raise InvalidInputError(
                "the leaves of this tree have a value already, that of its source; nothing is counted"
            )
        rows = read_inputs(X, self)
        index, weight = label_index(self.classes, y, len(rows)), weights(sample_weight, len(rows))
        return replace(self, shares=LeafShares.of(self, rows, index, weight))

    def predict_proba(self, X: RowsLike) -> NDArray[np.floating[Any]]:
        """Probabilities of the classes: those of the source within `tolerance`, or shares that `with_shares` counted.

        A tree that was made with ``output="probability"`` has the source's, in the type in which the source returns
        them. The shares of any other tree are **not** the source's probability: they say how often each class is among
        the rows in the leaf. The largest share is always that of the predicted class: in a leaf where other rows are
        more frequent, the class of the leaf is counted as often as the most frequent one, and in a leaf without rows it
        has all.

        Returns
        -------
        array of shape (n_rows, n_classes)
            In the order of `classes`.
        """
        if self.output == "value":
            raise InvalidInputError("a regression tree has no classes, and so no probabilities; use predict")
        if self.value is not None:
            return self.numbers(X)
        if self.shares is None:
            raise InvalidInputError(
                'this tree has classes only; born_again(model, output="probability", tolerance=0.05) makes one with '
                "the model's probabilities, and tree.with_shares(X, y).predict_proba(X) counts labelled data"
            )
        return self.shares.at(self, read_inputs(X, self))

    def apply(self, X: RowsLike) -> NDArray[np.int32]:
        """Node index of the leaf that each row of `X` ends in."""
        return self._found(X, Walks.leaves_and_gaps)

    @cached_property
    def _walks(self) -> Walks:
        return Walks.of(self, np.zeros(1, dtype=np.int32), leaf_value=self.leaf_class)

    def _found(
        self, X: RowsLike, walk: Callable[[Walks, NDArray[Any]], tuple[NDArray[np.int32], bool]]
    ) -> NDArray[np.int32]:
        """Return what a walk finds; whether there are gaps it finds out on its way."""
        rows = read_with_gaps(X, self)
        found, has_gaps = walk(self._walks, rows)
        if has_gaps:
            refuse_gaps(rows, self)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree as JSON, with exact thresholds; `onetree.load_tree` reads it back."""
        from onetree.export.json import write_tree

        write_tree(self, path)

    def to_sklearn(
        self, X: RowsLike | None = None, y: ArrayLike | None = None
    ) -> DecisionTreeClassifier | DecisionTreeRegressor:
        """Return a fitted scikit-learn tree with the same predictions; see `onetree.export.sklearn.to_sklearn`."""
        from onetree.export.sklearn import to_sklearn

        return to_sklearn(self, X, y)

    def to_text(self, *, digits: int | None = 6) -> str:
        """Return the tree as indented text, one line per node; see `onetree.export.text.to_text`."""
        from onetree.export.text import to_text

        return to_text(self, digits=digits)

    def to_rules(self, *, digits: int | None = 6) -> str:
        """Return the tree as IF-THEN rules, one per leaf; see `onetree.export.rules.to_rules`."""
        from onetree.export.rules import to_rules

        return to_rules(self, digits=digits)

    def to_dot(self, *, digits: int | None = 6) -> str:
        """Return the tree as a graph for Graphviz; see `onetree.export.dot.to_dot`."""
        from onetree.export.dot import to_dot

        return to_dot(self, digits=digits)

    def to_code(self, language: str, **options: Any) -> str:
        """Return the tree as "python", "c" or "sql" without dependencies; see `onetree.export.code.to_code`."""
        from onetree.export.code import to_code

        return to_code(self, language, **options)

    def to_onnx(self, *, number: str = "float", style: str = "auto") -> ModelProto:
        """Return the tree as an ONNX model; see `onetree.export.onnx.to_onnx`."""
        from onetree.export.onnx import to_onnx

        return to_onnx(self, number=number, style=style)

    def plot(self, *, max_depth: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the tree with matplotlib; see `onetree.report.figures.plot_tree`, and there for more figures."""
        from onetree.report.figures import plot_tree

        return plot_tree(self, max_depth=max_depth, ax=ax)

    def explain(self, x: Any) -> Explanation:
        """Explain why one input gets its class: one sentence for each feature on its path.

        Parameters
        ----------
        x : array of shape (n_features,), mapping from names to values, or a frame or array of one row

        Returns
        -------
        Explanation
            With the class as `label` and the sentences as `reasons`; prints as text, and shows itself in a notebook.

        Examples
        --------
        >>> labels = ["kitten", "cat"]
        >>> tree = Tree([0, -1, -1], [2.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], labels, ("age",), [False])
        >>> print(tree.explain({"age": 1}))
        kitten, because
          age is 1: age <= 2.5
        """
        from onetree.display import explain

        return explain(self, x)

    def __repr__(self) -> str:
        exact = "" if self.exact else ", not exact"
        where = "" if self.domain is None else ", inside a domain"
        says = counted(self.n_classes, "class", "classes") if self.n_classes else "regression"
        return (
            f"Tree({leaves(self.n_leaves)}, depth {count(self.depth)}, {counted(self.n_features, 'feature')}, "
            f"{says}{leaf_values.promise(self)}{exact}{where})"
        )

    def _repr_html_(self) -> str:
        from onetree.display import tree_html

        return tree_html(self)


def load_tree(path: str | os.PathLike[str]) -> Tree:
    """Read a tree that `Tree.save` wrote; raises `ModelFileError` if the file is anything else or is damaged."""
    from onetree.export.json import read_tree

    return read_tree(path)


def _check_structure(tree: Tree) -> None:
    """Raise unless the arrays are a tree (or one with shared subtrees) over the stated features and classes."""
    n_nodes, n_features = tree.n_nodes, tree.n_features
    if n_nodes == 0:
        raise InvalidInputError("a tree needs at least one node")
    for name in ("threshold", "children_left", "children_right", "leaf_class"):
        if len(getattr(tree, name)) != n_nodes:
            raise InvalidInputError(f"{name} has {len(getattr(tree, name))} entries for {n_nodes} nodes")
    if len(tree.nan_features) != n_features:
        raise InvalidInputError(f"nan_features has {len(tree.nan_features)} entries for {n_features} features")
    if tree.n_classes == 0 and tree.value is None:
        raise InvalidInputError("a tree needs at least one class, or the value of each leaf")
    if tree.domain is not None:
        if len(tree.domain.values) != n_features:
            raise InvalidInputError(f"the domain has {len(tree.domain.values)} entries for {n_features} features")
        missing = [values is not None and values.missing for values in tree.domain.values]
        if (np.array(missing, dtype=bool) & ~tree.nan_features).any():
            raise InvalidInputError("the domain has missing values on a feature where the tree does not take them")

    found = _core.find_defect(
        tree.feature,
        tree.threshold,
        tree.children_left,
        tree.children_right,
        tree.leaf_class,
        n_features,
        tree.n_classes or 1,
    )
    if found.defect != _core.Defect.NONE:
        what = _DEFECTS[found.defect].format(last_feature=n_features - 1, last_class=(tree.n_classes or 1) - 1)
        raise InvalidInputError(f"not a tree: node {found.node} has a {what}")
