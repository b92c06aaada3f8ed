"""scikit-learn's GradientBoosting: a sum of regression trees in float64, started by a constant.

Stage by stage, and class by class within a stage, learning rate times leaf value is added. Two classes: the second
wins iff the sum is at least zero; more: the first largest.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeRegressor

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.nodes import DamagedModelError, Nodes, check_size, join, nodes_of
from onetree.importers.sklearn.reading import Reading
from onetree.model.ensemble import Rule

# Their probabilities do not depend on the input.
_CONSTANT_STRATEGIES = ("prior", "most_frequent", "constant", "uniform")


def read_gradient_boosting(model: Any) -> Reading:
    """Read a `GradientBoostingClassifier`."""
    name, n_classes = type(model).__name__, len(model.classes_)
    n_outputs = 1 if n_classes == 2 else n_classes
    stages = np.asarray(model.estimators_, dtype=object)
    if stages.ndim != 2 or stages.shape[1] != n_outputs:
        raise DamagedModelError(f"this {name} does not have {n_outputs} trees in each stage; fit it again")
    check_size(model, sum(_tree(model, estimator).node_count for estimator in stages.flat), n_outputs)
    trees = [_nodes(model, estimator, k, n_outputs) for stage in stages for k, estimator in enumerate(stage)]
    rule = Rule("score", cut_inclusive=True) if n_classes == 2 else Rule("scores")
    ensemble = join(model, trees, model.classes_, np.zeros(n_outputs), rule)  # sound, before anything is predicted
    base = _start(model, n_outputs)
    if base.any():
        ensemble = join(model, trees, model.classes_, base, rule)
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


def _start(model: Any, n_outputs: int) -> NDArray[np.float64]:
    """Return the constant that the sum starts from."""
    init = model.init_
    if isinstance(init, str) and init == "zero":
        return np.zeros(n_outputs)
    if type(init) is not DummyClassifier or init.strategy not in _CONSTANT_STRATEGIES:
        raise UnsupportedModelError(
            f"this {type(model).__name__} starts from the predictions of its own init={type(init).__name__}, which are "
            'not a constant; fit it with init=None or init="zero"'
        )
    # Probabilities go through the link function of the loss: scikit-learn's own arithmetic, to the last bit.
    start = model._raw_predict_init(np.zeros((1, int(model.n_features_in_)), dtype=np.float32))
    row: NDArray[np.float64] = np.asarray(start, dtype=np.float64)[0]
    return row
