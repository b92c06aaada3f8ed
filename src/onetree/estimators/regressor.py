"""A scikit-learn regressor that fits an ensemble and is one tree whose values are those of the ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from onetree.base.limits import DEFAULT_OBJECTIVE
from onetree.display import Explanation
from onetree.estimators.base import BornAgainEstimator
from onetree.model.ensemble import Ensemble


class BornAgainTreeRegressor(RegressorMixin, BornAgainEstimator):  # type: ignore[misc]
    """The one decision tree that predicts like an ensemble of regression trees.

    `fit` trains a clone of the ensemble and finds the smallest tree whose value is within a tolerance of the ensemble's
    for every input: equal by default. A fitted ensemble is taken as it is if it comes in a
    `sklearn.frozen.FrozenEstimator`.

    Parameters
    ----------
    estimator : regressor, optional
        The ensemble: any regressor that `Ensemble.from_model` reads. By default a random forest of 3 trees of depth 3,
        all grown on all rows: equal trees of larger forests can become very large.
    objective : {"depth", "leaves", "depth-leaves", "leaves-depth"}
        What to minimise, as in `born_again`.
    method : {"auto", "exact", "heuristic"}
        How to search, as in `born_again`.
    engine : {"interval-dp", "branch-and-bound"}, optional
        Force one exact engine.
    tolerance : float or None
        How far the tree may be from the ensemble, everywhere, in units of the target. None with `max_leaves` is the
        least tolerance that a tree of that size can keep.
    relative : bool
        Whether `tolerance` is a share of the ensemble's value instead.
    max_leaves : int, optional
        Most leaves of the tree, as in `born_again`.
    missing : {"auto", "follow", "refuse"}
        Whether NaN is an input of the tree: "auto" if the ensemble met NaN in training, "follow" wherever the ensemble
        takes it, which makes every tree larger.
    domain : "data", Domain or mapping, optional
        What the features can be, as in `born_again`: the tree is smaller, and keeps its tolerance for such inputs only.
        "data" infers it from the rows that `fit` is given; see `domain_of`.
    time_limit, work_limit, memory_limit : number, optional
        Seconds, steps and gigabytes for the conversion, as in `born_again`.
    n_jobs : int, optional
        Number of workers of the conversion, -1 for one per processor. The tree does not depend on it.
    random_state : int, RandomState or None
        Seed of the heuristic, and of the ensemble if it has no seed of its own.
    verify : bool
        Prove that the tree keeps its tolerance before `fit` returns.

    Attributes
    ----------
    estimator_ : regressor
        The fitted ensemble.
    solution_ : Solution
        The tree, and what is proven about its size.
    tree_ : Tree
        The tree, with `to_text`, `to_sklearn`, `save` and all the rest.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of str of shape (n_features_in_,)
        Their names, if `X` had any.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(3, max_depth=2, random_state=0)
    >>> model = BornAgainTreeRegressor(forest, objective="leaves").fit(X, y)
    >>> model.solution_.status, bool((model.predict(X) == model.estimator_.predict(X)).all())
    ('optimal', True)
    >>> near = BornAgainTreeRegressor(forest, objective="leaves", tolerance=20).fit(X, y)
    >>> near.get_n_leaves() < model.get_n_leaves(), bool(abs(near.predict(X) - forest.fit(X, y).predict(X)).max() <= 20)
    (True, True)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        objective: str = DEFAULT_OBJECTIVE,
        method: str = "auto",
        engine: str | None = None,
        tolerance: float | None = 0.0,
        relative: bool = False,
        max_leaves: int | None = None,
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
        self.tolerance = tolerance
        self.relative = relative
        self.max_leaves = max_leaves
        self.missing = missing
        self.domain = domain
        self.time_limit = time_limit
        self.work_limit = work_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verify = verify

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> BornAgainTreeRegressor:
        """Fit the ensemble and find its tree.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; dense. A frame may have columns of categories if the ensemble takes them.
        y : array of shape (n_rows,)
            Values.
        sample_weight : array of shape (n_rows,), optional
            Passed on to the ensemble.
        **fit_params
            Passed on to the ensemble's `fit`; by request, if metadata routing is enabled.

        Returns
        -------
        self

        Raises
        ------
        UnsupportedModelError
            The estimator is not an ensemble of regression trees that can be read.
        TooLargeError
            The tree would be far too large: raise the tolerance.
        LimitReachedError
            A limit was reached before there was a tree.
        """
        self._fit(X, y, sample_weight, fit_params, numeric=True)
        return self

    def predict(self, X: Any) -> NDArray[np.floating[Any]]:
        """Values of the rows: those of `estimator_.predict`, within the tolerance."""
        rows = self._rows(X)
        return self.tree_.predict(rows)

    def explain(self, x: Any) -> Explanation:
        """Say why an input gets its value: one sentence for each feature on its path; see `Tree.explain`."""
        check_is_fitted(self)
        return self.tree_.explain(x)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        own = get_tags(self._ensemble())
        if own.regressor_tags is not None:
            tags.regressor_tags.poor_score = own.regressor_tags.poor_score
        return tags

    def _check_labels(self, labels: NDArray[Any]) -> None:
        """Nothing is left to refuse: scikit-learn has checked that they are finite numbers."""

    def _ensemble(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        # Without bootstrap a row of weight 2 is the same as the row twice.
        return RandomForestRegressor(3, max_depth=3, max_features=0.5, bootstrap=False)

    def _read(self, model: Any, missing: str) -> Ensemble:
        return Ensemble.from_model(model, missing=missing, output="value")

    def _asked(self) -> dict[str, Any]:
        return {
            "output": "value",
            "tolerance": self.tolerance,
            "relative": self.relative,
            "max_leaves": self.max_leaves,
        }
