"""Laws that every engine keeps on every ensemble: a faithful tree, none smaller, the same for any number of threads."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import Tree, _core, born_again, pareto_front, verify
from onetree.lowering.choices import objective_of
from onetree.search.solve import ENGINES, OBJECTIVES
from tests.cases.oracle import brute_force, brute_force_front, cells, pareto, points, value_of
from tests.cases.strategies import KINDS, ensembles, painted, random_ensemble
from tests.tiers import examples

objectives = st.sampled_from(OBJECTIVES)
engines = pytest.mark.parametrize("engine", ENGINES)


def same_tree(one, other):
    arrays = ("feature", "threshold", "children_left", "children_right", "leaf_class")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)


def size(tree, objective):
    pair = {"depth": tree.depth, "leaves": tree.n_leaves}
    sizes = tuple(pair[name] for name in objective.split("-"))
    return sizes if len(sizes) > 1 else sizes[0]


@engines
@examples(100)
@given(ensembles(max_cells=200), objectives)
def test_the_tree_predicts_like_its_ensemble_in_every_cell(engine, ensemble, objective):
    tree = born_again(ensemble, objective=objective, engine=engine, verify=False).tree
    X = points(ensemble)
    np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))


@engines
@examples(300)
@given(ensembles(max_cells=100), objectives)
def test_no_smaller_tree_exists(engine, ensemble, objective):
    assert born_again(ensemble, objective=objective, engine=engine).value == brute_force(ensemble, objective)


@engines
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_no_smaller_tree_exists_for_hundreds_of_random_ensembles(engine, kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for case in range(250):
        ensemble = random_ensemble(rng, max_cells=300, kinds=(kind,))
        front = pareto(cells(ensemble))
        found = {name: born_again(ensemble, objective=name, engine=engine).value for name in OBJECTIVES}
        assert found == {name: value_of(front, name) for name in OBJECTIVES}, f"case {case} of kind {kind}"


SHAPES = [(1,), (2,), (60,), (2,) * 8, (3,) * 5, (12, 11), (6, 5, 5, 4), (30, 3, 2), (2, 60), (4, 1, 4, 1, 4)]


@engines
@pytest.mark.parametrize("shape", [*SHAPES, pytest.param((7, 6, 6, 5), marks=pytest.mark.slow)], ids=str)
def test_no_smaller_tree_exists_for_cells_painted_at_random(engine, shape):
    rng = np.random.default_rng(shape)
    for n_classes in (2, 5):
        colours = rng.integers(n_classes, size=shape)
        ensemble, front = painted(colours, n_classes), pareto(colours)
        np.testing.assert_array_equal(cells(ensemble).ravel(), colours.ravel())
        found = {name: born_again(ensemble, objective=name, engine=engine).value for name in OBJECTIVES}
        assert found == {name: value_of(front, name) for name in OBJECTIVES}


@engines
def test_as_many_classes_as_a_byte_counts(engine):
    ensemble = painted(np.arange(256).reshape(16, 16), n_classes=256)
    assert born_again(ensemble, objective="leaves-depth", engine=engine).value == (256, 8)


@engines
def test_a_model_may_have_more_classes_than_a_byte_counts_if_few_of_them_occur(engine):
    colours = 9 * np.arange(32).reshape(8, 4) + 10
    ensemble = painted(colours, n_classes=300)
    solution = born_again(ensemble, objective="leaves-depth", engine=engine)
    assert solution.value == (32, 5)
    X = points(ensemble)
    np.testing.assert_array_equal(solution.tree.predict(X), ensemble.predict(X))


def test_where_more_classes_occur_than_a_byte_counts_the_tree_is_faithful():
    ensemble = painted(np.arange(306).reshape(18, 17), n_classes=306)
    tree = born_again(ensemble, objective="leaves").tree
    assert tree.n_leaves == 306
    assert set(tree.predict(points(ensemble)).tolist()) == set(range(306))
    for method in ("cells", "search", "milp"):
        assert verify(tree, ensemble, method=method)


@examples(100)
@given(ensembles(max_cells=100))
def test_the_pareto_front_is_whole_and_each_of_its_trees_is_faithful(ensemble):
    front = [solution.tree for solution in pareto_front(ensemble)]
    assert [(tree.depth, tree.n_leaves) for tree in front] == brute_force_front(ensemble)
    X = points(ensemble)
    for tree in front:
        np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))


@pytest.mark.skipif(len(ENGINES) < 2, reason="there is only one engine to compare")
@examples(100)
@given(ensembles(max_cells=1500, max_trees=8), objectives)
def test_engines_that_share_no_search_code_agree(ensemble, objective):
    values = {engine: born_again(ensemble, objective=objective, engine=engine).value for engine in ENGINES}
    assert len(set(values.values())) == 1, values


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_search_with_tables_at_its_bottom_agrees_too(objective):
    rng = np.random.default_rng(5)
    n_large = 0
    for shape in [(9, 8, 7, 5), (7, 7, 6, 3, 2), (12, 11, 9), (40, 35)]:
        # Smooth enough that few cells are isolated, so that the search has something to find.
        heights = sum(np.sin(np.arange(n) * rng.uniform(0.3, 0.9) + rng.uniform(0, 6)).reshape(
            [-1 if axis == at else 1 for at in range(len(shape))]) for axis, n in enumerate(shape))  # fmt: skip
        ensemble = painted((np.broadcast_to(heights, shape) > 0.3).astype(int), 2)
        combined = _core.solve(ensemble, objective_of(objective), _core.Engine.COMBINED, 0.0, 0, 1e9, 1, None)
        n_large += combined.statistics.boxes > 1e4  # otherwise one table does it all
        (found,) = combined.solutions
        expected = born_again(ensemble, objective=objective, engine="interval-dp")
        assert found.optimal
        tree = _tree(found, ensemble)
        assert size(tree, objective) == expected.value
        X = points(ensemble)
        np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))
    assert n_large >= 3


def _tree(found, ensemble):
    arrays = {
        name: getattr(found.tree, name)
        for name in ("feature", "threshold", "children_left", "children_right", "leaf_class")
    }
    return Tree(
        **arrays, classes=ensemble.classes, feature_names=ensemble.feature_names, nan_features=ensemble.nan_features
    )


@engines
@examples(50)
@given(ensembles(max_cells=300), objectives)
def test_the_tree_is_the_same_for_any_number_of_threads(engine, ensemble, objective):
    one, two, three = (
        born_again(ensemble, objective=objective, engine=engine, n_jobs=n_jobs).tree for n_jobs in (1, 2, 3)
    )
    assert same_tree(one, two)
    assert same_tree(one, three)


@engines
@examples(100)
@given(ensembles(max_cells=200), objectives)
def test_the_solution_says_what_its_tree_is(engine, ensemble, objective):
    solution = born_again(ensemble, objective=objective, engine=engine)
    assert solution.value == size(solution.tree, objective)
    assert (solution.objective, solution.status, solution.gap) == (objective, "optimal", 0.0)
    assert solution.lower_bound == solution.value
    assert solution.stats["engine"] == engine


@examples(100)
@given(ensembles(max_cells=200), objectives)
def test_sibling_leaves_are_of_different_classes(ensemble, objective):
    tree = born_again(ensemble, objective=objective).tree
    assert tree.n_nodes <= 2 * tree.n_leaves - 1  # fewer if equal subtrees are held once
    inner = np.flatnonzero(tree.feature >= 0)
    left, right = tree.leaf_class[tree.children_left[inner]], tree.leaf_class[tree.children_right[inner]]
    assert not np.any((left == right) & (left >= 0))


@examples(100)
@given(ensembles(max_cells=200, nan=False))  # "x <= t or missing" is one split of an ensemble and two of a tree
def test_the_depth_is_at_most_the_sum_of_the_depths_of_the_trees(ensemble):
    assert born_again(ensemble, objective="depth").value <= sum(ensemble.depths)


@examples(100)
@given(ensembles(max_cells=200))
def test_the_four_objectives_are_consistent(ensemble):
    depth, leaves, depth_leaves, leaves_depth = (
        born_again(ensemble, objective=name).value for name in ("depth", "leaves", "depth-leaves", "leaves-depth")
    )
    assert depth_leaves[0] == depth <= leaves_depth[1]
    assert leaves_depth[0] == leaves <= depth_leaves[1]
    assert depth < leaves <= 2**depth or depth == 0


@examples(50)
@given(ensembles(max_cells=200), objectives)
def test_the_order_of_the_features_does_not_change_the_size(ensemble, objective):
    last = ensemble.n_features - 1
    reversed_features = dataclasses.replace(
        ensemble,
        feature=np.where(ensemble.feature < 0, -1, last - ensemble.feature).astype(np.int32),
        nan_features=ensemble.nan_features[::-1].copy(),
    )
    values = [born_again(e, objective=objective).value for e in (ensemble, reversed_features)]
    assert values[0] == values[1]
