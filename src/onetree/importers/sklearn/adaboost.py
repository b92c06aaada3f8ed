"""scikit-learn's AdaBoost (SAMME) of trees: each tree gives its weight to its class and takes some from the others.

A tree of weight w adds w to the class it predicts and -w / (n_classes - 1) to every other one, in float64. The sums
are divided by the sum of the weights. Two classes: the second wins iff its sum is above zero; more: the first largest.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.nodes import DamagedModelError
from onetree.importers.sklearn.reading import Member, Reading, check_member, read_votes
from onetree.model.ensemble import Rule


def read_adaboost(model: Any) -> Reading:
    """Read an `AdaBoostClassifier` of trees."""
    name = type(model).__name__
    if getattr(model, "algorithm", None) == "SAMME.R":
        raise UnsupportedModelError(f'this {name} uses algorithm="SAMME.R", which is not read; fit it with SAMME')
    n_classes = len(model.classes_)
    members = []
    for i, estimator in enumerate(model.estimators_):
        tree = check_member(model, i, estimator, int(model.n_features_in_))
        members.append(Member(tree, _class_index(model, i, tree)))
    weights = np.asarray(model.estimator_weights_, dtype=np.float64)
    divisor = float(weights.sum())  # numpy's own way of adding them, as in scikit-learn
    if len(weights) < len(members) or not (np.isfinite(divisor) and divisor > 0):
        raise DamagedModelError(f"the weights of this {name} are missing or do not add up; fit it again")

    def scores(member: Member, i: int) -> NDArray[np.float64]:
        if n_classes == 1:
            return np.zeros((len(member.tree.tree_.value), 1))
        weight = float(weights[i])
        per_class = np.where(member.votes(n_classes) == 1.0, weight, -1 / (n_classes - 1) * weight)
        # Two classes: the sums are the negatives of each other, and twice the second is compared with zero.
        return per_class[:, 1:] if n_classes == 2 else per_class

    reading = read_votes(model, members, scores, Rule("score" if n_classes == 2 else "scores", divisor=divisor))
    return Reading(reading.ensemble, reading.met_nan)


def _class_index(model: Any, i: int, tree: DecisionTreeClassifier) -> NDArray[np.intp]:
    """Return the place of the member's labels among the model's labels."""
    place = {label: index for index, label in enumerate(model.classes_.tolist())}
    try:
        return np.array([place[label] for label in tree.classes_.tolist()], dtype=np.intp)
    except KeyError as error:
        raise DamagedModelError(
            f"member {i} of this {type(model).__name__} knows the class {error}, which the model does not; "
            "fit the model again"
        ) from None
