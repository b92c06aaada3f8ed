"""Inputs as a composed model takes them, made from the numbers of an ensemble."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.model.ensemble import Ensemble

Floats = NDArray[np.float64]
_LARGE = 1e18  # what is larger may overflow in the steps of a pipeline


class Inputs:
    """Makes arrays, or frames if the columns have names.

    Parameters
    ----------
    ensemble : Ensemble
    names : sequence of str or None
        All columns that the model was fitted on, if it knows.
    """

    def __init__(self, ensemble: Ensemble, names: Sequence[str] | None) -> None:
        self._ensemble = ensemble
        own = list(ensemble.feature_names)
        self._names = own if names is None or not set(own) <= set(names) else list(map(str, names))
        self._as_categories = False

    def taken(self, predict: Callable[[Any], Any], X: Floats) -> Floats:
        """Return the rows that the model takes, with known categories only."""
        X = X.copy()
        rng = np.random.default_rng(0)
        for feature in range(self._ensemble.n_features):
            labels = self._ensemble.columns.labels_of(feature)
            if labels is not None:
                unknown = ~np.isin(X[:, feature], labels.codes) & ~np.isnan(X[:, feature])
                X[unknown, feature] = rng.choice(labels.codes, int(unknown.sum()))
        return self._accepted(predict, X)

    def answers(self, function: Callable[[Any], Any], X: Floats) -> NDArray[Any]:
        """Return what the model says of these rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(function(self._given(X)))

    def _accepted(self, predict: Callable[[Any], Any], X: Floats) -> Floats:
        for as_categories in (False, True):
            self._as_categories = as_categories
            for rows in (X, X[~(np.abs(X) > _LARGE).any(axis=1)]):
                try:
                    self.answers(predict, rows[:1])
                    self.answers(predict, rows)
                except (ValueError, TypeError):
                    continue
                return rows
        self._as_categories = False
        return X

    def _given(self, X: Floats) -> Any:
        columns = self._ensemble.columns
        if not columns.named:
            return X
        made: dict[str, Any] = dict.fromkeys(self._names, np.zeros(len(X)))
        pd: Any = importlib.import_module("pandas")
        for feature, name in enumerate(self._ensemble.feature_names):
            labels = columns.labels_of(feature)
            made[name] = X[:, feature]
            if labels is None or not any(isinstance(value, str) for value in labels.values):
                continue
            value_of = dict(zip(labels.codes, labels.values, strict=True))
            values = [value_of.get(code, np.nan) for code in X[:, feature].tolist()]
            as_category = self._as_categories
            made[name] = pd.Categorical(values, labels.values) if as_category else np.array(values, dtype=object)
        return pd.DataFrame(made)
