"""What the two estimators share: the ensemble is fitted, read, and converted; rows are checked as scikit-learn does.

Glue without algorithms: the ensemble comes from the estimator, the tree from `born_again`.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_consistent_length, check_random_state, column_or_1d, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from onetree.domain.infer import domain_of
from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.model.ensemble import Ensemble
from onetree.model.frames import has_gaps, needs_model
from onetree.model.inputs import RowsLike, read_inputs
from onetree.search.solution import Solution
from onetree.search.solve import born_again
from onetree.tree.leaf_probabilities import leaf_numbers
from onetree.tree.tree import Tree


class BornAgainEstimator(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An ensemble that is fitted, and the one tree that predicts like it."""

    estimator: Any
    objective: str
    method: str
    engine: str | None
    missing: str
    domain: Any
    tolerance: float | None
    relative: bool
    max_leaves: int | None
    time_limit: float | None
    work_limit: int | None
    memory_limit: float | None
    n_jobs: int | None
    random_state: Any
    verify: bool
    solution_: Solution

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any], *, numeric: bool
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Fit the ensemble and find its tree; return the rows as numbers, and what they are labelled with."""
        rows: NDArray[Any] | None
        if needs_model(X):  # the ensemble will say which numbers stand for categories
            validate_data(self, X, skip_check_array=True)
            rows, labels = None, column_or_1d(y, warn=True)
            check_consistent_length(X, labels)
        else:
            rows, labels = validate_data(
                self,
                X,
                y,
                dtype=[np.float64, np.float32],
                ensure_all_finite=self._finite(),
                y_numeric=numeric,
            )
        self._check_labels(labels)
        seed = self._seed()
        ensemble = clone(self._ensemble())
        if isinstance(ensemble, Pipeline):
            raise UnsupportedModelError(
                "the estimator is a Pipeline, whose trees see transformed features; put the transformations outside: "
                f"make_pipeline(..., {type(self).__name__}(forest))"
            )
        if seed is not None:
            _set_missing_seeds(ensemble, seed)
        # The data frame itself, not its values: the ensemble needs the names as well.
        ensemble.fit(X, labels, **self._fit_params(ensemble, sample_weight, fit_params))
        self.estimator_ = ensemble
        self._check_frozen_features()
        gaps = has_gaps(X) if rows is None else np.isnan(rows).any()
        missing = "follow" if self.missing == "auto" and gaps else self.missing
        source = self._read(ensemble.estimator if isinstance(ensemble, FrozenEstimator) else ensemble, missing)
        if rows is None:
            rows = read_inputs(X, source)
        domain = domain_of(rows) if isinstance(self.domain, str) and self.domain == "data" else self.domain
        self.solution_ = self._convert(source, domain, seed or 0)
        return rows, labels

    @property
    def tree_(self) -> Tree:
        """The tree."""
        return self.solution_.tree

    @abstractmethod
    def _check_labels(self, labels: NDArray[Any]) -> None:
        """Refuse what the ensemble cannot be trained on."""

    @abstractmethod
    def _ensemble(self) -> Any:
        """Return the ensemble that is fitted."""

    @abstractmethod
    def _read(self, model: Any, missing: str) -> Ensemble:
        """Return what the fitted ensemble predicts."""

    def _asked(self) -> dict[str, Any]:
        """Return what `born_again` is asked for beside the class."""
        return {}

    def apply(self, X: Any) -> NDArray[Any]:
        """Return the leaf that each row ends in, numbered from left to right as in `Tree.leaves` and `Tree.boxes`."""
        rows = self._rows(X)
        return leaf_numbers(self.tree_, rows)

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
        return tags

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
            **self._asked(),
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
