"""Trees whose leaves carry numbers: as near as promised everywhere, and no smaller tree is."""

from __future__ import annotations

import numpy as np
import pytest

from onetree import born_again, pareto_front, tolerance_front
from tests.cases.oracle import points
from tests.cases.score_oracle import best_trees, is_within, random_numbers, tolerances
from tests.tiers import at_length

ENGINES = ("interval-dp", "branch-and-bound")
FEW, MANY = range(120), range(120, 120 + at_length(1880))
OBJECTIVES = {
    "depth": lambda front: front[0][0],
    "leaves": lambda front: front[-1][1],
    "depth-leaves": lambda front: front[0],
    "leaves-depth": lambda front: front[-1][::-1],
}


def asked(ensemble, tolerance, keep_class, relative=False):
    said = {"output": ensemble.output, "tolerance": tolerance, "relative": relative}
    return said if ensemble.output == "value" else {**said, "keep_class": keep_class}


def check_tree(tree, ensemble, tolerance, keep_class, relative=False):
    rows = points(ensemble)
    near, numbers = tree.numbers(rows), ensemble.numbers(rows)
    assert near.dtype == numbers.dtype
    assert all(map(lambda v, s: is_within(v, s, tolerance, relative), near.ravel(), numbers.ravel()))
    if ensemble.n_classes and keep_class:
        np.testing.assert_array_equal(tree.predict(rows), ensemble.predict(rows))


def check_case(seed, engine):
    ensemble = random_numbers(seed)
    keep_class, relative = seed % 3 != 0, seed % 5 == 0
    for tolerance in tolerances(ensemble, seed):
        if relative and tolerance >= 1:
            continue
        front = best_trees(ensemble, tolerance, relative=relative, keep_class=keep_class)
        for objective, value_of in OBJECTIVES.items():
            found = born_again(
                ensemble, objective=objective, engine=engine, **asked(ensemble, tolerance, keep_class, relative)
            )
            assert found.status == "optimal"
            assert found.value == value_of(front), (tolerance, objective)
            check_tree(found.tree, ensemble, tolerance, keep_class, relative)
        if engine == ENGINES[0]:
            all_found = pareto_front(ensemble, **asked(ensemble, tolerance, keep_class, relative))
            assert tuple((each.tree.depth, each.tree.n_leaves) for each in all_found) == front


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", FEW)
def test_no_smaller_tree_is_within_the_tolerance(seed, engine):
    check_case(seed, engine)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", MANY)
def test_no_smaller_tree_is_within_the_tolerance_in_many_more_cases(seed, engine):
    check_case(seed, engine)


def check_agreement(seed):
    ensemble = random_numbers(seed, n_features=5, n_trees=8, n_levels=5, max_depth=3)
    for tolerance in tolerances(ensemble, seed)[1:]:
        values = {
            born_again(ensemble, objective="leaves-depth", engine=engine, **asked(ensemble, tolerance, True)).value
            for engine in ENGINES
        }
        assert len(values) == 1, tolerance


@pytest.mark.parametrize("seed", range(8))
def test_both_engines_agree_on_larger_ensembles(seed):
    check_agreement(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 200))
def test_both_engines_agree_on_many_larger_ensembles(seed):
    check_agreement(seed)


@pytest.mark.parametrize("seed", range(25))
def test_the_front_has_every_step_of_the_fewest_leaves(seed):
    ensemble = random_numbers(seed, n_features=2, n_trees=3)
    keep_class = seed % 2 == 0
    said = {key: each for key, each in asked(ensemble, 0.0, keep_class).items() if key not in ("tolerance", "relative")}
    front = tolerance_front(ensemble, **said)

    def fewest(tolerance):
        return best_trees(ensemble, tolerance, keep_class=keep_class)[-1][1]

    assert front[-1].tree.tolerance == 0 or front[-1].value == fewest(0.0)
    for larger, each in zip([None, *front], front, strict=False):
        tolerance = each.tree.tolerance
        check_tree(each.tree, ensemble, tolerance, keep_class)
        assert each.value == fewest(tolerance)
        assert tolerance == 0 or fewest(float(np.nextafter(tolerance, 0.0))) > each.value
        if larger is not None:  # nothing between two steps
            assert fewest(float(np.nextafter(larger.tree.tolerance, 0.0))) == each.value


@pytest.mark.parametrize("seed", range(25))
def test_no_tree_of_so_many_leaves_is_nearer(seed):
    ensemble = random_numbers(seed, n_features=2, n_trees=3)
    keep_class = seed % 2 == 0
    said = asked(ensemble, None, keep_class)
    smallest = best_trees(ensemble, 1e6, keep_class=keep_class)[-1][1]
    for max_leaves in (smallest, smallest + 1, smallest + 3):
        found = born_again(ensemble, objective="leaves", max_leaves=max_leaves, **said)
        tolerance = found.tree.tolerance
        assert found.tree.n_leaves <= max_leaves
        check_tree(found.tree, ensemble, tolerance, keep_class)
        below = float(np.nextafter(tolerance, 0.0))
        assert tolerance == 0 or best_trees(ensemble, below, keep_class=keep_class)[-1][1] > max_leaves
