"""The schedule of method="auto": a faithful tree first, a refusal with advice, limits in steps, no tree made larger."""

import os
import subprocess
import sys
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree
from onetree.base.limits import OBJECTIVES
from onetree.errors import InvalidInputError, LimitReachedError, TooLargeError
from onetree.lowering.axes import axes_of
from onetree.search import advice, auto, solve
from onetree.search.budget import Budget
from onetree.search.own_tree import own_tree
from tests.cases.estimates import estimate_by_trees
from tests.cases.oracle import brute_force
from tests.cases.strategies import ensembles

X, Y = load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def hopeless():
    return onetree.Ensemble.from_model(RandomForestClassifier(40, random_state=0).fit(X, Y))


@pytest.fixture(scope="module")
def middling():
    """Too many boxes for the table within the steps of these tests, some hundred leaves."""
    rows, classes = load_wine(return_X_y=True)
    return onetree.Ensemble.from_model(RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, classes))


@pytest.fixture(scope="module")
def tree_model():
    """A tree that a search only makes larger at first."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 12))
    return DecisionTreeClassifier(random_state=0).fit(rows, rng.integers(0, 2, 600))


def sizes(tree):
    return tree.n_leaves, tree.depth


def same(one, other):
    names = ("feature", "threshold", "children_left", "children_right", "leaf_class")
    return all(np.array_equal(getattr(one.tree, name), getattr(other.tree, name)) for name in names)


def test_a_tree_that_is_far_too_large_is_refused_with_its_estimate(hopeless, monkeypatch):
    monkeypatch.setattr(advice, "estimated", estimate_by_trees)  # what is proposed must not depend on the machine
    with pytest.raises(TooLargeError, match=r"the tree would have .* support_tree\(model, X\)") as caught:
        onetree.born_again(hopeless)
    assert caught.value.estimate.leaves > 1e9
    assert [each.change for each in caught.value.proposals] == ["the first 8 trees"]


def test_who_asks_for_the_heuristic_is_not_refused(hopeless):
    with pytest.raises(LimitReachedError, match="work limit"):
        onetree.born_again(hopeless, method="heuristic", work_limit=20)


def test_a_time_limit_that_is_too_short_says_that_time_does_not_help(hopeless, monkeypatch):
    monkeypatch.setattr(advice, "estimated", estimate_by_trees)
    with pytest.raises(LimitReachedError, match=r"more time does not help: .* support_tree\(model, X\)") as caught:
        onetree.born_again(hopeless, time_limit=2.0)
    assert "raise time_limit" not in str(caught.value)


@pytest.mark.parametrize("method", ["auto", "exact", "heuristic"])
@pytest.mark.parametrize("work_limit", [200, 3000])
def test_a_limit_in_steps_gives_the_same_tree_again(middling, method, work_limit):
    def found():
        try:
            return onetree.born_again(middling, method=method, work_limit=work_limit)
        except LimitReachedError:
            return None

    one, other = found(), found()
    assert (one is None) == (other is None)
    if one is not None:
        assert same(one, other)
        assert (one.value, one.lower_bound, one.status) == (other.value, other.lower_bound, other.status)


def test_a_limit_in_steps_does_not_depend_on_the_clock(middling, monkeypatch):
    first = onetree.born_again(middling, work_limit=3000)
    monkeypatch.setattr("onetree.search.budget.perf_counter", lambda: 1e9)  # a clock that stands still
    assert same(first, onetree.born_again(middling, work_limit=3000))


def test_more_steps_never_give_a_worse_tree(middling):
    values = [onetree.born_again(middling, work_limit=limit).value for limit in (1000, 5000, 50_000)]
    assert values == sorted(values, reverse=True)


def test_steps_are_the_same_for_any_number_of_workers(middling):
    assert same(
        onetree.born_again(middling, work_limit=3000, n_jobs=1), onetree.born_again(middling, work_limit=3000, n_jobs=2)
    )


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True])
def test_a_limit_in_steps_is_a_positive_integer(middling, wrong):
    with pytest.raises(InvalidInputError, match="work_limit must be a positive integer"):
        onetree.born_again(middling, work_limit=wrong)


@given(ensembles(max_cells=60), st.sampled_from(OBJECTIVES), st.sampled_from([1, 10, 100, 1000, None]))
def test_a_tree_under_any_limit_is_faithful_and_its_bound_true(ensemble, objective, work_limit):
    try:
        found = onetree.born_again(ensemble, objective=objective, work_limit=work_limit)  # proves the tree
    except LimitReachedError:
        return
    best = brute_force(ensemble, objective)
    assert found.lower_bound <= best <= found.value
    assert (found.status == "optimal") <= (found.value == best)


@pytest.mark.parametrize("method", ["auto", "exact", "heuristic"])
def test_a_single_tree_never_comes_back_larger(tree_model, method):
    own = (tree_model.get_n_leaves(), tree_model.get_depth())
    found = onetree.born_again(tree_model, method=method, work_limit=40)
    assert found.value <= own
    assert bool(onetree.verify(found.tree, tree_model))


def test_a_single_tree_comes_back_where_nothing_is_found_in_time(tree_model):
    found = onetree.born_again(tree_model, method="heuristic", work_limit=1)
    assert found.stats["engine"] == "the tree itself"
    assert found.tree.n_leaves <= tree_model.get_n_leaves()


@given(ensembles(max_cells=60, max_trees=1), st.sampled_from(OBJECTIVES))
def test_the_tree_of_a_single_tree_is_equal_to_it(ensemble, objective):
    found = own_tree(axes_of(ensemble), objective)
    if found is None:
        assert ensemble.n_trees != 1 or ensemble.missing_left.any()
        return
    assert onetree.verify(found.tree, ensemble)
    assert found.tree.n_leaves <= ensemble.n_leaves
    assert found.tree.depth <= ensemble.depths.max()


def test_siblings_of_one_class_are_joined():
    rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    tree = DecisionTreeClassifier().fit(rows, [0, 0, 1, 1], sample_weight=[1, 1, 1, 1])
    ensemble = onetree.Ensemble.from_model(tree)
    constant = np.where(ensemble.feature[:, np.newaxis] < 0, [[1.0, 0.0]], 0.0)
    found = own_tree(axes_of(onetree.model.ensemble.replace(ensemble, value=constant)), "leaves")
    assert (found.tree.n_leaves, found.status) == (1, "optimal")


def test_a_model_of_several_trees_has_no_tree_of_its_own(middling):
    assert own_tree(axes_of(middling), "leaves") is None


def test_a_small_model_is_proven_without_a_first_tree(monkeypatch):
    monkeypatch.setattr(auto.Request, "heuristic", None)
    forest = RandomForestClassifier(4, max_depth=2, random_state=0).fit(X[:, :3], Y)
    assert onetree.born_again(forest).status == "optimal"


def test_the_first_tree_comes_before_the_exact_search(middling, monkeypatch):
    asked = []
    for name in ("exact_table", "heuristic"):
        real = getattr(auto.Request, name)

        def note(self, *arguments, name=name, real=real):
            asked.append(name)
            return real(self, *arguments)

        monkeypatch.setattr(auto.Request, name, note)
    monkeypatch.setattr(auto, "_FEW_BOXES", 0)
    onetree.born_again(middling, work_limit=3000)
    assert asked[0] == "heuristic"


def test_a_stop_is_no_reason_for_an_estimate(hopeless, monkeypatch):
    monkeypatch.setattr(solve, "estimated", None)

    def stop(progress):
        raise onetree.StopSearch

    with pytest.raises(LimitReachedError, match="stopped"):
        onetree.born_again(hopeless, progress=stop)


class TestBudget:
    def test_without_limits_everything_is_left(self):
        budget = Budget()
        assert (budget.left, budget.is_limited, budget.allow()) == (1.0, False, (0.0, 0))

    def test_steps_are_charged(self):
        budget = Budget(steps=100)
        budget.charge(30)
        assert budget.used == pytest.approx(0.3)
        assert budget.allow(0.5) == (0.0, 35)

    def test_what_is_gone_still_allows_a_step(self):
        budget = Budget(steps=10)
        budget.charge(50)
        assert budget.left == 0
        assert budget.allow() == (0.0, 1)

    def test_the_nearer_limit_counts(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("onetree.search.budget.perf_counter", lambda: now[0])
        budget = Budget(seconds=10.0, steps=100)
        now[0] = 5.0
        budget.charge(20)
        assert budget.used == pytest.approx(0.5)
        assert budget.allow() == (5.0, 80)


STEPS_ON_ANY_PROCESSOR = """
import sys, onetree
found = onetree.born_again(onetree.load_ensemble(sys.argv[1]), work_limit=5000, verify=False)
print(found.value, found.lower_bound, found.stats["work"], hash(found.tree.threshold.tobytes()))
"""


def test_steps_are_the_same_whatever_the_processor_can_do(middling, tmp_path):
    middling.save(tmp_path / "model.json")
    said = {
        subprocess.run(
            [sys.executable, "-c", STEPS_ON_ANY_PROCESSOR, str(tmp_path / "model.json")],
            env={**os.environ, "PYTHONHASHSEED": "0", "ONETREE_SIMD": simd},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for simd in ("baseline", "")
    }
    assert len(said) == 1


def test_a_busy_machine_is_no_reason_to_call_a_tree_too_large(middling, monkeypatch):
    monkeypatch.setattr(solve, "DEFAULT_SECONDS", 1e-6)  # as if another process had taken all of the time
    monkeypatch.setattr(auto, "_FEW_BOXES", 0)
    with pytest.raises(LimitReachedError, match="give a time_limit"):
        onetree.born_again(middling)


def test_the_time_that_a_model_takes_to_be_read_is_not_taken_from_the_search(middling, monkeypatch):
    gone, wanted_of = [0.0], solve.wanted_of

    def read_slowly(*given, **more):
        gone[0] = 60.0
        return wanted_of(*given, **more)

    monkeypatch.setattr(solve, "perf_counter", lambda: perf_counter() + gone[0])
    monkeypatch.setattr(solve, "wanted_of", read_slowly)
    monkeypatch.setattr(solve, "DEFAULT_SECONDS", 3.0)
    monkeypatch.setattr(auto, "_FEW_BOXES", 0)
    assert onetree.born_again(middling, verify=False).tree.n_leaves > 1
