"""The tree's own file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from onetree import Domain, InvalidInputError, ModelFileError, load_tree
from tests.cases.categorical import HOSTILE, WHOLE, colour_tree, random_set_tree
from tests.cases.grown import shared_tree
from tests.cases.valued import as_probability, as_regression, same
from tests.unit.tree.test_tree import small_tree

FIELDS = ("feature", "threshold", "children_left", "children_right", "leaf_class", "nan_features", "subset", "subsets")


@pytest.fixture
def document(tmp_path):
    """The content of a good file."""
    small_tree().save(tmp_path / "tree.json")
    return json.loads((tmp_path / "tree.json").read_text())


def reload(document, folder):
    path = folder / "changed.json"
    path.write_text(json.dumps(document))
    return load_tree(path)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"threshold": [0.1 + 0.2, 5e-324, 0, 0, 0]},
        {"threshold": [1.7976931348623157e308, -0.0, 0, 0, 0]},
        {"threshold": [np.inf, 1.0, 0, 0, 0], "nan_features": [True, False]},
        {"feature_names": ("größe", "a\nb")},
        {"exact": False},
        {"domain": Domain.from_dict({0: (None, 0.1 + 0.2), 1: "integer -3:"}, 2, origin="inferred from 2 rows")},
        {"domain": Domain.from_dict({(1, 0): "implies", 1: "0"}, 2)},
        {"domain": Domain.from_dict({(0, 1): "one-hot"}, 2, origin="inferred from 2 rows")},
        {"domain": Domain.from_dict({0: {5e-324, 1e22}, 1: "missing"}, 2), "nan_features": [False, True]},
    ],
)
def test_a_tree_is_read_back_as_it_was(changes, tmp_path):
    tree = small_tree(**changes)
    tree.save(tmp_path / "tree.json")
    again = load_tree(tmp_path / "tree.json")
    for name in FIELDS:
        assert getattr(again, name).tobytes() == getattr(tree, name).tobytes()
    assert (again.feature_names, again.exact, again.domain) == (tree.feature_names, tree.exact, tree.domain)


@pytest.mark.parametrize("n_rows", [0, 1, 40])
@pytest.mark.parametrize("tree", [small_tree(), colour_tree(0.0, 5.0, "missing"), shared_tree(70)])
def test_shares_are_read_back_as_they_were(tree, n_rows, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n_rows, tree.n_features))
    with_shares = tree.with_shares(rows, rng.choice(tree.classes, n_rows))
    with_shares.save(tmp_path / "tree.json")
    again = load_tree(tmp_path / "tree.json")
    assert again.shares.leaves.tolist() == with_shares.shares.leaves.tolist()
    assert again.shares.shares.tobytes() == with_shares.shares.shares.tobytes()
    np.testing.assert_array_equal(again.predict_proba(rows), with_shares.predict_proba(rows))


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"leaves": [0]}, "missing or unknown"),
        ({"leaves": [0], "shares": [[1.0]]}, "one number per class"),
        ({"leaves": [0, 1], "shares": [[0.5, 0.5, 0.0]]}, "as many lists"),
        ({"leaves": [3], "shares": [[0.5, 0.5, 0.0]]}, "leaf 3, but the tree has 3"),
        ({"leaves": [-1], "shares": [[0.5, 0.5, 0.0]]}, "non-negative"),
        ({"leaves": [1, 0], "shares": [[1, 0, 0], [1, 0, 0]]}, "ascend"),
        ({"leaves": [0], "shares": [[0.5, 0.6, 0.0]]}, "add up to 1"),
        ({"leaves": [0], "shares": [[1.5, -0.5, 0.0]]}, "non-negative"),
        ({"leaves": [True], "shares": [[1, 0, 0]]}, "must be a list of int"),
    ],
)
def test_broken_shares_are_refused(document, shares, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        reload(document | {"version": 3, "shares": shares}, tmp_path)


@pytest.mark.parametrize(
    "tree",
    [
        colour_tree(0.0, 5.0, "missing"),
        colour_tree("other", kind=WHOLE, domain=Domain.from_dict({"colour": {0, 1}}, ("colour", "age"))),
        random_set_tree(0),
        random_set_tree(1, names=HOSTILE),
        small_tree(domain=Domain.from_dict({(0, 1): "implies"}, 2)),
    ],
    ids=["colours", "intervals", "random", "names", "group"],
)
def test_categories_and_groups_are_read_back_as_they_were(tree, tmp_path):
    tree.save(tmp_path / "tree.json")
    again = load_tree(tmp_path / "tree.json")
    for name in FIELDS:
        assert getattr(again, name).tobytes() == getattr(tree, name).tobytes()
    assert (again.categories, again.domain) == (tree.categories, tree.domain)
    assert json.loads((tmp_path / "tree.json").read_text())["version"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version=1), "version 1, but files like it have 2"),
        (lambda d: d.pop("subsets"), "belong together"),
        (lambda d: d["nodes"].pop("subset"), "belong together"),
        (lambda d: d["nodes"]["subset"].__setitem__(0, -1), "categorical feature with a threshold"),
        (lambda d: d["categories"].pop(), "1 entries for 2 features"),
        (lambda d: d["subsets"].__setitem__(0, [9]), "elements from 0 to 5"),
    ],
)
def test_broken_set_tests_are_refused(change, message, tmp_path):
    colour_tree(1.0).save(tmp_path / "tree.json")
    document = json.loads((tmp_path / "tree.json").read_text())
    change(document)
    with pytest.raises(ModelFileError, match=message):
        reload(document, tmp_path)


def test_a_tree_without_categories_has_the_first_version_and_no_word_of_them(document):
    assert document["version"] == 1
    assert set(document) == {"format", "version", "exact", "classes", "features", "nan_features", "nodes"}
    assert set(document["nodes"]) == {"feature", "left", "right", "class", "threshold"}


def test_a_tree_that_is_exact_everywhere_has_no_domain_in_its_file(document):
    assert "domain" not in document


@pytest.mark.parametrize(
    "classes",
    [
        np.array([0, 1, 2]),
        np.array([-1.5, 0.1, 2.0]),
        np.array([3, 1, 2], dtype=np.uint8),
        np.array(["a", "b", "c"]),
        np.array(["a", 1, 2.5], dtype=object),
    ],
    ids=str,
)
def test_labels_keep_their_type(classes, tmp_path):
    small_tree(classes=classes).save(tmp_path / "tree.json")
    again = load_tree(tmp_path / "tree.json").classes
    assert again.dtype == classes.dtype
    assert [(type(label), label) for label in again.tolist()] == [(type(label), label) for label in classes.tolist()]


def test_a_file_cut_anywhere_is_refused(tmp_path):
    small_tree().save(tmp_path / "tree.json")
    content = (tmp_path / "tree.json").read_bytes().rstrip()
    for length in range(len(content)):
        (tmp_path / "cut.json").write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            load_tree(tmp_path / "cut.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "format"),
        (lambda d: d.update(version=2), "version 2, but files like it have 1"),
        (lambda d: d.update(version=5), "version 5 is not known"),
        (lambda d: d.update(version=True), "version"),
        (lambda d: d.pop("nodes"), "nodes"),
        (lambda d: d.update(more=1), "more"),
        (lambda d: d.update(exact=1), "exact"),
        (lambda d: d.update(classes={"dtype": "int64", "labels": []}), "label"),
        (lambda d: d.update(classes=[1, 2, 3]), "classes"),
        (lambda d: d.update(features=[1, 2]), "features"),
        (lambda d: d.update(features=["x0"]), "features"),
        (lambda d: d.update(nan_features=[0, 0]), "nan_features"),
        (lambda d: d["nodes"].pop("left"), "left"),
        (lambda d: d["nodes"].update(left="1"), "left"),
        (lambda d: d["nodes"]["left"].__setitem__(0, 1.0), "left"),
        (lambda d: d["nodes"]["left"].__setitem__(0, True), "left"),
        (lambda d: d["nodes"]["left"].__setitem__(0, 0), "left child"),
        (lambda d: d["nodes"]["left"].__setitem__(0, 2**40), "large"),
        (lambda d: d["nodes"]["right"].__setitem__(1, 5), "right child"),
        (lambda d: d["nodes"]["class"].__setitem__(4, 3), "class index"),
        (lambda d: d["nodes"]["class"].pop(), "entries"),
        (lambda d: d["nodes"]["threshold"].__setitem__(0, "nan"), "threshold"),
        (lambda d: d["nodes"]["threshold"].__setitem__(0, "-inf"), "threshold"),
        (lambda d: d["nodes"]["threshold"].__setitem__(0, None), "threshold"),
        (lambda d: d["nodes"]["threshold"].__setitem__(0, 10**400), "large"),
        (lambda d: d.update(domain=None), "domain"),
        (lambda d: d.update(domain={"values": [None, None]}), "origin"),
        (lambda d: d.update(domain={"values": [None, None], "origin": 1}), "origin"),
        (lambda d: d.update(domain={"values": [1, None], "origin": ""}), "values"),
        (lambda d: d.update(domain={"values": [None], "origin": ""}), "entries"),
        (lambda d: d.update(domain={"values": [None, None], "origin": "", "groups": {}}), "groups"),
        (lambda d: d.update(domain={"values": [None, None], "origin": "", "groups": [{}]}), "one thing"),
        (lambda d: d.update(domain={"values": [None, None], "origin": "", "groups": [{"hot": [0, 1]}]}), "'hot'"),
        (lambda d: d.update(domain={"values": [None, None], "origin": "", "groups": [{"equal": [0, 1.0]}]}), "equal"),
        (lambda d: d.update(domain={"values": [None, None], "origin": "", "groups": [{"equal": [0, 2]}]}), "feature 2"),
        (lambda d: d.update(domain={"values": ["2", None], "origin": "", "groups": [{"equal": [0, 1]}]}), "0 or 1"),
        (lambda d: d.update(domain={"values": ["2:1", None], "origin": ""}), "empty"),
        (lambda d: d.update(domain={"values": ["0:1 or missing", None], "origin": ""}), "missing"),
    ],
)
def test_a_broken_file_is_refused_with_its_name(change, message, document, tmp_path):
    change(document)
    with pytest.raises(ModelFileError, match=message) as error:
        reload(document, tmp_path)
    assert "changed.json" in str(error.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "1" * 5000])
def test_numbers_that_are_none_are_refused(number, tmp_path):
    small_tree().save(tmp_path / "tree.json")
    content = (tmp_path / "tree.json").read_text()
    (tmp_path / "tree.json").write_text(content.replace("1.5", number))
    with pytest.raises(ModelFileError):
        load_tree(tmp_path / "tree.json")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a": 1, "a": 2}'])
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "tree.json").write_bytes(content)
    with pytest.raises(ModelFileError):
        load_tree(tmp_path / "tree.json")


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ModelFileError, match="nowhere"):
        load_tree(tmp_path / "nowhere.json")


def test_a_tree_is_not_written_into_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InvalidInputError, match="cannot write"):
        small_tree().save(tmp_path / "nowhere" / "tree.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("made", [as_regression, as_probability])
@pytest.mark.parametrize("tree", [small_tree(), colour_tree(0.0, 5.0, "missing"), shared_tree(70), random_set_tree(0)])
@pytest.mark.parametrize("promise", [{}, {"tolerance": 0}, {"tolerance": 0.25, "relative": True}, {"tolerance": None}])
def test_numbers_are_read_back_as_they_were(tree, made, dtype, promise, tmp_path):
    valued = made(tree, dtype=dtype, **promise)
    valued.save(tmp_path / "tree.json")
    again = load_tree(tmp_path / "tree.json")
    assert same(again, valued)
    assert json.loads((tmp_path / "tree.json").read_text())["version"] == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version=3), "version 3, but files like it have 4"),
        (lambda d: d.pop("numbers"), '"classes" must be an object'),
        (lambda d: d["nodes"].pop("value"), "belong together"),
        (lambda d: d["numbers"].pop("tolerance"), "missing or unknown"),
        (lambda d: d["numbers"].update(dtype="float16"), "must be one of float32, float64"),
        (lambda d: d["numbers"].update(tolerance=-1), "at least 0"),
        (lambda d: d["numbers"].update(tolerance=True), "tolerance"),
        (lambda d: d["numbers"].update(tolerance=1e999), "not a JSON file|at least 0"),
        (lambda d: d["numbers"].update(relative=1), "relative"),
        (lambda d: d["nodes"]["value"].__setitem__(2, []), "as many numbers"),
        (lambda d: d["nodes"]["value"].__setitem__(0, [1.0]), "none for an inner node"),
        (lambda d: d["nodes"]["value"].__setitem__(2, [0.1]), "not float32"),
        (lambda d: d["nodes"]["value"].__setitem__(2, [1e300]), "not float32"),
        (lambda d: d["nodes"]["value"].__setitem__(2, [True]), "value"),
        (lambda d: d["nodes"].update(value=[[], [], [1, 2], [1, 2], [1, 2]]), "one number without classes"),
        (lambda d: d.update(shares={"leaves": [], "shares": []}), "shares"),
    ],
)
def test_broken_numbers_are_refused(change, message, tmp_path):
    as_regression(small_tree(), dtype=np.float32).save(tmp_path / "tree.json")
    document = json.loads((tmp_path / "tree.json").read_text())
    change(document)
    with pytest.raises(ModelFileError, match=message):
        reload(document, tmp_path)
