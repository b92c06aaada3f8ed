"""Features that depend on each other: what the native core sees of them, and its optima."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import Domain, Ensemble, born_again, born_again_in_parts, estimate, pareto_front, verify
from onetree.base.limits import OBJECTIVES
from onetree.lowering.axes import axes_of
from onetree.lowering.grid import Grid
from onetree.model.categories import FIRST, MISSING, OTHER, Categories
from onetree.model.ensemble import Rule
from onetree.scale.partition import partition
from onetree.search.solve import ENGINES
from tests.cases import oracle
from tests.cases.deep import DEEP
from tests.cases.domains import axes_in, grid_in
from tests.cases.fingerprints import fingerprint
from tests.cases.set_cases import random_set_case, set_cases, set_forest, stumps
from tests.cases.strategies import ensembles
from tests.tiers import examples

engines = pytest.mark.parametrize("engine", ENGINES)
objectives = st.sampled_from(OBJECTIVES)


def thresholds(axes):
    """Axis and threshold of every split that the core sees."""
    inner = axes.ensemble.feature >= 0
    return list(zip(axes.ensemble.feature[inner].tolist(), axes.ensemble.threshold[inner].tolist(), strict=True))


@given(ensembles())
def test_an_ensemble_of_ordinary_features_is_left_as_it_is(ensemble):
    assert axes_of(ensemble).ensemble is ensemble


def test_implications_are_an_ordinary_axis():
    axes = axes_in(stumps((0, 0.5), (1, 0.5), (2, 0.5)), {(0, 1, 2): "implies"})
    assert axes.sets == (None, None, None)
    assert sorted(thresholds(axes)) == [(0, 0.0), (0, 1.0), (0, 2.0)]


def test_one_of_three_is_a_set_axis_with_a_test_for_each():
    axes = axes_in(stumps((0, 0.5), (1, 0.5), (2, 0.5)), {(0, 1, 2): "one-hot"})
    assert sorted(axes.sets[0].sum(axis=1).tolist()) == [2, 2, 2]
    assert axes.sets[0].shape == (3, 3)
    assert axes.sets[0].dtype == np.uint8
    assert axes.sets[0].flags.c_contiguous
    assert thresholds(axes) == [(0, 0.0), (0, 1.0), (0, 2.0)]


def test_one_of_two_is_one_test_and_the_second_split_has_its_children_exchanged():
    axes = axes_in(stumps((0, 0.5), (1, 0.5)), {(0, 1): "one-hot"})
    assert thresholds(axes) == [(0, 0.0), (0, 0.0)]
    left, right = axes.ensemble.children_left, axes.ensemble.children_right
    assert [(left[root] < right[root]) for root in axes.ensemble.roots] == [True, False]


def test_splits_that_the_group_decides_are_gone():
    axes = axes_in(stumps((0, 0.5), (1, 0.5), (2, 0.5)), {(0, 1): "00,01", (1, 2): "equal"})
    assert set(thresholds(axes)) == {(0, 0.0)}
    assert len(axes.ensemble.feature) == 7  # one of the stumps is a leaf


def test_elements_that_the_domain_excludes_are_no_values():
    kind = Categories.equal([1.0, 2.0, 3.0])
    splits = [(0, {FIRST, OTHER}), (0, {FIRST + 1, MISSING}), (0, {FIRST + 2})]
    ensemble = stumps(*splits, categories={0: kind}, nan={0})
    assert axes_of(ensemble).sets[0].shape == (3, 3)  # category 1 and OTHER go together, as do 2 and MISSING
    assert axes_in(ensemble, {0: {1.0, 2.0}}).sets[0] is None
    assert set(thresholds(axes_in(ensemble, {0: {1.0, 2.0}}))) == {(0, 0.0)}
    assert thresholds(axes_in(ensemble, {0: {3.0}})) == []


def test_whole_numbers_and_ranges_decide_which_elements_there_are():
    between = Categories((0.25, 7.5), [0.0, 7.0], [0.5, 8.5])  # a whole number lies in the second interval only
    ensemble = stumps((0, {FIRST}), (0, {FIRST + 1}), categories={0: between})
    assert set(thresholds(axes_in(ensemble, {0: "integer"}))) == {(0, 0.0)}
    assert thresholds(axes_in(ensemble, {0: "integer 0:5"})) == []
    assert len(set(thresholds(axes_in(ensemble, {0: (0.3, 7.5)})))) == 2
    assert thresholds(axes_in(ensemble, {0: (7.25, 8.5)})) == []


def test_a_tree_spells_sets_as_the_ensemble_does():
    kind = Categories.equal([1.0, 2.0, 3.0])
    ensemble = stumps((0, {FIRST, OTHER, MISSING}), categories={0: kind})
    axes = axes_in(ensemble, {0: {1.0, 2.0}})
    tree = axes.tree(*(np.array(column) for column in ([0, -1, -1], [0.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1])))
    assert tree.subsets[tree.subset[0]].tolist() == [True, True, True, False, False]
    assert tree.categories == ensemble.categories
    assert tree.predict([[1.0], [2.0]]).tolist() == [0, 1]


def test_the_grid_counts_what_can_be_reached():
    ensemble = stumps((0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5))
    assert Grid.of(ensemble).n_cells == 16
    assert grid_in(ensemble, {(0, 1, 2): "implies"}).n_cells == 8
    one_hot = grid_in(ensemble, {(0, 1, 2): "one-hot"})
    assert (one_hot.n_cells, one_hot.n_slabs, one_hot.n_boxes) == (6, (3, 1, 1, 2), 7 * 3)


def as_tree(axes, root):
    """One tree of the ensemble that the core sees, and its leaves' class, which stands for the whole vector."""
    arrays, order, stack = axes.ensemble, [], [int(root)]
    while stack:
        node = stack.pop()
        order.append(node)
        if arrays.feature[node] >= 0:
            stack += [int(arrays.children_right[node]), int(arrays.children_left[node])]
    number = np.full(len(arrays.feature) + 1, -1)
    number[order] = np.arange(len(order))
    leaf_class = np.where(arrays.feature < 0, side_of(arrays.value, arrays.n_classes), -1)
    columns = (
        arrays.feature,
        arrays.threshold,
        number[arrays.children_left],
        number[arrays.children_right],
        leaf_class,
    )
    return axes.tree(*(column[order].astype(column.dtype) for column in columns))


def side_of(value, n_classes):
    return np.argmax(value, axis=1) if value.shape[1] == n_classes else (value[:, 0] > 0).astype(np.int64)


@examples(300)
@given(set_cases(missing=False))
def test_every_tree_of_the_ensemble_comes_back_as_the_same_function(case):
    ensemble, domain = case
    axes = axes_in(ensemble, domain)
    X = oracle.inputs_inside(ensemble, domain)
    expected = side_of(ensemble.value, ensemble.n_classes)[ensemble.apply(X)]
    for number, root in enumerate(axes.ensemble.roots):
        assert (as_tree(axes, root).predict_index(X) == expected[:, number]).all()


def test_set_tests_very_many_splits_deep():
    n, kind = DEEP, Categories.equal([1.0, 2.0, 3.0])
    node = np.arange(2 * n + 1)
    inner = (node % 2 == 0) & (node < 2 * n)
    ensemble = Ensemble(
        classes=[0, 1], feature_names=("x0",), roots=[0], feature=np.where(inner, 0, -1), threshold=np.zeros(2 * n + 1),
        children_left=np.where(inner, node + 1, -1), children_right=np.where(inner, node + 2, -1),
        missing_left=np.zeros(2 * n + 1, dtype=bool), value=np.eye(2)[node // 2 % 2] * ~inner[:, np.newaxis],
        base=[0.0, 0.0], rule=Rule("hard"), nan_features=[False], categories=(kind,),
        subset=np.where(inner, node // 2 % 3, -1),
        subsets=[[False, False, True, False, False], [False, False, False, True, False], [False] * 5],
    )  # fmt: skip
    axes = axes_of(ensemble)
    assert np.count_nonzero(axes.ensemble.feature >= 0) == np.count_nonzero(node[inner] // 2 % 3 < 2)
    assert axes.sets[0] is None  # {1}, {2} and the others are the two ends and the middle of an order


HIDDEN = (
    {FIRST},
    {FIRST + 1},
    set(range(6)),
    {FIRST, FIRST + 1},
)  # all inputs are in the third, so none meets the last


@pytest.mark.parametrize("choice", [{"engine": engine} for engine in ENGINES] + [{"method": "heuristic"}], ids=str)
def test_a_test_that_no_input_meets_makes_a_small_tree(choice):
    value = np.zeros((10, 1))
    value[[1, 3, 4], 0] = 1.0, 1.0, -1.0
    ensemble = Ensemble(
        classes=[0, 1], feature_names=("x0",), roots=[0, 5], feature=[0, -1, 0, -1, -1] * 2, threshold=np.zeros(10),
        children_left=[1, -1, 3, -1, -1, 6, -1, 8, -1, -1], children_right=[2, -1, 4, -1, -1, 7, -1, 9, -1, -1],
        missing_left=np.zeros(10, dtype=bool), value=value, base=[0.0], rule=Rule("score"), nan_features=[False],
        categories=(Categories.equal([1.0, 2.0, 3.0, 4.0]),), subset=[0, -1, 1, -1, -1, 2, -1, 3, -1, -1],
        subsets=[[element in members for element in range(6)] for members in HIDDEN],
    )  # fmt: skip
    assert oracle.pareto(oracle.cells_inside(ensemble, Domain((None,)))) == [(1, 2)]
    assert born_again(ensemble, objective="leaves", **choice).value == 2


@engines
@examples(100)
@given(set_cases(), objectives)
def test_no_smaller_tree_exists_where_features_depend_on_each_other(engine, case, objective):
    ensemble, domain = case
    front = oracle.pareto(oracle.cells_inside(ensemble, domain))
    solution = born_again(ensemble, objective=objective, domain=domain, engine=engine)
    assert (solution.value, solution.status) == (oracle.value_of(front, objective), "optimal")


@engines
@pytest.mark.parametrize("part", range(3))
@pytest.mark.slow
def test_no_smaller_tree_exists_for_hundreds_of_random_cases(engine, part):
    n_sets = 0
    for seed in range(100 * part, 100 * part + 100):
        ensemble, domain = random_set_case(np.random.default_rng(seed))
        n_sets += any(members is not None for members in axes_in(ensemble, domain).sets)
        front = oracle.pareto(oracle.cells_inside(ensemble, domain))
        found = {name: born_again(ensemble, objective=name, domain=domain, engine=engine).value for name in OBJECTIVES}
        assert found == {name: oracle.value_of(front, name) for name in OBJECTIVES}, f"seed {seed}"
    assert n_sets >= 10


@engines
@examples(40)
@given(set_cases(), objectives)
def test_the_tree_is_the_same_for_any_number_of_threads(engine, case, objective):
    ensemble, domain = case
    one, three = (
        born_again(ensemble, objective=objective, domain=domain, engine=engine, n_jobs=n_jobs) for n_jobs in (1, 3)
    )
    assert fingerprint(one.tree) == fingerprint(three.tree)
    assert one.tree.subset.tolist() == three.tree.subset.tolist()
    assert one.tree.subsets.tolist() == three.tree.subsets.tolist()


@examples(100)
@given(set_cases())
def test_the_pareto_front_is_whole(case):
    ensemble, domain = case
    front = [solution.value for solution in pareto_front(ensemble, domain=domain)]
    assert front == oracle.pareto(oracle.cells_inside(ensemble, domain))


@examples(100)
@given(set_cases(max_trees=6), objectives, st.sampled_from(["auto", "exact", "heuristic"]))
def test_every_method_gives_a_tree_that_predicts_like_its_ensemble(case, objective, method):
    ensemble, domain = case
    tree = born_again(ensemble, objective=objective, domain=domain, method=method, verify=False).tree
    X = oracle.inputs_inside(ensemble, domain)
    np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))


@examples(100)
@given(set_cases(max_trees=6), objectives, st.sampled_from(["auto", "heuristic"]))
def test_what_is_said_of_the_size_is_true(case, objective, method):
    ensemble, domain = case
    best = oracle.value_of(oracle.pareto(oracle.cells_inside(ensemble, domain)), objective)
    solution = born_again(ensemble, objective=objective, domain=domain, method=method)
    assert solution.lower_bound <= best <= solution.value
    assert (solution.status == "optimal") <= (solution.value == best)


@pytest.mark.parametrize("part", range(4))
def test_what_is_said_of_the_size_is_true_where_there_are_many_set_tests(part):
    for seed in range(50 * part, 50 * part + 50):
        ensemble = set_forest(np.random.default_rng(seed))
        best = born_again(ensemble, objective="leaves", engine="interval-dp")
        found = born_again(ensemble, objective="leaves", method="heuristic")
        assert best.status == "optimal"
        assert found.lower_bound <= best.value <= found.value, f"seed {seed}"
        assert (found.status == "optimal") <= (found.value == best.value), f"seed {seed}"
        said = estimate(ensemble, objective="leaves")
        assert not said.exact or said.leaves == best.value, f"seed {seed}"


@examples(50)
@given(set_cases(), objectives)
def test_groups_never_make_the_tree_larger(case, objective):
    ensemble, domain = case
    apart = born_again(ensemble, objective=objective, domain=replace(domain, groups=()))
    assert born_again(ensemble, objective=objective, domain=domain).value <= apart.value


@examples(50)
@given(set_cases())
def test_an_exact_estimate_is_the_number_of_leaves(case):
    ensemble, domain = case
    found = estimate(ensemble, domain=domain)
    assert not found.exact or found.leaves == born_again(ensemble, objective="leaves", domain=domain).value


@examples(60)
@given(set_cases(max_trees=6), st.integers(1, 9), objectives)
def test_a_tree_in_parts_predicts_like_its_ensemble(case, n_parts, objective):
    ensemble, domain = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("onetree.scale.partition.FEW_CELLS", 1)
        solution = born_again_in_parts(ensemble, domain=domain, n_parts=n_parts, objective=objective)
    X = oracle.inputs_inside(ensemble, domain)
    np.testing.assert_array_equal(solution.tree.predict(X), ensemble.predict(X))
    assert verify(solution.tree, ensemble)


def test_a_group_stays_whole_where_a_tree_is_found_in_parts(monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 1)
    top = partition(stumps((0, 0.5), (1, 0.5), (2, 0.5)), Domain.from_dict({(0, 1): "one-hot"}, 3), 8, 0)
    assert [cut.feature for cut in top.cuts.values()] == [2]
    assert all(box.domain.groups for box in top.boxes.values())
