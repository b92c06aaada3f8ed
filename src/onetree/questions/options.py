"""An ensemble on numbered options: what each feature can be, as far as the trees can tell.

The options of an ordinary feature are the slabs between its thresholds and, last, the missing value; those of a
categorical feature its elements; those of a group of features their combinations. Which number stands for a slab
depends on the input that a question is about: the nearest one of the domain.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.domain.domain import Domain
from onetree.domain.values import Values
from onetree.lowering.axis_tests import JointFeatures, joint_features
from onetree.model.arrays import AxisEnsemble
from onetree.model.categories import MISSING, OTHER
from onetree.model.ensemble import Ensemble
from onetree.questions.around import Around, Choices, Slabs

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Options:
    """An ensemble inside a domain, as the native questions take it.

    Parameters
    ----------
    ensemble : Ensemble
    domain : Domain or None
        As `onetree.domain.domain.as_domain` returns it.
    """

    def __init__(self, ensemble: Ensemble, domain: Domain | None) -> None:
        self.ensemble, self.domain = ensemble, domain
        values = (None,) * ensemble.n_features if domain is None else domain.values
        self.values = tuple(
            _above(own or Values(missing=bool(takes_nan)), lowest)
            for own, takes_nan, lowest in zip(
                values,
                ensemble.nan_features.tolist(),
                ensemble.columns.lowest or (None,) * ensemble.n_features,
                strict=True,
            )
        )
        self.joint = {each.features[0]: each for each in joint_features(ensemble, domain)}
        self._members = {feature for each in self.joint.values() for feature in each.features}
        self.levels = tuple(self._levels(feature) for feature in range(ensemble.n_features))

    def _levels(self, feature: int) -> Floats:
        if feature in self._members:
            return np.zeros(0)
        levels: Floats = np.unique(self.ensemble.threshold[self.ensemble.feature == feature])
        return levels[np.isfinite(levels)]

    @cached_property
    def n_options(self) -> NDArray[np.int32]:
        """Number of options of each axis; an axis has the number of its first feature."""
        ordered = [len(levels) + 1 + int(nan) for levels, nan in zip(self.levels, self._takes_nan(), strict=True)]
        for axis, joint in self.joint.items():
            ordered[axis] = len(joint.values)
        return np.array(ordered, dtype=np.int32)

    def _takes_nan(self) -> Bools:
        takes_nan = self.ensemble.nan_features.copy()
        takes_nan[list(self._members)] = False
        return takes_nan

    @cached_property
    def _splits(self) -> tuple[NDArray[np.int32], Floats, tuple[NDArray[np.uint8] | None, ...]]:
        """Axis and number of the test of each node, and the tests of the axes without an order."""
        ensemble = self.ensemble
        feature, place = ensemble.feature.copy(), np.zeros(len(ensemble.feature))
        sets: list[NDArray[np.uint8] | None] = [None] * ensemble.n_features
        for each, levels in enumerate(self.levels):
            nodes = ensemble.feature == each
            place[nodes] = np.searchsorted(levels, ensemble.threshold[nodes])
        for axis, joint in self.joint.items():
            tested, goes_left = self._outcomes(joint)
            tests, number = np.unique(goes_left, axis=0, return_inverse=True)
            feature[tested], place[tested] = axis, number.ravel()
            sets[axis] = np.ascontiguousarray(tests, dtype=np.uint8)
        return feature, place, tuple(sets)

    def on_axes(self, voter: Ensemble, roots: NDArray[np.int32], value: Floats) -> AxisEnsemble:
        """Return an ensemble that has some of the trees, with values of its own at their leaves."""
        feature, place, sets = self._splits
        return AxisEnsemble(
            roots=roots,
            feature=feature,
            threshold=place,
            children_left=self.ensemble.children_left,
            children_right=self.ensemble.children_right,
            missing_left=self.ensemble.missing_left,
            value=value,
            base=voter.base,
            rule=voter.rule,
            nan_features=self._takes_nan(),
            n_classes=voter.n_classes,
            sets=sets,
        )

    @cached_property
    def native(self) -> _core.Questions:
        """The ensemble on options, in the native core."""
        ensemble = self.ensemble
        return _core.Questions(self.on_axes(ensemble, ensemble.roots, ensemble.value), self.n_options)

    def _outcomes(self, joint: JointFeatures) -> tuple[NDArray[np.intp], Bools]:
        """Return the nodes that test some features, and which of the features' values each sends left."""
        ensemble, found, rows = self.ensemble, [], []
        for column, feature in enumerate(joint.features):
            nodes = np.flatnonzero(ensemble.feature == feature)
            values = joint.values[:, column]
            if ensemble.categories[feature] is None:
                rows.append(values <= ensemble.threshold[nodes, np.newaxis])
            else:
                rows.append(ensemble.subsets[ensemble.subset[nodes]][:, values.astype(np.intp)])
            found.append(nodes)
        return np.concatenate(found), np.concatenate(rows)

    def is_open(self, feature: int) -> bool:
        """Whether the domain says nothing about a feature."""
        return self.domain is None or self.domain.values[feature] is None

    def any_input(self) -> Floats:
        """Return an input of the domain, near to zero."""
        row = np.zeros(self.ensemble.n_features)
        for feature, values in enumerate(self.values):
            around = np.concatenate([values.below(np.zeros(1)), values.above(np.zeros(1))])
            around = around[~np.isnan(around)]
            row[feature] = around[np.argmin(np.abs(around))] if around.size else np.nan
            kind = self.ensemble.categories[feature]
            if kind is not None and kind.codes and values.contain(np.array(kind.codes[:1]))[0]:
                row[feature] = kind.codes[0]
        for group in () if self.domain is None else self.domain.groups:
            row[list(group.features)] = group.allowed[0]
        return row

    @cached_property
    def _slabs(self) -> Slabs:
        ordinary = np.ones(self.ensemble.n_features, dtype=bool)
        ordinary[list(self._members)] = False
        return Slabs(self.levels, self.values, self._takes_nan(), ordinary)

    def near(self, row: Floats) -> Around:
        """Return the options of every axis; an ordinary one has in each slab the number that is nearest to the row."""
        joint = {axis: self._joint_choices(each, row) for axis, each in self.joint.items()}
        return Around(self._slabs, joint, row)

    def _joint_choices(self, joint: JointFeatures, row: Floats) -> Choices:
        """Return the values of a joint axis; where an element is that of the row, the row's own number."""
        values, allowed = joint.values.copy(), np.ones(len(joint.values), dtype=bool)
        for column, feature in enumerate(joint.features):
            kind = self.ensemble.categories[feature]
            if kind is not None:
                own = int(kind.element(row[feature]))
                elements = values[:, column].astype(np.intp)
                if self._refuses_others(feature) and own != OTHER:
                    allowed &= elements != OTHER
                values[:, column] = [
                    row[feature] if each == own else self._example(feature, each) for each in elements.tolist()
                ]
        return Choices(joint.features, values, allowed)

    def _refuses_others(self, feature: int) -> bool:
        """Whether the library refuses a category that it did not meet in training."""
        labels = self.ensemble.columns.labels_of(feature)
        return self.is_open(feature) and labels is not None and labels.unknown == "refuse"

    def _example(self, feature: int, element: int) -> float:
        """Return a number of the domain that is this element."""
        kind, values = self.ensemble.categories[feature], self.values[feature]
        assert kind is not None  # noqa: S101 - for the type checker
        number = kind.example(element)
        if element == MISSING or values.contain(np.array([number]))[0]:
            return number
        cuts = np.concatenate([kind.low, kind.high, values.choices or ()])
        tried = np.concatenate([values.above(cuts), values.below(cuts)])
        tried = tried[~np.isnan(tried)]
        return float(tried[kind.element(tried) == element][0])


_last: Options | None = None


def options_of(ensemble: Ensemble, domain: Domain | None) -> Options:
    """Return an ensemble inside a domain; the last one is kept, since many questions are about the same model."""
    global _last
    found = _last
    if found is None or found.ensemble is not ensemble or found.domain is not domain:
        _last = found = Options(ensemble, domain)
    return found


def _above(values: Values, lowest: float | None) -> Values:
    """Return the values that are not below a number, if there is one."""
    if lowest is None:
        return values
    if values.choices is not None:
        return replace(values, choices=tuple(each for each in values.choices if each >= lowest))
    return replace(values, low=max(values.low, lowest))
