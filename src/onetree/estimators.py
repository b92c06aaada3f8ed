"""A scikit-learn classifier that fits an ensemble and is the one tree equal to it.

Glue without algorithms: the ensemble comes from the estimator, the tree from `born_again`.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_consistent_length, check_random_state, column_or_1d, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter, validate_data

from onetree.base.limits import DEFAULT_OBJECTIVE
from onetree.domain.infer import domain_of
from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.model.ensemble import Ensemble
from onetree.model.frames import has_gaps, needs_model
from onetree.model.inputs import RowsLike, read_inputs
from onetree.questions.reason import SufficientReason, explain
from onetree.search.solution import Solution
from onetree.search.solve import born_again
from onetree.tree.leaf_probabilities import leaf_numbers
from onetree.tree.tree import Tree


class BornAgainTreeClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
        rows: NDArray[Any] | None
        if needs_model(X):  # the ensemble will say which numbers stand for categories
            validate_data(self, X, skip_check_array=True)
            rows, labels = None, column_or_1d(y, warn=True)
            check_consistent_length(X, labels)
        else:
            rows, labels = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_all_finite=self._finite())
        check_classification_targets(labels)
        seed = self._seed()
        ensemble = clone(self._ensemble())
        if isinstance(ensemble, Pipeline):
            raise UnsupportedModelError(
                "the estimator is a Pipeline, whose trees see transformed features; put the transformations outside: "
                "make_pipeline(..., BornAgainTreeClassifier(forest))"
            )
        if seed is not None:
            _set_missing_seeds(ensemble, seed)
        # The data frame itself, not its values: the ensemble needs the names as well.
        ensemble.fit(X, labels, **self._fit_params(ensemble, sample_weight, fit_params))
        self.estimator_ = ensemble
        self._check_frozen_features()
        gaps = has_gaps(X) if rows is None else np.isnan(rows).any()
        missing = "follow" if self.missing == "auto" and gaps else self.missing
        source = Ensemble.from_model(
            ensemble.estimator if isinstance(ensemble, FrozenEstimator) else ensemble,
            voting=self.voting,
            missing=missing,
        )
        if rows is None:
            rows = read_inputs(X, source)
        domain = domain_of(rows) if isinstance(self.domain, str) and self.domain == "data" else self.domain
        self.solution_ = self._convert(source, domain, seed or 0)
        self.classes_ = self.tree_.classes.copy()
        weight = _check_sample_weight(sample_weight, rows, dtype=np.float64)
        with_shares = self.tree_.with_shares(rows, labels, sample_weight=weight)
        self.solution_ = replace(self.solution_, tree=with_shares)
        return self

    @property
    def tree_(self) -> Tree:
        """The tree."""
        tree: Tree = self.solution_.tree
        return tree

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels of the rows: those of `estimator_.predict`."""
        rows = self._rows(X)
        labels: NDArray[Any] = self.classes_[self.tree_.predict_index(rows)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.floating[Any]]:
        """Share of each class among the training rows in the leaf; **not** the probabilities of the ensemble.

        The largest share is always that of the predicted class: in a leaf where other rows are more frequent, the class
        of the leaf is counted as often as the most frequent one, and in a leaf without training rows it has all.

        Returns
        -------
        array of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        rows = self._rows(X)
        shares: NDArray[np.floating[Any]] = self.tree_.predict_proba(rows)
        return shares

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`; -inf where the share is 0."""
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logarithms

    def apply(self, X: Any) -> NDArray[Any]:
        """Return the leaf that each row ends in, numbered from left to right as in `Tree.leaves` and `Tree.boxes`."""
        rows = self._rows(X)
        return leaf_numbers(self.tree_, rows)

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

    def get_depth(self) -> int:
        """Return the depth of the tree."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what `fit` passes on, and to whom."""
        return (
            MetadataRouter(owner=type(self).__name__)
            .add_self_request(self)
            .add(estimator=self._ensemble(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        own = get_tags(self._ensemble())
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = own.input_tags.allow_nan and self.missing != "refuse"
        if own.classifier_tags is not None:
            tags.classifier_tags.multi_class = own.classifier_tags.multi_class
            tags.classifier_tags.poor_score = own.classifier_tags.poor_score
        return tags

    def _ensemble(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        # Without bootstrap a row of weight 2 is the same as the row twice.
        return RandomForestClassifier(5, max_depth=3, bootstrap=False)

    def _finite(self) -> bool:
        """Whether all numbers must be finite; otherwise it is the ensemble that says which it takes."""
        return not get_tags(self).input_tags.allow_nan

    def _seed(self) -> int | None:
        if self.random_state is None:
            return None
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _fit_params(self, ensemble: Any, sample_weight: Any, others: dict[str, Any]) -> dict[str, Any]:
        given = dict(others)
        if sample_weight is not None:
            given["sample_weight"] = sample_weight
        if given and get_config()["enable_metadata_routing"]:
            routed: dict[str, Any] = process_routing(self, "fit", **given).estimator.fit
            return routed
        if sample_weight is not None and not has_fit_parameter(ensemble, "sample_weight"):
            if isinstance(ensemble, FrozenEstimator):  # whose fit ignores everything
                return {}
            raise InvalidInputError(
                f"{type(ensemble).__name__} takes no sample_weight; leave it out, or choose another ensemble"
            )
        return given

    def _check_frozen_features(self) -> None:
        """Refuse data with other features than those a frozen ensemble was trained on."""
        known, given = getattr(self.estimator_, "feature_names_in_", None), getattr(self, "feature_names_in_", None)
        if known is not None and given is not None and list(known) != list(given):
            raise InvalidInputError(
                f"X has the columns {list(given)}, but the fitted ensemble was trained on {list(known)}; "
                "give the same columns in the same order"
            )
        n_known = getattr(self.estimator_, "n_features_in_", self.n_features_in_)
        if n_known != self.n_features_in_:
            raise InvalidInputError(
                f"X has {self.n_features_in_} features, but the fitted ensemble was trained on {n_known}"
            )

    def _convert(self, source: Ensemble, domain: Any, seed: int) -> Solution:
        return born_again(
            source,
            objective=self.objective,
            method=self.method,
            engine=self.engine,
            domain=domain,
            time_limit=self.time_limit,
            work_limit=self.work_limit,
            memory_limit=self.memory_limit,
            n_jobs=self.n_jobs,
            random_state=seed,
            verify=self.verify,
        )

    def _rows(self, X: RowsLike) -> NDArray[Any]:
        check_is_fitted(self)
        if self.tree_.columns.labels or self.tree_.columns.unassigned:
            validate_data(self, X, reset=False, skip_check_array=True)
            return read_inputs(X, self.tree_)
        rows: NDArray[Any] = validate_data(
            self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite=self._finite()
        )
        return rows


def _set_missing_seeds(estimator: Any, seed: int) -> None:
    unset = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    if unset:
        estimator.set_params(**unset)
