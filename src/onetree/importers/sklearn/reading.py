"""What a reader of a model family returns, and what makes a tree a usable member of an ensemble."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.nodes import DamagedModelError, check_size, join, met_nan, nodes_of
from onetree.model.ensemble import Ensemble, Rule


@dataclass(frozen=True)
class Member:
    """A tree that votes: its columns among the model's features and its classes among the model's classes."""

    tree: DecisionTreeClassifier
    class_index: NDArray[np.intp]
    columns: NDArray[np.intp] | None = None

    def fractions(self, n_classes: int) -> NDArray[np.float64]:
        """Return the class fractions of each node, in the order of the model's classes."""
        own = self.tree.tree_.value[:, 0, :]
        value = np.zeros((len(own), n_classes))
        value[:, self.class_index] = own[:, : len(self.class_index)]
        return value

    def votes(self, n_classes: int) -> NDArray[np.float64]:
        """Return 1.0 for the class that the tree predicts at each node; the first of the largest."""
        fractions = self.fractions(n_classes)
        value = np.zeros_like(fractions)
        value[np.arange(len(value)), np.argmax(fractions, axis=1)] = 1.0
        return value


@dataclass(frozen=True)
class Reading:
    """A model as it was read.

    Parameters
    ----------
    ensemble : Ensemble
        Its structure is sound. NaN is not an input yet.
    met_nan : bool
        Whether the trees show that NaN was in the training data.
    members : sequence of Member
        The trees, where each names a class; empty for sums of scores.
    largest : float
        Largest magnitude of an input that the model takes.
    as_given : function
        From numbers, as the ensemble has them, to what the model itself takes: texts in place of codes.
    """

    ensemble: Ensemble
    met_nan: bool
    members: Sequence[Member] = ()
    largest: float = float(np.finfo(np.float32).max)
    as_given: Callable[[NDArray[np.float64]], NDArray[Any]] = np.asarray


def read_votes(
    model: Any, members: Sequence[Member], vectors: Callable[[Member, int], NDArray[np.float64]], rule: Rule
) -> Reading:
    """Return the reading of members that each add what `vectors` gives for the nodes of member i."""
    n_outputs = 1 if rule.kind == "score" else len(model.classes_)
    check_size(model, sum(member.tree.tree_.node_count for member in members), len(model.classes_))
    trees = [nodes_of(member.tree.tree_, vectors(member, i), member.columns) for i, member in enumerate(members)]
    ensemble = join(model, trees, model.classes_, np.zeros(n_outputs), rule)
    return Reading(ensemble, any(met_nan(member.tree.tree_) for member in members), members)


def check_member(model: Any, i: int, member: Any, n_features: int) -> DecisionTreeClassifier:
    """Return a member if it is a fitted tree over this many features that predicts one output."""
    name = type(model).__name__
    if not isinstance(member, DecisionTreeClassifier):
        raise UnsupportedModelError(
            f"member {i} of this {name} is a {type(member).__name__}, not a tree; only ensembles of trees are read, "
            "so use DecisionTreeClassifier or ExtraTreeClassifier as members"
        )
    if not hasattr(member, "tree_"):
        raise UnsupportedModelError(f"member {i} of this {name} is not fitted; call fit(X, y) of the whole model")
    if member.tree_.n_outputs != 1:
        raise UnsupportedModelError(
            f"member {i} of this {name} predicts {member.tree_.n_outputs} outputs at once; "
            "fit one model per output and convert each"
        )
    if member.tree_.n_features != n_features:
        raise DamagedModelError(
            f"tree {i} of this {name} has {member.tree_.n_features} features, but it is given {n_features}; "
            "fit the model again"
        )
    n_classes = int(member.tree_.n_classes[0])
    if n_classes != len(member.classes_):
        raise DamagedModelError(
            f"tree {i} of this {name} has {n_classes} classes, but {len(member.classes_)} labels; fit the model again"
        )
    return member


def same_classes(model: Any, i: int, member: DecisionTreeClassifier) -> NDArray[np.intp]:
    """Return the class index of a member that must know all of the model's classes, in their order."""
    n_classes = len(model.classes_)
    if len(member.classes_) != n_classes:
        raise DamagedModelError(
            f"tree {i} of this {type(model).__name__} has {len(member.classes_)} classes, but the model has "
            f"{n_classes}; fit the model again"
        )
    return np.arange(n_classes)


def hard_vote(members: Sequence[Member], classes: NDArray[Any], X: NDArray[np.float64]) -> NDArray[Any]:
    """Return the class that most members predict by their own `predict`; ties go to the smaller class index."""
    votes = np.zeros((len(X), len(classes)), dtype=np.int64)
    for member in members:
        rows = X if member.columns is None else X[:, member.columns]
        predicted = without_names(member.tree).predict(rows)
        votes[np.arange(len(X)), member.class_index[np.searchsorted(member.tree.classes_, predicted)]] += 1
    labels: NDArray[Any] = classes[np.argmax(votes, axis=1)]
    return labels


def without_names(model: Any) -> Any:
    """Return a shallow copy that takes unnamed columns without a warning."""
    live = copy.copy(model)
    vars(live).pop("feature_names_in_", None)
    return live
