"""What the sanitized core is made to do: every entry point, engine and objective, threads, limits, and being stopped.

A program of its own, run by `test_sanitizers` with a core that ends the process at the first fault. It also checks
the trees, so that a run in which nothing happened does not pass.
"""

from __future__ import annotations

import contextlib
import sys

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.lowering.choices import objective_of
from onetree.lowering.grid import Grid, _core
from onetree.search.solve import ENGINES, OBJECTIVES
from onetree.verify import METHODS
from tests.cases.combined import SHAPES, random_combined
from tests.cases.domains import axes_in
from tests.cases.numbered import KINDS, MUTATIONS, mutated, numbered, numbered_tree
from tests.cases.oracle import points
from tests.cases.questions import cells_near, everything
from tests.cases.set_cases import random_set_case
from tests.cases.strategies import random_ensemble

N_SMALL, N_LARGE, N_SETS = 240, 12, 120
TIME_LIMITS = (1e-9, 1e-5, 1e-4, 1e-3)  # seconds
MEMORY_LIMITS = (1e-6, 1e-5, 1e-4, 1e-3)  # GB
LIMITS = [{"time_limit": limit} for limit in TIME_LIMITS] + [{"memory_limit": limit} for limit in MEMORY_LIMITS]
OWN_PROOFS = tuple(method for method in METHODS if method not in ("auto", "milp"))  # HiGHS is not ours to check


class StopError(Exception):
    """Raised in a progress callback: the search has to unwind."""


def check(ensemble, solution):
    """Predict every cell, from every kind of array; prove."""
    X = points(ensemble)
    expected = ensemble.predict(X)
    for order in "CF":
        np.testing.assert_array_equal(solution.tree.predict(np.array(X, order=order)), expected)
        solution.tree.predict(np.array(X, dtype=np.float32, order=order))  # float32 may round across a threshold
    np.testing.assert_array_equal(solution.tree.predict(X[::-2, :]), expected[::-2])
    for method in OWN_PROOFS:
        assert onetree.verify(solution.tree, ensemble, method=method)


def convert(rng, ensemble):
    """Solve for every objective with a random engine, with and without limits, with one thread and with two."""
    Grid.essential(ensemble)
    for objective in OBJECTIVES:
        engine = (None, *ENGINES)[rng.integers(1 + len(ENGINES))]
        options = {"objective": objective, "engine": engine, "verify": False}
        solutions = [onetree.born_again(ensemble, **options, n_jobs=n_jobs) for n_jobs in (1, 2)]
        assert solutions[0].status == solutions[1].status == "optimal"
        assert solutions[0].value == solutions[1].value
        check(ensemble, solutions[0])
        limit = LIMITS[rng.integers(len(LIMITS))]
        with contextlib.suppress(onetree.LimitReachedError, onetree.GridTooLargeError):
            check(ensemble, onetree.born_again(ensemble, **options, **limit, n_jobs=int(rng.integers(1, 3))))
    check(ensemble, onetree.pareto_front(ensemble, verify=False)[-1])
    search(rng, ensemble)


def search(rng, ensemble):
    """Let the heuristic cut up a grid that would fit whole, with and without limits; estimate that."""
    objective, seed = objective_of(OBJECTIVES[rng.integers(4)]), int(rng.integers(100))
    for max_boxes in (1e-9, 20.0, 0.0):
        _core.estimate(ensemble, objective, max_boxes, 0.01, seed, None)
        for time_limit, memory_limit in ((0.0, 0.0), (float(rng.choice(TIME_LIMITS)), 0.0), (0.0, 1e5)):
            with contextlib.suppress(_core.LimitReached):
                n_threads = int(rng.integers(1, 4))
                found = _core.heuristic(
                    ensemble, objective, max_boxes, seed, time_limit, 0, memory_limit, n_threads, None
                )
                _core.tree_bounds(ensemble, found.solutions[0].tree, time_limit, 0, memory_limit / 100, n_threads, None)
    check(ensemble, onetree.born_again(ensemble, method="heuristic", verify=False))


def convert_sets(rng, ensemble, domain):
    """Do the same on axes without an order: categories, and features of which only some combinations occur."""
    seen = axes_in(ensemble, domain).ensemble
    for objective in OBJECTIVES:
        options = {"objective": objective, "domain": domain, "verify": False}
        solutions = [onetree.born_again(ensemble, **options, engine=engine) for engine in ENGINES]
        assert solutions[0].value == solutions[1].value
        for solution in solutions:
            for method in OWN_PROOFS:
                assert onetree.verify(solution.tree, ensemble, method=method)
        limit = LIMITS[rng.integers(len(LIMITS))]
        with contextlib.suppress(onetree.LimitReachedError, onetree.GridTooLargeError):
            onetree.born_again(ensemble, **options, **limit)
    onetree.pareto_front(ensemble, domain=domain, verify=False)
    for max_boxes in (1e-9, 20.0, 0.0):
        _core.estimate(seen, _core.Objective.LEAVES, max_boxes, 0.01, 0, None)
        for time_limit in (0.0, float(rng.choice(TIME_LIMITS))):
            with contextlib.suppress(_core.LimitReached):
                found = _core.heuristic(seen, _core.Objective.LEAVES, max_boxes, 0, time_limit, 0, 0.0, 2, None)
                _core.tree_bounds(seen, found.solutions[0].tree, time_limit, 0, 0.0, 1, None)


def ask(rng, ensemble, domain, row):
    """Ask for the nearest inputs and for reasons, with and without limits."""
    for norm in ("l1", "l0", "linf"):
        for target in (None, ensemble.classes[rng.integers(ensemble.n_classes)]):
            for limits in ({}, {"work_limit": int(rng.integers(1, 9))}, {"time_limit": float(rng.choice(TIME_LIMITS))}):
                found = onetree.counterfactual(
                    ensemble, row, target, norm=norm, domain=domain, missing_cost=1.0, memory_limit=1.0, **limits
                )
                assert found.lower_bound <= found.distance
    for limits in ({}, {"work_limit": int(rng.integers(1, 30))}):
        onetree.explain(ensemble, row, size="smallest", radius=True, domain=domain, memory_limit=1.0, **limits)
        onetree.difference(ensemble, ensemble, domain=domain, **limits)
        for feature in range(ensemble.n_features):
            with contextlib.suppress(onetree.InvalidInputError):  # a feature of a group, or without an order
                onetree.check_irrelevant(ensemble, feature, domain=domain, **limits)
                onetree.check_monotone(ensemble, feature, domain=domain, **limits)


def prove_numbers(rng, kind):
    """Prove a tree with numbers, with and without limits, and notice what was done to it."""
    ensemble = numbered(rng, kind, max_cells=40)
    tolerance, relative = float(rng.choice([0.0, 0.05, 0.2])), bool(rng.integers(2))
    tree = numbered_tree(ensemble, tolerance, relative=relative, keeps_class=bool(rng.integers(2)))
    other = mutated(rng, tree, ensemble, MUTATIONS[rng.integers(len(MUTATIONS))])
    for method in OWN_PROOFS:
        assert onetree.verify(tree, ensemble, method=method)
    for find_worst in (False, True):
        by_search = onetree.verify(other, ensemble, method="search", find_worst=find_worst)
        assert by_search.equivalent == onetree.verify(other, ensemble, method="cells").equivalent
    with contextlib.suppress(onetree.LimitReachedError):
        onetree.worst_deviation(other, ensemble, relative=relative, time_limit=float(rng.choice(TIME_LIMITS)))


def interrupt(rng):
    """Stop long work from its progress callback and by its limits."""

    def stop(_):
        raise StopError

    X = rng.integers(0, 6, size=(300, 8))
    forest = RandomForestClassifier(12, max_depth=4, random_state=0).fit(X, X.sum(axis=1) % 3)
    for engine in (None, *ENGINES):
        for options in ({"progress": stop}, {"time_limit": 0.3}):
            with contextlib.suppress(StopError, onetree.LimitReachedError, onetree.GridTooLargeError):
                onetree.born_again(forest, engine=engine, n_jobs=2, memory_limit=0.5, verify=False, **options)
    for options in ({"progress": stop}, {"time_limit": 0.3}):
        with contextlib.suppress(StopError, onetree.LimitReachedError):
            onetree.born_again(forest, method="heuristic", verify=False, **options)
    with contextlib.suppress(StopError):
        onetree.estimate(forest, progress=stop)


def main():
    rng = np.random.default_rng(int(sys.argv[1]))
    for _ in range(N_SMALL):
        convert(rng, random_ensemble(rng))
    for number in range(N_SMALL // 4):
        convert(rng, random_combined(rng, SHAPES[number % len(SHAPES)]))
    for _ in range(N_LARGE):
        convert(rng, random_ensemble(rng, max_cells=2000, max_trees=14))
    for _ in range(N_SETS):
        convert_sets(rng, *random_set_case(rng))
    for number in range(N_SETS):
        ensemble, domain = random_set_case(rng) if number % 2 else (random_ensemble(rng), None)
        known = everything(ensemble) if domain is None else domain
        X = cells_near(ensemble, known, np.zeros(ensemble.n_features))
        if X is not None and len(X):
            ask(rng, ensemble, domain, X[rng.integers(len(X))])
    for number in range(N_SETS):
        prove_numbers(rng, KINDS[number % len(KINDS)])
    interrupt(rng)
    print(f"clean {_core.__file__}")


if __name__ == "__main__":
    main()
