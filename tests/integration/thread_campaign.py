"""What the core under the thread sanitizer is made to do: tables filled by several threads, and several calls at once.

A program of its own, run by `test_sanitizers` with a core that ends the process at the first data race. It also checks
the trees, so that a run in which nothing happened does not pass, and prints what tells them apart from others.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.lowering.grid import Grid, _core
from onetree.search.solve import OBJECTIVES
from tests.cases.combined import random_combined
from tests.cases.fingerprints import fingerprint
from tests.cases.set_cases import sets_alone
from tests.cases.strategies import random_ensemble

SHAPE = (4, 8, 10)  # features, values of each, trees: the tables are over 1 MiB, so that several threads fill them
N_SHARED = 3  # ensembles on which several calls run at once
LIMITS = ({"time_limit": 1e-3}, {"time_limit": 1e-2}, {"memory_limit": 1e-3})


class StopError(Exception):
    """Raised in a progress callback while other threads fill the table."""


def trained(rng, n_features, n_values, n_trees):
    X = rng.integers(0, n_values, size=(300, n_features))
    model = RandomForestClassifier(n_trees, max_depth=4, random_state=0).fit(X, X.sum(axis=1) % 3)
    return onetree.Ensemble.from_model(model)


def share_a_table(ensemble, objectives=OBJECTIVES):
    """Fill tables with one thread and with two; the tree is the same."""
    assert Grid.essential(ensemble).n_boxes > 1 << 20
    for objective in objectives:
        options = {"objective": objective, "engine": "interval-dp", "verify": False}
        alone, shared = (onetree.born_again(ensemble, n_jobs=n_jobs, **options).tree for n_jobs in (1, 2))
        assert fingerprint(shared) == fingerprint(alone)
        yield fingerprint(alone)
    assert onetree.verify(alone, ensemble)


def share_a_heuristic(ensemble):
    """Cut a grid up and solve its parts with one thread and with three; the tree is the same."""
    for max_boxes, objective in itertools.product((1e-9, 30.0, 1e4), (_core.Objective.LEAVES, _core.Objective.DEPTH)):
        alone, shared = (
            _core.heuristic(ensemble, objective, max_boxes, 0, 0.0, 0, 0.0, n_threads, None).solutions[0].tree
            for n_threads in (1, 3)
        )
        for name in ("feature", "threshold", "children_left", "children_right", "leaf_class"):
            np.testing.assert_array_equal(getattr(shared, name), getattr(alone, name))


def break_off(ensemble):
    """End the work of several threads by a limit, and from the progress callback."""

    def stop(_):
        raise StopError

    for limit, objective in itertools.product((*LIMITS, {"progress": stop}), ("depth", "depth-leaves")):
        with contextlib.suppress(StopError, onetree.LimitReachedError, onetree.GridTooLargeError):
            onetree.born_again(ensemble, objective=objective, n_jobs=2, verify=False, **limit)
        with contextlib.suppress(StopError, onetree.LimitReachedError):
            onetree.born_again(ensemble, objective=objective, method="heuristic", n_jobs=2, verify=False, **limit)


def everything(ensemble):
    """Call every entry point of the core."""
    trees = [onetree.born_again(ensemble, method=method, verify=False).tree for method in ("exact", "heuristic")]
    trees += [solution.tree for solution in onetree.pareto_front(ensemble, verify=False)]
    assert all(onetree.verify(tree, ensemble, method="search") for tree in trees)
    _core.estimate(ensemble, _core.Objective.LEAVES, 20.0, 0.01, 0, None)
    return [fingerprint(tree) for tree in trees]


def call_at_once(ensemble):
    """Work on one ensemble from two threads of Python: the core holds no state between calls."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(everything, [ensemble, ensemble])
    assert first == second
    return first


def main():
    rng = np.random.default_rng(int(sys.argv[1]))
    ensemble = trained(rng, *SHAPE)
    found = list(share_a_table(ensemble))
    found += share_a_table(sets_alone(np.random.default_rng(4)), ("depth", "depth-leaves"))
    share_a_heuristic(ensemble)
    for shape in ("average", "votes"):  # near-ties are asked of Python, from any thread
        share_a_heuristic(random_combined(rng, shape, max_cells=1500, max_trees=10))
    break_off(ensemble)
    for _ in range(N_SHARED):
        found += call_at_once(random_ensemble(rng, max_cells=300))
    print(f"clean {_core.__file__}", *found, sep="\n")


if __name__ == "__main__":
    main()
