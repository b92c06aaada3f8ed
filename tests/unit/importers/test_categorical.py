"""Splits by categories are read so that every score is the library's own, whatever number stands for a category."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from onetree import Ensemble, InvalidInputError, ModelFileError, UnsupportedModelError, load_ensemble
from onetree.importers.lightgbm.model import import_lightgbm, parse_lightgbm_text
from onetree.importers.self_test import sample_rows
from onetree.importers.sklearn.skops import parse_skops
from onetree.importers.xgboost.model import import_xgboost, parse_xgboost_json, parse_xgboost_ubj
from onetree.model.categories import MISSING, OTHER
from tests.cases.categorical_models import LIBRARIES, data, fitted, same, scores, strange_rows


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("n_categories", "n_classes"), [(3, 2), (30, 2), (30, 3), (200, 2)])
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_score_is_that_of_the_library(library, n_categories, n_classes, gaps):
    X, y = data(n_categories, n_classes, gaps=gaps)
    model = fitted(library, X, y)
    ensemble = Ensemble.from_model(model, missing="follow" if gaps else "auto")
    assert ensemble.has_subsets
    for rows in (strange_rows(ensemble), strange_rows(ensemble).astype(np.float32)):
        assert np.array_equal(ensemble.scores(rows), scores(model, rows))
        assert np.array_equal(ensemble.predict(rows), model.predict(rows))


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_rows_of_the_self_test_hold_every_category_and_what_is_none(library):
    X, y = data(30)
    ensemble = Ensemble.from_model(fitted(library, X, y), missing="follow")
    rows = sample_rows(ensemble, np.random.default_rng(0))
    kinds = [(feature, kind) for feature, kind in enumerate(ensemble.categories) if kind is not None]
    assert kinds
    for feature, kind in kinds:
        assert set(kind.element(rows[:, feature]).tolist()) == set(range(kind.n_elements))


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_rows_of_the_self_test_tell_a_set_from_one_that_differs_in_a_category(library):
    X, y = data(3)
    ensemble = Ensemble.from_model(fitted(library, X, y, max_depth=2))
    rows = sample_rows(ensemble, np.random.default_rng(0))
    expected = ensemble.scores(rows)
    node = int(np.argmax(ensemble.subset >= 0))
    for element in (OTHER, *range(2, ensemble.categories[ensemble.feature[node]].n_elements)):
        subsets = ensemble.subsets.copy()
        subsets[ensemble.subset[node], element] ^= True
        assert not np.array_equal(replace(ensemble, subsets=subsets).scores(rows), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_refuse_takes_no_nan_for_a_category(library):
    X, y = data(3, gaps=True)
    ensemble = Ensemble.from_model(fitted(library, X, y), missing="refuse")
    with pytest.raises(InvalidInputError, match="missing values"):
        ensemble.predict([[0.0, np.nan, 0.0, 1.0]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_gaps_in_training_are_seen_without_being_told(library):
    assert not Ensemble.from_model(fitted(library, *data(3))).nan_features.any()
    assert Ensemble.from_model(fitted(library, *data(3, gaps=True))).nan_features.all()


def test_any_number_but_the_code_itself_is_missing_for_scikit_learn():
    rng = np.random.default_rng(0)
    code = rng.choice([-2.5, 0.1, 7.0, 1e6], 400)
    model = HistGradientBoostingClassifier(max_iter=1, max_depth=1, categorical_features=[0], learning_rate=1.0)
    ensemble = Ensemble.from_model(model.fit(code[:, np.newaxis], np.isin(code, [0.1, 1e6])))
    assert ensemble.categories[0].codes == (-2.5, 0.1, 7.0, 1e6)
    assert (ensemble.subsets[:, OTHER] == ensemble.subsets[:, MISSING]).all()
    for x in (0.1, np.nextafter(0.1, 1), float(np.float32(0.1)), 1e6):
        assert ensemble.predict([[x]]) == model.predict([[x]])
    assert ensemble.categories[0].element([np.nextafter(0.1, 1), np.float32(0.1), -0.0]).tolist() == [OTHER] * 3


@pytest.mark.parametrize("large", [1e39, -1e39, 1.7e308])
def test_a_category_beyond_float32_is_read_like_any_other(large):
    code = np.random.default_rng(0).choice([0.0, 1.0, large], 400)
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(code[:, np.newaxis], code == large)
    rows = np.array([[0.0], [1.0], [large], [np.nextafter(large, 0)]])
    np.testing.assert_array_equal(Ensemble.from_model(model).predict(rows), model.predict(rows))


def test_categories_that_are_texts_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = data(3)
    frame = pandas.DataFrame(
        {"size": X[:, 0], "colour": pandas.Categorical(np.array(["r", "g", "b"])[X[:, 3].astype(int)])}
    )
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype").fit(frame, y)
    ensemble = Ensemble.from_model(model)
    assert ensemble.categories[1].names == ("b", "g", "r")
    assert (ensemble.predict(frame) == model.predict(frame)).all()


@pytest.mark.parametrize("gaps", [False, True])
def test_an_array_of_texts_and_numbers_is_read_as_hist_gradient_boosting_reads_it(gaps):
    rng = np.random.default_rng(3)

    def rows(n_rows, texts, zones):
        X = np.empty((n_rows, 3), dtype=object)
        X[:, 0], X[:, 1] = rng.choice(texts, n_rows), rng.normal(size=n_rows)
        X[:, 2] = np.array(rng.choice(zones, n_rows).tolist(), dtype=object)
        if gaps:
            X[rng.random(n_rows) < 0.1, 0] = None
            X[rng.random(n_rows) < 0.1, 2] = np.nan
        return X

    X = rows(600, ["a", "b", "other", "x,y"], [10, 30, 70])
    y = (X[:, 0] == "a") ^ (X[:, 2] == 30) ^ (X[:, 1] > 0)
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, categorical_features=[0, 2]).fit(X, y)
    other = rows(2000, ["a", "b", "other", "never met"], [10, 30, 70, 5])
    assert np.array_equal(Ensemble.from_model(model).predict(other), model.predict(other))


def test_categories_that_are_neither_texts_nor_numbers_are_refused_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = data(3)
    days = pandas.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]).to_numpy()[X[:, 3].astype(int)]
    frame = pandas.DataFrame({"size": X[:, 0], "day": pandas.Categorical(days)})
    try:
        model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype").fit(frame, y)
    except (TypeError, ValueError):
        pytest.skip("this version of scikit-learn does not take such categories itself")
    with pytest.raises(UnsupportedModelError, match=r"'day'.*neither texts nor numbers"):
        Ensemble.from_model(model)


def test_a_model_of_a_data_frame_with_numbers_as_categories_is_read_without_a_warning():
    pandas = pytest.importorskip("pandas")
    X, y = data(3)
    frame = pandas.DataFrame({"size": X[:, 0], "colour": pandas.Categorical(X[:, 1].astype(int))})
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype").fit(frame, y)
    assert Ensemble.from_model(model).categories[1].codes == (1.0, 4.0, 7.0)


def test_a_category_of_xgboost_is_the_float32_without_its_fraction():
    ensemble = Ensemble.from_model(fitted("xgboost partition", *data(30)))
    kind = ensemble.categories[3]
    zero, one = kind.element([0.0, 1.0])
    assert kind.element([-(2.0**-150), 0.99, 1 - 2.0**-24]).tolist() == [zero] * 3
    assert kind.element([1 - 2.0**-25, 1.5, 2 - 2.0**-23]).tolist() == [one] * 3
    assert kind.element([np.nextafter(-(2.0**-150), -1), -1.0, 2.0**24, 2.0**32]).tolist() == [OTHER] * 4
    assert ensemble.subsets[:, OTHER].all()


def test_a_category_of_lightgbm_is_the_number_without_its_fraction():
    ensemble = Ensemble.from_model(fitted("lightgbm", *data(30)))
    kind = ensemble.categories[3]
    zero, one = kind.element([0.0, 1.0])
    assert kind.element([np.nextafter(-1, 0), -0.5, np.nextafter(1, 0)]).tolist() == [zero] * 3
    assert kind.element([1.0, np.nextafter(2, 0)]).tolist() == [one] * 2
    assert kind.element([-1.0, 2.0**31, 2.0**32 + 1, 1e300, np.inf]).tolist() == [OTHER] * 5
    assert not ensemble.subsets[:, [OTHER, MISSING]].any()


@pytest.mark.parametrize("x", [1e300, -1e300, np.inf, -np.inf])
def test_numbers_beyond_all_categories_are_those_of_lightgbm(x):
    model = fitted("lightgbm", *data(30))
    rows = np.array([[0.3, x, 0.1, 2.0], [0.3, 4.0, 0.1, x]])
    assert np.array_equal(Ensemble.from_model(model).scores(rows), scores(model, rows))


def test_files_of_xgboost_hold_the_same_model():
    model = fitted("xgboost partition", *data(30, 3, gaps=True))
    expected = Ensemble.from_model(model)
    booster = model.get_booster()
    assert same(parse_xgboost_json(bytes(booster.save_raw("json"))), expected)
    assert same(parse_xgboost_ubj(bytes(booster.save_raw("ubj"))), expected)
    assert same(import_xgboost(booster), expected)


def test_a_file_of_lightgbm_holds_the_same_model():
    model = fitted("lightgbm", *data(30, 3, gaps=True))
    assert same(parse_lightgbm_text(model.booster_.model_to_string().encode()), Ensemble.from_model(model))
    assert same(import_lightgbm(model.booster_), Ensemble.from_model(model))


@pytest.mark.parametrize("gaps", [False, True])
def test_a_skops_file_with_categories_holds_the_same_model(gaps, tmp_path):
    skops_io = pytest.importorskip("skops.io")
    model = fitted("sklearn", *data(30, 3, gaps=gaps))
    skops_io.dump(model, tmp_path / "model.skops")
    assert same(load_ensemble(tmp_path / "model.skops"), Ensemble.from_model(model))


def test_a_skops_file_whose_encoder_calls_another_function_is_refused():
    skops_io = pytest.importorskip("skops.io")
    content = skops_io.dumps(fitted("sklearn", *data(3)))
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"check_array"', b'"check_X_y"'))
    with pytest.raises(ModelFileError, match="'check_X_y', which is not run"):
        parse_skops(changed.getvalue())


def frame_of(X, names):
    pandas = pytest.importorskip("pandas")
    colour = pandas.Categorical(np.array(names, dtype=object)[X[:, 3].astype(int)], categories=names)
    return pandas.DataFrame({"size": X[:, 0], "colour": colour})


def test_xgboost_says_what_its_categories_were_called():
    xgboost = pytest.importorskip("xgboost", minversion="3.1")
    X, y = data(3)
    frame = frame_of(X, ["green", "red", "blue"])
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2, enable_categorical=True).fit(frame, y)
    ensemble = Ensemble.from_model(model)
    assert ensemble.categories[1].names == ("green", "red", "blue")
    assert np.array_equal(ensemble.predict(X[:, [0, 3]]), model.predict(frame))


def test_names_that_xgboost_writes_wrongly_are_not_shown():
    xgboost = pytest.importorskip("xgboost", minversion="3.1")
    X, y = data(3)
    frame = frame_of(X, ["grün", "rot", "blau"])
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2, enable_categorical=True).fit(frame, y)
    assert Ensemble.from_model(model).categories[1].names == ()


def test_lightgbm_says_what_its_categories_were_called():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = data(3)
    frame = frame_of(X, ["grün", "red", "blue"])
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, min_data_per_group=1, cat_smooth=1.0).fit(frame, y)
    ensemble = Ensemble.from_model(model)
    assert ensemble.categories[1].names == ("grün", "red", "blue")
    assert np.array_equal(ensemble.predict(X[:, [0, 3]]), model.predict(frame))


def test_names_that_may_belong_to_another_column_are_not_shown():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = data(3)
    frame = frame_of(X, ["grün", "red", "blue"])
    frame["colour"] = frame["colour"].cat.as_ordered()  # a number to LightGBM, yet in its list of names
    frame["shape"] = X[:, 1].astype(int)
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, min_data_per_group=1, cat_smooth=1.0)
    ensemble = Ensemble.from_model(model.fit(frame, y, categorical_feature=["shape"]))
    assert [kind and kind.names for kind in ensemble.categories] == [None, None, ()]


def test_missing_values_among_the_categories_of_the_training_data_are_inputs():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 200), rng.normal(size=200)]).astype(float)
    y = np.isin(X[:, 0], [1, 3]) ^ (X[:, 1] > 0)
    X[::7, 0] = np.nan
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[0]).fit(X, y)
    ensemble = Ensemble.from_model(model)
    assert ensemble.nan_features.all()
    np.testing.assert_array_equal(ensemble.predict(X), model.predict(X))
