"""scikit-learn's node arrays as the arrays of an `Ensemble`; shared by all of its model families.

Reads arrays and nothing else: never calls `predict`, so that the structure of a model from a file is known to be
sound before any native code walks along it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.importers.thresholds import canonical_thresholds
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble, Rule

_MAX_FEATURES = 1_000_000
_MAX_VALUES = 1 << 28  # entries of the value array, 2 GiB


class DamagedModelError(UnsupportedModelError):
    """The model's own attributes contradict each other."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of one tree; its root is node 0, children count from there, and a leaf has the feature -1."""

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]  # as the library has it
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    missing_left: NDArray[np.bool_]
    value: NDArray[np.float64]


def nodes_of(tree: Any, value: NDArray[np.float64], columns: NDArray[np.intp] | None = None) -> Nodes:
    """Return the nodes of a `sklearn.tree._tree.Tree` with these leaf vectors.

    `columns` gives the model's feature for each feature of the tree, where they are not the same.
    """
    leaf = tree.children_left == -1  # as scikit-learn tells them; any other negative child is damage
    feature = np.where(leaf, -1, tree.feature)
    if columns is not None:
        if np.any(~leaf & ((feature < 0) | (feature >= len(columns)))):
            raise DamagedModelError("a tree splits on a feature that does not exist; fit the model again")
        feature = np.where(leaf, -1, columns[feature])
    return Nodes(
        feature=feature,
        threshold=np.where(leaf, 0.0, tree.threshold),
        left=np.where(leaf, -1, tree.children_left),
        right=np.where(leaf, -1, tree.children_right),
        missing_left=tree.missing_go_to_left != 0,
        value=value,
    )


def check_size(model: Any, n_nodes: int, n_outputs: int) -> None:
    """Refuse a model whose arrays could not be held, before they are made."""
    if int(model.n_features_in_) > _MAX_FEATURES or n_nodes * n_outputs > _MAX_VALUES:
        raise DamagedModelError(
            f"this {type(model).__name__} has {model.n_features_in_:,} features and {n_nodes:,} nodes for "
            f"{n_outputs:,} scores, more than can be held; fit a smaller one"
        )


def join(
    model: Any,
    trees: Sequence[Nodes],
    classes: NDArray[Any],
    base: NDArray[np.float64],
    rule: Rule,
    *,
    single_precision: bool = True,
) -> Ensemble:
    """Return the ensemble of these trees, in which NaN is not yet an input.

    `single_precision` says that inputs are float32 when they are compared.
    """
    name = type(model).__name__
    if not trees:
        raise DamagedModelError(f"this {name} has no trees; fit it with at least one")
    sizes = [len(nodes.feature) for nodes in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    offset = np.repeat(roots, sizes)
    left, right = (np.concatenate([getattr(nodes, side) for nodes in trees]) for side in ("left", "right"))
    threshold = np.concatenate([nodes.threshold for nodes in trees])
    try:
        # Within each tree first: an index out of its own range could by chance point into another tree.
        for i, nodes in enumerate(trees):
            if max(nodes.left.max(initial=-1), nodes.right.max(initial=-1)) >= len(nodes.feature):
                raise InvalidInputError(f"tree {i} has a child that does not exist")
        return Ensemble(
            classes=np.array(classes),
            feature_names=feature_names(model),
            roots=roots,
            feature=np.concatenate([nodes.feature for nodes in trees]),
            threshold=canonical_thresholds(threshold) if single_precision else threshold,
            children_left=np.where(left < 0, -1, left + offset),
            children_right=np.where(right < 0, -1, right + offset),
            missing_left=np.concatenate([nodes.missing_left for nodes in trees]),
            value=np.concatenate([nodes.value for nodes in trees]),
            base=base,
            rule=rule,
            nan_features=np.zeros(int(model.n_features_in_), dtype=np.bool_),
            columns=Columns(named=hasattr(model, "feature_names_in_")),
        )
    except InvalidInputError as error:
        raise DamagedModelError(f"this {name} is damaged: {error}; fit it again") from error


def feature_names(model: Any) -> tuple[str, ...]:
    """Return the names of the columns that the model was fitted on, or x0, x1, ..."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return tuple(f"x{i}" for i in range(int(model.n_features_in_)))
    return tuple(map(str, names))


def met_nan(tree: Any) -> bool:
    """Whether the tree shows that NaN was in its training data.

    A split that saw no NaN sends NaN to the child with more samples (left iff n_left > n_right) and has a finite
    threshold, so any other split is proof. A tree that met NaN may by chance show none.
    """
    inner = tree.children_left >= 0
    n_samples = tree.n_node_samples
    larger_left = n_samples[tree.children_left[inner]] > n_samples[tree.children_right[inner]]
    goes_left = tree.missing_go_to_left[inner] != 0
    return bool(np.any(goes_left != larger_left) or np.any(np.isinf(tree.threshold[inner])))
