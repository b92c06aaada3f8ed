"""Laws of the heuristic: a faithful tree for every ensemble, bounds that hold, the same tree for the same seed.

Small ensembles would all go to the exact engine whole. Given fewer boxes for it than they have, the heuristic samples,
proves and cuts on them as it does on large ones.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from onetree import Ensemble, Tree, born_again, verify
from onetree.errors import LimitReachedError
from onetree.lowering.choices import objective_of
from onetree.search.solve import OBJECTIVES, _core
from tests.cases.oracle import brute_force, cells, pareto, points, value_of
from tests.cases.strategies import KINDS, ensembles, painted, random_ensemble
from tests.tiers import examples

objectives = st.sampled_from(OBJECTIVES)
few_boxes = st.sampled_from([1e-9, 1.0, 10.0, 100.0, 1e4])  # 1e-9: every cut is chosen by sampling
seeds = st.integers(0, 2**31)


def solve(ensemble, objective, max_boxes, seed=0, memory_limit=0.0, n_threads=1):
    """The tree, what is said of its size, and the statistics."""
    result = _core.heuristic(ensemble, objective_of(objective), max_boxes, seed, 0.0, 0, memory_limit, n_threads, None)
    (found,) = result.solutions
    names = ("feature", "threshold", "children_left", "children_right", "leaf_class")
    tree = Tree(
        **{name: getattr(found.tree, name) for name in names}, classes=ensemble.classes,
        feature_names=ensemble.feature_names, nan_features=ensemble.nan_features,
    )  # fmt: skip
    return tree, found, result.statistics


def check(ensemble, objective, max_boxes, seed, front):
    tree, found, _ = solve(ensemble, objective, max_boxes, seed)
    X = points(ensemble)
    np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))
    assert (found.depth, found.leaves) == (tree.depth, tree.n_leaves)
    depth, leaves = value_of(front, "depth"), value_of(front, "leaves")
    assert found.depth_bound <= found.depth
    assert found.leaves_bound <= found.leaves
    if found.optimal:
        pair = {"depth": tree.depth, "leaves": tree.n_leaves}
        value = tuple(pair[name] for name in objective.split("-"))
        assert (value if len(value) > 1 else value[0]) == value_of(front, objective)
    else:
        assert found.depth_bound <= depth <= tree.depth
        assert found.leaves_bound <= leaves <= tree.n_leaves
    return tree


@examples(300)
@given(ensembles(max_cells=150), objectives, few_boxes, seeds)
def test_the_tree_is_faithful_and_the_bounds_hold(ensemble, objective, max_boxes, seed):
    check(ensemble, objective, max_boxes, seed, pareto(cells(ensemble)))


@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_of_random_ensembles(kind):
    rng = np.random.default_rng(30 + KINDS.index(kind))
    for case in range(100):
        ensemble = random_ensemble(rng, max_cells=200, max_trees=12, kinds=(kind,))
        front = pareto(cells(ensemble))
        for max_boxes in (1e-9, 30.0):
            check(ensemble, OBJECTIVES[case % 4], max_boxes, case, front)


@pytest.mark.parametrize("kind", KINDS)
def test_grids_too_large_for_the_oracle_are_proven_by_search(kind):
    rng = np.random.default_rng(40 + KINDS.index(kind))
    for case in range(12):
        ensemble = random_ensemble(
            rng, max_cells=10**6, max_features=8, max_levels=8, max_trees=12, max_depth=4, kinds=(kind,)
        )
        for max_boxes in (1e-9, 1e3):
            tree, _, _ = solve(ensemble, OBJECTIVES[case % 4], max_boxes, case)
            assert verify(tree, ensemble, method="search")


def test_cuts_by_sampling_really_happen():
    rng = np.random.default_rng(0)
    colours = rng.integers(3, size=(8, 7, 9))
    _, _, stats = solve(painted(colours, 3), "leaves", 1e-9)
    assert stats.states > 100  # regions


@examples(100)
@given(ensembles(max_cells=200), objectives)
def test_what_fits_is_solved_to_the_optimum(ensemble, objective):
    solution = born_again(ensemble, objective=objective, method="heuristic")
    assert (solution.status, solution.value) == ("optimal", brute_force(ensemble, objective))
    assert (solution.lower_bound, solution.gap) == (solution.value, 0.0)
    assert solution.stats["engine"] == "heuristic"


@examples(50)
@given(ensembles(max_cells=300), objectives, few_boxes, seeds)
def test_the_same_seed_gives_the_same_tree(ensemble, objective, max_boxes, seed):
    first, second = (solve(ensemble, objective, max_boxes, seed)[0] for _ in range(2))
    for name in ("feature", "threshold", "children_left", "children_right", "leaf_class"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_gives_the_same_tree(kind):
    rng = np.random.default_rng(60 + KINDS.index(kind))
    for case in range(8):
        ensemble = random_ensemble(rng, max_cells=30_000, max_features=7, max_levels=6, max_trees=10, kinds=(kind,))
        for max_boxes in (1e-9, 30.0, 1e3):
            alone, *others = (
                solve(ensemble, OBJECTIVES[case % 4], max_boxes, case, n_threads=n_threads) for n_threads in (1, 2, 4)
            )
            for tree, found, stats in others:
                for name in ("feature", "threshold", "children_left", "children_right", "leaf_class"):
                    np.testing.assert_array_equal(getattr(tree, name), getattr(alone[0], name))
                assert (found.leaves_bound, found.depth_bound) == (alone[1].leaves_bound, alone[1].depth_bound)
                assert stats.states == alone[2].states


@pytest.mark.parametrize("kind", KINDS)
def test_a_memory_limit_gives_a_faithful_tree_or_none(kind):
    rng = np.random.default_rng(50 + KINDS.index(kind))
    n_limited = 0
    for case in range(25):
        ensemble = random_ensemble(rng, max_cells=3000, max_features=6, max_trees=10, kinds=(kind,))
        for limit in (1.0, 2e4, 1e5):
            try:
                tree, _, stats = solve(ensemble, OBJECTIVES[case % 4], 0.0, memory_limit=limit)
            except _core.LimitReached:
                n_limited += 1
                continue
            X = points(ensemble)
            np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))
            assert stats.peak_bytes <= limit
    assert n_limited >= 25


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    return Ensemble.from_model(RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, y), voting="hard")


def test_a_large_grid_keeps_its_promise_under_a_memory_limit(forest):
    roomy = born_again(forest, objective="leaves", method="heuristic")
    tight = born_again(forest, objective="leaves", method="heuristic", memory_limit=0.0005)
    assert tight.stats["peak_bytes"] <= 5e5 < roomy.stats["peak_bytes"]
    assert tight.value >= roomy.value


@pytest.mark.parametrize("time_limit", [1e-6, 1e-3, 0.02, 0.1])
def test_a_time_limit_gives_a_faithful_tree_or_an_error(forest, time_limit):
    for method in ("heuristic", "auto"):
        try:
            solution = born_again(forest, method=method, time_limit=time_limit, verify=False)
        except LimitReachedError:
            continue
        assert verify(solution.tree, forest)


def test_progress_tells_the_share_of_the_space_and_the_leaves_so_far():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(7, max_depth=3, random_state=0).fit(X, y)
    ensemble, heard = Ensemble.from_model(forest, voting="hard"), []
    _core.heuristic(ensemble, _core.Objective.LEAVES, 1e3, 0, 0.0, 0, 0.0, 1, lambda *report: heard.append(report))
    assert heard
    assert {phase for phase, *_ in heard} == {"heuristic"}
    leaves, fractions = ([report[i] for report in heard] for i in (4, 5))
    assert leaves == sorted(leaves)
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1
