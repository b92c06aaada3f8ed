"""Splits by categories are read so that every score is the library's own, whatever number stands for a category."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from onetree import Ensemble, InvalidInputError, ModelFileError, UnsupportedModelError, load_ensemble
from onetree.categories import MISSING, OTHER
from onetree.importers.lightgbm import import_lightgbm, parse_lightgbm_text
from onetree.importers.self_test import sample_rows
from onetree.importers.skops import parse_skops
from onetree.importers.xgboost import import_xgboost, parse_xgboost_json, parse_xgboost_ubj

COLUMNS = [1, 3]
TYPES = ["q", "c", "q", "c"]
LIBRARIES = ("sklearn", "xgboost one-hot", "xgboost partition", "lightgbm")
BESIDE_ZERO = (0.0, -0.0, 1e-300, -1e-300, 5e-324, -5e-324, 2.0**-150, -(2.0**-150), -1e-45)
FRACTIONS = (-0.5, -1.0, np.nextafter(-1.0, 0), np.nextafter(-1.0, -2), 2.5, 1 - 2.0**-24, 1 - 2.0**-25, 1 - 2.0**-26)
FAR = (-7.0, 255.0, 256.0, 2.0**24 - 1, 2.0**24, 2.0**31 - 1, 2.0**31, 2.0**32, 2.0**32 + 3, 2.0**63, -1e30, 3e38)
STRANGE = np.array([*BESIDE_ZERO, np.nextafter(-(2.0**-150), -1), *FRACTIONS, *FAR])


def data(n_categories, n_classes=2, *, gaps=False, seed=0):
    """Two columns of numbers and two of categories that are whole numbers; the first of them has holes."""
    rng = np.random.default_rng(seed)
    n_rows = max(300, 12 * n_categories)
    category = rng.integers(0, n_categories, (n_rows, 2))
    X = rng.standard_normal((n_rows, 4))
    X[:, 1], X[:, 3] = 3.0 * category[:, 0] + 1, category[:, 1]
    effect = rng.standard_normal((n_categories, 2))
    score = X[:, 0] + 2 * effect[category[:, 0], 0] + 2 * effect[category[:, 1], 1]
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def fitted(library, X, y, **options):
    if library == "sklearn":
        given = {"max_iter": 5, "max_depth": 3, "min_samples_leaf": 5, "early_stopping": False, "learning_rate": 0.5}
        return HistGradientBoostingClassifier(categorical_features=COLUMNS, **given | options).fit(X, y)
    if library == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        given = {"n_estimators": 5, "min_child_samples": 5, "min_data_per_group": 1, "cat_smooth": 1.0, "n_jobs": 1}
        given |= {"max_depth": 3, "learning_rate": 0.5}
        model = lightgbm.LGBMClassifier(verbose=-1, **given | options)
        return model.fit(X, y, categorical_feature=COLUMNS)
    xgboost = pytest.importorskip("xgboost")
    given = {"n_estimators": 5, "max_depth": 3, "learning_rate": 0.5, "n_jobs": 1, "tree_method": "hist"}
    given["max_cat_to_onehot"] = 1000 if library == "xgboost one-hot" else 1
    return xgboost.XGBClassifier(enable_categorical=True, feature_types=TYPES, **given | options).fit(X, y)


def scores(model, X):
    if isinstance(model, HistGradientBoostingClassifier):
        return model.decision_function(X).reshape(len(X), -1)
    option = "output_margin" if hasattr(model, "get_booster") else "raw_score"
    return model.predict(X, **{option: True}).reshape(len(X), -1)


def strange_rows(ensemble, n_rows=3000):
    """Rows whose categories are codes, their neighbours in float64 and float32, fractions and what is no category."""
    rng = np.random.default_rng(1)
    X = sample_rows(ensemble, rng)[:n_rows]
    for feature in COLUMNS:
        kind = ensemble.categories[feature]
        if kind is not None:
            points = np.concatenate([kind.codes, kind.low, kind.high])
            single = points.astype(np.float32)
            beside = [np.nextafter(points, end) for end in (-np.inf, np.inf)]
            beside += [np.nextafter(single, np.float32(end)) for end in (-np.inf, np.inf)]
            beside += [points + 0.5, points - 0.5, points + 1, np.resize(kind.codes, 4 * len(points)), STRANGE]
            X[:, feature] = rng.choice(np.concatenate([points, single, *beside]), len(X))
    gaps = (rng.random(X.shape) < 0.15) & ensemble.nan_features
    return np.where(gaps, np.nan, X)


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


def test_categories_that_are_texts_are_refused_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = data(3)
    frame = pandas.DataFrame(
        {"size": X[:, 0], "colour": pandas.Categorical(np.array(["r", "g", "b"])[X[:, 3].astype(int)])}
    )
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype").fit(frame, y)
    with pytest.raises(UnsupportedModelError, match=r"'colour'.*encode the feature as numbers"):
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


def same(a, b):
    fields = ("roots", "feature", "threshold", "left", "right", "value", "base", "subset", "subsets", "nan_features")
    return a.categories == b.categories and all(np.array_equal(getattr(a, key), getattr(b, key)) for key in fields)


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


def test_a_feature_that_is_a_number_in_some_trees_is_refused():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = data(3)
    options = {"objective": "binary", "verbose": -1, "min_data_per_group": 1, "cat_smooth": 1.0}
    first = lightgbm.train(options, lightgbm.Dataset(X[:, [3]], y), 2)
    second = lightgbm.train(options, lightgbm.Dataset(X[:, [3]], y, categorical_feature=[0]), 2, init_model=first)
    with pytest.raises(UnsupportedModelError, match=r"'Column_0' is compared with thresholds.*categories"):
        import_lightgbm(second)


def test_a_number_that_xgboost_takes_for_missing_is_refused_if_its_category_goes_elsewhere():
    X, y = data(3)
    model = fitted("xgboost partition", np.where(X == 0, np.nan, X), y, missing=0.0)
    with pytest.raises(UnsupportedModelError, match=r"takes 0\.0 for a missing value"):
        import_xgboost(model)


def xgboost_document():
    return json.loads(bytes(fitted("xgboost partition", *data(3)).get_booster().save_raw("json")))


def test_a_file_of_an_xgboost_that_treats_unknown_categories_otherwise_is_refused():
    document = xgboost_document()
    document["version"] = [1, 7, 2]
    with pytest.raises(UnsupportedModelError, match=r"1\.7\.3.*save it again"):
        parse_xgboost_json(json.dumps(document).encode())


@pytest.mark.parametrize("number", [float("nan"), 0.0, 1e-45])
def test_what_xgboost_writes_as_the_threshold_of_a_split_by_categories_does_not_matter(number):
    document = xgboost_document()
    expected = parse_xgboost_json(json.dumps(document).encode())
    for tree in document["learner"]["gradient_booster"]["model"]["trees"]:
        for node in tree["categories_nodes"]:
            tree["split_conditions"][node] = number
    assert same(parse_xgboost_json(json.dumps(document).encode()), expected)


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("categories", lambda old: [-1, *old[1:]], "category that is not in"),
        ("categories", lambda old: [*old[:-1], 1 << 24], "category that is not in"),
        ("categories", lambda old: old[:-1], "does not divide"),
        ("categories", lambda old: [0.5, *old[1:]], "whole numbers"),
        ("categories_nodes", lambda old: old[:-1], "does not name the nodes"),
        ("categories_nodes", lambda old: [*old[:-1], 99], "does not name the nodes"),
        ("categories_segments", lambda old: [1, *old[1:]], "does not go with"),
        ("categories_sizes", lambda old: [0, *old[1:]], "does not divide"),
        ("split_type", lambda old: [0] * len(old), "does not name the nodes"),
        ("split_type", lambda old: old[:-1], 'entries in "split_type"'),
    ],
)
def test_broken_categories_of_a_file_of_xgboost_are_refused_with_what_is_wrong(key, change, message):
    document = xgboost_document()
    trees = document["learner"]["gradient_booster"]["model"]["trees"]
    tree = next(tree for tree in trees if tree["categories_nodes"])
    tree[key] = change(tree[key])
    with pytest.raises(ModelFileError, match=message):
        parse_xgboost_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"offsets": [0, 2], "values": [65]}, "offsets"),
        ({"offsets": [0, 1], "values": [300]}, "bytes"),
        ({"type": 8, "values": [1]}, "unknown type"),
        ({"type": 15}, '"values"'),
    ],
)
def test_broken_names_of_a_file_of_xgboost_are_refused_with_what_is_wrong(column, message):
    document = xgboost_document()
    document["learner"]["gradient_booster"]["model"]["cats"] = {"enc": [column] * 4}
    with pytest.raises(ModelFileError, match=message):
        parse_xgboost_json(json.dumps(document).encode())


LIGHTGBM_TEXT = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=0
objective=binary sigmoid:1
feature_names=x
feature_infos=33:0:-1:2
tree_sizes={size}

{tree}end of trees

pandas_categorical:null
"""
LIGHTGBM_TREE = """Tree=0
num_leaves=3
num_cat=2
split_feature=0 0
threshold=1 0
decision_type=1 9
left_child=-1 -2
right_child=1 -3
leaf_value=1 2 -3
cat_boundaries=0 1 3
cat_threshold=5 0 2
is_linear=0
shrinkage=1


"""


def lightgbm_text(tree=LIGHTGBM_TREE):
    return LIGHTGBM_TEXT.format(size=len(tree), tree=tree)


def test_the_sets_of_a_text_of_lightgbm_are_read_bit_by_bit():
    ensemble = parse_lightgbm_text(lightgbm_text().encode())
    rows = np.array([[33.9], [0.0], [2.0], [1.0], [65.0], [np.nan]])
    assert ensemble.categories[0].codes == (0.0, 2.0, 33.0)
    assert ensemble.scores(rows).ravel().tolist() == [1.0, 2.0, 2.0, -3.0, -3.0, -3.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("num_cat=2", "num_cat=1", "announces 1 categorical"),
        ("threshold=1 0", "threshold=2 0", "set of categories does not exist"),
        ("threshold=1 0", "threshold=0.5 0", "set of categories does not exist"),
        ("threshold=1 0", "threshold=inf 0", "set of categories does not exist"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 1", "should hold 3 numbers"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 4 3", "does not divide"),
        ("cat_boundaries=0 1 3", "cat_boundaries=1 1 3", "does not divide"),
        ("cat_threshold=5 0 2", "cat_threshold=5 0", "does not divide"),
        ("cat_threshold=5 0 2", "cat_threshold=5 0 -2", "whole numbers"),
        ("cat_threshold=5 0 2", "cat_threshold=5 0 4294967296", "32 bits"),
        ("cat_threshold=5 0 2\n", "", "cat_threshold"),
    ],
)
def test_broken_sets_of_a_text_of_lightgbm_are_refused_with_what_is_wrong(old, new, message):
    assert LIGHTGBM_TREE.count(old) == 1
    with pytest.raises(ModelFileError, match=message):
        parse_lightgbm_text(lightgbm_text(LIGHTGBM_TREE.replace(old, new)).encode())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("feature_infos=33:0:-1:2", "feature_infos=33:x", "feature_infos says '33:x'"),
        ("feature_infos=33:0:-1:2", "feature_infos=33 0", "2 entries for 1 features"),
        ("pandas_categorical:null", "pandas_categorical:[", "pandas_categorical is broken"),
        ("pandas_categorical:null", "pandas_categorical:[1]", "list of categories per column"),
    ],
)
def test_broken_lists_of_categories_of_lightgbm_are_refused_with_what_is_wrong(old, new, message):
    with pytest.raises(ModelFileError, match=message):
        parse_lightgbm_text(lightgbm_text().replace(old, new).encode())


def test_missing_values_among_the_categories_of_the_training_data_are_inputs():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 200), rng.normal(size=200)]).astype(float)
    y = np.isin(X[:, 0], [1, 3]) ^ (X[:, 1] > 0)
    X[::7, 0] = np.nan
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[0]).fit(X, y)
    ensemble = Ensemble.from_model(model)
    assert ensemble.nan_features.all()
    np.testing.assert_array_equal(ensemble.predict(X), model.predict(X))
