"""The estimate: right on the average, exact where nothing is left to chance, honest where the tree is out of reach."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree import Ensemble, born_again, estimate
from onetree.errors import InvalidInputError
from onetree.search.solve import OBJECTIVES, _core
from tests.cases.strategies import KINDS, painted, random_ensemble

LEAVES = _core.Objective.LEAVES


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return Ensemble.from_model(RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y))


@pytest.fixture(scope="module")
def middling():
    """A forest whose tree has thousands of leaves."""
    X, y = load_breast_cancer(return_X_y=True)
    return Ensemble.from_model(RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, y), voting="hard")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_small_grid_leaves_nothing_to_chance(iris, objective):
    found = estimate(iris, objective=objective)
    assert found.exact
    assert not found.beyond
    assert found.leaves_range == (found.leaves, found.leaves)
    assert found.leaves == born_again(iris, objective=objective).tree.n_leaves
    assert found.boxes > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_over_many_probes_is_right(kind):
    rng = np.random.default_rng(60 + KINDS.index(kind))
    n_probed = 0
    while n_probed < 10:
        ensemble = random_ensemble(rng, max_cells=5000, max_features=6, max_trees=8, kinds=(kind,))
        # The tree of the heuristic and the probed one are cut by samples of their own, so they are not quite the same.
        means = [_core.estimate(ensemble, LEAVES, 10.0, 5.0, seed, None).leaves.mean for seed in range(5)]
        trees = [
            _core.heuristic(ensemble, LEAVES, 10.0, seed, 0.0, 0, 0.0, 1, None).solutions[0].leaves for seed in range(5)
        ]
        if np.mean(trees) > 30:
            n_probed += 1
            assert np.mean(trees) / 1.5 < np.mean(means) < np.mean(trees) * 1.5


def test_a_large_tree_is_estimated_within_a_factor_of_two(middling):
    found = estimate(middling)
    n_leaves = born_again(middling, objective="leaves", method="heuristic").tree.n_leaves
    assert n_leaves / 2 < found.leaves < 2 * n_leaves
    assert found.leaves_range[0] <= found.leaves <= found.leaves_range[1]
    assert found.seconds_range[0] <= found.seconds <= found.seconds_range[1]
    assert found.memory_range[0] <= found.memory_bytes <= found.memory_range[1]
    assert min(found.leaves_range[0], found.seconds_range[0], found.memory_range[0]) > 0


def test_the_same_seed_takes_the_same_ways(middling):
    probes = [_core.estimate(middling, LEAVES, 1e4, 60.0, 7, None) for _ in range(2)]
    assert probes[0].leaves.mean == probes[1].leaves.mean
    assert _core.estimate(middling, LEAVES, 1e4, 60.0, 8, None).leaves.mean != probes[0].leaves.mean


@pytest.fixture(scope="module")
def default():
    """A forest as scikit-learn trains it by default."""
    X, y = load_breast_cancer(return_X_y=True)
    return RandomForestClassifier(random_state=0).fit(X, y)


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_a_default_forest_is_beyond_reach(default, voting):
    found = estimate(Ensemble.from_model(default, voting=voting))
    assert found.beyond
    assert not found.exact
    assert found.leaves >= 1e12


def test_probes_that_take_too_long_are_cut_off(default):
    found = estimate(default, budget=1e-6)
    assert found.beyond
    assert 1 <= found.leaves < 1e12
    assert found.n_probes == 1


def test_a_grid_too_large_to_be_solved_by_every_probe_is_cut_up_for_its_leaves():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(2000, 20))
    votes = RandomForestClassifier(60, max_depth=1, max_features=1, random_state=0)
    ensemble = Ensemble.from_model(votes.fit(X, X.sum(axis=1) > 10), voting="hard")
    found, n_leaves = estimate(ensemble), born_again(ensemble, objective="leaves").tree.n_leaves
    assert found.boxes > 1e7
    assert n_leaves / 2 < found.leaves < 2 * n_leaves


def test_progress_is_told_and_can_stop_it(default):
    heard = []
    estimate(default, progress=heard.append, budget=0.5)
    assert {report.phase for report in heard} == {"estimate"}
    assert all(0 <= report.fraction <= 1 for report in heard)

    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        estimate(default, progress=stop, budget=0.5)


def test_one_class_is_one_leaf():
    found = estimate(painted(np.zeros((3, 3), dtype=int), 2))
    assert (found.leaves, found.exact, found.beyond) == (1, True, False)


def test_wrong_arguments_are_refused(iris):
    for wrong in ({"objective": "width"}, {"budget": 0}, {"budget": float("nan")}, {"random_state": -1}):
        with pytest.raises(InvalidInputError, match=next(iter(wrong))):
            estimate(iris, **wrong)
    assert onetree.Estimate is type(estimate(iris))
