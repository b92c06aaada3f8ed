"""skops files: models come back whole, and a hostile file is an error that says what is wrong."""

import io
import json
import random
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from onetree import Ensemble, ModelFileError, UnsupportedModelError, load_ensemble
from onetree.cli import main
from onetree.importers.self_test import rows_compared, sample_rows
from onetree.importers.sklearn import skops as importer
from onetree.importers.sklearn.skops import parse_skops
from tests.cases.damage import damaged

skops_io = pytest.importorskip("skops.io")

X, Y = load_iris(return_X_y=True)
LABELS = np.array(["a", "b", "c"])


def tree(**options):
    return DecisionTreeClassifier(max_depth=2, **options)


MODELS = [
    tree(random_state=np.random.RandomState(0)),
    RandomForestClassifier(3, max_depth=2, random_state=0),
    ExtraTreesClassifier(3, max_depth=2, random_state=0),
    BaggingClassifier(tree(), 3, max_features=2, random_state=0),
    AdaBoostClassifier(n_estimators=3, random_state=0),
    VotingClassifier([("a", tree()), ("b", tree(max_features=1, random_state=0))], weights=[1, 2]),
    GradientBoostingClassifier(n_estimators=2, max_depth=2),
    GradientBoostingClassifier(n_estimators=2, max_depth=2, init="zero"),
    HistGradientBoostingClassifier(max_iter=2, max_depth=2),
    GridSearchCV(tree(), {"max_depth": [1, 2]}, cv=3),
]


@pytest.fixture(scope="module")
def forest_file():
    return skops_io.dumps(RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, Y))


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return stream.getvalue()


def with_schema(content, change):
    """Return the file with its schema changed."""
    parts = unpacked(content)
    schema = json.loads(parts["schema.json"])
    change(schema)
    return packed(parts | {"schema.json": json.dumps(schema).encode()})


def entries(schema, loader):
    """Return all entries with this loader."""
    found, stack = [], [schema]
    while stack:
        entry = stack.pop()
        if isinstance(entry, dict):
            found += [entry] if entry.get("__loader__") == loader else []
            stack += entry.values()
        elif isinstance(entry, list):
            stack += entry
    return found


def first_tree(schema):
    return entries(schema, "TreeNode")[0]


def array_file(content, name):
    """Return the name of the file that holds an array of the first tree."""
    return first_tree(json.loads(unpacked(content)["schema.json"]))["content"]["content"][name]["file"]


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize(
    "labels", [LABELS, LABELS.astype(object), np.array([10, 20, 30])], ids=["str", "object", "int"]
)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_model_from_a_file_predicts_like_the_one_saved(model, labels, tmp_path):
    model.fit(X, labels[Y])
    skops_io.dump(model, tmp_path / "model.skops")
    ensemble = load_ensemble(tmp_path / "model.skops")
    rows = np.concatenate([X, sample_rows(ensemble, np.random.default_rng(3))])
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))


@pytest.mark.parametrize("model", MODELS[6:9], ids=str)
def test_boosting_of_two_classes_comes_back(model):
    model.fit(X, Y == 1)
    np.testing.assert_array_equal(parse_skops(skops_io.dumps(model)).predict(X), model.predict(X))


def mixed_pipeline():
    rng = np.random.default_rng(0)
    columns = {name: rng.random(200) for name in ("age", "income", "rate")}
    frame = pd.DataFrame({**columns, "colour": rng.choice(["red", "blue", "grey"], 200)})
    frame.loc[rng.random(200) < 0.1, "age"] = np.nan
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["age"]),
        (FunctionTransformer(np.log1p), ["income"]),
        (KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf"), ["rate"]),
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    )
    pipeline = make_pipeline(steps, SelectKBest(k=6), RandomForestClassifier(4, max_depth=3, random_state=0))
    return pipeline.fit(frame, frame["income"] + (frame["colour"] == "red") > 0.8), frame


def test_a_pipeline_is_read_on_its_raw_columns():
    pipeline, frame = mixed_pipeline()
    ensemble = parse_skops(skops_io.dumps(pipeline))
    frame.loc[:20, "colour"] = "never seen"
    np.testing.assert_array_equal(ensemble.predict(frame), pipeline.predict(frame))
    assert set(ensemble.feature_names) == set(frame.columns)


def test_the_last_step_of_a_pipeline_is_read_alone_if_asked_for(tmp_path):
    pipeline = make_pipeline(StandardScaler(), tree()).fit(X, Y)
    skops_io.dump(pipeline, tmp_path / "model.skops")
    with pytest.warns(UserWarning, match="StandardScaler"):
        ensemble = load_ensemble(tmp_path / "model.skops", pipelines="last-step")
    np.testing.assert_array_equal(ensemble.predict(pipeline[:-1].transform(X)), pipeline.predict(X))


@pytest.mark.parametrize("step", [PCA(4), FunctionTransformer(abs), SelectFromModel(tree())], ids=str)
def test_steps_that_are_not_read_are_refused_by_name(step):
    pipeline = make_pipeline(StandardScaler(), tree()).fit(X, Y)
    pipeline.steps.insert(0, ("more", step.fit(X, Y)))
    with pytest.raises(UnsupportedModelError, match=type(step).__name__):
        parse_skops(skops_io.dumps(pipeline))


def test_a_pipeline_with_damage_is_a_model_or_an_error_that_says_so():
    content = skops_io.dumps(mixed_pipeline()[0])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    rng, n_refused, n_tried = np.random.default_rng(0), 0, 40
    pieces = [b"9", b"null", b'"', b"-1", b"[]", b"1e9"]
    for _ in range(n_tried):
        changed = io.BytesIO()
        with zipfile.ZipFile(changed, "w") as archive:
            for name, part in parts.items():
                archive.writestr(name, damaged(part, rng, pieces) if name == "schema.json" else part)
        try:
            assert isinstance(parse_skops(changed.getvalue()), Ensemble)
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
    assert n_refused > n_tried // 2


def test_the_model_in_the_file_is_compared_with_what_was_read(forest_file):
    with rows_compared() as counts:
        parse_skops(forest_file)
    assert counts == [2000]


def test_inspect_says_how_many_rows_were_compared(forest_file, tmp_path, capsys):
    (tmp_path / "model.skops").write_bytes(forest_file)
    assert main(["inspect", str(tmp_path / "model.skops")]) == 0
    assert "self-test  2,000 rows, 0 mismatches" in capsys.readouterr().out


def test_the_vote_can_be_made_hard(forest_file, tmp_path):
    (tmp_path / "model.skops").write_bytes(forest_file)
    assert load_ensemble(tmp_path / "model.skops", voting="hard").rule.kind == "hard"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(max_iter=1000), "a LogisticRegression, which is not one of"),
        (BaggingClassifier(LogisticRegression(max_iter=1000), 2), "LogisticRegression, not a tree"),
    ],
)
def test_a_model_that_is_no_tree_ensemble_is_refused_by_name(model, message):
    with pytest.raises(UnsupportedModelError, match=message):
        parse_skops(skops_io.dumps(model.fit(X, Y)))


def test_a_type_that_the_file_names_is_not_imported(forest_file):
    def change(schema):
        schema["content"]["content"]["estimators_"]["content"][0]["__module__"] = "this"

    with pytest.raises(UnsupportedModelError, match="not a tree"):
        parse_skops(with_schema(forest_file, change))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 10**6),
        ("left_child", -7),
        ("right_child", -7),
        ("feature", 99),
        ("feature", -5),
        ("left_child", 0),
        ("threshold", np.nan),
    ],
)
def test_nodes_that_are_no_tree_are_refused_before_they_are_walked(forest_file, field, value):
    parts, file = unpacked(forest_file), array_file(forest_file, "nodes")
    nodes = np.load(io.BytesIO(parts[file]), allow_pickle=False)
    nodes[field][0] = value
    with pytest.raises(ModelFileError, match="damaged"):
        parse_skops(packed(parts | {file: npy(nodes)}))


HOSTILE = {
    "more nodes than there are": lambda schema: first_tree(schema)["content"]["content"]["node_count"].update(
        content="1000000"
    ),
    "a negative count": lambda schema: first_tree(schema)["content"]["content"]["node_count"].update(content="-1"),
    "an unknown protocol": lambda schema: schema.update(protocol=99),
    "no content": lambda schema: schema.pop("content"),
    "a number for an object": lambda schema: schema.update(content=5),
    "a lost array": lambda schema: entries(schema, "NdArrayNode")[0].update(file="nowhere.npy"),
    "bad JSON inside": lambda schema: entries(schema, "JsonNode")[0].update(content="{"),
    "very many features": lambda schema: [
        first_tree(schema)["__reduce__"]["args"]["content"][0].update(content="1000000000"),
        schema["content"]["content"]["n_features_in_"].update(content="1000000000"),
    ],
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_schema_is_an_error_of_the_file(forest_file, change):
    with pytest.raises((ModelFileError, UnsupportedModelError)):
        parse_skops(with_schema(forest_file, change))


def test_a_tree_that_promises_more_outputs_than_it_has_is_refused(forest_file):
    def change(schema):
        first_tree(schema)["__reduce__"]["args"]["content"][2]["content"] = "100000000"

    with pytest.raises(UnsupportedModelError, match="several outputs"):
        parse_skops(with_schema(forest_file, change))


def test_an_array_of_pickled_objects_is_refused(forest_file):
    pickled = npy(np.array([print], dtype=object))
    with pytest.raises(ModelFileError, match="pickled objects"):
        parse_skops(packed(unpacked(forest_file) | {array_file(forest_file, "values"): pickled}))


def test_an_array_that_promises_more_than_it_holds_is_refused(forest_file):
    lying = npy(np.zeros(3)).replace(b"(3,), }" + b" " * 12, b"(3000000000000,), }")
    with pytest.raises(ModelFileError, match="should hold"):
        parse_skops(packed(unpacked(forest_file) | {array_file(forest_file, "values"): lying}))


def test_an_array_used_again_and_again_does_not_fill_the_memory(forest_file, monkeypatch):
    def change(schema):
        schema["content"]["content"]["estimators_"]["content"] *= 1000

    content = with_schema(forest_file, change)
    monkeypatch.setattr(importer, "_MAX_ARRAY_BYTES", 100_000)
    with pytest.raises(ModelFileError, match="the arrays it uses"):
        parse_skops(content)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(monkeypatch, forest_file):
    monkeypatch.setattr(importer, "MAX_BYTES", 5000)
    with pytest.raises(ModelFileError, match="unpacks to"):
        parse_skops(forest_file)


def test_a_zip_archive_that_is_not_skops_is_refused(tmp_path):
    (tmp_path / "other.zip").write_bytes(packed({"readme.txt": b"hello"}))
    with pytest.raises(ModelFileError, match=r"other.zip.*without schema.json"):
        load_ensemble(tmp_path / "other.zip")


def test_a_schema_nested_beyond_all_measure_is_refused(tmp_path):
    (tmp_path / "deep.skops").write_bytes(packed({"schema.json": '{"a":' * 100_000}))
    with pytest.raises(ModelFileError, match=r"deep\.skops"):
        load_ensemble(tmp_path / "deep.skops")


@pytest.mark.parametrize("model", [MODELS[1], MODELS[6], MODELS[8]], ids=lambda model: type(model).__name__)
def test_flipped_and_cut_parts_are_errors_of_the_file_or_sound_models(model, tmp_path):
    parts = unpacked(skops_io.dumps(model.fit(X, Y)))
    rng = random.Random(0)
    for _ in range(60):
        name = rng.choice(list(parts))
        data = bytearray(parts[name])
        for _ in range(rng.choice([1, 3])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        broken = bytes(data[: rng.choice([len(data), rng.randrange(len(data))])])
        (tmp_path / "broken.skops").write_bytes(packed(parts | {name: broken}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ensemble = load_ensemble(tmp_path / "broken.skops")
            except (ModelFileError, UnsupportedModelError):
                continue
        assert len(ensemble.predict(np.zeros((1, ensemble.n_features)))) == 1


@pytest.mark.parametrize("n_bytes", [4, 30, 1000])
def test_a_file_that_is_cut_short_is_refused(forest_file, n_bytes):
    with pytest.raises(ModelFileError, match="zip"):
        parse_skops(forest_file[:n_bytes])
