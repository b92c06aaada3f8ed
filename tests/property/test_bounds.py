"""Limits: whenever the work is stopped, what comes back is faithful, and nothing is claimed that was not proven."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import born_again, pareto_front
from onetree.base.progress import Reporter
from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.search.solve import ENGINES, OBJECTIVES
from tests.cases.oracle import brute_force, cells, pareto, points, value_of
from tests.cases.strategies import ensembles, random_ensemble
from tests.tiers import examples

engines = pytest.mark.parametrize("engine", [None, *ENGINES])


@pytest.fixture(scope="module")
def hard_cases():
    """Ensembles that take an engine some milliseconds, each with its Pareto front."""
    rng = np.random.default_rng(2)
    found = []
    while len(found) < 3:
        ensemble = random_ensemble(rng, max_cells=1500, max_trees=14, kinds=("hard", "soft"), nan=False)
        front = pareto(cells(ensemble)) if ensemble.n_features == 4 else []
        if len(front) > 1 and front[-1][1] > 60:
            found.append((ensemble, front))
    return found


def size(tree, objective):
    pair = {"depth": tree.depth, "leaves": tree.n_leaves}
    sizes = tuple(pair[name] for name in objective.split("-"))
    return sizes if len(sizes) > 1 else sizes[0]


def assert_honest(solution, ensemble, optimum):
    X = points(ensemble)
    np.testing.assert_array_equal(solution.tree.predict(X), ensemble.predict(X))
    assert solution.lower_bound <= optimum <= solution.value == size(solution.tree, solution.objective)
    assert solution.status in ("optimal", "feasible")
    if solution.status == "optimal":
        assert solution.lower_bound == optimum == solution.value
        assert solution.gap == 0.0
    else:
        assert solution.gap >= 0.0


def solve_or_refuse(ensemble, **options):
    """None where the limit is too low for any faithful tree; that must be said by an error, not by a wrong tree."""
    try:
        return born_again(ensemble, **options)
    except (LimitReachedError, GridTooLargeError):
        return None


def assert_honest_under(limits, engine):
    """Try random ensembles under limits, of which the largest leaves room for a tree, so that some are compared."""
    answered = 0

    @examples(60)
    @given(ensembles(max_cells=100), st.sampled_from(OBJECTIVES), st.sampled_from(limits))
    def law(ensemble, objective, limit):
        nonlocal answered
        solution = solve_or_refuse(ensemble, objective=objective, engine=engine, **limit)
        if solution is not None:
            assert_honest(solution, ensemble, brute_force(ensemble, objective))
            answered += 1

    law()
    assert answered


@engines
def test_a_time_limit_leaves_a_faithful_tree_and_true_bounds(engine):
    assert_honest_under([{"time_limit": seconds} for seconds in (1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 600)], engine)


@engines
def test_a_memory_limit_leaves_a_faithful_tree_and_true_bounds(engine):
    assert_honest_under([{"memory_limit": gigabytes} for gigabytes in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1)], engine)


@engines
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_bounds_hold_wherever_longer_work_is_stopped(hard_cases, engine, objective):
    found = []
    for ensemble, front in hard_cases:
        for work_limit in (1, 2, 3, 5, 8, 13, 21, 34, 55, 10**6):
            solution = solve_or_refuse(ensemble, objective=objective, engine=engine, work_limit=work_limit)
            if solution is not None:
                assert_honest(solution, ensemble, value_of(front, objective))
                found.append(solution.status)
    assert "optimal" in found
    if engine == "branch-and-bound":  # which has a tree all the way
        assert "feasible" in found


def test_a_front_that_a_limit_cuts_short_claims_nothing_false(hard_cases):
    for ensemble, front in hard_cases:
        for time_limit in (1e-9, 1e-4, 1e-3, 1e-2, None):
            solutions = pareto_front(ensemble, time_limit=time_limit)
            proven = [solution.value for solution in solutions if solution.status == "optimal"]
            complete = {solution.stats["complete"] for solution in solutions}
            if complete == {True}:
                assert proven == front
            else:
                assert complete == {False}
                assert proven == front[: len(proven)]
            for solution in solutions:
                X = points(ensemble)
                np.testing.assert_array_equal(solution.tree.predict(X), ensemble.predict(X))
                assert solution.lower_bound <= solution.value


@engines
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_bound_that_is_reported_on_the_way_holds(hard_cases, engine, objective, monkeypatch):
    monkeypatch.setattr(Reporter, "interval", 0.0)  # these searches take less than the usual tenth of a second
    for ensemble, front in hard_cases:
        reports = []
        solution = born_again(ensemble, objective=objective, engine=engine, progress=reports.append)
        assert_honest(solution, ensemble, value_of(front, objective))
        optimum = solution.value if isinstance(solution.value, int) else solution.value[0]
        assert reports
        if engine == "branch-and-bound":  # the table knows its value only when it is full
            assert any(report.lower_bound is not None and report.upper_bound is not None for report in reports)
        for report in reports:
            assert report.lower_bound is None or report.lower_bound <= optimum
            assert report.upper_bound is None or report.upper_bound >= optimum
            assert report.elapsed >= 0.0
