"""The BA-Trees text format: what is written is read back, and a broken file is an error with its line."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from onetree import Ensemble, InvalidInputError, ModelFileError, UnsupportedModelError, load_ensemble
from onetree.importers.ba_text import parse_ba_text, read_ba_text, write_ba_text

TEXT = """DATASET_NAME: tiny.csv
ENSEMBLE: RF
NB_TREES: 2
NB_FEATURES: 2
NB_CLASSES: 12
MAX_TREE_DEPTH: 2
Format: node / type / left / right / feature / threshold / depth / class

[TREE 0]
NB_NODES: 5
0 IN 1 2 1 0.5 0 -1
1 LN -1 -1 -1 -1 1 11
2 IN 3 4 0 -1.25e1 1 -1
3 LN -1 -1 -1 -1 2 0
4 LN -1 -1 -1 -1 2 11

[TREE 1]
NB_NODES: 1
0 LN -1 -1 -1 -1 0 11

"""


def assert_same(first, second):
    for name in ("roots", "feature", "threshold", "children_left", "children_right", "value", "base", "nan_features"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert first.rule == second.rule


def test_a_file_is_a_hard_vote_of_its_trees():
    ensemble = parse_ba_text(TEXT.encode())
    assert ensemble.rule.kind == "hard"
    assert (ensemble.n_trees, ensemble.n_features, ensemble.n_classes) == (2, 2, 12)
    assert ensemble.classes.tolist() == list(range(12))
    assert ensemble.depths.tolist() == [2, 0]
    assert ensemble.predict([[-12.5, 0.6], [-12.4, 0.6], [0, 0.5]]).tolist() == [0, 11, 11]


def test_nodes_may_come_in_any_order_and_lines_may_end_as_on_windows():
    lines = TEXT.splitlines()
    lines[10:15] = reversed(lines[10:15])
    turned = parse_ba_text("\r\n".join([*lines, ""]).encode())
    assert_same(turned, parse_ba_text(TEXT.encode()))


@pytest.mark.parametrize("n_trees", [1, 6])
def test_what_is_written_is_read_back(tmp_path, n_trees):
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(n_trees, max_depth=4, random_state=0).fit(X, y)
    ensemble = Ensemble.from_model(forest, voting="hard")
    write_ba_text(ensemble, tmp_path / "forest.txt")
    assert_same(read_ba_text(tmp_path / "forest.txt"), ensemble)
    assert_same(load_ensemble(tmp_path / "forest.txt"), ensemble)


def test_every_forest_of_the_paper_is_read_and_written_back_equal(paper_data, tmp_path):
    paths = sorted(paper_data.glob("forests/*/*.txt"))
    assert len(paths) == 60
    for path in paths:
        ensemble = read_ba_text(path)
        write_ba_text(ensemble, tmp_path / path.name)
        assert_same(read_ba_text(tmp_path / path.name), ensemble)
        assert ensemble.n_trees == 10
        assert ensemble.depths.max() <= 3


@given(st.integers(min_value=0, max_value=len(TEXT.rstrip())))
def test_a_file_cut_short_anywhere_is_refused(length):
    with pytest.raises(ModelFileError):
        parse_ba_text(TEXT[:length].encode())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0 IN 1 2 1 0.5", "0 IN 1 7 1 0.5", "line 11: the right child is 7, outside 0..4"),
        ("0 IN 1 2 1 0.5", "0 IN -1 2 1 0.5", "line 11: the left child is -1, outside 0..4"),
        ("0 IN 1 2 1 0.5", "0 IN 1 2 2 0.5", "line 11: the feature is 2, outside 0..1"),
        ("0 IN 1 2 1 0.5", "0 IN 1 2 1 nan", "line 11: the threshold must be a finite number, not 'nan'"),
        ("0 IN 1 2 1 0.5", "0 IN 1 2 1 inf", "line 11: the threshold must be a finite number"),
        ("0 IN 1 2 1 0.5", "0 IN 1 2 1 1e999", "line 11: the threshold must be a finite number"),
        ("0 IN 1 2 1 0.5", "0 IN 1 2 1 1_0", "line 11: the threshold must be a finite number"),
        ("0 IN 1 2 1 0.5", "0 XX 1 2 1 0.5", "line 11: the node type must be IN or LN"),
        ("0 IN 1 2 1 0.5", "0 IN 1 2 1", "line 11: a node has 8 fields, not 7"),
        ("0 IN 1 2 1 0.5 0 -1", "0 IN 1 2 1 0.5 0 3", "line 11: the class of an internal node is 3"),
        ("2 IN 3 4 0", "2 IN 3 0 0", "line 13: the root, node 0, cannot be a child"),
        ("2 IN 3 4 0", "2 IN 3 1 0", "line 13: node 1 is a child twice"),
        ("2 IN 3 4 0", "2 IN 3 3 0", "line 13: node 3 is a child twice"),
        ("0 IN 1 2 1", "0 IN 1 3 1", "line 13: node 3 is a child twice"),
        ("3 LN -1 -1 -1 -1 2 0", "3 LN -1 -1 -1 -1 2 12", "line 14: the class is 12, outside 0..11"),
        ("3 LN -1 -1 -1 -1 2 0", "3 LN -1 -1 -1 -1 2 -1", "line 14: the class is -1, outside 0..11"),
        ("3 LN -1 -1 -1 -1 2 0", "3 LN -1 -1 -1 -1 2 0.0", "line 14: the class must be an integer"),
        ("3 LN -1 -1 -1 -1 2 0", "3 LN 4 -1 -1 -1 2 0", "line 14: the child of a leaf is 4"),
        ("3 LN -1 -1 -1 -1 2 0", "3 LN -1 -1 -1 -1 1 0", "tree 0: node 3 is at depth 2, but the file says 1"),
        ("4 LN", "3 LN", "line 15: node 3 is there twice"),
        ("4 LN", "5 LN", "line 15: the node is 5, outside 0..4"),
        ("NB_NODES: 5", "NB_NODES: 4", "line 11|line 13|line 15"),
        ("NB_NODES: 5", "NB_NODES: 6", "line 16: a node has 8 fields, not 0"),
        ("NB_NODES: 5", "NB_NODES: 999999", "line 10: NB_NODES is 999999, outside"),
        ("NB_NODES: 5", "NB_NODES: five", "line 10: NB_NODES must be an integer"),
        ("NB_NODES: 5", "NODES: 5", "line 10: .NB_NODES:. should be here"),
        ("NB_TREES: 2", "NB_TREES: 3", r"ends where \[TREE 2\] should be"),
        ("NB_TREES: 2", "NB_TREES: 1", "line 17: there is more after the last of the 1 trees"),
        ("NB_TREES: 2", "NB_TREES: 0", "line 3: NB_TREES is 0"),
        ("NB_TREES: 2\n", "", "line 3: .NB_TREES:. should be here"),
        ("NB_FEATURES: 2", "NB_FEATURES: 999999999", "line 4: NB_FEATURES is 999999999"),
        ("NB_CLASSES: 12", "NB_CLASSES: 999999999", "line 5: NB_CLASSES is 999999999, outside 1..100000"),
        ("[TREE 1]", "[TREE 2]", r"line 17: \[TREE 1\] should be here"),
        ("Format:", "Fromat:", "line 7: the line .Format"),
        ("-1 0 11\n\n", "-1 0 11\n\nmore\n", "line 21: there is more after the last"),
        ("-1 0 11\n\n", "-1 0 11", "line 19: the last line does not end with a line break"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(old, new, message):
    assert TEXT.count(old) == 1
    with pytest.raises(ModelFileError, match=message):
        parse_ba_text(TEXT.replace(old, new).encode())


def test_a_cycle_apart_from_the_root_is_refused():
    tree = (
        "0 LN -1 -1 -1 -1 0 1\n1 IN 2 3 0 0.5 1 -1\n2 IN 1 4 0 0.5 1 -1\n3 LN -1 -1 -1 -1 1 0\n4 LN -1 -1 -1 -1 1 0\n"
    )
    text = re.sub(r"(NB_NODES: 5\n)(.*\n){5}", lambda match: match.group(1) + tree, TEXT)
    with pytest.raises(ModelFileError, match="node 1 is not reached from the root"):
        parse_ba_text(text.encode())


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ModelFileError, match="not a text file"):
        parse_ba_text(TEXT.encode() + b"\xff\n")


@given(st.data())
def test_a_file_with_a_line_removed_or_doubled_is_refused(data):
    lines = TEXT.splitlines(keepends=True)
    line = data.draw(st.sampled_from([i for i, text in enumerate(lines) if text.strip()]))
    lines[line : line + 1] = data.draw(st.sampled_from([[], [lines[line]] * 2]))
    with pytest.raises(ModelFileError):
        parse_ba_text("".join(lines).encode())


def test_only_hard_votes_are_written(tmp_path):
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
    with pytest.raises(UnsupportedModelError, match='voting="hard"'):
        write_ba_text(Ensemble.from_model(forest), tmp_path / "forest.txt")
    with pytest.raises(UnsupportedModelError, match="missing values"):
        write_ba_text(Ensemble.from_model(forest, voting="hard", missing="follow"), tmp_path / "forest.txt")
    with pytest.raises(InvalidInputError, match="one word"):
        write_ba_text(parse_ba_text(TEXT.encode()), tmp_path / "forest.txt", dataset_name="two words")
    assert list(tmp_path.iterdir()) == []


def test_a_text_file_has_no_soft_vote(tmp_path):
    path = tmp_path / "forest.txt"
    path.write_text(TEXT)
    with pytest.raises(InvalidInputError, match="class fractions"):
        load_ensemble(path, voting="soft")


def test_the_message_about_a_broken_file_names_the_file(tmp_path):
    path = tmp_path / "forest.txt"
    path.write_text(TEXT[:200])
    with pytest.raises(ModelFileError, match=r"forest\.txt.*line"):
        load_ensemble(path)
    with pytest.raises(ModelFileError, match=r"forest\.txt.*line"):
        read_ba_text(path)
