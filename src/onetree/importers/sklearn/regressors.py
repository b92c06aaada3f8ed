"""scikit-learn's regressors of trees: one tree, forests, Bagging.

Values are added in float64 in the order of the trees and divided by their number. Inputs are float32 when they are
compared.
"""

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.bagging import check_members, columns_of
from onetree.importers.sklearn.nodes import DamagedModelError, check_size, join, met_nan, nodes_of
from onetree.importers.sklearn.reading import Reading
from onetree.model.ensemble import Rule

NO_CLASSES = np.empty(0)


def read_tree_regressors(model: Any) -> Reading:
    """Read a `DecisionTreeRegressor` or a forest of them."""
    alone = isinstance(model, DecisionTreeRegressor)
    if not hasattr(model, "tree_" if alone else "estimators_"):
        raise UnsupportedModelError(f"this {type(model).__name__} is not fitted; call fit(X, y) first")
    members = [model] if alone else model.estimators_
    return _read(model, [(member, None) for member in members], 1.0 if alone else float(max(1, len(members))))


def read_bagging_regressor(model: Any) -> Reading:
    """Read a `BaggingRegressor` of trees."""
    check_members(model)
    members = [
        (member, columns_of(model, i, subset))
        for i, (member, subset) in enumerate(zip(model.estimators_, model.estimators_features_, strict=True))
    ]
    return _read(model, members, float(max(1, len(members))))


def _read(model: Any, members: list[tuple[Any, Any]], divisor: float) -> Reading:
    name, trees = type(model).__name__, []
    for i, (member, columns) in enumerate(members):
        if not isinstance(member, DecisionTreeRegressor) or not hasattr(member, "tree_"):
            raise UnsupportedModelError(
                f"member {i} of this {name} is a {type(member).__name__}, not a fitted tree; use DecisionTreeRegressor "
                "or ExtraTreeRegressor as members"
            )
        if member.tree_.n_outputs != 1:
            raise UnsupportedModelError(
                f"this {name} predicts {member.tree_.n_outputs} outputs at once; fit one model per output"
            )
        if member.tree_.n_features != (int(model.n_features_in_) if columns is None else len(columns)):
            raise DamagedModelError(f"tree {i} of this {name} has other features than it is given; fit it again")
        trees.append((member.tree_, columns))
    check_size(model, sum(tree.node_count for tree, _ in trees), 1)
    nodes = [nodes_of(tree, tree.value[:, 0, :1], columns) for tree, columns in trees]
    ensemble = join(model, nodes, NO_CLASSES, np.zeros(1), Rule("value", divisor=divisor))
    return Reading(ensemble, any(met_nan(tree) for tree, _ in trees))
