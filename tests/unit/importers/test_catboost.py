"""CatBoost's models are read so that every prediction is the same, bit for bit, and broken files are refused."""

import copy
import json
import math

import numpy as np
import pytest

from onetree import Ensemble, ModelFileError, UnsupportedModelError, load_ensemble
from onetree.importers.catboost.model import import_catboost, parse_catboost_json
from onetree.importers.thresholds import canonical_thresholds
from tests.cases.damage import damaged

catboost = pytest.importorskip("catboost")

PIECES = [b"9", b"-", b",", b"]", b"1e999", b"null", b'"', b"99999999999"]
N_MUTATIONS = 400
FOCAL = "Focal:focal_alpha=0.4;focal_gamma=1.5"
LARGEST = float(np.finfo(np.float32).max)
EXTREME = np.array([0.0, -0.0, 1e-40, -1e-40, 1e-45, 5e-324, np.inf, -np.inf, LARGEST, -LARGEST, 1e308, -1e308])


def data(n_classes, *, gaps=False):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((300, 4))
    X[:, 3] = rng.choice([0, 1e-40, -1e-40, 1e-45, 1, 3.4e38, -3.4e38], 300)
    y = np.floor(n_classes / 2 + X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(300))
    if gaps:
        X[:, 1:3][rng.random((300, 2)) < 0.2] = np.nan
    return X, np.clip(y, 0, n_classes - 1).astype(int)


def classifier(**options):
    defaults = {"iterations": 7, "depth": 3, "learning_rate": 0.5, "random_seed": 0, "thread_count": 1}
    return catboost.CatBoostClassifier(verbose=0, allow_writing_files=False, **{**defaults, **options})


def saved(model, folder):
    path = folder / "model.json"
    model.save_model(str(path), format="json")
    return path


def single(rows):
    with np.errstate(all="ignore"):
        return rows.astype(np.float32)


def rows_around(ensemble, *, gaps, n_rows=3000):
    """Random rows, and rows on and next to the thresholds, among float64 and float32 values."""
    rng = np.random.default_rng(1)
    random = rng.standard_normal((n_rows, ensemble.n_features))
    adjacent = random.copy()
    for feature in range(ensemble.n_features):
        cuts = ensemble.threshold[ensemble.feature == feature]
        near = single(cuts)
        points = [cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), EXTREME, near]
        with np.errstate(over="ignore"):
            points += [np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
        adjacent[:, feature] = rng.choice(np.concatenate(points), n_rows)
    rows = np.concatenate([random, adjacent])
    return np.where(rng.random(rows.shape) < 0.2, np.nan, rows) if gaps else rows


def assert_same_classes(ensemble, model, X, *, gaps=False):
    rows = rows_around(ensemble, gaps=gaps)
    for given in (rows, single(rows), X):
        np.testing.assert_array_equal(ensemble.predict(given), np.ravel(model.predict(given)))


@pytest.mark.parametrize("grow_policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize(
    ("n_classes", "depth", "loss"),
    [
        (2, 1, "Logloss"),
        (2, 6, "Logloss"),
        (2, 3, FOCAL),
        (3, 3, "MultiClass"),
        (5, 2, "MultiClass"),
        (3, 4, "MultiClassOneVsAll"),
    ],
)
def test_the_class_of_every_row_is_that_of_the_classifier(grow_policy, n_classes, depth, loss):
    X, y = data(n_classes)
    model = classifier(grow_policy=grow_policy, depth=depth, loss_function=loss).fit(X, y)
    assert_same_classes(Ensemble.from_model(model), model, X)


@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_missing_values_go_the_way_of_the_library_whether_met_in_training_or_not(nan_mode, n_classes):
    X, y = data(n_classes, gaps=True)
    model = classifier(nan_mode=nan_mode).fit(X, y)
    assert_same_classes(import_catboost(model, missing="follow"), model, X, gaps=True)


def test_nan_is_an_input_where_it_was_met_in_training():
    X, y = data(2, gaps=True)
    model = classifier().fit(X, y)
    assert import_catboost(model).nan_features.tolist() == [False, True, True, False]
    assert import_catboost(model, missing="follow").nan_features.all()
    assert not import_catboost(model, missing="refuse").nan_features.any()


@pytest.mark.parametrize("border", [0.0, 1.0, -1.5, 1e-45, -1e-45, 0.1, LARGEST, -LARGEST])
def test_a_threshold_is_the_largest_number_that_rounds_to_the_border(border):
    (threshold,) = canonical_thresholds(np.array([border], dtype=np.float32)).tolist()
    assert single(np.array([threshold]))[0] <= np.float32(border)
    assert single(np.array([math.nextafter(threshold, math.inf)]))[0] > np.float32(border)


@pytest.mark.parametrize(("scale", "bias"), [(0.7, 0.123), (-1.3, 0.05), (1.0, -0.2), (3.0, 0.0)])
def test_scale_bias_and_probability_threshold_move_the_cut_of_one_score(scale, bias):
    X, y = data(2)
    model = classifier().fit(X, y)
    model.set_scale_and_bias(scale, bias)
    model.set_probability_threshold(0.3)
    ensemble = import_catboost(model)
    assert_same_classes(ensemble, model, X)
    assert -math.log(1 / 0.3 - 1) >= abs(scale) * ensemble.rule.cut + bias
    assert -math.log(1 / 0.3 - 1) < abs(scale) * math.nextafter(ensemble.rule.cut, math.inf) + bias


@pytest.mark.parametrize("scale", [1.0, 4.0, -0.5])
def test_the_bias_of_each_class_is_added_last(scale):
    X, y = data(3)
    model = classifier().fit(X, y)
    model.set_scale_and_bias(scale, [0.1, -0.2, 0.3])
    ensemble = import_catboost(model)
    np.testing.assert_array_equal(ensemble.scores(X), model.predict(X, prediction_type="RawFormulaVal"))
    assert_same_classes(ensemble, model, X)


def test_a_scale_that_rounds_the_scores_of_classes_is_refused():
    X, y = data(3)
    model = classifier().fit(X, y)
    model.set_scale_and_bias(0.7, [0.0, 0.0, 0.0])
    with pytest.raises(UnsupportedModelError, match="set_scale_and_bias"):
        import_catboost(model)


@pytest.mark.parametrize("bias", [0.3, -0.3, 0.0, [0.1, 0.3, 0.2], [0.0, 0.0, 0.0]])
def test_with_a_scale_of_zero_the_bias_alone_decides(bias):
    X, y = data(3 if isinstance(bias, list) else 2)
    model = classifier().fit(X, y)
    model.set_scale_and_bias(0.0, bias)
    ensemble = import_catboost(model)
    assert ensemble.n_leaves == 1
    assert_same_classes(ensemble, model, X)


def test_a_class_that_never_changes_is_refused():
    X, y = data(2)
    model = classifier().fit(X, y)
    model.set_probability_threshold(1.0)
    with pytest.raises(UnsupportedModelError, match="set_probability_threshold"):
        import_catboost(model)


@pytest.mark.parametrize(
    "labels", [["no", "yes", "maybe"], [7, -1, 3], [0.5, 1.5, 2.5], [False, True], [0, 2**40], ["b", "a"]]
)
def test_labels_are_carried_through_by_models_and_files(labels, tmp_path):
    X, y = data(len(labels))
    model = classifier().fit(X, np.array(labels)[y])
    for ensemble in (import_catboost(model), load_ensemble(saved(model, tmp_path))):
        assert ensemble.classes.tolist() == sorted(labels)
        assert ensemble.classes.dtype == model.predict(X).dtype
        np.testing.assert_array_equal(ensemble.predict(X), np.ravel(model.predict(X)))


def test_a_class_that_was_announced_but_never_seen_is_not_predicted():
    X, y = data(3)
    model = classifier(class_names=[0, 1, 2, 3], loss_function="MultiClass").fit(X, np.array([0, 2, 3])[y])
    assert import_catboost(model).classes.tolist() == [0, 2, 3]


def test_feature_names_are_carried_through():
    pandas = pytest.importorskip("pandas")
    X, y = data(2)
    names = ["height", "body weight", 'größe "x"', "d"]
    assert import_catboost(classifier().fit(pandas.DataFrame(X, columns=names), y)).feature_names == tuple(names)
    assert import_catboost(classifier().fit(X, y)).feature_names == ("x0", "x1", "x2", "x3")


def test_ignored_and_constant_columns_stay_columns():
    X, y = data(2)
    X = np.column_stack([np.ones(len(X)), X])
    model = classifier(ignored_features=[2]).fit(X, y)
    assert_same_classes(import_catboost(model), model, X)


@pytest.mark.parametrize("loss", ["Logloss", "CrossEntropy"])
def test_the_plain_class_of_catboost_is_read(loss):
    X, y = data(2)
    options = {"loss_function": loss, "iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False}
    model = catboost.CatBoost(options).fit(X, y if loss == "Logloss" else 0.2 + 0.6 * y)
    ensemble = import_catboost(model)
    np.testing.assert_array_equal(ensemble.predict(X), model.predict(X, prediction_type="Class"))


def test_a_sum_of_models_is_read():
    X, y = data(2)
    total = catboost.sum_models([classifier(random_seed=seed).fit(X, y) for seed in (0, 1)], weights=[0.3, 0.7])
    np.testing.assert_array_equal(
        import_catboost(total).scores(X)[:, 0], total.predict(X, prediction_type="RawFormulaVal")
    )


def test_a_model_that_stopped_early_is_read_as_it_predicts():
    X, y = data(2)
    y = y ^ (np.random.default_rng(0).random(len(y)) < 0.3)
    model = classifier(iterations=100, early_stopping_rounds=3)
    model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]))
    ensemble = import_catboost(model)
    assert ensemble.n_trees == model.tree_count_ < 100
    assert_same_classes(ensemble, model, X)


@pytest.mark.parametrize("grow_policy", ["SymmetricTree", "Lossguide"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_file_is_the_same_as_the_model_that_wrote_it(tmp_path, grow_policy, n_classes):
    X, y = data(n_classes, gaps=True)
    model = classifier(grow_policy=grow_policy).fit(X, y)
    live, file = import_catboost(model), load_ensemble(saved(model, tmp_path))
    for name in (
        "feature",
        "threshold",
        "children_left",
        "children_right",
        "value",
        "missing_left",
        "nan_features",
        "roots",
        "classes",
    ):
        np.testing.assert_array_equal(getattr(live, name), getattr(file, name))
    assert live.rule == file.rule


def test_models_that_are_not_read_are_refused_with_the_reason():
    X, y = data(2)
    with pytest.raises(UnsupportedModelError, match="not fitted"):
        import_catboost(classifier())
    with pytest.raises(UnsupportedModelError, match="is a regressor"):
        import_catboost(catboost.CatBoostRegressor(iterations=2, verbose=0, allow_writing_files=False).fit(X, y))
    with pytest.raises(UnsupportedModelError, match="one class"):
        import_catboost(classifier(allow_const_label=True).fit(X, np.ones(len(X), dtype=int)))
    with pytest.raises(UnsupportedModelError, match="not a model of CatBoost"):
        import_catboost(object())


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """The JSON of a complete tree and of a nested one."""
    X, y = data(2, gaps=True)
    folder = tmp_path_factory.mktemp("models")
    models = [classifier(iterations=2, grow_policy=policy).fit(X, y) for policy in ("SymmetricTree", "Depthwise")]
    return [json.loads(saved(model, folder).read_bytes()) for model in models]


def changed(document, path, value):
    document = copy.deepcopy(document)
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("oblivious_trees", 0, "leaf_values"), [1.0, 2.0], "do not go together"),
        (("oblivious_trees", 0, "leaf_values", 0), "1", "finite"),
        (("oblivious_trees", 0, "leaf_values", 0), 10**400, "finite"),
        (("oblivious_trees", 0, "leaf_values", 0), math.inf, "not a JSON number|Infinity"),
        (("oblivious_trees", 0, "splits", 0, "split_index"), 99, "split_index outside"),
        (("oblivious_trees", 0, "splits", 0, "split_index"), True, "split_index"),
        (("oblivious_trees", 0, "splits", 0, "float_feature_index"), -1, "differs from the border"),
        (("oblivious_trees", 0, "splits", 0, "border"), 0.123, "differs from the border"),
        (("oblivious_trees", 0, "splits"), None, "0 splits"),
        (("oblivious_trees", 0, "splits", 0, "split_type"), "OnlineCtr", "differs from the border"),
        (("features_info", "categorical_features"), [{"feature_id": "city"}], "feature_index"),
        (("features_info", "float_features", 0, "borders"), [0.1], "not a float32"),
        (("features_info", "float_features", 0, "borders"), [2.0, 1.0], "do not ascend"),
        (("features_info", "float_features", 0, "flat_feature_index"), 7, "flat_feature_index"),
        (("features_info", "float_features", 0, "feature_index"), 1, "feature_index"),
        (("features_info", "float_features", 1, "nan_value_treatment"), "AsZero", "nan_value_treatment"),
        (("features_info", "float_features", 1, "has_nans"), 1, "has_nans"),
        (("scale_and_bias",), [1, [0, 0]], "2 scores"),
        (("scale_and_bias",), [1], "scale and a bias"),
        (("model_info", "class_params", "class_to_label"), [0, 1, 2], "class_to_label"),
        (("model_info", "class_params", "class_to_label"), [0, 5], "points outside"),
        (("model_info", "class_params", "class_to_label"), [0, 0.5], "integers"),
        (("model_info", "class_params", "class_to_label"), [1, 0], "must ascend"),
        (("model_info", "class_params", "class_names"), [1, 1], "same label"),
        (("model_info", "class_params", "class_names"), ["a", "b"], "not of the type 'Integer'"),
        (("model_info", "class_params", "class_label_type"), "Colour", "not of the type 'Colour'"),
        (("model_info", "binclass_probability_threshold"), "2", "between 0 and 1"),
        (("trees",), [], "either"),
    ],
)
def test_a_broken_file_is_refused_with_what_is_wrong(documents, path, value, message):
    with pytest.raises(ModelFileError, match=message):
        parse_catboost_json(changed(documents[0], path, value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("oblivious_trees",), [], "no trees"),
        (("oblivious_trees", 0, "splits", 0, "split_type"), "Embedding", "Embedding"),
        (("model_info", "params", "loss_function", "type"), "MultiRMSE", "MultiRMSE"),
        (("features_info", "text_features"), [{"feature_id": "letter"}], "'letter' is a text"),
    ],
)
def test_a_sound_file_of_another_kind_is_refused_with_the_reason(documents, path, value, message):
    with pytest.raises(UnsupportedModelError, match=message):
        parse_catboost_json(changed(documents[0], path, value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("trees", 0, "left"), {}, "split"),
        (("trees", 0, "left"), None, "left"),
        (("trees", 0, "left"), {"value": [1.0, 2.0]}, "2 values, not 1"),
        (("trees", 0, "value"), 1.0, "a leaf with a split"),
        (("trees", 0, "left"), {"value": None}, "finite"),
    ],
)
def test_a_broken_nested_tree_is_refused_with_what_is_wrong(documents, path, value, message):
    with pytest.raises(ModelFileError, match=message):
        parse_catboost_json(changed(documents[1], path, value))


def test_an_absurdly_deep_file_is_refused():
    with pytest.raises(ModelFileError):
        parse_catboost_json(b'{"trees": ' + b"[" * 200_000)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b'{"oblivious_trees": []}', b"\xff\xfe"])
def test_what_is_no_model_at_all_is_refused(content):
    with pytest.raises(ModelFileError):
        parse_catboost_json(content)


@pytest.mark.parametrize("which", [0, 1])
def test_a_mutated_file_is_a_model_or_an_error_that_says_so(documents, which):
    document = copy.deepcopy(documents[which])
    document["model_info"] = {key: document["model_info"][key] for key in ("params", "class_params")}
    document["model_info"]["params"] = {"loss_function": document["model_info"]["params"]["loss_function"]}
    content = json.dumps(document).encode()
    rng = np.random.default_rng(which)
    n_refused = 0
    for _ in range(N_MUTATIONS):
        try:
            assert isinstance(parse_catboost_json(damaged(content, rng, PIECES)), Ensemble)
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
    assert n_refused > N_MUTATIONS // 2


def test_a_binary_file_is_the_same_as_the_model(tmp_path):
    X, y = data(2)
    model = classifier().fit(X, y)
    model.save_model(str(tmp_path / "model.cbm"))
    np.testing.assert_array_equal(load_ensemble(tmp_path / "model.cbm").predict(X), model.predict(X))


@pytest.mark.parametrize("n_bytes", [6, 3000])
def test_a_broken_binary_file_is_refused_even_if_it_crashes_the_library(tmp_path, n_bytes):
    classifier().fit(*data(2)).save_model(str(tmp_path / "model.cbm"))
    content = (tmp_path / "model.cbm").read_bytes()
    (tmp_path / "model.cbm").write_bytes(content[:n_bytes] + b"\xff" * (len(content) - n_bytes))
    with pytest.raises(ModelFileError, match="CatBoost does not read this file"):
        load_ensemble(tmp_path / "model.cbm")
