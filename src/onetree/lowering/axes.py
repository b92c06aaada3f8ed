"""What the native core sees of an ensemble: axes, of which some have no order.

A categorical feature is one axis, and so is a group of features of which only some combinations occur. Such a *set
axis* has values that all occur (the elements that can be reached, the combinations) and tests, each of which sends some
values left; a node names the number of its test. Where every test cuts off a beginning of one order of the values, the
axis is an ordinary one with thresholds, which is what the fast engine takes. All other features are left as they are,
and so is the whole ensemble if there is nothing to translate.

The proof of a tree (`onetree.verify`) does not use this module: it is what is proven. No step recurses on the depth of
a tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.domain.restrict import restrict
from onetree.lowering.axis_tests import AxisTests, SetMatrix, axis_of, joined, joint_features
from onetree.model.arrays import AxisEnsemble
from onetree.model.categories import used_subsets
from onetree.model.ensemble import Ensemble
from onetree.model.forest_checks import without_decided
from onetree.tree.tree import Tree

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Axes:
    """An ensemble inside a domain as the native core takes it, and the way back to trees on its features.

    Parameters
    ----------
    ensemble : Ensemble or AxisEnsemble
        For the core. An axis has the number of its feature, or of the first feature of its group.
    restricted : Ensemble
        The ensemble inside the values of the domain, on its own features.
    domain : Domain or None
    """

    ensemble: Ensemble | AxisEnsemble
    restricted: Ensemble
    domain: Domain | None
    _tests: dict[int, AxisTests] = field(default_factory=dict, repr=False)  # of the axes that were translated

    @property
    def sets(self) -> tuple[SetMatrix | None, ...]:
        """The set axes, as in `AxisEnsemble`."""
        none = (None,) * self.restricted.n_features
        return none if isinstance(self.ensemble, Ensemble) else self.ensemble.sets

    def tree(
        self,
        feature: Index,
        threshold: Floats,
        left: Index,
        right: Index,
        leaf_class: Index,
        value: NDArray[np.floating[Any]] | None = None,
        **promise: Any,
    ) -> Tree:
        """Return the tree that the core found, on the features of the ensemble: an axis and a test become a split.

        A set test is spelled as the ensemble spells it, so elements that cannot be reached go where they go there. The
        numbers of leaves, and what is promised of them, are taken as they are.
        """
        ensemble = self.restricted
        subset, subsets = np.full(len(feature), -1, dtype=np.int32), ensemble.subsets[:0]
        if self._tests:
            tests = joined(list(self._tests.values()))
            start = np.full(ensemble.n_features, -1)
            counts = [len(each.feature) for each in self._tests.values()]
            start[list(self._tests)] = np.cumsum([0, *counts[:-1]])
            nodes = np.flatnonzero((feature >= 0) & (start[feature] >= 0))
            at = start[feature[nodes]] + threshold[nodes].astype(np.intp)
            feature, threshold, left, right = feature.copy(), threshold.copy(), left.copy(), right.copy()
            feature[nodes], threshold[nodes], subset[nodes] = tests.feature[at], tests.threshold[at], tests.subset[at]
            flipped = nodes[tests.flipped[at]]
            left[flipped], right[flipped] = right[flipped], left[flipped]
            subset, subsets = used_subsets(subset, ensemble.subsets)
        return Tree(
            feature=feature,
            threshold=threshold,
            children_left=left,
            children_right=right,
            leaf_class=leaf_class,
            classes=ensemble.classes,
            feature_names=ensemble.feature_names,
            nan_features=ensemble.nan_features,
            domain=self.domain,
            categories=ensemble.categories,
            subset=subset,
            subsets=subsets,
            columns=ensemble.columns,
            value=value,
            **promise,
        )


def axes_of(ensemble: Ensemble, domain: Domain | None = None) -> Axes:
    """Return an ensemble inside a domain as the native core takes it.

    Examples
    --------
    >>> from onetree.domain.domain import as_domain
    >>> from onetree.model.ensemble import Rule
    >>> votes = dict(value=[[0, 0], [1, 0], [0, 1]], base=[0, 0], rule=Rule("hard"), nan_features=[False, False])
    >>> nodes = dict(roots=[0], feature=[1, -1, -1], threshold=[0.5, 0, 0], missing_left=[False] * 3)
    >>> children = dict(children_left=[1, -1, -1], children_right=[2, -1, -1])
    >>> stump = Ensemble(classes=[0, 1], feature_names=("a", "b"), **nodes, **children, **votes)
    >>> axes_of(stump).ensemble is stump
    True
    >>> axes_of(stump, as_domain({("a", "b"): "one-hot"}, stump)).ensemble.feature.tolist()
    [0, -1, -1]
    """
    inside = restrict(ensemble, domain)
    joint_axes = joint_features(inside, domain)
    if not joint_axes:
        return Axes(inside, inside, domain)
    feature, threshold = inside.feature.copy(), inside.threshold.copy()
    left, right, missing_left = inside.children_left.copy(), inside.children_right.copy(), inside.missing_left.copy()
    instead = np.arange(len(feature))
    sets: list[SetMatrix | None] = [None] * inside.n_features
    nan_features = inside.nan_features.copy()
    tests = {}
    for joint in joint_axes:
        axis = joint.features[0]
        found = axis_of(inside, ensemble, joint)
        nodes = found.nodes
        feature[nodes], threshold[nodes], missing_left[nodes] = axis, found.number, False
        flipped = nodes[found.flipped]
        left[flipped], right[flipped] = right[flipped], left[flipped]
        for side, decided in ((inside.children_left, found.all_left), (inside.children_right, found.all_right)):
            instead[decided] = side[decided]
        sets[axis], tests[axis] = found.matrix, found.axis_tests
        nan_features[list(joint.features)] = False
    kept, roots, left, right = without_decided(inside.roots, feature, left, right, instead)
    translated = AxisEnsemble(
        roots=roots,
        feature=feature[kept],
        threshold=threshold[kept],
        children_left=left,
        children_right=right,
        missing_left=missing_left[kept],
        value=inside.value[kept],
        base=inside.base,
        rule=inside.rule,
        nan_features=nan_features,
        n_classes=inside.n_classes,
        sets=tuple(sets),
        response=inside.response,
    )
    return Axes(translated, inside, domain, tests)
