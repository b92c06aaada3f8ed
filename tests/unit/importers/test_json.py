"""The project's JSON: nothing is lost, nothing broken is accepted, and files are recognised by content."""

import copy
import dataclasses
import io
import json
import pickle
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from onetree import Ensemble, InvalidInputError, ModelFileError, UnsupportedModelError, load_ensemble
from onetree.importers.json import parse_json, read_json, write_json
from onetree.model.categories import Categories
from onetree.model.ensemble import Rule
from tests.cases.arrays import ARRAYS
from tests.cases.strategies import ensembles_with_categories, random_ensemble_with_categories

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SET_TESTS = ("subset", "subsets")
LABELS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2, unique=True).map(
        lambda x: np.array(x, np.int64)
    ),
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=2, max_size=2, unique=True).map(
        np.array
    ),
    hnp.arrays(np.float32, 2, elements=st.floats(width=32, allow_nan=False, allow_infinity=False), unique=True),
    st.just(np.array([False, True])),
    st.just(np.array(["a", 7], dtype=object)),
    st.just(np.array([3, 200], dtype=np.uint8)),
)


def stump(classes, threshold, value, base, rule, missing_left=False, names=("a",)):
    return Ensemble(
        classes=classes,
        feature_names=names,
        roots=[0],
        feature=[0, -1, -1],
        threshold=[threshold, 0, 0],
        children_left=[1, -1, -1],
        children_right=[2, -1, -1],
        missing_left=[missing_left, False, False],
        value=value,
        base=base,
        rule=rule,
        nan_features=[True],
    )


def round_trip(ensemble, tmp_path):
    path = tmp_path / "ensemble.json"
    write_json(ensemble, path)
    return read_json(path)


def assert_identical(first, second):
    for name in (*ARRAYS, *SET_TESTS):
        a, b = getattr(first, name), getattr(second, name)
        assert a.dtype == b.dtype, name
        assert a.tolist() == b.tolist(), name
        assert [type(x) for x in a.ravel().tolist()] == [type(x) for x in b.ravel().tolist()], name
        if a.dtype == np.float64:
            assert a.tobytes() == b.tobytes(), name  # -0.0 too
    assert first.feature_names == second.feature_names
    assert first.categories == second.categories
    assert first.rule == second.rule


@pytest.fixture(scope="module")
def forest():
    X, y = load_iris(return_X_y=True, as_frame=False)
    return RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, np.array(["s", "vc", "vg"])[y])


@pytest.fixture
def document(forest, tmp_path):
    Ensemble.from_model(forest).save(tmp_path / "ensemble.json")
    return json.loads((tmp_path / "ensemble.json").read_text())


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_a_forest_comes_back_identical(forest, tmp_path, voting):
    ensemble = Ensemble.from_model(forest, voting=voting, missing="follow")
    ensemble.save(tmp_path / "forest.json")
    assert_identical(load_ensemble(tmp_path / "forest.json"), ensemble)


@given(
    classes=LABELS,
    threshold=st.one_of(FINITE, st.just(np.inf)),
    value=hnp.arrays(np.float64, (3, 2), elements=FINITE),
    base=hnp.arrays(np.float64, 2, elements=FINITE),
    divisor=st.floats(min_value=1e-300, max_value=1e300),
    dtype=st.sampled_from(["float32", "float64"]),
    missing_left=st.booleans(),
    name=st.text(st.characters(codec="utf-8")),
)
def test_every_number_and_label_comes_back_identical(
    tmp_path_factory, classes, threshold, value, base, divisor, dtype, missing_left, name
):
    rule = Rule("scores", dtype=dtype, divisor=divisor)
    ensemble = stump(classes, threshold, value, base, rule, missing_left, (name,))
    assert_identical(round_trip(ensemble, tmp_path_factory.mktemp("json")), ensemble)


def test_one_score_with_its_cut_comes_back_identical(tmp_path):
    rule = Rule("score", dtype="float32", cut=float.fromhex("0x1.800002p-24"), cut_inclusive=True)
    ensemble = stump(np.array([0, 1]), 1.5, [[0.0], [0.1], [-0.0]], [0.25], rule)
    assert_identical(round_trip(ensemble, tmp_path), ensemble)


def test_a_soft_vote_can_be_loaded_as_a_hard_vote(forest, tmp_path):
    Ensemble.from_model(forest).save(tmp_path / "forest.json")
    hard = load_ensemble(tmp_path / "forest.json", voting="hard")
    assert_identical(hard, Ensemble.from_model(forest, voting="hard"))


@pytest.mark.parametrize("labels", [[None, 1], [np.nan, 1.0], [(1, 2), 3], [b"a", b"b"]])
def test_labels_that_json_cannot_hold_are_refused_and_no_file_is_left(tmp_path, labels):
    classes = np.empty(2, dtype=object)
    classes[:] = labels
    ensemble = stump(classes, 0.5, np.zeros((3, 2)), [0, 0], Rule("scores"))
    with pytest.raises(UnsupportedModelError, match="class label"):
        write_json(ensemble, tmp_path / "ensemble.json")
    assert list(tmp_path.iterdir()) == []


def test_labels_of_an_exotic_type_are_refused(tmp_path):
    classes = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    with pytest.raises(UnsupportedModelError, match="datetime64"):
        write_json(stump(classes, 0.5, np.zeros((3, 2)), [0, 0], Rule("scores")), tmp_path / "ensemble.json")


def changed(document, *path, to):
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return document


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("version",), 2, "version 2, but files like it have 1"),
        (("version",), 6, "version 6 is not known, only 1 and 2 and 3 and 4 and 5; update"),
        (("version",), True, "version True is not known"),
        (("format",), "onetree-tree", '"format" is not'),
        (("extra",), 1, "unknown entries: 'extra'"),
        (("nodes", "extra"), 1, "unknown entries: 'extra'"),
        (("rule", "extra"), 1, "unknown entries: 'extra'"),
        (("nodes",), [], "must be a JSON object"),
        (("nodes", "left", 0), 10**6, "node 0 .* left child that does not exist"),
        (("nodes", "left", 0), 10**12, "too large"),
        (("nodes", "left", 0), 0, "node 0 .* more than one way"),
        (("nodes", "left", 0), 1.0, '"left" must be a list of int'),
        (("nodes", "left", 0), True, '"left" must be a list of int'),
        (("nodes", "left"), [], "left .* shape"),
        (("nodes", "feature", 0), 4, "feature that does not exist"),
        (("nodes", "threshold", 0), None, '"threshold" must be a list'),
        (("nodes", "threshold", 0), "nan", '"threshold" must hold finite numbers or "inf"'),
        (("nodes", "threshold", 0), "-inf", '"threshold" must hold finite numbers or "inf"'),
        (("nodes", "threshold", 0), 10**400, "too large"),
        (("nodes", "missing_left", 0), 1, '"missing_left" must be a list of bool'),
        (("nodes", "value"), [], "0 vectors for"),
        (("nodes", "value", 0), [1.0], "1 entries, not 3"),
        (("nodes", "value", 0, 0), "1", '"value" must be a list of float or int'),
        (("base",), [0.0], "base .* shape"),
        (("roots", 1), 0, "more than one way"),
        (("classes",), ["s", "vc", "vg"], '"classes" must be an object'),
        (("classes", "dtype"), "complex128", 'unknown "dtype"'),
        (("classes", "dtype"), ["str"], 'unknown "dtype"'),
        (("classes", "dtype"), "int8", "not of the type"),
        (("classes", "labels", 0), 1, "not of the type"),
        (("classes", "labels"), [], "at least one label"),
        (("classes",), {"dtype": "int8", "labels": [1, 2, 300]}, "does not fit into int8"),
        (("classes", "labels", 0), "vc", "labels .* differ"),
        (("features", 0), 1, '"features" must be a list of str'),
        (("rule", "kind"), "median", "unknown rule"),
        (("rule", "kind"), None, '"rule" must be a list of str'),
        (("rule", "divisor"), 0.0, "positive"),
        (("nan_features",), [True], "nan_features .* shape"),
    ],
)
def test_a_broken_document_is_refused_with_the_reason(document, path, to, message):
    with pytest.raises(ModelFileError, match=message):
        parse_json(json.dumps(changed(document, *path, to=to)).encode())


@pytest.mark.parametrize("key", ["classes", "rule", "nodes", "base", "roots", "features", "nan_features", "version"])
def test_a_document_with_an_entry_missing_is_refused(document, key):
    del document[key]
    with pytest.raises(ModelFileError):
        parse_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cut short"),
        (b"[" * 100_000, "cut short"),
        (b'{"format": NaN}', "NaN is not a JSON number"),
        (b'{"format": 1, "format": 2}', "occurs twice"),
        (b"[]", '"format" is not'),
        (b"\xff", "cut short"),
        (b'{"format": ' + b"1" * 10_000 + b"}", "cut short"),
    ],
)
def test_what_is_no_such_document_is_refused(content, message):
    with pytest.raises(ModelFileError, match=message):
        parse_json(content)


def test_a_document_cut_short_anywhere_is_refused(document):
    content = json.dumps(document).encode()
    for length in range(0, len(content), 97):
        with pytest.raises(ModelFileError):
            parse_json(content[:length])


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_the_message_names_skops(forest, tmp_path, protocol):
    path = tmp_path / "model.json"
    path.write_bytes(pickle.dumps(forest, protocol=protocol))
    with pytest.raises(ModelFileError, match="skops"):
        load_ensemble(path)


@pytest.mark.parametrize("compress", [0, ("zlib", 3), ("gzip", 3), ("bz2", 3), ("lzma", 3), ("xz", 3)])
def test_a_joblib_file_is_refused_and_the_message_names_skops(forest, tmp_path, compress):
    buffer = io.BytesIO()
    joblib.dump(forest, buffer, compress=compress)
    path = tmp_path / "model.joblib"
    path.write_bytes(buffer.getvalue())
    with pytest.raises(ModelFileError, match="skops"):
        load_ensemble(path)


@pytest.mark.parametrize(
    "content", [b"", b"hello\n", b'{"teacher": {}}', b"\x00\x01\x02", b"(a, b)", b"trees\nversion=v4\n"]
)
def test_unknown_content_is_refused_with_what_is_known(tmp_path, content):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"BA-Trees.*onetree-ensemble"):
        load_ensemble(path)


def test_a_file_that_is_not_there_or_a_folder_is_refused_with_its_name(tmp_path):
    with pytest.raises(ModelFileError, match=r"nothing.json: No such file"):
        load_ensemble(tmp_path / "nothing.json")
    with pytest.raises(ModelFileError, match="folder"):
        load_ensemble(tmp_path)


def test_an_unknown_voting_is_refused_before_the_file_is_read():
    with pytest.raises(InvalidInputError, match="unknown voting='most'"):
        load_ensemble("nothing.json", voting="most")


@given(ensembles_with_categories())
def test_categories_and_set_tests_come_back_identical(tmp_path_factory, ensemble):
    assert_identical(round_trip(ensemble, tmp_path_factory.mktemp("json")), ensemble)


def test_only_an_ensemble_with_categories_needs_the_second_version(document, set_document):
    assert document["version"] == 1
    assert not {"categories", "subsets"} & set(document)
    assert "subset" not in document["nodes"]
    assert set_document["version"] == 2


@pytest.fixture
def set_document(tmp_path):
    """One tree, one feature of the categories 0, 1 and everything above; left are 0 and missing values."""
    kind = Categories((0.0, 1.0, 2.0), [-np.inf, 0.5, 1.5], [0.5, 1.5, np.inf], ("a", "b", "more"))
    ensemble = stump(np.array([0, 1]), 0.0, np.zeros((3, 2)), [0, 0], Rule("scores"))
    fields = {"categories": (kind,), "subset": [0, -1, -1], "subsets": [[False, True, True, False, False]]}
    ensemble = dataclasses.replace(ensemble, **fields)
    assert_identical(round_trip(ensemble, tmp_path), ensemble)
    return json.loads((tmp_path / "ensemble.json").read_text())


def test_a_file_lists_the_elements_of_each_set_and_writes_infinity_as_a_word(set_document):
    assert set_document["subsets"] == [[1, 2]]
    assert set_document["nodes"]["subset"] == [0, -1, -1]
    assert set_document["categories"] == [
        {"codes": [0.0, 1.0, 2.0], "low": ["-inf", 0.5, 1.5], "high": [0.5, 1.5, "inf"], "names": ["a", "b", "more"]}
    ]


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("version",), 1, "version 1, but files like it have 2"),
        (("categories",), [None], "set test, but its feature is not categorical|elements from 0"),
        (("categories",), [], "elements from 0"),
        (("categories",), {}, '"categories" must be a list'),
        (("categories", 0), 1, '"categories" must be a list'),
        (("categories", 0, "extra"), 1, "unknown entries: 'extra'"),
        (("categories", 0, "codes"), [0.0, "1", 2.0], '"codes" must be a list of float or int'),
        (("categories", 0, "codes"), [0.0, 2.0, 1.0], "ascending"),
        (("categories", 0, "codes"), [0.0, 1.0, 10**400], "too large"),
        (("categories", 0, "low", 1), "nan", '"low" must hold finite numbers'),
        (("categories", 0, "low", 1), 0.4, "overlap"),
        (("categories", 0, "high", 2), None, '"high" must be a list'),
        (("categories", 0, "names"), ["a"], "1 names for 3"),
        (("subsets", 0), [2, 1], "ascending"),
        (("subsets", 0), [1, 1], "ascending"),
        (("subsets", 0), [-1, 1], "elements from 0 to 4"),
        (("subsets", 0), [1, 5], "elements from 0 to 4"),
        (("subsets", 0), [True], '"subsets" must be a list of int'),
        (("subsets",), [], "past the 0 rows"),
        (("nodes", "subset", 0), 1, "past the 1 rows"),
        (("nodes", "subset", 0), -1, "categorical feature with a threshold"),
        (("nodes", "subset", 1), 0, "its feature is not categorical"),
        (("nodes", "subset", 0), 10**12, "too large"),
        (("nodes", "subset"), [0], "subset must have shape"),
    ],
)
def test_broken_set_tests_are_refused_with_the_reason(set_document, path, to, message):
    with pytest.raises(ModelFileError, match=message):
        parse_json(json.dumps(changed(set_document, *path, to=to)).encode())


def test_infinity_as_a_number_is_refused(set_document):
    with pytest.raises(ModelFileError, match="finite numbers"):
        parse_json(json.dumps(set_document).replace('"inf"', "1e999").encode())


@pytest.mark.parametrize("where", ["categories", "subsets", "subset"])
def test_set_tests_with_an_entry_missing_are_refused(set_document, where):
    (set_document["nodes"] if where == "subset" else set_document).pop(where)
    with pytest.raises(ModelFileError, match="belong together"):
        parse_json(json.dumps(set_document).encode())


@pytest.mark.parametrize("seed", range(5))
def test_an_ensemble_with_categories_is_loaded_as_a_file_of_any_name(tmp_path, seed):
    ensemble = random_ensemble_with_categories(np.random.default_rng(seed))
    ensemble.save(tmp_path / "model")
    assert_identical(load_ensemble(tmp_path / "model"), ensemble)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_files_of_older_versions_are_read_as_they_were_written(version):
    folder = Path(__file__).parents[2] / "cases" / "old_files"
    known = json.loads((folder / f"version_{version}_classes.json").read_text())
    path = folder / f"version_{version}.json"
    assert json.loads(path.read_text())["version"] == version
    assert load_ensemble(path).predict(np.array(known["rows"])).tolist() == known["classes"]
