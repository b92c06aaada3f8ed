"""Corners of the native core that small random cases never reach: wide tables, countless sets, limits, large grids.

Most of these ensembles have an optimum that is known without a search, however large their grid is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onetree import Domain, Ensemble, born_again, estimate, pareto_front, verify
from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.lowering.choices import objective_of
from onetree.model.categories import FIRST, Categories
from onetree.model.ensemble import Rule
from onetree.search.solve import ENGINES, OBJECTIVES, _core
from tests.cases import oracle
from tests.cases.domains import axes_in
from tests.cases.set_cases import random_set_case, set_forest
from tests.cases.strategies import painted

engines = pytest.mark.parametrize("engine", ENGINES)
forms = pytest.mark.parametrize("has_sets", [False, True], ids=["thresholds", "sets"])
TWO_BITS = Categories.equal([1.0, 2.0, 3.0])  # as are {1, 2} and {1, 3}: all of 1, 2, 3 and any other number differ
BITS = ({FIRST, FIRST + 1}, {FIRST, FIRST + 2})


def one_tree(feature, left, right, leaf_class, n_bits, has_sets):
    """A tree whose nodes test bits, given by number; two of them may be sets of one categorical feature."""
    feature = np.asarray(feature)
    is_set = (feature == 0) | (feature == 1) if has_sets else np.zeros(len(feature), dtype=bool)
    own = np.where(feature > 0, feature - 1, feature) if has_sets else feature
    n_features = n_bits - has_sets
    return Ensemble(
        classes=[0, 1], feature_names=tuple(f"x{j}" for j in range(n_features)), roots=[0], feature=own,
        threshold=np.where((feature >= 0) & ~is_set, 0.5, 0.0), children_left=left, children_right=right,
        missing_left=np.zeros(len(feature), dtype=bool), value=np.eye(3, 2)[leaf_class], base=[0.0, 0.0],
        rule=Rule("hard"), nan_features=[False] * n_features,
        categories=(TWO_BITS if has_sets else None, *[None] * (n_features - 1)),
        subset=np.where(is_set, feature, -1),
        subsets=[[element in bit for element in range(TWO_BITS.n_elements)] for bit in BITS] if has_sets else None,
    )  # fmt: skip


def parity(n_bits, has_sets):
    """No two neighbouring cells have the same class, so the best tree has all of them as leaves."""
    node = np.arange(2 ** (n_bits + 1) - 1)
    level = np.frexp(node + 1.0)[1] - 1
    inner = level < n_bits
    ones = np.array([bin(number).count("1") for number in node + 1])
    return one_tree(
        np.where(inner, level, -1), np.where(inner, 2 * node + 1, -1), np.where(inner, 2 * node + 2, -1),
        np.where(inner, 2, ones % 2), n_bits, has_sets,
    )  # fmt: skip


def conjunction(n_bits, has_sets):
    """Where all bits are one every bit has to be asked, and a list of questions is a tree."""
    node = np.arange(2 * n_bits + 1)
    inner = (node % 2 == 0) & (node < 2 * n_bits)
    return one_tree(
        np.where(inner, node // 2, -1), np.where(inner, node + 1, -1), np.where(inner, node + 2, -1),
        np.where(inner, 2, node == 2 * n_bits), n_bits, has_sets,
    )  # fmt: skip


def in_order(objective, depth, leaves):
    pair = {"depth": depth, "leaves": leaves}
    sizes = tuple(pair[name] for name in objective.split("-"))
    return sizes if len(sizes) > 1 else sizes[0]


def assert_faithful(tree, ensemble, domain=None):
    X = oracle.inputs_inside(ensemble, domain or Domain((None,) * ensemble.n_features), tree)
    np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))


@forms
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_table_is_widened_until_the_largest_count_fits(objective, has_sets):
    solution = born_again(parity(12, has_sets), objective=objective, engine="interval-dp")
    assert (solution.status, solution.value) == ("optimal", in_order(objective, 12, 2**12))


@forms
def test_the_front_of_a_large_tree_is_found_with_wide_tables(has_sets):
    (solution,) = pareto_front(parity(11, has_sets))
    assert (solution.status, solution.value) == ("optimal", (11, 2**11))


@forms
def test_more_splits_than_two_bytes_count(has_sets):
    solution = born_again(parity(16, has_sets), objective="leaves", engine="interval-dp", verify=False)
    assert (solution.status, solution.value) == ("optimal", 2**16)


@forms
@engines
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_first_tree_for_many_boxes_does_not_change_the_optimum(engine, objective, has_sets):
    solution = born_again(conjunction(14, has_sets), objective=objective, engine=engine)
    assert (solution.status, solution.value) == ("optimal", in_order(objective, 14, 15))


@forms
def test_a_first_tree_that_a_time_limit_asks_for_does_not_change_the_front(has_sets):
    ensemble = conjunction(15, has_sets)
    (front,) = pareto_front(ensemble, time_limit=600)
    assert (front.status, front.value) == ("optimal", (15, 16))
    solution = born_again(ensemble, engine="interval-dp", objective="leaves", time_limit=600)
    assert (solution.status, solution.value) == ("optimal", 16)


def additive(rng, n_features, n_levels):
    """The sum of a random score per feature and slab, as stumps: a small ensemble of many states."""
    n = n_features * n_levels
    node = np.arange(3 * n)
    inner = node % 3 == 0
    steps = np.diff(rng.normal(size=(n_features, n_levels + 1)), axis=1).ravel()
    return Ensemble(
        classes=[0, 1], feature_names=tuple(f"x{j}" for j in range(n_features)), roots=node[inner],
        feature=np.where(inner, node // 3 // n_levels, -1), threshold=np.where(inner, node // 3 % n_levels, 0.0),
        children_left=np.where(inner, node + 1, -1), children_right=np.where(inner, node + 2, -1),
        missing_left=np.zeros(3 * n, dtype=bool), value=np.where(node % 3 == 2, np.repeat(steps, 3), 0)[:, np.newaxis],
        base=[0.0], rule=Rule("score"), nan_features=[False] * n_features,
    )  # fmt: skip


def test_a_first_tree_that_memory_does_not_suffice_for_is_made_the_simple_way():
    ensemble = additive(np.random.default_rng(0), 4, 8)
    optimum = born_again(ensemble, objective="leaves", engine="interval-dp").value
    n_found = 0
    for memory_limit in (2e-4, 3e-4, 4e-4, 6e-4):
        try:
            solution = born_again(ensemble, objective="leaves", engine="branch-and-bound", memory_limit=memory_limit)
        except GridTooLargeError:
            continue
        n_found += 1
        assert solution.status == "feasible"
        assert solution.lower_bound <= optimum <= solution.value
    assert n_found > 0


def test_tables_that_would_take_longer_than_there_is_time_are_not_begun():
    numeric = conjunction(14, has_sets=False)
    bit, is_inner = numeric.feature, numeric.feature >= 0
    only_sets = replace(
        numeric, feature=np.where(is_inner, bit // 2, -1), threshold=np.zeros(len(bit)), categories=(TWO_BITS,) * 7,
        feature_names=numeric.feature_names[:7], nan_features=[False] * 7, subset=np.where(is_inner, bit % 2, -1),
        subsets=[[element in bit for element in range(TWO_BITS.n_elements)] for bit in BITS],
    )  # fmt: skip
    ensemble = axes_in(only_sets, Domain((None,) * 7)).ensemble
    objective, engine = _core.Objective.DEPTH_LEAVES, _core.Engine.QUICK_TABLE
    (found,) = _core.solve(ensemble, objective, engine, 1.0, 0, 0.0, 1, None).solutions
    assert not found.optimal
    assert found.depth_bound <= 14 <= found.depth
    assert found.leaves_bound <= 15 <= found.leaves


def one_by_one(n_codes, n_ones):
    """Every test names a single category, and the class depends on whether it is one of the first."""
    weights = np.where(np.arange(n_codes) < n_ones, 1.0, -1.0)
    node = np.arange(3 * n_codes)
    inner = node % 3 == 0
    value = np.where(node % 3 == 1, np.repeat(weights, 3), 0.0)[:, np.newaxis]
    kind = Categories.equal(np.arange(float(n_codes)))
    return Ensemble(
        classes=[0, 1], feature_names=("x0",), roots=node[inner], feature=np.where(inner, 0, -1),
        threshold=np.zeros(3 * n_codes),
        children_left=np.where(inner, node + 1, -1), children_right=np.where(inner, node + 2, -1),
        missing_left=np.zeros(3 * n_codes, dtype=bool), value=value, base=[0.0], rule=Rule("score"),
        nan_features=[False], categories=(kind,), subset=np.where(inner, node // 3, -1),
        subsets=np.eye(n_codes, kind.n_elements, FIRST, dtype=bool),
    )  # fmt: skip


@pytest.mark.parametrize("choice", [{}, *({"engine": engine} for engine in ENGINES), {"method": "heuristic"}], ids=str)
def test_an_axis_of_countless_sets_gets_a_faithful_tree_and_a_true_bound(choice):
    ensemble = one_by_one(24, 5)
    solution = born_again(ensemble, objective="leaves", **choice)
    assert_faithful(solution.tree, ensemble)
    assert solution.lower_bound <= 6 <= solution.value  # all of the five are asked for
    assert (solution.status == "optimal") <= (solution.value == 6)
    assert choice.get("engine") != "branch-and-bound" or solution.status == "optimal"


@pytest.mark.parametrize("time_limit", [1e-9, 1e-3, 3e-3, 1e-2])
def test_an_axis_of_countless_sets_is_not_listed_when_time_is_up(time_limit):
    ensemble = one_by_one(24, 5)
    try:
        solution = born_again(ensemble, objective="leaves", engine="interval-dp", time_limit=time_limit, verify=False)
    except LimitReachedError:
        return
    assert_faithful(solution.tree, ensemble)
    assert solution.lower_bound <= 6 <= solution.value


@engines
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_memory_limit_on_sets_leaves_a_faithful_tree_and_true_bounds(engine, objective):
    seen = set()
    for seed in range(12):
        ensemble = set_forest(np.random.default_rng(seed))
        optimum = born_again(ensemble, objective=objective).value
        for memory_limit in np.geomspace(2e-7, 1e-4, 12):
            try:
                solution = born_again(ensemble, objective=objective, engine=engine, memory_limit=memory_limit)
            except (GridTooLargeError, LimitReachedError):
                seen.add("refused")
                continue
            seen.add(solution.status)
            assert_faithful(solution.tree, ensemble)
            assert solution.lower_bound <= optimum <= solution.value
            assert (solution.status == "optimal") <= (solution.lower_bound == solution.value)
    assert seen == {"refused", "feasible", "optimal"}


@pytest.mark.parametrize("max_boxes", [1e-9, 10.0, 100.0])
def test_the_heuristic_cuts_up_sets_faithfully(max_boxes):
    n_cut = 0
    for seed in range(100):
        if seed % 2:
            ensemble, domain = random_set_case(np.random.default_rng(seed))
        else:
            ensemble = set_forest(np.random.default_rng(seed))
            domain = Domain((None,) * ensemble.n_features)
        axes = axes_in(ensemble, domain)
        objective = objective_of(OBJECTIVES[seed % 4])
        result = _core.heuristic(axes.ensemble, objective, max_boxes, seed, 0.0, 0, 0.0, 1, None)
        (found,) = result.solutions
        names = ("feature", "threshold", "children_left", "children_right", "leaf_class")
        nodes = [getattr(found.tree, name) for name in names]
        assert_faithful(axes.tree(*nodes), ensemble, domain)
        counterexample, _ = _core.certify_tree(axes.ensemble, *nodes, 0.0, None)
        assert counterexample.size == 0
        front = [solution.value for solution in pareto_front(ensemble, domain=domain)]
        if found.optimal:
            size = in_order(OBJECTIVES[seed % 4], found.depth, found.leaves)
            assert size == oracle.value_of(front, OBJECTIVES[seed % 4])
        else:
            assert found.depth_bound <= front[0][0] <= found.depth
            assert found.leaves_bound <= front[-1][1] <= found.leaves
        n_cut += result.statistics.states > 1 and any(members is not None for members in axes.sets)
    assert n_cut >= 20


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_time_to_spare_goes_into_larger_grids_and_never_makes_the_tree_larger(objective):
    ensemble = conjunction(60, has_sets=False)
    hurried = born_again(ensemble, objective=objective, method="heuristic")
    patient = born_again(ensemble, objective=objective, method="heuristic", time_limit=600)
    assert in_order(objective, 60, 61) <= patient.value <= hurried.value
    assert verify(patient.tree, ensemble)


def test_arrays_that_do_not_fit_each_other_are_refused_by_the_certificate():
    ensemble = painted(np.array([[0, 1], [1, 0]]), 2)
    box, classes = np.zeros((1, 2)), np.zeros(1, dtype=np.int32)
    for lower, upper, expected in ((box[:, :1], box, classes), (box, box[:0], classes), (box, box, classes[:0])):
        with pytest.raises(ValueError, match="shapes"):
            _core.certify_boxes(ensemble, lower, upper, expected, 0.0, None)
    for length in (0, 2):
        nodes = (np.full(length, -1, dtype=np.int32), np.zeros(length), classes, classes, classes)
        with pytest.raises(ValueError, match="same size"):
            _core.certify_tree(ensemble, *nodes, 0.0, None)


@pytest.fixture(scope="module")
def large():
    """A grid that an estimate solves only if there is time left; in random colours, no bound tells its leaves."""
    return painted(np.random.default_rng(0).integers(0, 3, (11, 10, 10, 10)), 3)


def estimated(ensemble, max_boxes, seconds):
    found = _core.estimate(ensemble, _core.Objective.LEAVES, max_boxes, seconds, 0, None)
    for name in ("leaves", "seconds", "bytes"):
        quantity = getattr(found, name)
        assert quantity.low <= quantity.mean <= quantity.high
    return found


def test_a_large_grid_that_an_estimate_has_time_for_is_solved(large):
    found = estimated(large, 0.0, 600)
    assert found.is_exact
    assert found.leaves.mean == born_again(large, objective="leaves", engine="interval-dp", verify=False).value


def test_a_large_grid_that_an_estimate_has_no_time_for_leaves_it_in_doubt(large):
    found = estimated(large, 0.0, 1e-6)
    assert not found.is_exact
    assert 2 * found.seconds.low <= found.seconds.mean
    assert 1.5 * found.seconds.mean <= found.seconds.high


def side_by_side(*sides):
    """One split of its own, and on either side a tree on features of its own."""
    nodes = np.cumsum([1, *(len(side.feature) for side in sides)])  # where those of each side begin
    features = np.cumsum([1, *(side.n_features for side in sides)])

    def joined(name, head, shifts):
        arrays = [getattr(side, name) for side in sides]
        moved = [np.where(array < 0, -1, array + by) for array, by in zip(arrays, shifts[:-1], strict=True)]
        return np.concatenate([[head], *moved])

    return Ensemble(
        classes=sides[0].classes, feature_names=tuple(f"x{j}" for j in range(features[-1])), roots=[0],
        feature=joined("feature", 0, features), threshold=np.concatenate([[0.0], *(side.threshold for side in sides)]),
        children_left=joined("children_left", nodes[0] + sides[0].roots[0], nodes),
        children_right=joined("children_right", nodes[1] + sides[1].roots[0], nodes),
        missing_left=np.zeros(nodes[-1], dtype=bool),
        value=np.concatenate([np.zeros((1, sides[0].n_classes)), *(side.value for side in sides)]),
        base=sides[0].base, rule=sides[0].rule, nan_features=[False] * features[-1],
    )  # fmt: skip


def test_several_large_grids_are_estimated_together(large):
    sides = (large, painted(np.random.default_rng(1).integers(0, 3, (12, 10, 10, 10)), 3))
    found = estimated(side_by_side(*sides), 1e9, 600).leaves
    apart = [born_again(side, objective="leaves", engine="interval-dp", verify=False).value for side in sides]
    assert found.low <= sum(apart) <= found.high


@engines
def test_a_threshold_that_every_input_passes_is_no_split(engine):
    cells = np.array([0, 1, 0, 1])
    plain = painted(cells, 2)
    n = len(plain.feature)
    ensemble = Ensemble(
        classes=plain.classes, feature_names=plain.feature_names, roots=[n], feature=[*plain.feature, 0, -1],
        threshold=[*plain.threshold, np.inf, 0.0], children_left=[*plain.children_left, plain.roots[0], -1],
        children_right=[*plain.children_right, n + 1, -1], missing_left=np.zeros(n + 2, dtype=bool),
        value=[*plain.value, [0, 0], [0, 1]], base=plain.base, rule=plain.rule, nan_features=[False],
    )  # fmt: skip
    assert born_again(ensemble, objective="leaves", engine=engine).value == 4
    assert _core.essential_levels(ensemble, 0.0)[0].tolist() == [0.0, 1.0, 2.0]


@forms
def test_a_grid_of_few_states_and_too_many_cells_is_refused_with_its_size(has_sets):
    with pytest.raises(GridTooLargeError, match=r"16384.* cells"):
        born_again(parity(14, has_sets), engine="branch-and-bound", memory_limit=6e-5)


def test_an_estimate_of_countless_sets_is_true_where_it_says_so():
    found = estimate(one_by_one(24, 5))
    assert not found.exact or found.leaves == 6
