"""scikit-learn's Bagging of trees: a soft vote in which a tree may see some columns and know some classes only.

The fractions are added in float64 in the order of the trees and divided by their number, as with `n_jobs=1`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.importers.sklearn.nodes import DamagedModelError
from onetree.importers.sklearn.reading import Member, Reading, check_member, read_votes
from onetree.model.ensemble import Rule


def check_members(model: Any) -> int:
    """Return the number of members of a `BaggingClassifier` or `BaggingRegressor`."""
    n_members = len(model.estimators_)
    if model.n_estimators != n_members or len(model.estimators_features_) != n_members:
        raise DamagedModelError(
            f"this {type(model).__name__} has n_estimators={model.n_estimators}, but was fitted with {n_members} "
            "trees; fit it again"
        )
    return n_members


def read_bagging(model: Any) -> Reading:
    """Read a `BaggingClassifier` of trees."""
    n_members = check_members(model)
    members = []
    for i, (estimator, subset) in enumerate(zip(model.estimators_, model.estimators_features_, strict=True)):
        columns = columns_of(model, i, subset)
        tree = check_member(model, i, estimator, len(columns))
        members.append(Member(tree, class_index(model, i, tree.classes_), columns))
    rule = Rule("soft", divisor=float(max(1, n_members)))
    return read_votes(model, members, lambda member, _: member.fractions(len(model.classes_)), rule)


def columns_of(model: Any, i: int, columns: Any) -> NDArray[np.intp]:
    """Return the columns of member i, in which one may occur twice."""
    n_features = int(model.n_features_in_)
    chosen = np.arange(n_features)[columns] if isinstance(columns, slice) else np.asarray(columns)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or np.any((chosen < 0) | (chosen >= n_features)):
        raise DamagedModelError(
            f"member {i} of this {type(model).__name__} uses columns that do not exist; fit the model again"
        )
    return chosen.astype(np.intp)


def class_index(model: Any, i: int, known: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class index of each class that member i met in its part of the training data."""
    n_classes = len(model.classes_)
    if len(known) == n_classes:
        return np.arange(n_classes)
    index = np.asarray(known).astype(np.intp)  # members are fitted on class indices
    if np.any((index < 0) | (index >= n_classes)) or len(np.unique(index)) < len(index):
        raise DamagedModelError(
            f"member {i} of this {type(model).__name__} knows classes that the model does not; fit the model again"
        )
    return index
