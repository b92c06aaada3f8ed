"""Advice where a tree is too large: tried on the model, and given only if it helps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import onetree
from onetree.search import advice
from onetree.search.advice import binned, first_trees, proposals, too_large
from tests.cases.estimates import estimate_by_trees, estimate_of
from tests.cases.strategies import ensembles

X, Y = load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def default():
    return onetree.Ensemble.from_model(RandomForestClassifier(50, random_state=0).fit(X, Y))


@pytest.fixture
def without_a_clock(monkeypatch):
    """What is tried must not depend on how fast the machine is."""
    monkeypatch.setattr(advice, "_PATIENCE", float("inf"))
    monkeypatch.setattr(advice, "estimated", estimate_by_trees)


@given(ensembles(max_cells=60), st.integers(1, 4))
def test_the_first_trees_add_up_to_the_scores_of_the_first_trees(ensemble, n_trees):
    n_trees = min(n_trees, ensemble.n_trees)
    short = first_trees(ensemble, n_trees)
    rows = np.random.default_rng(0).normal(size=(20, ensemble.n_features))
    assert short.n_trees == n_trees
    leaves = ensemble.apply(rows)[:, :n_trees]
    assert np.array_equal(short.value[short.apply(rows)], ensemble.value[leaves])


def test_a_mean_of_fewer_trees_is_divided_by_fewer(default):
    assert default.rule.divisor == 50
    short = first_trees(default, 5)
    assert short.rule.divisor == 5
    np.testing.assert_allclose(short.scores(X[:20]).sum(axis=1), 1.0)


def test_bins_leave_few_thresholds_of_the_models_own(default):
    few = binned(default, 5)
    for feature in range(default.n_features):
        own = np.unique(default.threshold[default.feature == feature])
        kept = np.unique(few.threshold[few.feature == feature])
        assert len(kept) <= 4
        assert set(kept) <= set(own)


def test_a_threshold_moves_to_the_nearest_that_is_kept(default):
    few = binned(default, 5)
    nodes = np.flatnonzero(default.feature == 7)
    kept = np.unique(few.threshold[nodes])
    moved = np.abs(few.threshold[nodes] - default.threshold[nodes])
    assert np.allclose(moved, np.abs(kept - default.threshold[nodes, np.newaxis]).min(axis=1))


def proposed(model, **options):
    return proposals(model, estimate_by_trees(model), objective="leaves-depth", **options)


def test_the_largest_number_of_trees_whose_tree_can_be_had_is_proposed(default, without_a_clock):
    assert [str(each) for each in proposed(default)] == ["the first 8 trees: about 10,000 leaves"]


@pytest.mark.parametrize(("helps", "change"), [(10, "features in 10 bins"), (3, "features in 3 bins")])
def test_the_largest_number_of_bins_that_helps_is_proposed(default, without_a_clock, monkeypatch, helps, change):
    n_cuts = len(np.unique(binned(default, helps).threshold[default.feature == 0]))

    def by_bins(ensemble, **_):
        return estimate_of(100.0 if len(np.unique(ensemble.threshold[ensemble.feature == 0])) <= n_cuts else 1e12)

    monkeypatch.setattr(advice, "estimated", by_bins)
    monkeypatch.setattr(advice, "first_trees", lambda ensemble, _: ensemble)
    found = proposals(default, estimate_of(1e12), objective="leaves-depth")
    assert [each.change for each in found] == [change]


@pytest.mark.slow
def test_what_is_proposed_helps_by_what_is_said(default, monkeypatch):
    monkeypatch.setattr(advice, "_PATIENCE", float("inf"))
    monkeypatch.setattr(advice, "_BUDGET", 2.0)
    (fewer,) = proposals(default, onetree.estimate(default, budget=0.5), objective="leaves-depth")
    n_trees = int(fewer.change.split()[2])
    again = onetree.estimate(first_trees(default, n_trees), budget=0.5)
    assert again.leaves <= advice.MOST_LEAVES
    assert again.leaves == pytest.approx(fewer.estimate.leaves, rel=1.0)


def test_what_does_not_help_is_not_proposed(default, without_a_clock, monkeypatch):
    monkeypatch.setattr(advice, "MOST_LEAVES", 1)
    assert proposed(default) == []


def test_without_time_nothing_is_tried(default, monkeypatch):
    monkeypatch.setattr(advice, "_PATIENCE", -1.0)
    monkeypatch.setattr(advice, "estimated", None)
    assert proposed(default) == []


def test_boosting_of_several_classes_is_cut_between_rounds(without_a_clock):
    rows, classes = load_wine(return_X_y=True)
    model = onetree.Ensemble.from_model(GradientBoostingClassifier(n_estimators=10, random_state=0).fit(rows, classes))
    assert [each.change for each in proposed(model)] == ["the first 12 trees"]


def test_the_domain_of_rows_is_tried_where_rows_are_given(without_a_clock):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (400, 14)).astype(float)
    rows[:, 7:] = np.eye(7)[rng.integers(0, 7, 400)]
    forest = RandomForestClassifier(30, random_state=0).fit(rows, rng.integers(0, 2, 400))
    model = onetree.Ensemble.from_model(forest)
    assert [str(each) for each in proposed(model, X=rows)][-1] == (
        "for inputs like the rows, domain=domain_of(X): about 1,000 leaves"
    )


def test_the_error_says_how_large_and_names_the_way_out(default, without_a_clock):
    found = estimate_by_trees(default)
    error = too_large(default, found, objective="leaves-depth")
    assert found.leaves_in_words in str(error)
    assert "support_tree(model, X)" in str(error)
    assert error.estimate is found
    (proposal,) = error.proposals
    assert str(proposal) in str(error)


@pytest.mark.parametrize(
    ("leaves", "exact", "beyond", "words"),
    [
        (1.0, True, False, "1 leaf"),
        (3421.0, True, False, "3,421 leaves"),
        (3421.7, False, False, "about 3,400 leaves"),
        (1.53e9, False, False, "about 1.5e9 leaves"),
        (5.2e4, False, True, "more than 52,000 leaves"),
        (1.53e15, False, True, "more than 1.5e15 leaves"),
    ],
)
def test_leaves_are_told_in_plain_numbers(leaves, exact, beyond, words):
    found = onetree.Estimate(leaves, (leaves, leaves), 1.0, (1.0, 1.0), 1.0, (1.0, 1.0), exact, beyond, 0.0, 1)
    assert found.leaves_in_words == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.25, "about 0.25 s"), (90, "about 90 s"), (300, "about 5 min"), (1e11, "about 3,170 years")],
)
def test_time_is_told_in_plain_numbers(seconds, words):
    found = onetree.Estimate(1.0, (1.0, 1.0), seconds, (1.0, 1.0), 1.0, (1.0, 1.0), False, False, 0.0, 1)
    assert found.seconds_in_words == words


def test_an_estimate_that_was_cut_off_is_not_given_as_a_size(default, without_a_clock):
    error = too_large(default, estimate_of(1.0, beyond=True), objective="leaves-depth")
    assert str(error).startswith("the model is so large that even the estimate of its tree was cut off")
