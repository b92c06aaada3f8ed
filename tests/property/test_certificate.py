"""Laws of the certificate: its answer is the truth, found by enumeration, and its counterexamples are real inputs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from onetree import Ensemble, Tree, born_again, verify
from onetree.model.ensemble import Rule
from onetree.search.solve import _core
from onetree.verify import cells, milp
from tests.cases.deep import DEEP
from tests.cases.strategies import KINDS, ensembles, random_ensemble
from tests.tiers import examples

seeds = st.integers(0, 2**32 - 1)
ANY = -1  # any class, but only one


def certify(ensemble, lower, upper, expected):
    """For each box a counterexample, or None if the certificate says that there is none."""
    expected = np.asarray(expected, dtype=np.int32)
    holds, points, _ = _core.certify_boxes(ensemble, lower, upper, expected, 60.0, None)
    remaining = iter(points)
    return [None if one else next(remaining) for one in holds]


def random_boxes(rng, ensemble, n):
    """Boxes whose bounds are thresholds of the ensemble, neighbours of those, or others; some of them are empty."""
    shape = (n, ensemble.n_features)
    lower, upper = np.full(shape, -np.inf), np.tile(np.where(ensemble.nan_features, np.nan, np.inf), (n, 1))
    for j in range(ensemble.n_features):
        levels = ensemble.threshold[ensemble.feature == j]
        finite = levels[np.isfinite(levels)]
        near = [np.nextafter(finite, np.inf), np.nextafter(finite, -np.inf)]
        pool = np.concatenate([levels, *near, [0.3, -7.0, np.inf]])
        for bound in (lower, upper):
            changed = rng.integers(3, size=n) == 0
            bound[changed, j] = rng.choice(pool, size=changed.sum())
    return lower, upper


def box_points(ensemble, lower, upper):
    """An input from every cell of a box, or None if it has none."""
    axes = []
    for j, (low, high) in enumerate(zip(lower, upper, strict=True)):
        numbers = cells.axis(ensemble.threshold[ensemble.feature == j], low, math.inf if math.isnan(high) else high)
        axes.append(np.append(numbers, [math.nan] if math.isnan(high) and ensemble.nan_features[j] else []))
    return np.concatenate(list(cells.chunks(axes))) if cells.count(axes) else None


def is_inside(ensemble, point, lower, upper):
    number = (lower < point) & ((point <= upper) | np.isnan(upper))
    return (number | (np.isnan(point) & np.isnan(upper) & ensemble.nan_features)).all()


def check_boxes(ensemble, lower, upper, expected):
    """Compare the certificate with the class of every cell of every box."""
    for low, high, label, point in zip(lower, upper, expected, certify(ensemble, lower, upper, expected), strict=True):
        rows = box_points(ensemble, low, high)
        if rows is None:
            assert point is None
            continue
        classes = ensemble.predict_index(rows)
        assert (point is None) == (classes == (classes[0] if label == ANY else label)).all()
        if point is not None:
            assert is_inside(ensemble, point, low, high)
            assert ensemble.predict_index(point[np.newaxis])[0] != (classes[0] if label == ANY else label)


@examples(200)
@given(ensembles(max_cells=200), seeds)
def test_the_answer_is_the_truth_in_every_box(ensemble, seed):
    rng = np.random.default_rng(seed)
    check_boxes(ensemble, *random_boxes(rng, ensemble, 6), rng.integers(ANY, ensemble.n_classes, size=6))


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_the_truth_for_thousands_of_random_boxes(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(150):
        ensemble = random_ensemble(rng, max_cells=400, max_trees=10, max_depth=5, kinds=(kind,))
        check_boxes(ensemble, *random_boxes(rng, ensemble, 10), rng.integers(ANY, ensemble.n_classes, size=10))


@pytest.mark.parametrize("kind", KINDS)
def test_the_certificate_and_the_program_agree(kind):
    rng = np.random.default_rng(10 + KINDS.index(kind))
    n_compared = 0
    while n_compared < 60:
        ensemble = random_ensemble(rng, max_cells=2000, max_features=6, max_trees=8, kinds=(kind,))
        lower, upper = random_boxes(rng, ensemble, 3)
        expected = rng.integers(ensemble.n_classes, size=3)
        found = certify(ensemble, lower, upper, expected)
        for low, high, label, point in zip(lower, upper, expected.tolist(), found, strict=True):
            other = milp.counterexample(ensemble, low, high, label, max_cells=2000)
            assert (other is None) == (point is None)
            n_compared += 1


def forest(voting, n_trees, max_depth):
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(n_trees, max_depth=max_depth, random_state=0).fit(X, y)
    return Ensemble.from_model(model, voting=voting), X


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_small_boxes_in_a_large_forest(voting):
    ensemble, X = forest(voting, 100, 6)
    levels = [np.unique(ensemble.threshold[ensemble.feature == j]) for j in range(ensemble.n_features)]
    rng = np.random.default_rng(0)
    votes = ensemble.scores(X)
    close = X[np.argsort(np.abs(votes[:, 0] - votes[:, 1]))[:40]]  # where the class may change nearby
    lower, upper = np.full((40, 30), -np.inf), np.full((40, 30), np.inf)
    for box, x in enumerate(close):
        open_features = rng.permutation(30)[:4]
        for j, cuts in enumerate(levels):
            slab, reach = np.searchsorted(cuts, x[j]), 2 if j in open_features else 0
            if slab - reach > 0:
                lower[box, j] = cuts[slab - reach - 1]
            if slab + reach < len(cuts):
                upper[box, j] = cuts[slab + reach]
    check_boxes(ensemble, lower, upper, np.full(40, ANY))
    check_boxes(ensemble, lower, upper, ensemble.predict_index(close))


@pytest.mark.parametrize("kind", KINDS)
def test_every_leaf_that_is_flipped_and_every_threshold_that_is_moved_is_noticed(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(25):
        ensemble = random_ensemble(rng, max_cells=200, kinds=(kind,))
        if ensemble.n_classes < 2:
            continue
        tree = born_again(ensemble, objective="leaves", verify=False).tree
        assert verify(tree, ensemble, method="search")
        for leaf in np.flatnonzero(tree.feature < 0):
            leaf_class = tree.leaf_class.copy()
            leaf_class[leaf] = (leaf_class[leaf] + 1) % tree.n_classes
            assert not verify(replace(tree, leaf_class=leaf_class), ensemble, method="search")
        for node in np.flatnonzero((tree.feature >= 0) & np.isfinite(tree.threshold)):
            threshold = tree.threshold.copy()
            threshold[node] = np.nextafter(threshold[node], rng.choice([-np.inf, np.inf]))
            moved = replace(tree, threshold=threshold)
            assert bool(verify(moved, ensemble, method="search")) == bool(verify(moved, ensemble, method="cells"))


def staircase(n, thresholds):
    """Features, thresholds and children of a path of n splits to the right, each with a leaf on its left."""
    node = np.arange(2 * n + 1)
    inner = (node % 2 == 0) & (node < 2 * n)
    feature = np.where(inner, 0, -1).astype(np.int32)
    threshold = np.where(inner, np.repeat(np.append(thresholds, 0.0), 2)[: 2 * n + 1], 0.0)
    left, right = np.where(inner, node + 1, -1), np.where(inner, node + 2, -1)
    return feature, threshold, left.astype(np.int32), right.astype(np.int32)


def test_trees_of_very_many_splits_on_one_path():
    n = DEEP
    feature, threshold, left, right = staircase(n, np.arange(n, dtype=np.float64))
    leaf = feature < 0
    classes = np.where(leaf, np.cumsum(leaf) % 2, 0)
    value = np.eye(2)[classes] * leaf[:, np.newaxis]
    ensemble = Ensemble(
        classes=[0, 1], feature_names=("x0",), roots=[0], feature=feature, threshold=threshold,
        children_left=left, children_right=right,
        missing_left=np.zeros(2 * n + 1, dtype=bool), value=value, base=[0.0, 0.0], rule=Rule("hard"),
        nan_features=[False],
    )  # fmt: skip
    leaf_class = np.where(leaf, classes, -1)
    tree = Tree(feature, threshold, left, right, leaf_class, [0, 1], ("x0",), [False])
    verdict = verify(tree, ensemble, method="search")
    assert verdict
    assert verdict.n_checked == n + 1
    leaf_class[np.flatnonzero(leaf)[17_777]] ^= 1
    assert verify(replace(tree, leaf_class=leaf_class), ensemble, method="search").counterexample.tolist() == [17_777.0]
