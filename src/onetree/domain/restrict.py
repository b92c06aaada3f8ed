"""An ensemble inside a domain: splits that the domain decides are removed, and equivalent thresholds are merged.

The result predicts like the ensemble for every input of the domain, and arbitrarily elsewhere. Every later stage
takes it like any other ensemble. The proof of a tree (`onetree.verify`) does not use this module: it is what is proven.
No step recurses on the depth of a tree.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.domain.values import Values
from onetree.model.ensemble import Ensemble
from onetree.model.forest_checks import without_decided


def restrict(ensemble: Ensemble, domain: Domain | None) -> Ensemble:
    """Return an ensemble with the same prediction for every input of the domain, and fewer splits.

    A threshold becomes the roundest number between the two neighbouring values that it separates, or stays what it is
    where values lie everywhere. NaN is an input only where the domain has it. Set tests, and what the features of a
    group imply for each other, are left to `onetree.lowering`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onetree.domain.domain import as_domain
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> ensemble = Ensemble.from_model(forest)
    >>> restrict(ensemble, as_domain({0: (5, 6), 2: {1, 2, 4}}, ensemble)).n_leaves < ensemble.n_leaves
    True
    """
    if domain is None:
        return ensemble
    splits = _Splits(
        ensemble.threshold.copy(),
        ensemble.children_left.copy(),
        ensemble.children_right.copy(),
        ensemble.missing_left.copy(),
        np.arange(len(ensemble.feature)),
    )
    nan_features = ensemble.nan_features.copy()
    for feature, values in enumerate(domain.values):
        if values is not None:
            nan_features[feature] = values.missing
            if ensemble.categories[feature] is None:
                splits.confine(np.flatnonzero(ensemble.feature == feature), values)
    return splits.applied_to(ensemble, nan_features)


@dataclass(frozen=True, eq=False)
class _Splits:
    """The splits of an ensemble while they change."""

    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    instead: NDArray[np.intp]  # a node, or its child if all inputs go there

    def confine(self, nodes: NDArray[np.intp], values: Values) -> None:
        """Leave only what the values of the feature need that these nodes test."""
        cuts = self.threshold[nodes]
        below, above = values.below(cuts), values.above(cuts)
        number_left, number_right = ~np.isnan(below), ~np.isnan(above)
        nan_left = self.missing_left[nodes] & values.missing
        nan_right = ~self.missing_left[nodes] & values.missing
        goes_left, goes_right = number_left | nan_left, number_right | nan_right

        only = nodes[~goes_right]
        self.instead[only] = self.left[only]
        only = nodes[~goes_left]
        self.instead[only] = self.right[only]

        if values.choices is not None or values.integer:
            separates = number_left & number_right
            pairs, at = np.unique(np.stack([below[separates], above[separates]]), axis=1, return_inverse=True)
            canonical = np.array([between(low, high) for low, high in pairs.T.tolist()])
            self.threshold[nodes[separates]] = canonical[at.ravel()] if canonical.size else cuts[:0]
        # All numbers on one side and NaN on the other: +inf splits off NaN to the right.
        alone = nodes[number_left & ~number_right & nan_right]
        self.threshold[alone] = np.inf
        alone = nodes[~number_left & number_right & nan_left]
        self.threshold[alone] = np.inf
        self.missing_left[alone] = False
        self.left[alone], self.right[alone] = self.right[alone], self.left[alone]

    def applied_to(self, ensemble: Ensemble, nan_features: NDArray[np.bool_]) -> Ensemble:
        """Return the ensemble with these splits, without the nodes that no input of the domain comes to."""
        kept, roots, left, right = without_decided(
            ensemble.roots, ensemble.feature, self.left, self.right, self.instead
        )
        return replace(
            ensemble,
            roots=roots,
            feature=ensemble.feature[kept],
            threshold=self.threshold[kept],
            children_left=left,
            children_right=right,
            missing_left=self.missing_left[kept],
            value=ensemble.value[kept],
            nan_features=nan_features,
            subset=ensemble.subset[kept],
        )


def between(low: float, high: float) -> float:
    """Return a cut with `low` on its left and `high` on its right: the roundest number in the middle half."""
    middle, quarter = low / 2 + high / 2, high / 4 - low / 4
    for digits in range(1, 17):
        rounded = float(f"{middle:.{digits}g}")
        if low + quarter <= rounded <= high - quarter and low < rounded < high:
            return rounded
    return middle if low < middle < high else low
