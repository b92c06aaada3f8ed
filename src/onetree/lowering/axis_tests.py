"""The tests of an axis that stands for a categorical feature or a group: which values each sends left, each once.

Finds an order of the values where all tests respect one. The native core numbers tests in
their order on a set axis, by the last value that goes left on an ordinary one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.domain.groups import Group
from onetree.domain.restrict import between
from onetree.domain.values import Values
from onetree.model.categories import FIRST, MISSING, OTHER, Categories
from onetree.model.ensemble import Ensemble

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Index = NDArray[np.int32]
SetMatrix = NDArray[np.uint8]  # tests x values: 1 where the value goes left


@dataclass(frozen=True, eq=False)
class JointFeatures:
    """Features that become one axis, and what they can be together: a column per feature, a row per value.

    The entry of a categorical feature is its element, that of any other the number itself.
    """

    features: tuple[int, ...]
    values: Floats


@dataclass(frozen=True, eq=False)
class AxisTests:
    """The tests of one axis, in the core's numbers, as splits of the ensemble's features."""

    feature: Index
    threshold: Floats
    subset: Index  # row of the ensemble's subsets, or -1 for a threshold
    flipped: Bools  # what the core sends left, the split sends right


@dataclass(frozen=True, eq=False)
class FoundAxis:
    """One axis: its tests, and how the nodes that name them change."""

    nodes: NDArray[np.intp]
    number: Floats  # of the test of each node: its threshold for the core
    flipped: Bools  # nodes that exchange their children
    all_left: NDArray[np.intp]  # nodes that every value passes to the same side
    all_right: NDArray[np.intp]
    matrix: SetMatrix | None
    axis_tests: AxisTests


def joint_features(ensemble: Ensemble, domain: Domain | None) -> list[JointFeatures]:
    """Return the features to translate, in the order of their axes; features that no node tests are left out."""
    if not any(ensemble.categories) and (domain is None or not domain.groups):
        return []
    tested = np.zeros(ensemble.n_features, dtype=bool)
    tested[ensemble.feature[ensemble.feature >= 0]] = True
    values = (None,) * ensemble.n_features if domain is None else domain.values
    found: list[JointFeatures] = []
    grouped: set[int] = set()
    for group in () if domain is None else domain.groups:
        grouped.update(group.features)
        if tested[list(group.features)].any():
            found.append(_joint_group(ensemble, group))
    for feature, kind in enumerate(ensemble.categories):
        if kind is not None and tested[feature] and feature not in grouped:
            own = values[feature] or Values(missing=bool(ensemble.nan_features[feature]))
            found.append(JointFeatures((feature,), _reachable(kind, own).astype(np.float64)[:, np.newaxis]))
    return sorted(found, key=lambda joint: joint.features[0])


def _joint_group(ensemble: Ensemble, group: Group) -> JointFeatures:
    rows = group.allowed.astype(np.float64)
    for column, feature in enumerate(group.features):
        kind = ensemble.categories[feature]
        if kind is not None:
            rows[:, column] = kind.element(rows[:, column])
    return JointFeatures(group.features, rows)


def _reachable(kind: Categories, values: Values) -> NDArray[np.intp]:
    """Return the elements of a categorical feature that some value is."""
    found = np.zeros(kind.n_elements, dtype=bool)
    found[MISSING] = values.missing
    if kind.codes:
        found[FIRST:] = values.above(kind.low) <= kind.high  # NaN: no value is above
        between = values.above(kind.high) <= np.append(kind.low[1:], np.inf)
        found[OTHER] = between.any() or not np.isnan(values.below(kind.low[:1]))[0]
    else:
        found[OTHER] = values.choices is None or len(values.choices) > 0
    return np.flatnonzero(found)


def axis_of(ensemble: Ensemble, whole: Ensemble, joint: JointFeatures) -> FoundAxis:
    """Find the tests of an axis: those that distinguish values, equal or complementary ones once."""
    nodes, at, raw, members = _raw_tests(ensemble, whole, joint)
    # Spelled so that the first value goes right, equal and complementary tests look the same.
    inverted = members[:, 0]
    spelled = members ^ inverted[:, np.newaxis]
    separates = np.flatnonzero(spelled.any(axis=1))
    first, which = _distinct(spelled[separates])
    chosen = separates[first]  # each stands for all tests like it
    if not chosen.size:
        members = members[:, :1]
    else:
        values, _ = _distinct(members[chosen].T)
        members = members[:, values]
    own = members[chosen]

    number, backwards, matrix = _numbered(own)
    test_of_raw = np.zeros(len(raw.feature), dtype=np.intp)
    test_of_raw[separates] = which
    is_split = np.isin(at, separates)
    kept, kept_at = nodes[is_split], at[is_split]
    test = test_of_raw[kept_at]
    flipped = (inverted[kept_at] != inverted[chosen][test]) ^ backwards[test]
    order = np.argsort(number)
    picked = chosen[order]
    return FoundAxis(
        nodes=kept,
        number=number[test],
        flipped=flipped,
        all_left=nodes[~is_split & inverted[at]],
        all_right=nodes[~is_split & ~inverted[at]],
        matrix=matrix,
        axis_tests=AxisTests(raw.feature[picked], raw.threshold[picked], raw.subset[picked], backwards[order]),
    )


def _raw_tests(
    ensemble: Ensemble, whole: Ensemble, joint: JointFeatures
) -> tuple[NDArray[np.intp], NDArray[np.intp], AxisTests, Bools]:
    """Return the nodes of these features, the test of each, all tests, and which values each of them sends left.

    Also tests of nodes that the domain has removed are tests: unlike a threshold that separates nothing, they can still
    be of use in a small tree.
    """
    nodes, at, tests, members = [], [], [], []
    n_tests = 0
    for column, feature in enumerate(joint.features):
        here = np.flatnonzero(ensemble.feature == feature)
        values = joint.values[:, column]
        if ensemble.categories[feature] is not None:
            subset = np.unique(whole.subset[whole.feature == feature])
            which = np.searchsorted(subset, ensemble.subset[here])
            threshold = np.zeros(len(subset))
            members.append(ensemble.subsets[subset][:, values.astype(np.intp)])
        else:
            cuts = whole.threshold[whole.feature == feature]
            removed = [between(0.0, 1.0)] if ((cuts >= 0) & (cuts < 1)).any() else []
            threshold = np.unique(np.append(ensemble.threshold[here], removed))
            which = np.searchsorted(threshold, ensemble.threshold[here])
            subset = np.full(len(threshold), -1, dtype=np.int32)
            members.append(values <= threshold[:, np.newaxis])
        nodes.append(here)
        at.append(which + n_tests)
        features = np.full(len(threshold), feature, dtype=np.int32)
        tests.append(AxisTests(features, threshold, subset, np.zeros(len(threshold), dtype=bool)))
        n_tests += len(threshold)
    return np.concatenate(nodes), np.concatenate(at), joined(tests), np.concatenate(members)


def joined(tests: list[AxisTests]) -> AxisTests:
    """Return several tests one after another."""
    return AxisTests(
        np.concatenate([each.feature for each in tests]),
        np.concatenate([each.threshold for each in tests]),
        np.concatenate([each.subset for each in tests]),
        np.concatenate([each.flipped for each in tests]),
    )


def _distinct(rows: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of each kind of row, in their order, and the number of the kind of each row."""
    _, first, kind = np.unique(np.packbits(rows, axis=1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return first[order], rank[kind.ravel()]


def _numbered(members: Bools) -> tuple[Floats, Bools, SetMatrix | None]:
    """Return the core's numbers of the tests, which of them it sees inverted, and the matrix of a set axis."""
    n_tests = len(members)
    distance = _chain(members)
    if distance is None:
        matrix = np.ascontiguousarray(members, dtype=np.uint8)
        return np.arange(n_tests, dtype=np.float64), np.zeros(n_tests, dtype=bool), matrix
    # The value at distance d from the first of the order has position d; a test holds the first of it, or the others.
    holds_first = members[:, np.argmin(distance)] if n_tests else np.zeros(0, dtype=bool)
    n_first = np.where(holds_first, members.sum(axis=1), (~members).sum(axis=1))
    return n_first - 1.0, ~holds_first, None


def _chain(members: Bools) -> NDArray[np.int64] | None:
    """Return the place of each value in an order of which every test is a beginning or an end; None if there is none.

    All rows differ and none is the complement of another; all columns differ.
    """
    n_tests, n_values = members.shape
    if n_values != n_tests + 1:  # each cut of an order is a test
        return None
    if n_tests == 0:
        return np.zeros(1, dtype=np.int64)
    end = int(np.argmax((members ^ members[:, :1]).sum(axis=0)))  # the value most tests away is an end of the order
    place: NDArray[np.int64] = (members ^ members[:, [end]]).sum(axis=0)
    size = (members ^ members[:, [end]]).sum(axis=1)
    if not np.array_equal(members ^ members[:, [end]], place + size[:, np.newaxis] > n_tests):
        return None
    # Of the two directions, that in which the first test is a beginning, as "x <= 0.5" is.
    return place if members[0, end] else n_tests - place
