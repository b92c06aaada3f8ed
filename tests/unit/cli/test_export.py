"""``onetree export``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.cli import main
from onetree.cli.commands import export
from tests.unit.tree.test_tree import small_tree

X, Y = load_iris(return_X_y=True)
OF_TREE = {
    "text": lambda tree: tree.to_text(),
    "rules": lambda tree: tree.to_rules(),
    "dot": lambda tree: tree.to_dot(),
    "python": lambda tree: tree.to_code("python"),
    "c": lambda tree: tree.to_code("c"),
    "sql": lambda tree: tree.to_code("sql"),
}


@pytest.fixture
def tree(tmp_path):
    """The file of a tree."""
    small_tree().save(tmp_path / "tree.json")
    return tmp_path / "tree.json"


def run(*words):
    return main(["export", *(str(word) for word in words)])


@pytest.mark.parametrize("name", OF_TREE)
def test_text_goes_to_stdout(name, tree, capsys):
    assert run(tree, "--to", name) == 0
    assert capsys.readouterr().out == OF_TREE[name](small_tree()) + "\n"


@pytest.mark.parametrize("name", OF_TREE)
def test_text_goes_to_a_file(name, tree, tmp_path, capsys):
    assert run(tree, "--to", name, "-o", tmp_path / "out") == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == OF_TREE[name](small_tree()) + "\n"
    assert "written to" in capsys.readouterr().out


def test_json_is_the_file_of_the_tree(tree, tmp_path):
    assert run(tree, "--to", "json", "-o", tmp_path / "again.json") == 0
    assert (tmp_path / "again.json").read_bytes() == tree.read_bytes()


def test_an_onnx_file_runs(tree, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    assert run(tree, "--to", "onnx", "--number", "double", "-o", tmp_path / "tree.onnx") == 0
    session = onnxruntime.InferenceSession(tmp_path / "tree.onnx", providers=["CPUExecutionProvider"])
    assert session.run(["label"], {"X": np.array([[2.0, 0.0]])})[0].tolist() == ["blue"]


def test_a_scikit_learn_file_is_read_by_skops_which_is_told_to_trust_its_nodes(tmp_path):
    skops = pytest.importorskip("skops.io")
    forest = RandomForestClassifier(4, max_depth=2, random_state=0).fit(X, Y)
    onetree.born_again(forest).tree.save(tmp_path / "tree.json")
    assert run(tmp_path / "tree.json", "--to", "sklearn", "-o", tmp_path / "tree.skops") == 0
    model = skops.load(tmp_path / "tree.skops", trusted=["sklearn.tree._tree.Tree"])
    np.testing.assert_array_equal(model.predict(X), forest.predict(X))


def test_json_for_machines_holds_the_content_or_says_where_it_is(tree, tmp_path, capsys):
    assert run(tree, "--to", "rules", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["content"] == small_tree().to_rules()
    assert run(tree, "--to", "rules", "--json", "-o", tmp_path / "rules.txt") == 0
    found = json.loads(capsys.readouterr().out)
    size = (tmp_path / "rules.txt").stat().st_size
    assert found == {"format": "rules", "exact": True, "output": str(tmp_path / "rules.txt"), "bytes": size}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--to", "c", "--style", "table", "--name", "my"], "my_threshold[2]"),
        (["--to", "c", "--number", "float"], "const float *x"),
        (["--to", "sql", "--table", "t", "--view", "v"], 'CREATE VIEW "v" AS'),
        (["--to", "sql", "--dialect", "bigquery"], "CAST(item.`x0` AS FLOAT64) <= 1.5"),
        (["--to", "python", "--style", "table"], "THRESHOLD = (1.5, -2.0)"),
        (["--to", "rules", "--digits", "1"], "x0 >= 2 "),
        (["--to", "rules", "--digits", "exact"], "x0 > 1.5 "),
    ],
)
def test_options_reach_the_format(words, found, tree, capsys):
    assert run(tree, *words) == 0
    assert found in capsys.readouterr().out


def test_an_option_of_another_format_is_refused(tree, capsys):
    assert run(tree, "--to", "c", "--table", "t") == 2
    assert "--table has no effect with --to c" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["onnx", "sklearn"])
def test_what_is_no_text_needs_a_file(name, tree, capsys):
    assert run(tree, "--to", name) == 2
    assert "-o FILE" in capsys.readouterr().err


def test_a_file_that_is_no_tree_is_refused_and_nothing_is_written(tmp_path, capsys):
    (tmp_path / "other.json").write_text("{}")
    assert run(tmp_path / "other.json", "--to", "c", "-o", tmp_path / "tree.c") == 2
    assert "other.json" in capsys.readouterr().err
    assert not (tmp_path / "tree.c").exists()


def test_every_way_to_export_a_tree_is_a_format():
    methods = {name.removeprefix("to_") for name in vars(onetree.Tree) if name.startswith("to_")} - {"code"}
    assert methods <= set(export.FORMATS)
