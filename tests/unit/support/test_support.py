"""Trees that follow an ensemble where the data are: what they promise, what they measure, what they refuse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier

import onetree
from onetree import _core
from onetree.base.progress import StopSearch
from onetree.errors import InvalidInputError, LimitReachedError
from onetree.model.ensemble import Ensemble
from onetree.support import SupportSolution, support_tree
from onetree.support.cut_back import cut_back
from onetree.support.growth import Node
from onetree.support.optimal import search_optimum
from onetree.support.rows import RowMaker
from onetree.tree.tree import LEAF
from tests.cases.oracle import points

X, Y = load_breast_cancer(return_X_y=True)
X_WINE, Y_WINE = load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def forest():
    """Far too large for an exact tree."""
    return RandomForestClassifier(60, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def boosting():
    """Three classes, scores that add up."""
    return GradientBoostingClassifier(n_estimators=15, random_state=0).fit(X_WINE, Y_WINE)


@pytest.fixture(scope="module")
def small(forest):
    return onetree.support_tree(forest, X, max_leaves=12)


@pytest.fixture(scope="module")
def faithful(forest):
    return onetree.support_tree(forest, X, fidelity=1.0)


def test_every_reference_row_gets_the_class_of_the_ensemble_with_fidelity_one(faithful, forest):
    assert (faithful.tree.predict(X) == forest.predict(X)).all()
    assert faithful.promise == "every reference row gets the class of the ensemble"
    assert faithful.reference.share == 1.0


def test_rows_set_aside_are_measured_before_they_join(faithful):
    assert faithful.held_out.n_inputs == int(0.2 * len(X))
    assert faithful.reference.n_inputs == len(X)
    assert 0.5 < faithful.held_out.share < 1.0


def test_a_lower_fidelity_is_kept_with_fewer_leaves(faithful, forest):
    rough = onetree.support_tree(forest, X, fidelity=0.95)
    assert (rough.tree.predict(X) == forest.predict(X)).mean() >= 0.95
    assert rough.tree.n_leaves < faithful.tree.n_leaves
    assert rough.promise == "at least 0.95 of the reference rows get the class of the ensemble"


def test_max_leaves_is_kept_and_nothing_else_is_promised(small):
    assert 2 < small.tree.n_leaves <= 12
    assert small.fidelity is None
    assert small.promise == "at most 12 leaves, no promise about any row"
    assert small.reference.share > 0.9
    assert small.held_out.share > 0.8


def test_without_a_choice_at_most_256_leaves_are_promised(forest):
    assert onetree.support_tree(forest, X[:60]).promise.startswith("at most 256 leaves")


def test_the_tree_is_marked_as_not_exact(small, faithful):
    assert isinstance(small, SupportSolution)
    assert (small.status, faithful.status) == ("support", "support")
    assert not small.tree.exact
    assert not faithful.tree.exact


def test_splits_are_thresholds_of_the_ensemble(small, forest):
    ensemble = Ensemble.from_model(forest)
    own = set(zip(ensemble.feature.tolist(), ensemble.threshold.tolist(), strict=True))
    inner = small.tree.feature != LEAF
    assert set(zip(small.tree.feature[inner].tolist(), small.tree.threshold[inner].tolist(), strict=True)) <= own


def test_every_leaf_of_a_faithful_tree_holds_a_reference_row(faithful):
    assert set(faithful.tree.apply(X).tolist()) == set(faithful.tree.leaves().tolist())


def test_held_out_rows_that_are_given_take_no_part(forest):
    held_out = X[::3]
    solution = onetree.support_tree(forest, X, held_out=held_out, max_leaves=8)
    assert solution.reference.n_inputs == len(X)
    assert solution.held_out.n_inputs == len(held_out)
    assert solution.held_out.n_agreeing == (solution.tree.predict(held_out) == forest.predict(held_out)).sum()


def test_the_same_seed_gives_the_same_tree(small, forest):
    again = onetree.support_tree(forest, X, max_leaves=12)
    assert again.tree.to_text() == small.tree.to_text()
    assert again.report() == small.report()


def test_the_report_is_made_of_plain_values(small):
    figures = small.report()
    assert figures["leaves"] == small.tree.n_leaves
    assert figures["box_points"] == 10_000
    assert all(isinstance(value, int | float | str | None) for value in figures.values())


def test_the_result_says_in_words_what_is_known(small):
    assert f"{small.held_out.n_agreeing:,} of {small.held_out.n_inputs:,}" in str(small)
    assert "not exact: at most 12 leaves" in repr(small)


def test_a_single_row_is_a_single_leaf(forest):
    solution = onetree.support_tree(forest, X[:1], fidelity=1.0)
    assert solution.tree.n_leaves == 1
    assert solution.tree.predict(X[:1]) == forest.predict(X[:1])
    assert solution.held_out.share is None
    assert "none" in str(solution)


def test_missing_values_follow_the_model():
    rows = X_WINE.copy()
    rows[::3, 0] = np.nan
    rows[1::4, 9] = np.nan
    model = HistGradientBoostingClassifier(max_iter=10, random_state=0).fit(rows, Y_WINE)
    solution = onetree.support_tree(model, rows, fidelity=1.0, certify=True)
    assert (solution.tree.predict(rows) == model.predict(rows)).all()


@pytest.mark.parametrize("rows", [X_WINE.astype(np.float32), X_WINE.tolist()])
def test_rows_may_be_of_any_number_type(boosting, rows):
    solution = onetree.support_tree(boosting, rows, fidelity=1.0)
    assert (solution.tree.predict(rows) == boosting.predict(rows)).all()


def test_no_input_in_a_core_has_another_class(boosting):
    ensemble = Ensemble.from_model(boosting)
    solution = support_tree(ensemble, X_WINE, max_leaves=10, certify=True)
    cores, random = solution.cores, np.random.default_rng(0)
    real = np.flatnonzero((cores.lower != cores.upper).any(axis=1))
    assert len(real) > 1
    chosen = random.choice(real, size=5_000)
    lower = np.maximum(cores.lower[chosen], X_WINE.min(axis=0) - 1)
    upper = np.minimum(cores.upper[chosen], X_WINE.max(axis=0) + 1)
    inputs = upper - random.random(lower.shape) * (upper - lower)
    inside = cores.contain(solution.tree, inputs)
    assert inside.mean() > 0.9
    assert (solution.tree.predict_index(inputs) == ensemble.predict_index(inputs))[inside].all()


def test_cores_lie_in_the_boxes_of_their_leaves(boosting):
    solution = support_tree(boosting, X_WINE, max_leaves=10, certify=True)
    lower, upper = solution.tree.boxes()
    real = (solution.cores.lower != solution.cores.upper).any(axis=1)
    assert (solution.cores.lower[real] >= lower[real]).all()
    assert (solution.cores.upper[real] <= upper[real]).all()


def test_coverage_counts_the_rows_in_cores(boosting):
    solution = support_tree(boosting, X_WINE, held_out=X_WINE[::2], max_leaves=10, certify=True)
    held_out = solution.cores.coverage["held_out"]
    inside = solution.cores.contain(solution.tree, X_WINE[::2])
    assert (held_out.n_inside, held_out.n_inputs) == (inside.sum(), len(inside))
    assert held_out.n_inside > 0
    assert held_out.outside.n_inputs == (~inside).sum()
    assert solution.report()["proven"]["held_out"]["share"] == inside.mean()
    assert solution.promise.endswith("inside the cores every input gets the class of the ensemble")
    assert "class proven on held-out rows" in str(solution)


@pytest.mark.parametrize("objective", ["leaves", "depth"])
def test_exact_search_proves_the_smallest_tree_on_the_rows(objective):
    rows, classes = load_iris(return_X_y=True)
    model = RandomForestClassifier(20, random_state=0).fit(rows, classes)
    quick = onetree.support_tree(model, rows, fidelity=1.0)
    best = onetree.support_tree(model, rows, fidelity=1.0, optimal=objective)
    assert best.status == "support-optimal"
    measure = (quick.tree.n_leaves, quick.tree.depth)[objective == "depth"]
    assert best.value == best.lower_bound <= measure
    assert (best.tree.predict(rows) == model.predict(rows)).all()
    assert quick.lower_bound[objective == "depth"] <= best.value


def test_exact_search_that_runs_out_of_time_gives_the_tree_and_a_bound(faithful, forest):
    ensemble = Ensemble.from_model(forest)
    maker = RowMaker(ensemble, 0)
    tree, (depth, leaves) = search_optimum(faithful.tree, maker.label(X), maker.grid, "leaves", 0.0)
    assert tree is faithful.tree
    assert 2 <= leaves < tree.n_leaves
    assert 1 <= depth <= tree.depth


def test_a_time_limit_ends_the_growth_of_a_small_tree_early(forest):
    assert onetree.support_tree(forest, X, max_leaves=64, time_limit=1e-9).tree.n_leaves == 1


def test_a_time_limit_before_the_promise_is_kept_is_an_error(forest):
    with pytest.raises(LimitReachedError, match=r"rows still have another class .* raise time_limit"):
        onetree.support_tree(forest, X, fidelity=1.0, time_limit=1e-9)


def test_progress_is_told(forest):
    seen = []
    onetree.support_tree(forest, X, max_leaves=64, progress=seen.append)
    assert all(step.phase == "support" for step in seen)


def test_a_caller_who_asks_to_stop_gets_the_tree_so_far(forest):
    def stop(step):
        raise StopSearch

    assert support_tree(forest, X, max_leaves=10_000, progress=stop).tree.n_leaves < 100
    with pytest.raises(LimitReachedError, match="lower fidelity"):
        support_tree(forest, X, fidelity=1.0, progress=stop)


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        ((X,), {"fidelity": 1.0, "max_leaves": 5}, "exclude each other"),
        ((X,), {"fidelity": 1.5}, "share of the rows"),
        ((X,), {"max_leaves": 0}, "positive integer"),
        ((X,), {"optimal": "leaves"}, "fidelity=1.0"),
        ((X,), {"optimal": "leaves-depth", "fidelity": 1.0}, "'leaves', 'depth'"),
        ((X[:0],), {}, "no rows"),
        ((X,), {"held_out": X[:0]}, "held_out has no rows"),
        ((X[:, :3],), {}, "3 features"),
        ((X,), {"time_limit": -1.0}, "time_limit must be a positive"),
        ((X,), {"random_state": -1}, "non-negative integer"),
        ((X,), {"progress": "yes"}, "progress must be a callable"),
    ],
)
def test_requests_that_make_no_sense_are_refused(forest, rows, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        onetree.support_tree(forest, *rows, **arguments)


@pytest.mark.parametrize("option", ["support", "held_out", "fidelity", "certify"])
def test_exact_trees_know_no_options_of_trees_for_the_data(forest, option):
    with pytest.raises(TypeError, match=option):
        onetree.born_again(forest, **{option: 1})


def _numbers(*values):
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize("n_slabs", [5, 5_000])  # rows are counted by slab, or sorted
def test_the_best_split_is_the_one_of_least_impurity(n_slabs):
    random = np.random.default_rng(0)
    slabs = random.integers(n_slabs, size=(3, 40)).astype(np.int32)
    classes = random.integers(3, size=40).astype(np.int32)
    weight = np.where(np.arange(40) < 10, 1.0, 0.7)
    counts = np.eye(3)[classes] * weight[:, np.newaxis]

    def purity(chosen):
        total = counts[chosen].sum(axis=0)
        return total @ total / total.sum()

    cuts = [(feature, level) for feature in range(3) for level in np.unique(slabs[feature])[:-1]]
    gains = {cut: purity(slabs[cut[0]] <= cut[1]) + purity(slabs[cut[0]] > cut[1]) for cut in cuts}
    best = max(gains, key=gains.get)
    everything = counts.sum(axis=0)
    found = _core.least_impurity(
        slabs, classes, 3, np.arange(10, dtype=np.int32), np.arange(10, 40, dtype=np.int32), 0.7, False
    )
    assert (found.feature, found.below) == best
    assert found.above == slabs[found.feature][slabs[found.feature] > found.below].min()
    assert found.gain == pytest.approx((gains[best] - everything @ everything / everything.sum()) / everything.sum())


def test_a_faithful_split_has_reference_rows_on_both_sides():
    slabs, classes = _numbers(0, 1, 2, 3, 9)[np.newaxis], _numbers(0, 0, 0, 0, 1)
    free = _core.least_impurity(slabs, classes, 2, _numbers(1, 3), _numbers(0, 2, 4), 1.0, False)
    faithful = _core.least_impurity(slabs, classes, 2, _numbers(1, 3), _numbers(0, 2, 4), 1.0, True)
    assert (free.feature, free.below, free.above) == (0, 3, 9)
    assert (faithful.feature, faithful.below, faithful.above) == (0, 2, 3)


def test_rows_that_nothing_parts_have_no_split():
    slabs = np.zeros((2, 4), dtype=np.int32)
    grown = _core.least_impurity(slabs, _numbers(0, 1, 0, 1), 2, _numbers(0, 1), _numbers(2, 3), 1.0, False)
    assert grown.feature == LEAF
    assert _core.largest_gain(slabs, _numbers(0, 1), np.ones(2), 0.0).feature == LEAF


def test_a_row_that_does_not_exist_is_refused_by_the_core():
    with pytest.raises(ValueError, match="no such row"):
        _core.largest_gain(np.zeros((2, 4), dtype=np.int32), _numbers(4), np.ones(1), 0.0)


def _mixed(**changed):
    """Four new rows of three features, the last two of which are one of the data; parents are two rows."""
    given = {
        "slabs": np.array([[1, 2], [3, 4], [5, 6]], dtype=np.int32).repeat([1, 5], axis=1),
        "origin": _numbers(0, 1, 1),
        "copied": _numbers(0, 1),
        "others": _numbers(0, 1)[np.newaxis],
        "first": 2,
        "n_new": 4,
        "seed": 1,
    } | changed
    _core.mix_rows(*given.values())
    return given["slabs"][:, given["first"] :]


def test_columns_of_one_feature_are_taken_from_one_row():
    slabs = np.zeros((3, 1_002), dtype=np.int32)
    slabs[:, 1] = 1
    first, second, third = _mixed(slabs=slabs, n_new=1_000)
    assert (second == third).all()
    for column in (first, second):
        assert 400 < column.sum() < 600
    assert 560 < (first == second).sum() < 690  # five eighths: both are copied, or they are equal by chance


def test_the_same_seed_mixes_the_same_rows():
    assert (_mixed() == _mixed()).all()


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"copied": _numbers(0, 6)}, "no such row"),
        ({"others": _numbers(-1)[np.newaxis]}, "no such row"),
        ({"others": _numbers(0, 1, 0)[:, np.newaxis]}, "shapes"),
        ({"origin": _numbers(0)}, "shapes"),
        ({"n_new": 5}, "no room"),
    ],
)
def test_rows_that_cannot_be_mixed_are_refused_by_the_core(changed, complaint):
    with pytest.raises(ValueError, match=complaint):
        _mixed(**changed)


def _grown(random, n_splits):
    """Nodes with errors that fall from a node to its children."""
    rows = np.empty(0, dtype=np.int32)
    nodes = [Node(rows, rows, 1.0, 0, 0, 1.0, 1.0, None)]
    for _ in range(n_splits):
        leaf = random.choice([index for index, node in enumerate(nodes) if node.left == LEAF])
        shares = random.random(2) * nodes[leaf].error / 2
        nodes[leaf].left, nodes[leaf].right, nodes[leaf].feature = len(nodes), len(nodes) + 1, 0
        nodes += [Node(rows, rows, 1.0, 0, 0, 1.0, float(share), None) for share in shares]
    return nodes


def _kept_error(nodes, cut):
    """Error and leaves when the nodes in `cut` are leaves."""
    error, n_leaves, stack = 0.0, 0, [0]
    while stack:
        index = stack.pop()
        if index in cut or nodes[index].left == LEAF:
            error, n_leaves = error + nodes[index].error, n_leaves + 1
        else:
            stack += [nodes[index].left, nodes[index].right]
    return error, n_leaves


def test_cutting_back_leaves_the_least_error_of_each_size():
    for seed in range(20):
        nodes = _grown(np.random.default_rng(seed), 7)
        inner = [index for index, node in enumerate(nodes) if node.left != LEAF]
        choices = itertools.chain.from_iterable(itertools.combinations(inner, n) for n in range(len(inner) + 1))
        results = [_kept_error(nodes, set(cut)) for cut in choices]
        for budget, leaves in zip((1, 4, 6, 50), cut_back(nodes, (1, 4, 6, 50)), strict=True):
            error, n_leaves = _kept_error(nodes, leaves)
            assert n_leaves <= budget
            assert error == pytest.approx(min(error for error, n_leaves in results if n_leaves <= budget))


def test_an_ensemble_that_is_constant_needs_no_rows_apart():
    model = RandomForestClassifier(3, random_state=0).fit(X, np.zeros(len(X), dtype=int))
    solution = onetree.support_tree(model, X, fidelity=1.0, certify=True)
    assert solution.tree.n_leaves == 1
    assert solution.cores.coverage["box"].share == 1.0
    assert len(points(Ensemble.from_model(model))) == 1
