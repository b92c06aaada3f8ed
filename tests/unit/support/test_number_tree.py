"""Trees with numbers that follow an ensemble where the data are: what they carry, what is measured, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

import onetree
from onetree.errors import InvalidInputError, LimitReachedError, OnetreeError, UnsupportedModelError
from onetree.lowering.native_predict import NativePredictor
from onetree.model.ensemble import Ensemble
from onetree.support import NumberAgreement
from onetree.support.number_growth import _best_gap
from onetree.tree.tree import LEAF

X, Y = load_diabetes(return_X_y=True)
X_WINE, Y_WINE = load_wine(return_X_y=True)
X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def regressor():
    """Far too large for an exact tree."""
    return RandomForestRegressor(40, random_state=0).fit(X[:300], Y[:300])


@pytest.fixture(scope="module")
def followed(regressor):
    return onetree.support_tree(regressor, X[:300], held_out=X[300:], max_leaves=12)


@pytest.fixture(scope="module")
def forest():
    """Three classes."""
    return RandomForestClassifier(40, random_state=0).fit(X_WINE, Y_WINE)


@pytest.fixture(scope="module")
def likely(forest):
    return onetree.support_tree(forest, X_WINE, output="probability", max_leaves=8)


@pytest.fixture(scope="module")
def boosting():
    """Small enough for a proof."""
    return GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X_CANCER, Y_CANCER)


def test_a_regressor_gets_a_tree_with_values_that_promises_nothing(followed):
    tree = followed.tree
    assert (tree.output, tree.exact, tree.tolerance, followed.status) == ("value", False, None, "support")
    assert 2 < tree.n_leaves <= 12
    assert followed.promise == "at most 12 leaves, no promise about any row"


def test_a_classifier_gets_probabilities_only_if_asked(forest, likely):
    assert onetree.support_tree(forest, X_WINE, max_leaves=8).tree.output == "class"
    assert (likely.tree.output, likely.tree.exact, likely.tree.tolerance) == ("probability", False, None)
    assert likely.tree.value.shape[1] == 3
    assert np.allclose(likely.tree.predict_proba(X_WINE).sum(axis=1), 1)


def test_mean_and_worst_deviation_are_those_of_the_rows(followed, regressor):
    for measured, rows in ((followed.reference, X[:300]), (followed.held_out, X[300:])):
        apart = np.abs(followed.tree.predict(rows) - regressor.predict(rows))
        assert isinstance(measured, NumberAgreement)
        assert (measured.mean, measured.worst, measured.n_inputs) == (
            pytest.approx(apart.mean()),
            apart.max(),
            len(rows),
        )


def test_of_several_numbers_the_one_furthest_off_counts(forest):
    found = onetree.support_tree(forest, X_WINE, held_out=X_WINE[::2], output="probability", max_leaves=8)
    apart = np.abs(found.tree.predict_proba(X_WINE[::2]) - forest.predict_proba(X_WINE[::2])).max(axis=1)
    assert (found.held_out.mean, found.held_out.worst) == (pytest.approx(apart.mean()), apart.max())


def test_agreement_of_probabilities_counts_classes(forest):
    found = onetree.support_tree(forest, X_WINE, held_out=X_WINE[::2], output="probability", max_leaves=8)
    same = found.tree.predict(X_WINE[::2]) == forest.predict(X_WINE[::2])
    assert found.held_out.n_agreeing == np.count_nonzero(same) > 0.8 * len(same)


def test_the_tree_is_nearer_than_one_grown_from_the_rows_alone(followed, regressor):
    cart = DecisionTreeRegressor(max_leaf_nodes=12, random_state=0).fit(X[:300], regressor.predict(X[:300]))
    assert followed.held_out.mean < np.abs(cart.predict(X[300:]) - regressor.predict(X[300:])).mean()


def test_more_leaves_are_nearer_on_the_rows(followed, regressor):
    larger = onetree.support_tree(regressor, X[:300], held_out=X[300:], max_leaves=60)
    assert larger.reference.mean < followed.reference.mean


def test_splits_are_thresholds_of_the_ensemble(followed, regressor):
    ensemble = Ensemble.from_model(regressor, output="value")
    own = set(zip(ensemble.feature.tolist(), ensemble.threshold.tolist(), strict=True))
    inner = followed.tree.feature != LEAF
    tests = zip(followed.tree.feature[inner].tolist(), followed.tree.threshold[inner].tolist(), strict=True)
    assert set(tests) <= own


def test_the_same_seed_gives_the_same_tree(followed, regressor):
    again = onetree.support_tree(regressor, X[:300], held_out=X[300:], max_leaves=12)
    assert again.tree.to_text(digits=None) == followed.tree.to_text(digits=None)


def test_a_model_of_few_values_is_met_on_every_row():
    model = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(X, Y)
    found = onetree.support_tree(model, X)
    assert (found.tree.predict(X) == model.predict(X)).all()
    assert found.reference.worst == found.held_out.worst == 0.0


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_the_unit_of_the_target_does_not_matter(scale):
    ensemble = Ensemble.from_model(GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, Y), output="value")
    scaled = replace(ensemble, value=ensemble.value * scale, base=ensemble.base * scale)
    tree, other = (onetree.support_tree(each, X, max_leaves=9).tree for each in (ensemble, scaled))
    assert (tree.n_leaves, tree.threshold.tolist()) == (9, other.threshold.tolist())
    assert np.allclose(other.value / scale, tree.value, rtol=1e-12)


def test_a_constant_is_one_leaf_with_exactly_its_value():
    model = GradientBoostingRegressor(n_estimators=3).fit(X, np.full(len(X), 0.1))
    found = onetree.support_tree(model, X)
    assert found.tree.n_leaves == 1
    assert found.tree.predict(X[:1])[0] == model.predict(X[:1])[0]


def test_missing_values_and_categories_are_followed():
    random = np.random.default_rng(0)
    rows = np.column_stack([random.integers(0, 6, 400).astype(float), random.normal(size=400)])
    rows[::7, 1] = np.nan
    target = np.exp(np.isin(rows[:, 0], [1, 4]) + (rows[:, 1] > 0) + 2.0 * np.isnan(rows[:, 1]))
    model = HistGradientBoostingRegressor(loss="poisson", categorical_features=[0], max_iter=40, random_state=0)
    model.fit(rows, target)
    found = onetree.support_tree(model, rows, max_leaves=16)
    assert found.tree.has_subsets
    assert found.held_out.mean < 0.05 * np.ptp(model.predict(rows))


@pytest.mark.parametrize("output", ["probability", "value"])
def test_certify_proves_the_worst_deviation_over_all_inputs(boosting, output):
    model, rows = boosting, X_CANCER
    if output == "value":
        model, rows = GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0).fit(X, Y), X
    found = onetree.support_tree(model, rows, output=output, max_leaves=6, certify=True)
    proven = onetree.worst_deviation(found.tree, model)
    assert found.deviation.worst == proven.worst
    assert found.box.worst <= proven.worst
    assert found.report()["proven_worst_deviation"] == proven.worst
    assert "every input's numbers are within" in found.promise
    assert not found.tree.exact


def test_a_proof_that_does_not_end_in_time_says_so(regressor):
    with pytest.raises(LimitReachedError):
        onetree.support_tree(regressor, X, max_leaves=3, certify=True, time_limit=1e-9)


def test_what_is_printed_says_that_it_is_not_exact(followed, likely):
    assert "not exact" in repr(followed)
    assert "held-out deviation" in repr(followed)
    assert "deviation on held-out rows" in str(followed)
    assert "same class" not in str(followed)
    assert "same class on held-out rows" in str(likely)
    assert "not exact" in followed._repr_html_()
    assert "deviation on reference rows" in followed._repr_html_()


def test_the_report_is_made_of_plain_values(followed, likely):
    figures = followed.report()
    assert figures["held_out_worst_deviation"] == followed.held_out.worst
    assert "held_out_agreement" not in figures
    assert likely.report()["held_out_agreement"] == likely.held_out.share
    assert all(isinstance(value, int | float | str | None) for value in figures.values())


def test_the_page_of_a_report_shows_deviations(followed, regressor, tmp_path):
    stated = onetree.write_report(followed, tmp_path / "report.html", source=regressor, X=X)
    assert stated.state == "support"
    assert '"most"' in (tmp_path / "report.html").read_text()


def test_without_rows_to_measure_on_nothing_is_claimed(regressor):
    found = onetree.support_tree(regressor, X[:3], max_leaves=2)
    assert (found.held_out.mean, found.held_out.worst, str(found.held_out)) == (None, None, "none")


def test_what_is_about_classes_is_refused(regressor, forest):
    with pytest.raises(InvalidInputError, match="give max_leaves= instead"):
        onetree.support_tree(regressor, X, fidelity=1.0)
    with pytest.raises(InvalidInputError, match="give max_leaves= instead"):
        onetree.support_tree(forest, X_WINE, output="probability", fidelity=1.0, optimal="leaves")


def test_an_output_that_the_model_does_not_have_is_refused(regressor, forest):
    with pytest.raises(UnsupportedModelError, match="no probabilities"):
        onetree.support_tree(regressor, X, output="probability")
    with pytest.raises(OnetreeError, match="value"):
        onetree.support_tree(forest, X_WINE, output="value")
    with pytest.raises(InvalidInputError, match="output"):
        onetree.support_tree(forest, X_WINE, output="score")


@pytest.mark.parametrize("output", ["probability", "value"])
def test_numbers_of_slabs_are_those_of_the_rows(regressor, forest, output):
    model, rows = (forest, X_WINE) if output == "probability" else (regressor, X)
    ensemble = Ensemble.from_model(model, output=output)
    predictor = NativePredictor(ensemble)
    found = predictor.numbers_at(predictor.slabs(rows))
    assert found.dtype == ensemble.numbers(rows).dtype
    assert (found == ensemble.numbers(rows)).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(3, 9), st.integers(1, 4), st.integers(-5, 5)), min_size=2, max_size=12))
def test_the_best_gap_decreases_the_squared_error_most(rows):
    slabs, weight, numbers = np.array(rows, dtype=np.int32).T
    weight = weight.astype(float)

    def error(chosen):
        mean = np.average(numbers[chosen], weights=weight[chosen])
        return float(weight[chosen] @ (numbers[chosen] - mean) ** 2)

    everything = np.ones(len(rows), dtype=bool)
    gains = {
        (int(low), int(high)): error(everything) - error(slabs <= low) - error(slabs > low)
        for low, high in zip(np.unique(slabs)[:-1], np.unique(slabs)[1:], strict=True)
    }
    moved = (weight * (numbers - np.average(numbers, weights=weight)))[np.newaxis]
    found = _best_gap(slabs, weight, moved)
    if not gains:
        assert found is None
        return
    gain, below, above = found
    assert gain == pytest.approx(max(gains.values()), abs=1e-9)
    assert gains[below, above] == pytest.approx(gain, abs=1e-9)
