"""A model behind functions of single columns is an ensemble on the raw columns, everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import UnsupportedModelError
from onetree.importers.pipeline import Break, Column, Raw, aligned, compose
from onetree.importers.self_test import sample_rows
from onetree.model.columns import Columns, Labels
from tests.cases.strategies import ensembles

FUNCTIONS = {
    "a scaler": ((), lambda x: (x - 0.3) / 1.7),
    "a falling function": ((), lambda x: -0.1 * x),
    "a step": ((), lambda x: np.floor(x / 3)),
    "a parabola": ((0.0,), lambda x: np.clip(x * x, 0, 1e300)),
    "a bin": ((-1.0, 2.0), lambda x: ((x >= -1) & (x < 2)).astype(float)),
    "a point": ((1.0,), lambda x: (x == 1).astype(float)),
    "a constant": ((), lambda x: np.full_like(x, 0.5)),
    "filled gaps": ((), lambda x: np.where(np.isnan(x), 1.5, x)),
}


def behind(model, chosen, takes_nan):
    """Return the composed ensemble, and the function on raw rows that it must be."""
    parts = [FUNCTIONS[name] for name in chosen]

    def evaluate(rows):
        with np.errstate(all="ignore"):
            return np.stack([part[1](rows[:, at]) for at, part in enumerate(parts)], axis=1)

    raw = [Raw(f"r{at}", takes_nan=takes_nan and name == "filled gaps") for at, name in enumerate(chosen)]
    columns = [
        Column(at, (Break(lambda rows: rows, at, np.array(part[0])),) if part[0] else ())
        for at, part in enumerate(parts)
    ]
    return compose(model, raw, columns, evaluate), lambda rows: model.predict(evaluate(rows))


@given(st.data(), ensembles(max_cells=200), st.booleans())
def test_a_composed_ensemble_predicts_what_the_model_does_behind_the_functions(data, model, takes_nan):
    chosen = [data.draw(st.sampled_from(sorted(FUNCTIONS))) for _ in range(model.n_features)]
    composed, predict = behind(model, chosen, takes_nan)
    rows = np.clip(sample_rows(composed, np.random.default_rng(0)), -1e100, 1e100)
    rows = np.where(np.isnan(rows) & ~composed.nan_features, 0.0, rows)
    np.testing.assert_array_equal(composed.predict(rows), predict(rows))


@given(ensembles(max_cells=100))
def test_monotone_functions_leave_thresholds(model):
    composed, _ = behind(model, ["a scaler"] * model.n_features, takes_nan=False)
    assert not composed.has_subsets


def step_model(thresholds):
    """Return a model of one tree per threshold on one feature."""
    from sklearn.tree import DecisionTreeClassifier

    from onetree import Ensemble

    x = np.linspace(0, 1, 50)[:, np.newaxis]
    y = np.digitize(x[:, 0], thresholds) % 2
    return Ensemble.from_model(DecisionTreeClassifier(random_state=0).fit(x, y))


def test_rounding_that_is_not_monotone_next_to_a_threshold_is_followed_number_by_number():
    model = step_model([0.5])
    cut = float(model.threshold[0])

    def noisy(rows):  # the second number below the cut lies above it
        return np.where(rows == np.nextafter(np.nextafter(cut, 0), 0), cut + 1, rows)

    composed = compose(model, [Raw("r")], [Column(0, rounded=True)], noisy)
    near = cut + np.arange(-20, 20)[:, np.newaxis] * np.spacing(cut)
    np.testing.assert_array_equal(composed.predict(near), model.predict(noisy(near)))
    assert composed.has_subsets


def test_rounding_without_end_next_to_a_threshold_is_refused():
    model = step_model([0.5])
    cut = float(model.threshold[0])

    def noisy(rows):
        near = np.abs(rows - cut) < 1e-9
        odd = np.floor(np.where(near, rows, cut) / np.spacing(cut)) % 2 == 1
        return np.where(near, np.where(odd, cut + 1, cut - 1), rows)

    with pytest.raises(UnsupportedModelError, match=r"'r' goes through a step whose rounding"):
        compose(model, [Raw("r")], [Column(0, rounded=True)], noisy)


def test_values_of_a_category_are_tested_by_name_and_constant_tests_are_left_out():
    model = step_model([0.25, 0.75])
    labels = Labels(("a", "b", "c"), unknown=-1.0)

    def encoded(rows):
        return np.where(rows == 1.0, 0.5, 0.0)

    composed = compose(model, [Raw("r", labels)], [Column(0)], encoded, frame=Columns(named=True))
    assert composed.n_leaves == 2
    assert composed.categories[0].names == ("a", "b", "c")
    np.testing.assert_array_equal(
        composed.predict([[0.0], [1.0], [2.0], [-1.0]]), model.predict([[0.0], [0.5], [0.0], [0.0]])
    )


@given(ensembles(max_cells=100), st.data())
def test_aligned_ensembles_predict_as_before_and_have_the_same_features(model, data):
    first, _ = behind(model, ["a scaler"] * model.n_features, takes_nan=False)
    chosen = [data.draw(st.sampled_from(["a bin", "a point", "a scaler"])) for _ in range(model.n_features)]
    second, _ = behind(model, chosen, takes_nan=False)
    together = aligned([first, second])
    assert together[0].categories == together[1].categories
    for before, after in zip((first, second), together, strict=True):
        rows = np.concatenate([sample_rows(each, np.random.default_rng(1)) for each in (first, second)])
        np.testing.assert_array_equal(after.predict(rows), before.predict(rows))


def test_aligned_ensembles_have_the_columns_and_values_of_all():
    model = step_model([0.25, 0.75])

    def member(name, values, hit):
        raw = Raw(name, Labels(values, unknown=-1.0))
        code = float(values.index(hit))
        return compose(
            model, [raw], [Column(0)], lambda rows: np.where(rows == code, 0.5, 0.0), frame=Columns(named=True)
        )

    one, two, three = aligned([member("r", ("a", "b"), "b"), member("r", ("b", "c"), "c"), member("s", ("x",), "x")])
    assert one.feature_names == two.feature_names == three.feature_names == ("r", "s")
    assert one.columns.labels[0].values == two.columns.labels[0].values == ("a", "b", "c")
    import pandas as pd

    frame = pd.DataFrame({"s": ["x", "x", "q", "x"], "r": ["a", "b", "c", "?"]})
    low, high = model.predict([[0.0]])[0], model.predict([[0.5]])[0]
    np.testing.assert_array_equal(one.predict(frame), [low, high, low, low])
    np.testing.assert_array_equal(two.predict(frame), [low, low, high, low])
    np.testing.assert_array_equal(three.predict(frame), [high, high, low, high])
