"""Grids of both kinds of axis in one table: some features with thresholds, others with set tests."""

import numpy as np
import pytest

from onetree import Domain, born_again, pareto_front
from onetree.search.solve import OBJECTIVES
from tests.cases.domains import axes_in
from tests.cases.set_cases import sets_alone
from tests.cases.strategies import random_ensemble_with_categories
from tests.tiers import is_full


def is_mixed(ensemble):
    sets = axes_in(ensemble, Domain((None,) * ensemble.n_features)).sets
    return any(each is not None for each in sets) and any(each is None for each in sets)


def mixed_ensembles(n, seed, **sizes):
    """Some ensembles whose grids have axes of both kinds."""
    rng = np.random.default_rng(seed)
    while n > 0:
        ensemble = random_ensemble_with_categories(rng, **sizes)
        if is_mixed(ensemble):
            n -= 1
            yield ensemble


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_table_and_search_find_the_same_optimum_on_mixed_grids(objective):
    for ensemble in mixed_ensembles(60 if is_full() else 15, OBJECTIVES.index(objective), max_features=4):
        table, search = (
            born_again(ensemble, objective=objective, engine=engine) for engine in ("interval-dp", "branch-and-bound")
        )
        assert (table.status, table.value) == (search.status, search.value) == ("optimal", search.value)


def test_the_front_of_a_mixed_grid_ends_where_the_single_objectives_do():
    for ensemble in mixed_ensembles(30 if is_full() else 10, 7, max_features=4):
        front = [solution.value for solution in pareto_front(ensemble)]
        assert front == sorted(front)
        assert front[0] == born_again(ensemble, objective="depth-leaves", engine="branch-and-bound").value
        fewest = born_again(ensemble, objective="leaves-depth", engine="branch-and-bound").value
        assert front[-1] == tuple(reversed(fewest))


def assert_that_threads_do_not_matter(ensemble, **options):
    """Return what one thread found."""
    one, *others = (
        born_again(ensemble, engine="interval-dp", n_jobs=n_jobs, verify=False, **options) for n_jobs in (1, 2, 4)
    )
    for other in others:
        assert one.value == other.value
        for name in ("feature", "threshold", "children_left", "children_right", "leaf_class", "subset"):
            np.testing.assert_array_equal(getattr(one.tree, name), getattr(other.tree, name))
    return one


def test_threads_do_not_change_the_tree_of_a_mixed_grid():
    n_large = 0
    for ensemble in mixed_ensembles(6, 0, max_features=7, max_trees=12, max_depth=5, max_classes=2):
        n_large += assert_that_threads_do_not_matter(ensemble).stats["peak_bytes"] > 2**20
    assert n_large > 0


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_threads_do_not_change_the_tree_of_a_grid_of_sets_alone(objective):
    ensemble = sets_alone(np.random.default_rng(4))
    found = assert_that_threads_do_not_matter(ensemble, objective=objective)
    assert found.status == "optimal"
    assert found.stats["boxes"] > 1e6  # smaller tables are not worth a second thread
