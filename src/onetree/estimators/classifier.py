"""A scikit-learn classifier that fits an ensemble and is the one tree equal to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from onetree.base.limits import DEFAULT_OBJECTIVE
from onetree.errors import InvalidInputError
from onetree.estimators.base import BornAgainEstimator
from onetree.model.ensemble import Ensemble
from onetree.questions.reason import SufficientReason, explain


class BornAgainTreeClassifier(ClassifierMixin, BornAgainEstimator):  # type: ignore[misc]
    """The one decision tree that predicts exactly like an ensemble of trees.

    `fit` trains a clone of the ensemble and finds the smallest tree with the same class for every input. A fitted
    ensemble is taken as it is if it comes in a `sklearn.frozen.FrozenEstimator`.

    Parameters
    ----------
    estimator : classifier, optional
        The ensemble: any classifier that `Ensemble.from_model` reads. By default a random forest of 5 trees of depth 3,
        all grown on all rows: larger forests can become very large trees.
    objective : {"depth", "leaves", "depth-leaves", "leaves-depth"}
        What to minimise, as in `born_again`.
    method : {"auto", "exact", "heuristic"}
        How to search, as in `born_again`.
    engine : {"interval-dp", "branch-and-bound"}, optional
        Force one exact engine.
    voting : {"auto", "soft", "hard"}
        "auto" is what the ensemble's `predict` does. With "hard", each tree of a forest has one vote, as in the paper,
        and the tree equals that vote instead of `estimator_.predict`.
    missing : {"auto", "follow", "refuse"}
        Whether NaN is an input of the tree: "auto" if the ensemble met NaN in training, "follow" wherever the ensemble
        takes it, which makes every tree larger.
    domain : "data", Domain or mapping, optional
        What the features can be, as in `born_again`: the tree is smaller, and equal to the ensemble for such inputs
        only. "data" infers it from the rows that `fit` is given; see `domain_of`.
    output : {"class", "probability"}
        What the tree reproduces. With "probability", `predict_proba` is within `tolerance` of that of the ensemble.
    tolerance, relative, keep_class, max_leaves : optional
        Of the probabilities, as in `born_again`.
    time_limit, work_limit, memory_limit : number, optional
        Seconds, steps and gigabytes for the conversion, as in `born_again`.
    n_jobs : int, optional
        Number of workers of the conversion, -1 for one per processor. The tree does not depend on it.
    random_state : int, RandomState or None
        Seed of the heuristic, and of the ensemble if it has no seed of its own.
    verify : bool
        Prove the tree equal to the ensemble before `fit` returns.

    Attributes
    ----------
    estimator_ : classifier
        The fitted ensemble.
    solution_ : Solution
        The tree, and what is proven about its size.
    tree_ : Tree
        The tree, with `to_text`, `to_sklearn`, `save` and all the rest.
    classes_ : array of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of str of shape (n_features_in_,)
        Their names, if `X` had any.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0)
    >>> model = BornAgainTreeClassifier(forest, objective="leaves").fit(X, y)
    >>> model.solution_.status, bool((model.predict(X) == model.estimator_.predict(X)).all())
    ('optimal', True)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        objective: str = DEFAULT_OBJECTIVE,
        method: str = "auto",
        engine: str | None = None,
        voting: str = "auto",
        missing: str = "auto",
        domain: Any = None,
        output: str = "class",
        tolerance: float | None = None,
        relative: bool = False,
        keep_class: bool = True,
        max_leaves: int | None = None,
        time_limit: float | None = None,
        work_limit: int | None = None,
        memory_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verify: bool = True,
    ) -> None:
        self.estimator = estimator
        self.objective = objective
        self.method = method
        self.engine = engine
        self.voting = voting
        self.missing = missing
        self.domain = domain
        self.output = output
        self.tolerance = tolerance
        self.relative = relative
        self.keep_class = keep_class
        self.max_leaves = max_leaves
        self.time_limit = time_limit
        self.work_limit = work_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verify = verify

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> BornAgainTreeClassifier:
        """Fit the ensemble and find its tree.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; dense. A frame may have columns of categories if the ensemble takes them.
        y : array of shape (n_rows,)
            Class labels.
        sample_weight : array of shape (n_rows,), optional
            Passed on to the ensemble, and counted in `predict_proba`.
        **fit_params
            Passed on to the ensemble's `fit`; by request, if metadata routing is enabled.

        Returns
        -------
        self

        Raises
        ------
        UnsupportedModelError
            The estimator is not an ensemble of trees that can be read.
        TooLargeError
            The tree would be far too large.
        LimitReachedError
            A limit was reached before there was a tree.
        """
        rows, labels = self._fit(X, y, sample_weight, fit_params, numeric=False)
        self.classes_ = self.tree_.classes.copy()
        if self.output == "class":
            weight = _check_sample_weight(sample_weight, rows, dtype=np.float64)
            with_shares = self.tree_.with_shares(rows, labels, sample_weight=weight)
            self.solution_ = replace(self.solution_, tree=with_shares)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels of the rows: those of `estimator_.predict`."""
        rows = self._rows(X)
        labels: NDArray[Any] = self.classes_[self.tree_.predict_index(rows)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.floating[Any]]:
        """Probabilities of the classes: with ``output="probability"`` those of the ensemble, within `tolerance`.

        Otherwise the share of each class among the training rows in the leaf, which is **not** the probability of the
        ensemble. The largest share is always that of the predicted class: in a leaf where other rows are more frequent,
        the class of the leaf is counted as often as the most frequent one, and in a leaf without training rows it has
        all.

        Returns
        -------
        array of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        rows = self._rows(X)
        return self.tree_.predict_proba(rows)

    def predict_log_proba(self, X: Any) -> NDArray[np.floating[Any]]:
        """Logarithm of `predict_proba`; -inf where that is 0."""
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.floating[Any]] = np.log(self.predict_proba(X))
        return logarithms

    def explain(self, x: Any, **options: Any) -> SufficientReason:
        """Say why an input gets its class: the features that fix it whatever the others are, with proof.

        Parameters
        ----------
        x : array of shape (n_features,), mapping, or frame of one row
        **options
            As in `onetree.explain`: ``size="smallest"``, ``contrast=True`` and others.

        Returns
        -------
        SufficientReason
        """
        check_is_fitted(self)
        return explain(self.tree_, x, **options)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        own = get_tags(self._ensemble())
        if own.classifier_tags is not None:
            tags.classifier_tags.multi_class = own.classifier_tags.multi_class
            tags.classifier_tags.poor_score = own.classifier_tags.poor_score
        return tags

    def _check_labels(self, labels: NDArray[Any]) -> None:
        check_classification_targets(labels)
        if self.output not in ("class", "probability"):
            raise InvalidInputError(f'output must be "class" or "probability", not {self.output!r}')

    def _ensemble(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        # Without bootstrap a row of weight 2 is the same as the row twice.
        return RandomForestClassifier(5, max_depth=3, bootstrap=False)

    def _read(self, model: Any, missing: str) -> Ensemble:
        return Ensemble.from_model(model, voting=self.voting, missing=missing, output=self.output)

    def _asked(self) -> dict[str, Any]:
        asked = {"tolerance": self.tolerance, "relative": self.relative, "max_leaves": self.max_leaves}
        if self.output == "probability":
            return {"output": "probability", "keep_class": self.keep_class, **asked}
        if self.tolerance is not None or self.relative or self.max_leaves is not None:
            raise InvalidInputError('tolerance, relative and max_leaves are for output="probability"')
        return {}
