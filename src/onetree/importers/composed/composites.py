"""scikit-learn's models of models, in its own order of operations.

Each method returns a `Signal`: what `predict_proba` returns, what `decision_function` returns, or 1 for the class
that `predict` returns. Members may be of any library, or composed themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from onetree.errors import UnsupportedModelError
from onetree.importers.composed import responses
from onetree.importers.composed.bands import compared_with
from onetree.importers.composed.calibration import calibrated
from onetree.importers.composed.parts import Signal, response_of, stage
from onetree.importers.sklearn.bagging import check_members, class_index, columns_of
from onetree.importers.sklearn.voting import weights_of
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble

THRESHOLDED = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")
COMPOSED = ("CalibratedClassifierCV", *THRESHOLDED, "OneVsRestClassifier", "StackingClassifier")


def is_composed(model: object) -> bool:
    """Whether a model consists of models and not of trees."""
    if isinstance(model, VotingClassifier | BaggingClassifier):
        members = getattr(model, "estimators_", ())
        return bool(members) and not all(isinstance(member, DecisionTreeClassifier) for member in members)
    if isinstance(model, VotingRegressor):
        return True
    if isinstance(model, BaggingRegressor):
        members = getattr(model, "estimators_", ())
        return bool(members) and not all(isinstance(member, DecisionTreeRegressor) for member in members)
    return type(model).__module__.startswith("sklearn.") and type(model).__name__ in COMPOSED


class Composer:
    """Reads the members of a model as they are needed.

    Parameters
    ----------
    read : function
        From a fitted model of one level, with pipelines around it, and the output that is needed, to an `Ensemble`.
    """

    def __init__(self, read: Callable[[Any, str], Ensemble]) -> None:
        self._read = read
        self._known: dict[tuple[int, bytes | None], Ensemble] = {}
        self._columns: NDArray[np.intp] | None = None  # those that the member in hand sees
        self._n_features = 0

    def probabilities(self, model: Any) -> Signal:
        """Return what `predict_proba` returns."""
        bare = _bare(model)
        if not is_composed(bare):
            return response_of(self._ensemble(bare, "probability"))
        _check_fitted(bare)
        if isinstance(bare, VotingClassifier) and bare.voting == "soft":
            weights = weights_of(bare, len(bare.estimators_))
            parts = [self._member(bare, i, each) for i, each in enumerate(bare.estimators_)]
            return stage("average", *parts, numbers=() if weights is None else weights)
        if isinstance(bare, BaggingClassifier):
            return self._bagged(bare)
        if type(bare).__name__ == "CalibratedClassifierCV":
            parts = [self._calibrated(bare, each) for each in bare.calibrated_classifiers_]
            return stage("mean", *parts)
        if type(bare).__name__ in THRESHOLDED:
            return self.probabilities(bare.estimator_)
        if isinstance(bare, StackingClassifier):
            scores = self._stacked(bare)
            return (
                scores.then("expit", numbers=[1]).then("pair")
                if len(bare.classes_) == 2
                else scores.then("numpy-softmax")
            )
        if isinstance(bare, OneVsRestClassifier):
            return self._shares_of_rest(bare)
        raise UnsupportedModelError(
            f"the probabilities of a {type(bare).__name__} are not read as a part of another model; use a "
            "VotingClassifier with voting='soft', or the model inside it"
        )

    def positive(self, model: Any) -> Signal:
        """Return the probability of the second class."""
        both = self.probabilities(model)
        return both.of[0] if both.stage is not None and both.stage.kind == "pair" else both.only(1)

    def decision(self, model: Any) -> Signal:
        """Return what `decision_function` returns; there is one."""
        bare = _bare(model)
        if isinstance(bare, StackingClassifier):
            return self._stacked(bare)
        if is_composed(bare):
            raise UnsupportedModelError(
                f"the decision_function of a {type(bare).__name__} is not read as a part of another model; use "
                "predict_proba instead"
            )
        return responses.decision(_last(bare), self._ensemble(bare))

    def winner(self, model: Any) -> Signal:
        """Return 1 for the class that `predict` returns."""
        bare = _bare(model)
        if not is_composed(bare):
            return responses.winner(self._ensemble(bare))
        signal, cut, inclusive, last_wins = self.decided(bare)
        if last_wins:
            raise UnsupportedModelError(f"a {type(bare).__name__} inside another model is not read; use it alone")
        return signal.then("winner", numbers=() if cut is None else [cut, inclusive])

    def decided(self, model: Any) -> tuple[Signal, float | None, bool, bool]:
        """Return the signal by which a composed model predicts, with cut, whether it is inclusive, and ties."""
        bare = _bare(model)
        _check_fitted(bare)
        if isinstance(bare, VotingClassifier) and bare.voting == "hard":
            weights = weights_of(bare, len(bare.estimators_))
            parts = [self.winner(each) for each in bare.estimators_]
            return (
                stage("votes", *parts, numbers=np.ones(len(parts)) if weights is None else weights),
                None,
                False,
                False,
            )
        if type(bare).__name__ in THRESHOLDED:
            return self._thresholded(bare)
        if isinstance(bare, OneVsRestClassifier):
            return self._one_vs_rest(bare)
        if isinstance(bare, StackingClassifier):
            return self._stacked(bare), 0.0 if len(bare.classes_) == 2 else None, False, False
        return self.probabilities(bare), None, False, False

    def value(self, model: Any) -> Signal:
        """Return what the `predict` of a regressor returns."""
        bare = _bare(model)
        if not is_composed(bare):
            return response_of(self._ensemble(bare, "value"))
        if not hasattr(bare, "estimators_"):
            raise UnsupportedModelError(f"this {type(bare).__name__} is not fitted; call fit(X, y) first")
        if isinstance(bare, VotingRegressor):
            weights = weights_of(bare, len(bare.estimators_))
            parts = [self.value(each) for each in bare.estimators_]
            return stage("of-regressors", *parts, numbers=() if weights is None else weights)
        check_members(bare)
        parts = [self.value(each) for each in self._members(bare)]
        return stage("sum", *parts).then("divide", numbers=[len(parts)])

    def _ensemble(self, model: Any, output: str = "class") -> Ensemble:
        """Return a member, read once: with its probabilities it serves where its class is asked for, too."""
        key = id(model), None if self._columns is None else self._columns.tobytes()
        known = self._known.get(key)
        if known is None or output not in ("class", known.output):
            known = self._known[key] = self._placed(model, self._read(model, output))
        return known

    def _placed(self, model: Any, ensemble: Ensemble) -> Ensemble:
        """Return a member on the columns of the whole model."""
        if ensemble.rule.combination is not None and is_composed(_last(model)):
            raise UnsupportedModelError(
                f"a {type(_last(model)).__name__} behind a pipeline is not read as a part of another model; put the "
                "pipeline's steps in front of its members"
            )
        if self._columns is None:
            return ensemble
        if ensemble.n_features != len(self._columns):
            raise UnsupportedModelError("a member sees other columns than it is given; fit the whole model again")
        feature = np.where(ensemble.feature < 0, -1, self._columns[ensemble.feature])
        nan = np.ones(self._n_features, dtype=bool)
        nan[self._columns] = ensemble.nan_features
        if any(kind is not None for kind in ensemble.categories):
            raise UnsupportedModelError("a bag of models that see some columns only cannot have categories; use all")
        names = tuple(f"x{i}" for i in range(self._n_features))
        return replace(
            ensemble, feature=feature, feature_names=names, nan_features=nan, categories=(), columns=Columns()
        )

    def _member(self, model: Any, i: int, member: Any) -> Signal:
        signal = self.probabilities(member)
        if signal.width() != len(model.classes_):
            raise UnsupportedModelError(
                f"member {i} of this {type(model).__name__} has {signal.width()} classes, but the model has "
                f"{len(model.classes_)}; fit the whole model again"
            )
        return signal

    def _bagged(self, model: Any) -> Signal:
        n_classes, parts = len(model.classes_), []
        for i, member in enumerate(self._members(model)):
            if not hasattr(member, "predict_proba"):
                raise UnsupportedModelError(
                    f"member {i} of this {type(model).__name__} has no predict_proba; use members that have"
                )
            signal = self.probabilities(member)
            if len(member.classes_) != n_classes:
                places = class_index(model, i, member.classes_)
                signal = signal.then("scatter", places=places, numbers=[n_classes])
            parts.append(signal)
        return stage("mean", *parts)

    def _members(self, model: Any) -> Iterator[Any]:
        """Yield the members of a bag, each while its columns are those that members see."""
        for i, (member, chosen) in enumerate(zip(model.estimators_, model.estimators_features_, strict=True)):
            columns = columns_of(model, i, chosen)
            before = self._columns, self._n_features
            if not np.array_equal(columns, np.arange(int(model.n_features_in_))):
                if self._columns is not None:
                    raise UnsupportedModelError("bags of bags that see some columns only are not read; use all columns")
                self._columns, self._n_features = columns, int(model.n_features_in_)
            yield member
            self._columns, self._n_features = before

    def _calibrated(self, model: Any, each: Any) -> Signal:
        has_decision = responses.has_decision(each.estimator)
        n_classes = len(model.classes_)
        if has_decision:
            response = self.decision(each.estimator)
        else:
            response = self.positive(each.estimator) if n_classes == 2 else self.probabilities(each.estimator)
        return calibrated(each, response, n_classes, are_logits=has_decision)

    def _thresholded(self, model: Any) -> tuple[Signal, float | None, bool, bool]:
        """Return the score of the positive class, which wins iff that is at least the threshold."""
        inner = model.estimator_
        method = getattr(model, "response_method", "auto")
        by_probability = hasattr(inner, "predict_proba") if method == "auto" else method == "predict_proba"
        tuned = hasattr(model, "best_threshold_")
        threshold = model.best_threshold_ if tuned else model.threshold
        if isinstance(threshold, str):
            threshold = 0.5 if by_probability else 0.0
        pos_label = model._curve_scorer._get_pos_label() if tuned else model.pos_label
        first_is_positive = pos_label is not None and pos_label == model.classes_[0]
        if by_probability:
            signal = self.probabilities(inner).only(0) if first_is_positive else self.positive(inner)
        else:
            signal = self.decision(inner)
            if first_is_positive:
                signal = signal.then("scale", numbers=[-1])
        cut = compared_with(threshold, signal.dtype())
        # Not at least the threshold: the negative is above the negative threshold.
        return (
            (signal.then("scale", numbers=[-1]), -cut, False, False)
            if first_is_positive
            else (signal, cut, True, False)
        )

    def _one_vs_rest(self, model: Any) -> tuple[Signal, float | None, bool, bool]:
        decides = [responses.has_decision(member) for member in model.estimators_]
        parts = self._each_against_the_rest(
            model,
            [self.decision if by_score else self.positive for by_score in decides],
        )
        if len(parts) == 1:
            return parts[0], 0.0 if decides[0] else 0.5, False, False
        return stage("join", *parts), None, False, _last_of_equals_wins()

    def _shares_of_rest(self, model: Any) -> Signal:
        parts = self._each_against_the_rest(model, [self.positive] * len(model.estimators_))
        both = parts[0].then("pair") if len(parts) == 1 else stage("join", *parts)
        return both.then("one-vs-rest")

    def _each_against_the_rest(self, model: Any, read: Sequence[Callable[[Any], Signal]]) -> list[Signal]:
        """Return what the members of a OneVsRestClassifier give, each read in its way; some are constant."""
        if model.multilabel_:
            raise UnsupportedModelError("this OneVsRestClassifier predicts several labels; fit one model per label")
        signals = [
            None if type(member).__name__ == "_ConstantPredictor" else read_one(member)
            for member, read_one in zip(model.estimators_, read, strict=True)
        ]
        known = next((signal for signal in signals if signal is not None), None)
        if known is None:
            raise UnsupportedModelError("this OneVsRestClassifier gives every input the same class; there is no tree")
        return [
            stage("constant", known, numbers=[float(np.ravel(member.y_)[0])]) if signal is None else signal
            for signal, member in zip(signals, model.estimators_, strict=True)
        ]

    def _stacked(self, model: Any) -> Signal:
        final = model.final_estimator_
        if model.passthrough:
            raise UnsupportedModelError(
                "this StackingClassifier passes the columns themselves on to its final estimator (passthrough=True), "
                "whose score is then not a function of leaves; fit it with passthrough=False"
            )
        if not isinstance(final, LogisticRegression) or type(final).__module__.split(".")[0] != "sklearn":
            raise UnsupportedModelError(
                f"the final estimator of this StackingClassifier is a {type(final).__name__}; only LogisticRegression "
                "is read"
            )
        parts = []
        for member, method in zip(model.estimators_, model.stack_method_, strict=True):
            if method == "predict_proba":
                parts.append(self.positive(member) if len(model.classes_) == 2 else self.probabilities(member))
            elif method == "decision_function":
                parts.append(self.decision(member))
            else:
                raise UnsupportedModelError("this StackingClassifier stacks classes; use stack_method='predict_proba'")
        joined = stage("join", *parts)
        coefficients = np.asarray(final.coef_)
        numbers = np.concatenate([coefficients.ravel(), np.broadcast_to(final.intercept_, len(coefficients))])
        return joined.then("linear", numbers=numbers, places=[len(coefficients)], dtype=coefficients.dtype.name)


def _bare(model: Any) -> Any:
    """Return what a search, a frozen estimator or a pipeline without transformers holds."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif type(model).__name__ == "FrozenEstimator":
            model = model.estimator
        elif isinstance(model, Pipeline) and all(step in (None, "passthrough") for _, step in model.steps[:-1]):
            model = model.steps[-1][1]
        else:
            return model


def _last(model: Any) -> Any:
    """Return the model at the end of all pipelines."""
    while isinstance(model, Pipeline):
        model = _bare(model.steps[-1][1])
    return model


def _check_fitted(model: Any) -> None:
    if not hasattr(model, "classes_"):
        raise UnsupportedModelError(f"this {type(model).__name__} is not fitted; call fit(X, y) first")


def _last_of_equals_wins() -> bool:
    """Ask scikit-learn which of equal scores wins: this depends on its version."""
    from sklearn.dummy import DummyClassifier

    probe = OneVsRestClassifier(DummyClassifier(strategy="uniform")).fit(np.zeros((3, 1)), [0, 1, 2])
    return bool(probe.predict(np.zeros((1, 1)))[0] == 2)
