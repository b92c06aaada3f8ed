"""scikit-learn's decision trees and forests of them.

A forest's `predict` is a soft vote: the fractions of each tree are added in float64 in the order of the trees and
divided by their number; the first largest wins. Inputs are float32 when they are compared.
"""

from typing import Any

from sklearn.tree import DecisionTreeClassifier

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.reading import Member, Reading, check_member, read_votes, same_classes
from onetree.model.ensemble import Rule


def read_trees(model: Any) -> Reading:
    """Read a decision tree or a forest."""
    if model.n_outputs_ != 1:
        raise UnsupportedModelError(
            f"this {type(model).__name__} predicts {model.n_outputs_} outputs at once; "
            "fit one model per output and convert each"
        )
    alone = isinstance(model, DecisionTreeClassifier)
    members = []
    for i, estimator in enumerate([model] if alone else model.estimators_):
        tree = check_member(model, i, estimator, int(model.n_features_in_))
        members.append(Member(tree, same_classes(model, i, tree)))
    rule = Rule("soft", divisor=1.0 if alone else float(max(1, len(members))))
    return read_votes(model, members, lambda member, _: member.fractions(len(model.classes_)), rule)
