"""scikit-learn's VotingClassifier of trees: hard or soft, with or without weights.

Hard: the weights of the members that predict a class are added, in float64 where there are weights; the first largest
wins. Soft: fractions times weight, added in float64 in the order of the members, divided by the sum of the weights.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.reading import Member, Reading, check_member, read_votes, same_classes
from onetree.model.ensemble import Rule


def read_voting(model: Any) -> Reading:
    """Read a `VotingClassifier` of trees."""
    n_classes = len(model.classes_)
    members = []
    for i, estimator in enumerate(model.estimators_):
        tree = check_member(model, i, estimator, int(model.n_features_in_))
        members.append(Member(tree, same_classes(model, i, tree)))
    weights = weights_of(model, len(members))
    hard = model.voting == "hard"
    if weights is None:
        rule = Rule("hard") if hard else Rule("soft", divisor=float(max(1, len(members))))
    elif hard:
        rule = Rule("scores")
    else:
        # numpy.average adds the weights in a way of its own; ask it for the very sum that it divides by.
        _, total = np.average(np.ones((len(weights), 1, 1)), axis=0, weights=weights, returned=True)
        rule = Rule("scores", divisor=float(total[0, 0]))

    def vectors(member: Member, i: int) -> NDArray[np.float64]:
        value = member.votes(n_classes) if hard else member.fractions(n_classes)
        return value if weights is None else value * weights[i]

    reading = read_votes(model, members, vectors, rule)
    return reading if weights is None else Reading(reading.ensemble, reading.met_nan)


def weights_of(model: Any, n_members: int) -> list[float] | None:
    """Return the weights of the members that were not dropped, as scikit-learn takes them from its parameters."""
    if model.weights is None:
        return None
    kept = [
        float(weight)
        for (_, estimator), weight in zip(model.estimators, model.weights, strict=False)
        if not isinstance(estimator, str)  # "drop"
    ]
    usable = all(np.isfinite(weight) and weight >= 0 for weight in kept) and sum(kept) > 0
    if len(kept) != n_members or not usable:
        raise UnsupportedModelError(
            f"the weights {list(model.weights)} of this {type(model).__name__} are not {n_members} non-negative "
            "finite numbers, not all 0; set other weights and fit it again"
        )
    return kept
