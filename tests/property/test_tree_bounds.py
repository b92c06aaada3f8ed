"""Bounds read off a faithful tree: no tree is smaller, and the cells that say so stand up to an independent look.

The trees are those of the heuristic, left few boxes to solve, so that most of them are far from the smallest.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from onetree import Ensemble, StopSearch, born_again, verify
from onetree.lowering.axes import axes_of
from onetree.lowering.choices import objective_of
from onetree.search.solve import OBJECTIVES, _core
from tests.cases import oracle
from tests.cases.set_cases import random_set_case, set_cases
from tests.cases.strategies import KINDS, ensembles, random_ensemble
from tests.property.test_domain import cases as domain_cases
from tests.tiers import examples, share

few_boxes = st.sampled_from([1e-9, 1.0, 30.0])


def heuristic(axes, max_boxes=1e-9):
    (found,) = _core.heuristic(axes.ensemble, objective_of("leaves"), max_boxes, 0, 0.0, 0, 0.0, 1, None).solutions
    return found


def bounds_of(axes, max_boxes=1e-9, work_limit=0, n_threads=1):
    return _core.tree_bounds(axes.ensemble, heuristic(axes, max_boxes).tree, 0.0, work_limit, 0.0, n_threads, None)


def assert_below(bounds, front):
    assert bounds.leaves <= oracle.value_of(front, "leaves")
    assert bounds.depth <= oracle.value_of(front, "depth")


@examples(300)
@given(ensembles(max_cells=150), few_boxes)
def test_no_tree_is_smaller_than_the_bounds(ensemble, max_boxes):
    assert_below(bounds_of(axes_of(ensemble), max_boxes), oracle.pareto(oracle.cells(ensemble)))


@examples(300)
@given(set_cases(), few_boxes)
def test_no_tree_on_categories_and_groups_is_smaller_than_the_bounds(case, max_boxes):
    ensemble, domain = case
    assert_below(bounds_of(axes_of(ensemble, domain), max_boxes), oracle.pareto(oracle.cells_inside(ensemble, domain)))


@examples(300)
@given(domain_cases(max_cells=100), few_boxes)
def test_no_tree_inside_a_domain_is_smaller_than_the_bounds(case, max_boxes):
    ensemble, domain = case
    solution = born_again(ensemble, domain=domain, method="exact", objective="leaves", verify=False)
    shallow = born_again(ensemble, domain=domain, method="exact", objective="depth", verify=False)
    bounds = bounds_of(axes_of(ensemble, domain), max_boxes)
    assert bounds.leaves <= solution.value
    assert bounds.depth <= shallow.value


@pytest.mark.parametrize("kind", KINDS)
def test_the_bounds_of_hundreds_of_random_ensembles_hold_and_say_something(kind):
    rng = np.random.default_rng(70 + KINDS.index(kind))
    said, least = 0, 0
    for _ in range(share(200, 40)):
        ensemble = random_ensemble(rng, max_cells=200, max_trees=12, kinds=(kind,))
        front = oracle.pareto(oracle.cells(ensemble))
        bounds = bounds_of(axes_of(ensemble))
        assert_below(bounds, front)
        said, least = said + bounds.leaves, least + oracle.value_of(front, "leaves")
    assert said > 0.7 * least


def test_the_bounds_of_hundreds_of_categorical_ensembles_hold_and_say_something():
    said, least = 0, 0
    for seed in range(share(300, 60)):
        ensemble, domain = random_set_case(np.random.default_rng(seed))
        front = oracle.pareto(oracle.cells_inside(ensemble, domain))
        bounds = bounds_of(axes_of(ensemble, domain))
        assert_below(bounds, front)
        said, least = said + bounds.leaves, least + oracle.value_of(front, "leaves")
    assert said > 0.7 * least


def places(ensemble, found, bounds):
    """The cells of a bound as inputs, one of each that no threshold of the tree distinguishes."""
    features = bounds.feature.tolist()
    slabs = bounds.cells.reshape(-1, max(1, len(features)))
    X = np.tile([axis[0] for axis in oracle.axes(ensemble)], (bounds.leaves, 1))
    for axis, feature in enumerate(features):
        values = oracle.axes(ensemble)[feature]
        levels = np.unique(found.tree.threshold[found.tree.feature == feature])
        slab = np.where(np.isnan(values), len(levels), np.searchsorted(levels, values))
        X[:, feature] = values[np.searchsorted(slab, slabs[:, axis])]
    return X


@examples(200)
@given(ensembles(max_cells=200))
def test_between_two_cells_of_one_class_lies_one_of_another(ensemble):
    axes = axes_of(ensemble)
    found, bounds = heuristic(axes), bounds_of(axes)
    chosen = places(ensemble, found, bounds)
    everywhere = oracle.points(ensemble)
    classes, everywhere_classes = ensemble.predict_index(chosen), ensemble.predict_index(everywhere)
    ordered, grid = (np.where(np.isnan(X), np.inf, X) for X in (chosen, everywhere))  # NaN lies beyond all numbers
    assert len(chosen) == bounds.leaves
    for (a, b), (of_a, of_b) in zip(
        itertools.combinations(ordered, 2), itertools.combinations(classes.tolist(), 2), strict=True
    ):
        inside = ((grid >= np.minimum(a, b)) & (grid <= np.maximum(a, b))).all(axis=1)
        assert of_a != of_b or (everywhere_classes[inside] != of_a).any()


@examples(100)
@given(ensembles(max_cells=150), st.sampled_from(OBJECTIVES), st.sampled_from(["heuristic", "auto"]))
def test_a_solution_is_optimal_where_its_bound_is_its_value(ensemble, objective, method):
    solution = born_again(ensemble, objective=objective, method=method, work_limit=60, verify=False)
    assert solution.lower_bound <= oracle.brute_force(ensemble, objective) <= solution.value
    assert (solution.status == "optimal") == (solution.lower_bound == solution.value)


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    return RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, y)


def test_the_bound_of_ten_thousand_leaves_is_a_third_of_them(forest):
    solution = born_again(forest, method="heuristic", objective="leaves", verify=False)
    assert 9_000 < solution.value < 12_000
    assert solution.lower_bound > solution.value / 3
    assert solution.gap < 2


def test_a_shorter_search_for_cells_gives_a_smaller_bound_and_the_same_one_each_time(forest):
    axes = axes_of(Ensemble.from_model(forest))
    whole, *parts = (bounds_of(axes, 1e4, work).leaves for work in (0, 200, 100, 100))
    assert whole > parts[0] > parts[1] == parts[2] > 1


def test_the_bounds_do_not_depend_on_the_number_of_threads(forest):
    axes = axes_of(Ensemble.from_model(forest))
    alone, *shared = (bounds_of(axes, 1e4, n_threads=n_threads) for n_threads in (1, 2, 3))
    for each in shared:
        np.testing.assert_array_equal(each.cells, alone.cells)
        assert (each.leaves, each.depth) == (alone.leaves, alone.depth)


def test_stopping_while_cells_are_looked_for_leaves_a_faithful_tree(forest):
    def stop(step):
        if step.phase == "bound":
            raise StopSearch

    solution = born_again(forest, method="heuristic", objective="leaves", progress=stop, verify=False)
    assert 1 <= solution.lower_bound < solution.value
    assert verify(solution.tree, forest, method="search")


def test_a_tree_of_one_leaf_has_a_bound_of_one():
    constant = random_ensemble(np.random.default_rng(0), max_cells=1, kinds=("hard",))
    bounds = bounds_of(axes_of(constant))
    assert (bounds.leaves, bounds.depth) == (1, 0)
