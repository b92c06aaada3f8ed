"""scikit-learn's decision trees and forests of them.

A forest's `predict` is a soft vote: the fractions of each tree are added in float64 in the order of the trees and
divided by their number; the first largest wins. Inputs are float32 when they are compared.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from onetree.ensemble import Ensemble, Rule
from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.importers.self_test import self_test

_SUPPORTED = "DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier or ExtraTreesClassifier"


def import_sklearn(model: Any, *, voting: str = "auto", missing: str = "auto") -> Ensemble:
    """Read a fitted scikit-learn tree or forest and check it against its own `predict`."""
    members = _members(model)
    soft = _soft_vote(model, members, _nan_is_an_input(model, members, missing))
    ensemble = soft.to_hard_vote() if voting == "hard" else soft
    live = _deterministic_copy(model)
    predict: Callable[[NDArray[np.float64]], NDArray[Any]] = live.predict
    if voting == "hard" and model is not members[0]:

        def predict(X: NDArray[np.float64]) -> NDArray[Any]:
            return _hard_vote(members, ensemble.classes, X)

    self_test(ensemble, predict, type(model).__name__)
    return ensemble


def canonical_thresholds(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return T such that float64(x) <= T iff float64(float32(x)) <= threshold, for every float64 x.

    T is the largest float64 that rounds to f, the largest float32 value not above the threshold.
    """
    t = np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        f = t.astype(np.float32)
        f = np.where(f.astype(np.float64) > t, np.nextafter(f, np.float32(-np.inf)), f)
        g = np.nextafter(f, np.float32(np.inf))
        middle = (f.astype(np.float64) + g.astype(np.float64)) / 2
        rounded = middle.astype(np.float32)
    canonical = np.where(rounded == f, middle, np.nextafter(middle, -np.inf))
    # Below all float32 values: no accepted input is that small, and -inf is not a threshold.
    canonical = np.maximum(canonical, -np.finfo(np.float64).max)
    result: NDArray[np.float64] = np.where(np.isposinf(t), np.inf, canonical)
    return result


def _members(model: Any) -> list[DecisionTreeClassifier]:
    """Return the model's trees, or say why they cannot be used."""
    name = type(model).__name__
    if is_regressor(model):
        raise UnsupportedModelError(f"{name} is a regressor; onetree needs a classifier, e.g. a {_SUPPORTED}")
    if isinstance(model, Pipeline):
        raise UnsupportedModelError(
            "a Pipeline is not read; pass its last step, model[-1], and inputs transformed by model[:-1]"
        )
    if not isinstance(model, DecisionTreeClassifier | RandomForestClassifier | ExtraTreesClassifier):
        raise UnsupportedModelError(f"{name} is not supported; give a fitted {_SUPPORTED}")
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise UnsupportedModelError(f"this {name} is not fitted; call fit(X, y) first") from None
    if model.n_outputs_ != 1:
        raise UnsupportedModelError(
            f"this {name} predicts {model.n_outputs_} outputs at once; fit one model per output and convert each"
        )
    members = [model] if isinstance(model, DecisionTreeClassifier) else list(model.estimators_)
    if not members:
        raise UnsupportedModelError(f"this {name} has no trees; fit it with n_estimators >= 1")
    for i, member in enumerate(members):
        if not isinstance(member, DecisionTreeClassifier):
            raise UnsupportedModelError(
                f"member {i} of this {name} is a {type(member).__name__}, not a tree; only ensembles of trees are read"
            )
        if member.tree_.n_features != model.n_features_in_ or member.n_classes_ != model.n_classes_:
            raise UnsupportedModelError(
                f"tree {i} of this {name} has {member.tree_.n_features} features and {member.n_classes_} classes, "
                f"but the model has {model.n_features_in_} and {model.n_classes_}; fit the model again"
            )
    return members


def _soft_vote(model: Any, members: Sequence[DecisionTreeClassifier], follow: bool) -> Ensemble:
    trees = [member.tree_ for member in members]
    sizes = [tree.node_count for tree in trees]
    offsets = np.cumsum([0, *sizes[:-1]])
    offset = np.repeat(offsets, sizes)
    feature = _joined(trees, "feature")
    leaf = _joined(trees, "children_left") < 0
    n_features, n_classes = int(model.n_features_in_), int(model.n_classes_)
    names = getattr(model, "feature_names_in_", None)
    try:
        return Ensemble(
            classes=np.array(model.classes_),
            feature_names=tuple(map(str, names)) if names is not None else tuple(f"x{i}" for i in range(n_features)),
            roots=offsets,
            feature=np.where(leaf, -1, feature),
            threshold=canonical_thresholds(np.where(leaf, 0.0, _joined(trees, "threshold"))),
            left=np.where(leaf, -1, _joined(trees, "children_left") + offset),
            right=np.where(leaf, -1, _joined(trees, "children_right") + offset),
            missing_left=_joined(trees, "missing_go_to_left") != 0,
            value=np.concatenate([tree.value[:, 0, :n_classes] for tree in trees]),
            base=np.zeros(n_classes),
            rule=Rule("soft", divisor=1.0 if model is members[0] else float(len(members))),
            nan_features=np.full(n_features, follow),
        )
    except InvalidInputError as error:
        raise UnsupportedModelError(f"this {type(model).__name__} is damaged: {error}; fit it again") from error


def _joined(trees: Sequence[Any], name: str) -> NDArray[Any]:
    return np.concatenate([getattr(tree, name) for tree in trees])


def _nan_is_an_input(model: Any, members: Sequence[DecisionTreeClassifier], missing: str) -> bool:
    if missing == "refuse" or not get_tags(model).input_tags.allow_nan:
        return False
    return missing == "follow" or any(_met_nan(member.tree_) for member in members)


def _met_nan(tree: Any) -> bool:
    """Whether the tree shows that NaN was in its training data.

    A split that saw no NaN sends NaN to the child with more samples (left iff n_left > n_right) and has a finite
    threshold, so any other split is proof. A tree that met NaN may by chance show none.
    """
    inner = tree.children_left >= 0
    n_samples = tree.n_node_samples
    larger_left = n_samples[tree.children_left[inner]] > n_samples[tree.children_right[inner]]
    goes_left = tree.missing_go_to_left[inner] != 0
    return bool(np.any(goes_left != larger_left) or np.any(np.isinf(tree.threshold[inner])))


def _deterministic_copy(model: Any) -> Any:
    """Return a shallow copy that adds its trees in order and takes unnamed columns without a warning."""
    live = copy.copy(model)
    vars(live).pop("feature_names_in_", None)
    if hasattr(live, "n_jobs"):
        live.n_jobs = 1
    return live


def _hard_vote(
    members: Sequence[DecisionTreeClassifier], classes: NDArray[Any], X: NDArray[np.float64]
) -> NDArray[Any]:
    """Return the class most members predict; ties go to the smaller class index."""
    votes = np.zeros((len(X), len(classes)), dtype=np.int64)
    for member in members:
        votes[np.arange(len(X)), np.searchsorted(member.classes_, member.predict(X))] += 1
    labels: NDArray[Any] = classes[np.argmax(votes, axis=1)]
    return labels
