"""scikit-learn's GradientBoosting: a sum of regression trees in float64, started by a constant or by another model.

Stage by stage, and class by class within a stage, learning rate times leaf value is added. Two classes: the second
wins iff the sum is at least zero; more: the first largest.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.adaboost import read_adaboost
from onetree.importers.sklearn.bagging import read_bagging
from onetree.importers.sklearn.init_tree import init_tree
from onetree.importers.sklearn.nodes import DamagedModelError, Nodes, check_size, join, nodes_of
from onetree.importers.sklearn.reading import Reading
from onetree.importers.sklearn.regressors import NO_CLASSES, read_bagging_regressor, read_tree_regressors
from onetree.importers.sklearn.trees import read_trees
from onetree.model.ensemble import Rule

# Their probabilities do not depend on the input.
_CONSTANT_STRATEGIES = ("prior", "most_frequent", "constant", "uniform")


def read_gradient_boosting(model: Any) -> Reading:
    """Read a `GradientBoostingClassifier`."""
    n_classes = len(model.classes_)
    rule = Rule("score", cut_inclusive=True) if n_classes == 2 else Rule("scores")
    return _read(model, model.classes_, rule, 1 if n_classes == 2 else n_classes)


def read_gradient_boosting_regressor(model: Any) -> Reading:
    """Read a `GradientBoostingRegressor`, of any loss."""
    return _read(model, NO_CLASSES, Rule("value"), 1)


def _read(model: Any, classes: NDArray[Any], rule: Rule, n_outputs: int) -> Reading:
    name = type(model).__name__
    stages = np.asarray(model.estimators_, dtype=object)
    if stages.ndim != 2 or stages.shape[1] != n_outputs:
        raise DamagedModelError(f"this {name} does not have {n_outputs} trees in each stage; fit it again")
    check_size(model, sum(_tree(model, estimator).node_count for estimator in stages.flat), n_outputs)
    trees = [_nodes(model, estimator, k, n_outputs) for stage in stages for k, estimator in enumerate(stage)]
    ensemble = join(model, trees, classes, np.zeros(n_outputs), rule)  # sound, before anything is predicted
    start = _start(model, n_outputs)
    if isinstance(start, Nodes):
        ensemble = join(model, [start, *trees], classes, np.zeros(n_outputs), rule)
    elif start.any():
        ensemble = join(model, trees, classes, start, rule)
    return Reading(ensemble, met_nan=False)  # NaN is refused in training


def _tree(model: Any, estimator: Any) -> Any:
    if not isinstance(estimator, DecisionTreeRegressor) or estimator.tree_.n_outputs != 1:
        raise DamagedModelError(
            f"a member of this {type(model).__name__} is a {type(estimator).__name__}, not a tree; fit it again"
        )
    return estimator.tree_


def _nodes(model: Any, estimator: Any, k: int, n_outputs: int) -> Nodes:
    tree = _tree(model, estimator)
    value = np.zeros((tree.node_count, n_outputs))
    value[:, k] = float(model.learning_rate) * tree.value[:, 0, 0]
    return nodes_of(tree, value)


def _start(model: Any, n_outputs: int) -> NDArray[np.float64] | Nodes:
    """Return the constant that the sum starts from, or the tree."""
    init, name = model.init_, type(model).__name__

    # Probabilities go through the link function of the loss: scikit-learn's own arithmetic, to the last bit.
    def raw(X: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.asarray(model._raw_predict_init(X), dtype=np.float64).reshape(len(X), n_outputs)

    if isinstance(init, str) and init == "zero":
        return np.zeros(n_outputs)
    if type(init) is DummyRegressor or (type(init) is DummyClassifier and init.strategy in _CONSTANT_STRATEGIES):
        return raw(np.zeros((1, int(model.n_features_in_)), dtype=np.float32)).ravel()
    readers = _READERS if hasattr(model, "classes_") else _REGRESSORS
    read = readers.get(type(init))
    if read is None:
        known = ", ".join(family.__name__ for family in readers)
        raise UnsupportedModelError(
            f"this {name} starts from the predictions of its own init={type(init).__name__}, which is not read; fit it "
            f'with init=None, init="zero", a constant dummy, or one of {known}'
        )
    return init_tree(read(init).ensemble, raw, name)


# Only these very classes: a subclass may predict something else.
_READERS: dict[type, Callable[[Any], Reading]] = {
    DecisionTreeClassifier: read_trees,
    ExtraTreeClassifier: read_trees,
    RandomForestClassifier: read_trees,
    ExtraTreesClassifier: read_trees,
    BaggingClassifier: read_bagging,
    AdaBoostClassifier: read_adaboost,
    GradientBoostingClassifier: read_gradient_boosting,
}
_REGRESSORS: dict[type, Callable[[Any], Reading]] = {
    DecisionTreeRegressor: read_tree_regressors,
    ExtraTreeRegressor: read_tree_regressors,
    RandomForestRegressor: read_tree_regressors,
    ExtraTreesRegressor: read_tree_regressors,
    BaggingRegressor: read_bagging_regressor,
    GradientBoostingRegressor: read_gradient_boosting_regressor,
}
