"""Trees with numbers where features have no order: categories, alone and beside features with thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onetree import Rule, born_again, pareto_front
from onetree.search.solve import OBJECTIVES
from tests.cases.set_cases import random_set_case, sets_alone
from tests.cases.strategies import random_ensemble_with_categories
from tests.tiers import is_full

ENGINES = ("interval-dp", "branch-and-bound")


def with_values(ensemble, rng):
    """The same trees as those of a regressor, with eighths in the leaves."""
    value = rng.integers(0, 9, (len(ensemble.feature), 1)) / 8
    return replace(ensemble, classes=np.zeros(0), value=value, base=np.zeros(1), rule=Rule("value"), response=None)


def regressors(kind, n):
    rng = np.random.default_rng(11)
    for _ in range(n):
        if kind == "sets alone":
            ensemble, domain = sets_alone(rng, n_features=3, n_values=4, n_trees=4, n_sets=3), None
        elif kind == "groups":
            ensemble, domain = random_set_case(rng, max_trees=4)
        else:
            ensemble, domain = random_ensemble_with_categories(rng, max_features=4), None
        yield with_values(ensemble, rng), domain, float(rng.choice([0.0, 0.125, 0.25, 0.3, 0.5]))


@pytest.mark.parametrize("kind", ["sets alone", "groups", "mixed"])
def test_both_engines_find_the_same_optimum_which_the_proof_accepts(kind):
    for number, (ensemble, domain, tolerance) in enumerate(regressors(kind, 150 if is_full() else 25)):
        objective = OBJECTIVES[number % 4]
        table, search = (
            born_again(ensemble, domain=domain, tolerance=tolerance, objective=objective, engine=engine)
            for engine in ENGINES
        )
        assert table.status == search.status == "optimal"
        assert table.value == search.value


@pytest.mark.parametrize("kind", ["sets alone", "groups", "mixed"])
def test_the_front_ends_where_the_single_objectives_do(kind):
    for ensemble, domain, tolerance in regressors(kind, 60 if is_full() else 12):
        front = [each.value for each in pareto_front(ensemble, domain=domain, tolerance=tolerance)]
        assert front == sorted(front)
        asked = {"domain": domain, "tolerance": tolerance, "engine": ENGINES[1]}
        assert front[0] == born_again(ensemble, objective="depth-leaves", **asked).value
        assert front[-1] == born_again(ensemble, objective="leaves-depth", **asked).value[::-1]


@pytest.mark.parametrize("kind", ["sets alone", "groups", "mixed"])
def test_threads_do_not_change_the_tree(kind):
    for ensemble, domain, tolerance in regressors(kind, 6):
        one, two = (
            born_again(ensemble, domain=domain, tolerance=tolerance, engine=ENGINES[0], n_jobs=n, verify=False).tree
            for n in (1, 2)
        )
        for name in ("feature", "threshold", "children_left", "children_right", "value", "subset"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
