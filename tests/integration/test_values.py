"""Numbers of real libraries, bit for bit: probabilities and the values of regressors, on rows that tell them apart."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from onetree import Ensemble, load_ensemble
from onetree.importers.self_test import sample_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
AMOUNT = np.exp(X[:, 0] + 0.3 * RNG.normal(size=400))
TWO = np.array(["no", "yes"])[(X[:, 0] + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=400) > 0).astype(int)]
THREE = (X[:, 0] > -0.4).astype(int) + (X[:, 1] > 0.3)


def xgboost(kind, **options):
    return getattr(pytest.importorskip("xgboost"), kind)(n_estimators=6, max_depth=3, **options)


def lightgbm(kind, **options):
    return getattr(pytest.importorskip("lightgbm"), kind)(n_estimators=6, max_depth=3, verbose=-1, **options)


def catboost(kind, **options):
    own = {"iterations": 6, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return getattr(pytest.importorskip("catboost"), kind)(**own, **options)


def rows_for(ensemble):
    """Random rows, rows on and next to the thresholds, and rows with gaps where they are allowed."""
    return np.concatenate([sample_rows(ensemble, np.random.default_rng(seed)) for seed in (1, 2)])


def assert_bit_equal(found, expected):
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


REGRESSORS = {
    "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": lambda: RandomForestRegressor(7, max_depth=3, random_state=0),
    "extra trees": lambda: ExtraTreesRegressor(7, max_depth=3, random_state=0),
    "bagging": lambda: BaggingRegressor(DecisionTreeRegressor(max_depth=3), 7, max_features=0.6, random_state=0),
    "bagged boosting": lambda: BaggingRegressor(
        GradientBoostingRegressor(n_estimators=3, max_depth=2), 3, random_state=0
    ),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=9, max_depth=2, random_state=0),
    "boosting huber": lambda: GradientBoostingRegressor(loss="huber", n_estimators=9, max_depth=2, random_state=0),
    "boosting from a forest": lambda: GradientBoostingRegressor(
        n_estimators=3, max_depth=2, init=RandomForestRegressor(2, max_depth=2, random_state=0), random_state=0
    ),
    "hist": lambda: HistGradientBoostingRegressor(max_iter=9, max_depth=3),
    "hist gamma": lambda: HistGradientBoostingRegressor(loss="gamma", max_iter=9, max_depth=3),
    "vote": lambda: VotingRegressor(
        [
            ("forest", RandomForestRegressor(3, max_depth=2, random_state=0)),
            ("hist", HistGradientBoostingRegressor(loss="poisson", max_iter=3)),
        ],
        weights=[1, 2.5],
    ),
    "xgboost": lambda: xgboost("XGBRegressor"),
    "xgboost gamma": lambda: xgboost("XGBRegressor", objective="reg:gamma"),
    "xgboost tweedie": lambda: xgboost("XGBRegressor", objective="reg:tweedie"),
    "xgboost forest": lambda: xgboost("XGBRFRegressor"),
    "xgboost dart": lambda: xgboost("XGBRegressor", booster="dart", rate_drop=0.3),
    "lightgbm": lambda: lightgbm("LGBMRegressor"),
    "lightgbm poisson": lambda: lightgbm("LGBMRegressor", objective="poisson"),
    "lightgbm forest": lambda: lightgbm("LGBMRegressor", boosting_type="rf", bagging_freq=1, bagging_fraction=0.6),
    "catboost": lambda: catboost("CatBoostRegressor"),
    "catboost poisson": lambda: catboost("CatBoostRegressor", loss_function="Poisson"),
    "pipeline": lambda: make_pipeline(StandardScaler(), RandomForestRegressor(3, max_depth=2, random_state=0)),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_has_the_values_of_its_library(name):
    model = REGRESSORS[name]().fit(X, AMOUNT)
    ensemble = Ensemble.from_model(model)
    rows = rows_for(ensemble)
    assert ensemble.output == "value"
    assert_bit_equal(ensemble.predict(rows), model.predict(rows))


CLASSIFIERS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "forest": lambda: RandomForestClassifier(7, max_depth=3, random_state=0),
    "bagging": lambda: BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, max_features=0.6, random_state=0),
    "adaboost": lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0),
    "hist": lambda: HistGradientBoostingClassifier(max_iter=5, max_depth=3),
    "vote": lambda: VotingClassifier(
        [("forest", RandomForestClassifier(3, max_depth=2, random_state=0)), ("xgboost", xgboost("XGBClassifier"))],
        voting="soft",
    ),
    "calibrated": lambda: CalibratedClassifierCV(RandomForestClassifier(3, max_depth=2, random_state=0), cv=2),
    "lightgbm": lambda: lightgbm("LGBMClassifier"),
    "catboost": lambda: catboost("CatBoostClassifier"),
    "pipeline": lambda: make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=3, max_depth=2)),
}


@pytest.mark.parametrize("labels", ["two", "three"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_has_the_probabilities_of_its_library(name, labels):
    if name == "vote" and labels == "two":
        labels = "numbers"  # XGBoost takes no texts
    y = {"two": TWO, "three": THREE, "numbers": (TWO == "yes").astype(int)}[labels]
    model = CLASSIFIERS[name]().fit(X, y)
    ensemble = Ensemble.from_model(model, output="probability")
    rows = rows_for(ensemble)
    assert ensemble.output == "probability"
    assert_bit_equal(ensemble.numbers(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(ensemble.predict(rows), np.ravel(model.predict(rows)))


@pytest.mark.parametrize("name", ["forest", "boosting", "hist", "lightgbm", "catboost", "calibrated"])
def test_bands_are_cut_where_the_library_cuts_them(name):
    model = CLASSIFIERS[name]().fit(X, TWO)
    ensemble = Ensemble.from_model(model, bands=[0.2, 0.5, 0.8])
    rows = rows_for(ensemble)
    own = model.predict_proba(rows)[:, 1]
    names = np.array(["below 0.2", "0.2 to 0.5", "0.5 to 0.8", "0.8 and above"])
    expected = names[(own >= 0.2).astype(int) + (own >= 0.5) + (own >= 0.8)]
    np.testing.assert_array_equal(ensemble.predict(rows), expected)


@pytest.mark.parametrize("name", ["forest", "boosting", "hist", "lightgbm", "catboost"])
def test_a_named_class_is_predicted_against_the_rest(name):
    model = CLASSIFIERS[name]().fit(X, THREE)
    ensemble = Ensemble.from_model(model, threshold={2: 0.3})
    rows = rows_for(ensemble)
    expected = np.where(model.predict_proba(rows)[:, 2] >= 0.3, "2", "not 2")
    np.testing.assert_array_equal(ensemble.predict(rows), expected)


FILES = {
    "json": lambda: (xgboost("XGBRegressor", objective="count:poisson"), "save_model"),
    "ubj": lambda: (xgboost("XGBRegressor"), "save_model"),
    "txt": lambda: (lightgbm("LGBMRegressor", objective="tweedie"), "booster_.save_model"),
    "cbm": lambda: (catboost("CatBoostRegressor"), "save_model"),
}


@pytest.mark.parametrize("ending", FILES)
def test_a_regressor_is_read_from_its_file(ending, tmp_path):
    model, save = FILES[ending]()
    model.fit(X, AMOUNT)
    target = model.booster_ if save.startswith("booster_") else model
    target.save_model(str(tmp_path / f"model.{ending}"))
    ensemble = load_ensemble(tmp_path / f"model.{ending}")
    assert_bit_equal(ensemble.predict(X), model.predict(X))


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost", "skops"])
@pytest.mark.parametrize("y", [(TWO == "yes").astype(int), THREE], ids=["two", "three"])
def test_probabilities_are_read_from_files(library, y, tmp_path):
    path = tmp_path / "model.json"
    if library == "skops":
        model = GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0).fit(X, y)
        path = tmp_path / "model.skops"
        pytest.importorskip("skops.io").dump(model, path)
    elif library == "xgboost":
        model = xgboost("XGBClassifier").fit(X, y)
        model.save_model(path)
    elif library == "lightgbm":
        model = lightgbm("LGBMClassifier").fit(X, y)
        model.booster_.save_model(path)
    else:
        model = catboost("CatBoostClassifier").fit(X, y)
        model.save_model(str(path), format="json")
    ensemble = load_ensemble(path, output="probability")
    assert_bit_equal(ensemble.numbers(X), model.predict_proba(X))


def test_a_regressor_in_a_skops_file_is_read(tmp_path):
    model = HistGradientBoostingRegressor(loss="gamma", max_iter=3, max_depth=2).fit(X, AMOUNT)
    pytest.importorskip("skops.io").dump(model, tmp_path / "model.skops")
    assert_bit_equal(load_ensemble(tmp_path / "model.skops").predict(X), model.predict(X))
