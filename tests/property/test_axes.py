"""Features that depend on each other: what the native core sees of them, its optima, and the proofs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onetree import Domain, Ensemble, Tree, born_again, born_again_in_parts, estimate, pareto_front, verify
from onetree.axes import axes_of
from onetree.categories import FIRST, MISSING, OTHER, Categories
from onetree.ensemble import Rule
from onetree.first_cuts import first_cuts
from onetree.grid import Grid
from onetree.limits import OBJECTIVES
from onetree.solve import ENGINES
from tests import oracle
from tests.fingerprints import fingerprint
from tests.set_cases import random_set_case, set_cases, set_forest
from tests.strategies import ensembles

PROOFS = ("cells", "search", "milp")
methods = pytest.mark.parametrize("method", PROOFS)
engines = pytest.mark.parametrize("engine", ENGINES)
objectives = st.sampled_from(OBJECTIVES)


def stumps(*splits, n_features=None, categories=(), nan=()):
    """One vote of each split for class 1 on its right: (feature, threshold), or (feature, elements that go left)."""
    n = len(splits)
    features = [feature for feature, _ in splits]
    kinds = dict(categories)
    n_features = n_features or max(features) + 1
    width = max((kind.n_elements for kind in kinds.values()), default=0)
    subset, subsets, threshold = np.full(3 * n, -1), [], np.zeros(3 * n)
    for at, (_, test) in enumerate(splits):
        if isinstance(test, float):
            threshold[3 * at] = test
        else:
            subset[3 * at] = len(subsets)
            subsets.append([element in test for element in range(width)])
    root = 3 * np.arange(n)
    feature, left, right, value = np.full(3 * n, -1), np.full(3 * n, -1), np.full(3 * n, -1), np.zeros((3 * n, 2))
    feature[root], left[root], right[root] = features, root + 1, root + 2
    value[root + 1, 0] = value[root + 2, 1] = 1.0
    return Ensemble(
        classes=[0, 1],
        feature_names=tuple(f"x{j}" for j in range(n_features)),
        roots=root,
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        missing_left=np.zeros(3 * n, dtype=bool),
        value=value,
        base=[0.0, 0.0],
        rule=Rule("hard"),
        nan_features=[j in nan for j in range(n_features)],
        categories=tuple(kinds.get(j) for j in range(n_features)) if kinds else (),
        subset=subset,
        subsets=np.array(subsets, dtype=bool).reshape(len(subsets), width),
    )


def thresholds(axes):
    """Axis and threshold of every split that the core sees."""
    inner = axes.ensemble.feature >= 0
    return list(zip(axes.ensemble.feature[inner].tolist(), axes.ensemble.threshold[inner].tolist(), strict=True))


@given(ensembles())
def test_an_ensemble_of_ordinary_features_is_left_as_it_is(ensemble):
    assert axes_of(ensemble).ensemble is ensemble


def test_implications_are_an_ordinary_axis():
    axes = axes_of(stumps((0, 0.5), (1, 0.5), (2, 0.5)), {(0, 1, 2): "implies"})
    assert axes.sets == (None, None, None)
    assert sorted(thresholds(axes)) == [(0, 0.0), (0, 1.0), (0, 2.0)]


def test_one_of_three_is_a_set_axis_with_a_test_for_each():
    axes = axes_of(stumps((0, 0.5), (1, 0.5), (2, 0.5)), {(0, 1, 2): "one-hot"})
    assert sorted(axes.sets[0].sum(axis=1).tolist()) == [2, 2, 2]
    assert axes.sets[0].shape == (3, 3)
    assert axes.sets[0].dtype == np.uint8
    assert axes.sets[0].flags.c_contiguous
    assert thresholds(axes) == [(0, 0.0), (0, 1.0), (0, 2.0)]


def test_one_of_two_is_one_test_and_the_second_split_has_its_children_exchanged():
    axes = axes_of(stumps((0, 0.5), (1, 0.5)), {(0, 1): "one-hot"})
    assert thresholds(axes) == [(0, 0.0), (0, 0.0)]
    left, right = axes.ensemble.left, axes.ensemble.right
    assert [(left[root] < right[root]) for root in axes.ensemble.roots] == [True, False]


def test_splits_that_the_group_decides_are_gone():
    axes = axes_of(stumps((0, 0.5), (1, 0.5), (2, 0.5)), {(0, 1): "00,01", (1, 2): "equal"})
    assert set(thresholds(axes)) == {(0, 0.0)}
    assert len(axes.ensemble.feature) == 7  # one of the stumps is a leaf


def test_elements_that_the_domain_excludes_are_no_values():
    kind = Categories.equal([1.0, 2.0, 3.0])
    splits = [(0, {FIRST, OTHER}), (0, {FIRST + 1, MISSING}), (0, {FIRST + 2})]
    ensemble = stumps(*splits, categories={0: kind}, nan={0})
    assert axes_of(ensemble).sets[0].shape == (3, 3)  # category 1 and OTHER go together, as do 2 and MISSING
    assert axes_of(ensemble, {0: {1.0, 2.0}}).sets[0] is None
    assert set(thresholds(axes_of(ensemble, {0: {1.0, 2.0}}))) == {(0, 0.0)}
    assert thresholds(axes_of(ensemble, {0: {3.0}})) == []


def test_whole_numbers_and_ranges_decide_which_elements_there_are():
    between = Categories((0.25, 7.5), [0.0, 7.0], [0.5, 8.5])  # a whole number lies in the second interval only
    ensemble = stumps((0, {FIRST}), (0, {FIRST + 1}), categories={0: between})
    assert set(thresholds(axes_of(ensemble, {0: "integer"}))) == {(0, 0.0)}
    assert thresholds(axes_of(ensemble, {0: "integer 0:5"})) == []
    assert len(set(thresholds(axes_of(ensemble, {0: (0.3, 7.5)})))) == 2
    assert thresholds(axes_of(ensemble, {0: (7.25, 8.5)})) == []


def test_a_tree_spells_sets_as_the_ensemble_does():
    kind = Categories.equal([1.0, 2.0, 3.0])
    ensemble = stumps((0, {FIRST, OTHER, MISSING}), categories={0: kind})
    axes = axes_of(ensemble, {0: {1.0, 2.0}})
    tree = axes.tree(*(np.array(column) for column in ([0, -1, -1], [0.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1])))
    assert tree.subsets[tree.subset[0]].tolist() == [True, True, True, False, False]
    assert tree.categories == ensemble.categories
    assert tree.predict([[1.0], [2.0]]).tolist() == [0, 1]


def test_the_grid_counts_what_can_be_reached():
    ensemble = stumps((0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5))
    assert Grid.of(ensemble).n_cells == 16
    assert Grid.of(ensemble, {(0, 1, 2): "implies"}).n_cells == 8
    one_hot = Grid.of(ensemble, {(0, 1, 2): "one-hot"})
    assert (one_hot.n_cells, one_hot.n_slabs, one_hot.n_boxes) == (6, (3, 1, 1, 2), 7 * 3)


def as_tree(axes, root):
    """One tree of the ensemble that the core sees, and its leaves' class, which stands for the whole vector."""
    arrays, order, stack = axes.ensemble, [], [int(root)]
    while stack:
        node = stack.pop()
        order.append(node)
        if arrays.feature[node] >= 0:
            stack += [int(arrays.right[node]), int(arrays.left[node])]
    number = np.full(len(arrays.feature) + 1, -1)
    number[order] = np.arange(len(order))
    leaf_class = np.where(arrays.feature < 0, side_of(arrays.value, arrays.n_classes), -1)
    columns = (arrays.feature, arrays.threshold, number[arrays.left], number[arrays.right], leaf_class)
    return axes.tree(*(column[order].astype(column.dtype) for column in columns))


def side_of(value, n_classes):
    return np.argmax(value, axis=1) if value.shape[1] == n_classes else (value[:, 0] > 0).astype(np.int64)


@settings(max_examples=300)
@given(set_cases(missing=False))
def test_every_tree_of_the_ensemble_comes_back_as_the_same_function(case):
    ensemble, domain = case
    axes = axes_of(ensemble, domain)
    X = oracle.inputs_inside(ensemble, domain)
    expected = side_of(ensemble.value, ensemble.n_classes)[ensemble.apply(X)]
    for number, root in enumerate(axes.ensemble.roots):
        assert (as_tree(axes, root).predict_index(X) == expected[:, number]).all()


def test_set_tests_a_hundred_thousand_splits_deep():
    n, kind = 100_000, Categories.equal([1.0, 2.0, 3.0])
    node = np.arange(2 * n + 1)
    inner = (node % 2 == 0) & (node < 2 * n)
    ensemble = Ensemble(
        classes=[0, 1], feature_names=("x0",), roots=[0], feature=np.where(inner, 0, -1), threshold=np.zeros(2 * n + 1),
        left=np.where(inner, node + 1, -1), right=np.where(inner, node + 2, -1),
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
        left=[1, -1, 3, -1, -1, 6, -1, 8, -1, -1], right=[2, -1, 4, -1, -1, 7, -1, 9, -1, -1],
        missing_left=np.zeros(10, dtype=bool), value=value, base=[0.0], rule=Rule("score"), nan_features=[False],
        categories=(Categories.equal([1.0, 2.0, 3.0, 4.0]),), subset=[0, -1, 1, -1, -1, 2, -1, 3, -1, -1],
        subsets=[[element in members for element in range(6)] for members in HIDDEN],
    )  # fmt: skip
    assert oracle.pareto(oracle.cells_inside(ensemble, Domain((None,)))) == [(1, 2)]
    assert born_again(ensemble, objective="leaves", **choice).value == 2


@engines
@settings(max_examples=100)
@given(set_cases(), objectives)
def test_no_smaller_tree_exists_where_features_depend_on_each_other(engine, case, objective):
    ensemble, domain = case
    front = oracle.pareto(oracle.cells_inside(ensemble, domain))
    solution = born_again(ensemble, objective=objective, domain=domain, engine=engine)
    assert (solution.value, solution.status) == (oracle.value_of(front, objective), "optimal")


@engines
@pytest.mark.parametrize("part", range(3))
def test_no_smaller_tree_exists_for_hundreds_of_random_cases(engine, part):
    n_sets = 0
    for seed in range(100 * part, 100 * part + 100):
        ensemble, domain = random_set_case(np.random.default_rng(seed))
        n_sets += any(members is not None for members in axes_of(ensemble, domain).sets)
        front = oracle.pareto(oracle.cells_inside(ensemble, domain))
        found = {name: born_again(ensemble, objective=name, domain=domain, engine=engine).value for name in OBJECTIVES}
        assert found == {name: oracle.value_of(front, name) for name in OBJECTIVES}, f"seed {seed}"
    assert n_sets >= 10


@engines
@settings(max_examples=40)
@given(set_cases(), objectives)
def test_the_tree_is_the_same_for_any_number_of_threads(engine, case, objective):
    ensemble, domain = case
    one, three = (
        born_again(ensemble, objective=objective, domain=domain, engine=engine, n_jobs=n_jobs) for n_jobs in (1, 3)
    )
    assert fingerprint(one.tree) == fingerprint(three.tree)
    assert one.tree.subset.tolist() == three.tree.subset.tolist()
    assert one.tree.subsets.tolist() == three.tree.subsets.tolist()


@settings(max_examples=100)
@given(set_cases())
def test_the_pareto_front_is_whole(case):
    ensemble, domain = case
    front = [solution.value for solution in pareto_front(ensemble, domain=domain)]
    assert front == oracle.pareto(oracle.cells_inside(ensemble, domain))


@settings(max_examples=100)
@given(set_cases(max_trees=6), objectives, st.sampled_from(["auto", "exact", "heuristic"]))
def test_every_method_gives_a_tree_that_predicts_like_its_ensemble(case, objective, method):
    ensemble, domain = case
    tree = born_again(ensemble, objective=objective, domain=domain, method=method, verify=False).tree
    X = oracle.inputs_inside(ensemble, domain)
    np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))


@settings(max_examples=100)
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


@settings(max_examples=50)
@given(set_cases(), objectives)
def test_groups_never_make_the_tree_larger(case, objective):
    ensemble, domain = case
    apart = born_again(ensemble, objective=objective, domain=replace(domain, groups=()))
    assert born_again(ensemble, objective=objective, domain=domain).value <= apart.value


@settings(max_examples=50)
@given(set_cases())
def test_an_exact_estimate_is_the_number_of_leaves(case):
    ensemble, domain = case
    found = estimate(ensemble, domain=domain)
    assert not found.exact or found.leaves == born_again(ensemble, objective="leaves", domain=domain).value


@methods
@settings(max_examples=40)
@given(set_cases())
def test_a_faithful_tree_is_proven(method, case):
    ensemble, domain = case
    tree = born_again(ensemble, domain=domain, engine="interval-dp", verify=False).tree
    verdict = verify(tree, ensemble, method=method)
    assert verdict
    assert verdict.method == method


@methods
@settings(max_examples=60)
@given(set_cases(), st.integers(0, 2**32 - 1))
def test_planted_errors_are_found_and_the_counterexample_is_an_input_of_the_domain(method, case, seed):
    ensemble, domain = case
    tree = born_again(ensemble, domain=domain, engine="interval-dp", verify=False).tree
    broken = damaged(tree, np.random.default_rng(seed))
    X = oracle.inputs_inside(ensemble, domain, broken)
    differ = broken.predict_index(X) != ensemble.predict_index(X)
    verdict = verify(broken, ensemble, domain=domain, method=method)
    assert bool(verdict) == (not differ.any())
    if not verdict:
        point = verdict.counterexample[np.newaxis]
        assert domain.contains(point)[0]
        assert verdict.tree_class == broken.predict(point)[0]
        assert verdict.ensemble_class == ensemble.predict(point)[0]
        assert verdict.tree_class != verdict.ensemble_class


def damaged(tree, rng):
    """Another class in a leaf, another set, or another feature: one of them."""
    leaf, inner = rng.choice(np.flatnonzero(tree.feature < 0)), np.flatnonzero(tree.feature >= 0)
    tested = np.flatnonzero(tree.subset >= 0)
    how = rng.integers(3)
    if how == 0 and tested.size:
        subsets, row = tree.subsets.copy(), tree.subset[rng.choice(tested)]
        width = tree.categories[tree.feature[tested[tree.subset[tested] == row][0]]].n_elements
        subsets[row, rng.integers(width)] ^= True
        return replace(tree, subsets=subsets)
    if how == 1 and inner.size:
        left, right, node = tree.children_left.copy(), tree.children_right.copy(), rng.choice(inner)
        left[node], right[node] = right[node], left[node]
        return replace(tree, children_left=left, children_right=right)
    leaf_class = tree.leaf_class.copy()
    leaf_class[leaf] = (leaf_class[leaf] + 1) % tree.n_classes
    return replace(tree, leaf_class=leaf_class)


KIND = Categories.equal([1.0, 2.0, 4.0])


def foreign_tree(feature, threshold, left, right, leaf_class, ensemble, **changes):
    return Tree(feature, threshold, left, right, leaf_class, ensemble.classes, ensemble.feature_names,
                ensemble.nan_features, **changes)  # fmt: skip


@methods
def test_a_tree_with_thresholds_is_compared_with_an_ensemble_with_sets(method):
    ensemble = stumps((0, {FIRST, FIRST + 1}), categories={0: KIND})
    nodes = ([0, -1, -1], [3.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1])
    tree = foreign_tree(*nodes, ensemble)
    assert verify(tree, ensemble, domain={0: {1.0, 2.0, 4.0}}, method=method)
    verdict = verify(tree, ensemble, method=method)  # 1.5 is no category, and goes right
    assert not verdict
    assert KIND.element(verdict.counterexample).tolist() == [OTHER]


@methods
def test_a_tree_may_have_other_categories_than_its_ensemble(method):
    ensemble = stumps((0, {FIRST, FIRST + 1}), categories={0: KIND})
    finer = Categories((0.5, 1.0, 2.0), [0.0, 0.75, 1.5], [0.75, 1.5, 2.5])
    tests = {"categories": (finer,), "subset": [0, -1, -1], "subsets": [[False, False, False, True, True]]}
    nodes = ([0, -1, -1], [0.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1])
    tree = foreign_tree(*nodes, ensemble, **tests)
    assert verify(tree, ensemble, domain={0: "integer"}, method=method)
    assert not verify(tree, ensemble, domain={0: (0.0, 1.25)}, method=method)


@methods
def test_missing_values_of_a_categorical_feature_are_proven_too(method):
    ensemble = stumps((0, {FIRST, MISSING}), categories={0: KIND}, nan={0})
    nodes = ([0, -1, -1], [0.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1])
    tests = {"categories": (KIND,), "subset": [0, -1, -1], "subsets": [[False, False, True, False, False]]}
    tree = foreign_tree(*nodes, ensemble, **tests)
    verdict = verify(tree, ensemble, method=method)
    assert math.isnan(verdict.counterexample[0])
    assert verify(tree, ensemble, domain={0: "0:9"}, method=method)


def test_only_cells_that_inputs_reach_are_compared():
    ensemble = stumps((0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5))
    tree = born_again(ensemble, domain={(0, 1, 2): "one-hot", 3: "binary"}, engine="interval-dp", verify=False).tree
    verdict = verify(tree, ensemble, method="cells")
    assert (bool(verdict), verdict.n_checked) == (True, 6)


def test_cells_are_counted_as_they_are_reached():
    ensemble = stumps(*((feature, 0.5) for feature in range(40)))
    chains = {tuple(range(start, start + 10)): "implies" for start in range(0, 40, 10)}
    leaf = foreign_tree([-1], [0.0], [-1], [-1], [0], ensemble)
    verdict = verify(leaf, ensemble, domain=chains, max_cells=11**4)  # not 2 ** 40
    assert (verdict.method, bool(verdict)) == ("cells", False)


@settings(max_examples=60)
@given(set_cases(max_trees=6), st.integers(1, 9), objectives)
def test_a_tree_in_parts_predicts_like_its_ensemble(case, n_parts, objective):
    ensemble, domain = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("onetree.first_cuts.FEW_CELLS", 1)
        solution = born_again_in_parts(ensemble, domain=domain, n_parts=n_parts, objective=objective)
    X = oracle.inputs_inside(ensemble, domain)
    np.testing.assert_array_equal(solution.tree.predict(X), ensemble.predict(X))
    assert verify(solution.tree, ensemble)


def test_a_group_stays_whole_where_a_tree_is_found_in_parts(monkeypatch):
    monkeypatch.setattr("onetree.first_cuts.FEW_CELLS", 1)
    top = first_cuts(stumps((0, 0.5), (1, 0.5), (2, 0.5)), Domain.from_dict({(0, 1): "one-hot"}, 3), 8, 0)
    assert [cut.feature for cut in top.cuts.values()] == [2]
    assert all(box.domain.groups for box in top.boxes.values())
