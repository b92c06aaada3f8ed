"""CatBoost's categorical features: values, counters and combinations say what CatBoost says, on any text."""

import copy
import json

import numpy as np
import pytest

from onetree import Ensemble, InvalidInputError, ModelFileError, UnsupportedModelError, born_again, load_ensemble
from onetree.importers.catboost.model import import_catboost, parse_catboost_json
from onetree.model.text_hash import text_hash
from onetree.verify import verify
from tests.cases.damage import damaged

catboost = pytest.importorskip("catboost")
pd = pytest.importorskip("pandas")

CATEGORIES = ["city", "kind", "zone"]
N_MUTATIONS = 150


def frame(n_rows=1500, seed=0, *, unseen=False):
    rng = np.random.default_rng(seed)
    cities, kinds, zones = list("abcde"), ["x", "y"], [0, 1, 2, 30]
    if unseen:
        cities, kinds, zones = [*cities, "", "Köln", "a" * 70], [*kinds, "z"], [*zones, -1, 77]
    return pd.DataFrame(
        {
            "age": rng.normal(size=n_rows).round(2),
            "city": rng.choice(cities, n_rows),
            "kind": rng.choice(kinds, n_rows),
            "zone": rng.choice(zones, n_rows),
        }
    )


def classes(given, n_classes=2):
    y = (given["city"].isin(["a", "c"]) & (given["zone"] > 1)) | ((given["age"] > 0) & (given["kind"] == "x"))
    return np.clip(y.to_numpy().astype(int) + (given["age"] > 0.7), 0, n_classes - 1)


def fitted(given=None, n_classes=2, **options):
    given = frame() if given is None else given
    defaults = {"iterations": 8, "depth": 4, "learning_rate": 0.4, "model_size_reg": 0, "one_hot_max_size": 2}
    model = catboost.CatBoostClassifier(
        verbose=0, allow_writing_files=False, random_seed=0, thread_count=1, **{**defaults, **options}
    )
    return model.fit(given, classes(given, n_classes), cat_features=CATEGORIES)


def rows(ensemble, n_rows=4000):
    """Rows with texts that the model never met, and with numbers on and next to thresholds."""
    given, rng = frame(n_rows, 1, unseen=True), np.random.default_rng(2)
    cuts = ensemble.threshold[ensemble.feature == 0]
    near = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), cuts.astype(np.float32)])
    if len(near):
        given.loc[::2, "age"] = rng.choice(near, len(given.loc[::2]))
    return given


def scores(model, ensemble, given):
    """The model's own scores, and those of the ensemble with what CatBoost does to them at the end."""
    own = model.predict(given, prediction_type="RawFormulaVal").reshape(len(given), -1)
    found, (scale, bias) = ensemble.scores(given), model.get_scale_and_bias()
    return own, found * scale + bias if found.shape[1] == 1 else found


OPTIONS = {
    "values": {"one_hot_max_size": 9},
    "counters": {"max_ctr_complexity": 1},
    "combinations": {"max_ctr_complexity": 6, "depth": 6},
    "shares": {"simple_ctr": "Counter", "combinations_ctr": "Counter", "depth": 5},
    "buckets": {"simple_ctr": "Buckets", "combinations_ctr": ["Buckets", "Counter"], "depth": 5},
    "means": {"simple_ctr": "BinarizedTargetMeanValue", "combinations_ctr": "BinarizedTargetMeanValue", "depth": 5},
    "leaf by leaf": {"grow_policy": "Lossguide"},
    "one against all": {"loss_function": "MultiClassOneVsAll"},
}


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_score_is_that_of_the_model_to_the_last_bit(kind, n_classes):
    if kind == "one against all" and n_classes == 2:
        pytest.skip("needs more classes")
    model = fitted(n_classes=n_classes, **OPTIONS[kind])
    ensemble = import_catboost(model, data=frame())
    given = rows(ensemble)
    own, found = scores(model, ensemble, given)
    np.testing.assert_array_equal(own, found)
    np.testing.assert_array_equal(np.ravel(model.predict(given)), ensemble.predict(given))


@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_missing_numbers_go_the_way_of_the_library_within_combinations_too(nan_mode):
    training = frame()
    training.loc[::5, "age"] = np.nan
    model = fitted(training, nan_mode=nan_mode, depth=6, max_ctr_complexity=6)
    ensemble = import_catboost(model, data=training)
    given = rows(ensemble)
    given.loc[::3, "age"] = np.nan
    np.testing.assert_array_equal(*scores(model, ensemble, given))


@pytest.mark.parametrize("text", ["", "a", "abc", "four", "eight or more", "x" * 17, "y" * 33, "z" * 64, "Zoë " * 50])
def test_a_text_has_the_number_that_catboost_gives_it(text):
    column = pd.DataFrame({"t": [text, text + "?"] * 20})
    model = catboost.CatBoostClassifier(1, depth=1, one_hot_max_size=9, verbose=0, allow_writing_files=False)
    model.fit(column, [0, 1] * 20, cat_features=["t"])
    ensemble = import_catboost(model, data=column)
    (kind,) = ensemble.categories
    assert set(kind.codes) <= {text_hash(text), text_hash(text + "?")}
    np.testing.assert_array_equal(ensemble.predict(column), np.ravel(model.predict(column)))


def test_the_tree_is_proven_and_names_the_categories():
    model = fitted(iterations=5, depth=4)
    solution = born_again(import_catboost(model, data=frame()))
    given = frame(2000, 3, unseen=True)
    np.testing.assert_array_equal(solution.tree.predict(given), np.ravel(model.predict(given)))
    assert solution.status == "optimal"
    assert {"a", "b", "c", "d", "e"} <= {name for kind in solution.tree.categories if kind for name in kind.names}


@pytest.mark.parametrize("method", ["cells", "search", "milp"])
def test_each_proof_confirms_the_tree(method):
    ensemble = import_catboost(fitted(iterations=5, depth=4), data=frame())
    assert verify(born_again(ensemble).tree, ensemble, method=method)


def test_arrays_of_values_are_read_as_catboost_reads_them():
    model = fitted(iterations=3)
    ensemble = import_catboost(model, data=frame())
    given = frame(300, 4, unseen=True)
    values = given.to_numpy(dtype=object)
    np.testing.assert_array_equal(ensemble.predict(values), np.ravel(model.predict(values)))
    np.testing.assert_array_equal(ensemble.predict(values.tolist()), np.ravel(model.predict(values)))


def test_booleans_and_categories_of_pandas_are_read_as_catboost_reads_them():
    training = frame().astype({"city": "category", "zone": "category"}).assign(kind=frame()["kind"] == "x")
    model = catboost.CatBoostClassifier(4, depth=3, verbose=0, allow_writing_files=False)
    model.fit(training, classes(frame()), cat_features=CATEGORIES)
    ensemble = import_catboost(model, data=training)
    given = training.assign(kind=training["kind"].astype(int), zone=training["zone"].astype(str))
    expected = np.ravel(model.predict(training))
    np.testing.assert_array_equal(ensemble.predict(training), expected)
    np.testing.assert_array_equal(ensemble.predict(given), expected)


@pytest.mark.parametrize("value", [np.nan, None, 1.0, pd.NA, b"a"])
def test_what_catboost_refuses_as_a_category_is_refused(value):
    model = fitted(iterations=2)
    ensemble = import_catboost(model, data=frame())
    given = frame(2).astype({"city": object})
    given.loc[1, "city"] = value
    with pytest.raises(InvalidInputError, match="city"):
        ensemble.predict(given)


def test_without_data_simple_counters_are_read_and_categories_shown_as_hashes():
    model = fitted(max_ctr_complexity=1)
    with pytest.warns(UserWarning, match="keeps no names of categories"):
        ensemble = import_catboost(model)
    given = rows(ensemble)
    np.testing.assert_array_equal(*scores(model, ensemble, given))
    assert ensemble.categories[1].names == ()


def test_combinations_of_categories_that_the_model_does_not_keep_need_data():
    model = fitted(iterations=1, depth=3, simple_ctr="Borders", max_ctr_complexity=4)
    with pytest.raises(UnsupportedModelError, match=r"of the .* combinations of 'city', .*data=X"):
        import_catboost(model)
    ensemble = import_catboost(model, data=frame())
    np.testing.assert_array_equal(*scores(model, ensemble, rows(ensemble)))


def test_a_combination_that_is_too_large_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("onetree.importers.catboost.questions._MAX_TABLE", 10)
    with pytest.raises(UnsupportedModelError, match=r"in \d+ ways, more than the 10 that are read"):
        import_catboost(fitted(max_ctr_complexity=6, depth=6), data=frame())


def test_trees_that_become_too_large_are_refused_with_the_limit(monkeypatch):
    monkeypatch.setattr("onetree.importers.catboost.questions._MAX_NODES", 20)
    with pytest.raises(UnsupportedModelError, match="more than 20 nodes"):
        import_catboost(fitted(), data=frame())


def test_a_file_is_the_same_as_the_model_that_wrote_it_and_survives_saving(tmp_path):
    model = fitted()
    path, own = tmp_path / "model.json", tmp_path / "own.json"
    model.save_model(str(path), format="json")
    ensemble = load_ensemble(path, data=frame())
    ensemble.save(own)
    given = rows(ensemble)
    np.testing.assert_array_equal(*scores(model, ensemble, given))
    np.testing.assert_array_equal(load_ensemble(own).predict(given), ensemble.predict(given))


def test_a_model_of_categories_alone_is_read():
    training = frame()[CATEGORIES]
    model = catboost.CatBoostClassifier(4, depth=3, verbose=0, allow_writing_files=False)
    model.fit(training, classes(frame()), cat_features=CATEGORIES)
    given = frame(500, 5, unseen=True)[CATEGORIES]
    np.testing.assert_array_equal(import_catboost(model, data=training).predict(given), np.ravel(model.predict(given)))


@pytest.mark.parametrize("data", [frame()[["age", "city"]], np.zeros((3, 2)), frame().assign(city=0.5)])
def test_data_of_another_shape_are_refused(data):
    with pytest.raises(InvalidInputError):
        import_catboost(fitted(iterations=2), data=data)


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    fitted(iterations=3, depth=6, max_ctr_complexity=6, one_hot_max_size=2).save_model(str(path), format="json")
    found = json.loads(path.read_bytes())
    found["model_info"] = {key: found["model_info"][key] for key in ("params", "class_params")}
    found["model_info"]["params"] = {"loss_function": found["model_info"]["params"]["loss_function"]}
    return found


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
        (("features_info", "ctrs", 0, "elements"), [], "0 elements"),
        (("features_info", "ctrs", 0, "elements", 0, "cat_feature_index"), 9, "outside 0..2"),
        (("features_info", "ctrs", 0, "elements", 0, "combination_element"), "tree", "combines 'tree'"),
        (("features_info", "ctrs", 0, "target_border_idx"), 5, "does not go with its table"),
        (("features_info", "ctrs", 0, "identifier"), "none", "hash_stride"),
        (("features_info", "ctrs", 0, "borders"), [2.0, 1.0], "do not ascend"),
        (("features_info", "ctrs", 0, "prior_numerator"), "1", "finite"),
        (("features_info", "categorical_features", 1, "values"), [1 << 40], "32 bits"),
        (("ctr_data",), None, "ctr_data"),
    ],
)
def test_a_broken_file_is_refused_with_what_is_wrong(document, path, value, message):
    with pytest.raises(ModelFileError, match=message):
        parse_catboost_json(changed(document, path, value), data=frame())


def test_a_counter_that_divides_zero_by_zero_is_refused(document):
    document = copy.deepcopy(document)
    document["features_info"]["ctrs"][0].update(prior_numerator=0, prior_denomerator=0)
    with pytest.raises(ModelFileError, match="divides by zero"):
        parse_catboost_json(json.dumps(document).encode(), data=frame())


def test_a_counter_of_an_unknown_type_is_refused(document):
    with pytest.raises(UnsupportedModelError, match="'Medians'"):
        parse_catboost_json(changed(document, ("features_info", "ctrs", 0, "ctr_type"), "Medians"), data=frame())


@pytest.mark.filterwarnings("ignore:CatBoost keeps no names")
def test_a_mutated_file_is_a_model_or_an_error_that_says_so(document):
    content, rng = json.dumps(document).encode(), np.random.default_rng(0)
    pieces = [b"9", b"-", b",", b"]", b"1e999", b"null", b'"', b"99999999999"]
    given, n_refused = frame(200), 0
    for _ in range(N_MUTATIONS):
        try:
            assert isinstance(parse_catboost_json(damaged(content, rng, pieces), data=given), Ensemble)
        except (ModelFileError, UnsupportedModelError, InvalidInputError):  # the last if a column has another name
            n_refused += 1
    assert n_refused > N_MUTATIONS // 3
