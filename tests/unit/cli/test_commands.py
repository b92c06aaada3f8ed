"""The command: results on stdout, messages on stderr, exit codes, and no partial files."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier

import onetree
from onetree import Ensemble
from onetree.base.amounts import count
from onetree.cli import main
from onetree.cli.commands import inspect
from onetree.cli.versions import installed
from onetree.importers.ba_text import write_ba_text
from onetree.lowering.grid import Grid

X, Y = load_iris(return_X_y=True)

TEXT = """\
DATASET_NAME: test
ENSEMBLE: RF
NB_TREES: 2
NB_FEATURES: 2
NB_CLASSES: 2
MAX_TREE_DEPTH: 2
Format: node / node type (LN - leave node, IN - internal node) left child / right child / feature / threshold / node_depth / majority class (starts with index 0)

[TREE 0]
NB_NODES: 5
0 IN 1 2 0 0.5 0 -1
1 LN -1 -1 -1 -1 1 0
2 IN 3 4 1 1.5 1 -1
3 LN -1 -1 -1 -1 2 0
4 LN -1 -1 -1 -1 2 1

[TREE 1]
NB_NODES: 3
0 IN 1 2 1 2.5 0 -1
1 LN -1 -1 -1 -1 1 1
2 LN -1 -1 -1 -1 1 0
"""  # noqa: E501


@pytest.fixture
def model(tmp_path):
    """A small model file in the authors' format."""
    path = tmp_path / "model.txt"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture(scope="module")
def wide():
    """An ensemble with a grid of more cells than anyone can visit."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, size=(400, 16))
    forest = RandomForestClassifier(30, max_depth=6, max_features=2, random_state=0).fit(x, rng.integers(0, 2, 400))
    return Ensemble.from_model(forest, voting="hard")


def run(*words):
    """Run the command; give its exit code."""
    try:
        return main([str(word) for word in words])
    except SystemExit as ended:  # argparse ends the process on its own
        return ended.code


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_convert_saves_a_tree_that_verify_accepts(model, tmp_path, capsys):
    assert run("convert", model, "-o", tmp_path / "tree.json") == 0
    assert "proven optimal; verified equal everywhere" in capsys.readouterr().out
    for method in ("auto", "search", "cells", "milp"):
        assert run("verify", model, tmp_path / "tree.json", "--method", method) == 0
        assert capsys.readouterr().out.startswith("equal on every input")
    assert files(tmp_path) == ["model.txt", "tree.json"]


@pytest.mark.parametrize("objective", ["depth", "leaves", "depth-leaves", "leaves-depth"])
def test_convert_speaks_json(objective, model, tmp_path, capsys):
    assert run("convert", model, "-o", tmp_path / "tree.json", "--objective", objective, "--json") == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert err == ""
    assert (result["status"], result["gap"], result["verified"]) == ("optimal", 0.0, True)
    tree = onetree.load_tree(tmp_path / "tree.json")
    assert (result["depth"], result["leaves"]) == (tree.depth, tree.n_leaves)


def test_convert_replaces_an_older_file(model, tmp_path):
    (tmp_path / "tree.json").write_text("old")
    assert run("convert", model, "-o", tmp_path / "tree.json") == 0
    assert onetree.load_tree(tmp_path / "tree.json").exact


def test_verify_shows_an_input_where_they_differ(model, tmp_path, capsys):
    onetree.Tree([-1], [0.0], [-1], [-1], [0], [0, 1], ("x0", "x1"), [False] * 2).save(tmp_path / "tree.json")
    assert run("verify", model, tmp_path / "tree.json") == 1
    assert "not equal: the tree says 0, the ensemble 1, at x0=" in capsys.readouterr().out
    assert run("verify", model, tmp_path / "tree.json", "--json") == 1
    result = json.loads(capsys.readouterr().out)
    assert not result["equivalent"]
    assert onetree.load_ensemble(model).predict([result["counterexample"]])[0] == result["ensemble_class"] == 1


def test_verify_writes_missing_values_as_null(tmp_path, capsys):
    stump = {"roots": [0], "feature": [0, -1, -1], "children_left": [1, -1, -1], "children_right": [2, -1, -1]}
    onetree.Ensemble(
        **stump, base=[0.0, 0.0], classes=[0, 1], feature_names=("x0",), threshold=[np.inf, 0.0, 0.0],
        missing_left=[False] * 3, value=[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], rule=onetree.model.ensemble.Rule("hard"),
        nan_features=[True],
    ).save(tmp_path / "model.json")  # fmt: skip
    onetree.Tree([-1], [0.0], [-1], [-1], [0], [0, 1], ("x0",), [True]).save(tmp_path / "tree.json")
    assert run("verify", tmp_path / "model.json", tmp_path / "tree.json", "--json") == 1
    assert json.loads(capsys.readouterr().out)["counterexample"] == [None]


def test_inspect_counts(model, capsys):
    assert run("inspect", model) == 0
    assert "2, depth 1 to 2, 5 leaves" in capsys.readouterr().out
    assert run("inspect", model, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["trees"], facts["leaves"], facts["levels"]) == (2, 5, [1, 2])
    assert (facts["cells"], facts["boxes"]) == (6, 18)


def test_inspect_works_on_a_grid_that_nobody_can_enumerate(wide, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(inspect, "_TIME_LIMIT", 0.1)
    wide.save(tmp_path / "wide.json")
    assert run("inspect", tmp_path / "wide.json") == 0
    facts = capsys.readouterr().out
    assert "the grid is too large" in facts
    assert f"cells      {count(Grid.of(wide).n_cells)}" in facts


def test_demo_converts_for_every_objective_and_saves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--forest", "forest.json") == 0
    out = capsys.readouterr().out
    assert all(objective in out for objective in onetree.base.limits.OBJECTIVES)
    assert files(tmp_path) == ["forest.json", "onetree-demo.json"]
    assert run("verify", "forest.json", "onetree-demo.json", "--method", "milp") == 0


def test_demo_speaks_json(tmp_path, capsys):
    assert run("demo", "-o", tmp_path / "tree.json", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert [entry["objective"] for entry in result["results"]] == list(onetree.base.limits.OBJECTIVES)
    assert all(entry["equal"] and entry["status"] == "optimal" for entry in result["results"])


def test_the_paper_vote_and_the_soft_vote_are_both_offered(tmp_path, capsys):
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, Y)
    Ensemble.from_model(forest).save(tmp_path / "forest.json")
    for voting in ("auto", "soft", "hard"):
        assert run("inspect", tmp_path / "forest.json", "--voting", voting) == 0
        assert ("hard" if voting == "hard" else "soft") in capsys.readouterr().out


def test_python_m_onetree_is_the_command():
    result = subprocess.run([sys.executable, "-m", "onetree", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"onetree {onetree.__version__}\n"


def test_the_versions_of_all_libraries_are_shown_as_json(capsys):
    assert run("--version", "--json") == 0
    versions = json.loads(capsys.readouterr().out)
    assert versions["onetree"] == onetree.__version__
    assert versions["libraries"]["numpy"] == np.__version__
    assert versions["libraries"]["scikit-learn"] == sklearn.__version__
    assert versions["simd"] == onetree._core.simd()


def test_a_library_that_is_not_installed_has_no_version():
    assert installed("surely-absent") is None


def test_no_command_is_a_usage_error_that_names_the_demo(capsys):
    with pytest.raises(SystemExit, match="2"):
        main([])
    assert "onetree demo" in capsys.readouterr().err


# Bad input: what, how much, what to do; exit code 2; no partial file.


def refused(capsys, folder, *words, code=2):
    """Run a command that must fail; give its message."""
    before = files(folder)
    assert run(*words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert files(folder) == before
    return err


BROKEN = {
    "node index out of range": ("0 IN 1 2 0 0.5 0 -1", "0 IN 1 9 0 0.5 0 -1"),
    "cycle": ("2 IN 3 4 1 1.5 1 -1", "2 IN 0 4 1 1.5 1 -1"),
    "shared node": ("2 IN 3 4 1 1.5 1 -1", "2 IN 3 3 1 1.5 1 -1"),
    "NaN threshold": ("0 IN 1 2 0 0.5 0 -1", "0 IN 1 2 0 nan 0 -1"),
    "class index out of range": ("4 LN -1 -1 -1 -1 2 1", "4 LN -1 -1 -1 -1 2 2"),
    "negative class index": ("4 LN -1 -1 -1 -1 2 1", "4 LN -1 -1 -1 -1 2 -1"),
    "feature out of range": ("0 IN 1 2 0 0.5 0 -1", "0 IN 1 2 2 0.5 0 -1"),
    "more trees announced": ("NB_TREES: 2", "NB_TREES: 3"),
    "fewer trees announced": ("NB_TREES: 2", "NB_TREES: 1"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("command", ["convert", "inspect"])
def test_a_broken_model_file_is_refused(case, command, tmp_path, capsys):
    path = tmp_path / "broken.txt"
    assert BROKEN[case][0] in TEXT
    path.write_text(TEXT.replace(*BROKEN[case], 1))
    output = ["-o", tmp_path / "tree.json"] if command == "convert" else []
    assert "broken.txt" in refused(capsys, tmp_path, command, path, *output)


def test_a_model_file_cut_anywhere_is_refused(tmp_path, capsys):
    path = tmp_path / "cut.txt"
    for length in range(len(TEXT) - 1):
        path.write_text(TEXT[:length])
        refused(capsys, tmp_path, "convert", path, "-o", tmp_path / "tree.json")


@pytest.mark.parametrize("content", [b"", b"\x80\x04\x95.", b"hello", b"\x00" * 100, b'{"format": "onetree-tree"}'])
def test_other_files_are_refused(content, tmp_path, capsys):
    (tmp_path / "model").write_bytes(content)
    refused(capsys, tmp_path, "convert", tmp_path / "model", "-o", tmp_path / "tree.json")


def test_a_model_file_that_is_not_there_is_named(tmp_path, capsys):
    message = refused(capsys, tmp_path, "convert", tmp_path / "nowhere.txt", "-o", tmp_path / "tree.json")
    assert "nowhere.txt" in message


def test_a_damaged_tree_file_is_refused(model, tmp_path, capsys):
    (tmp_path / "tree.json").write_text('{"format": "onetree-tree", "version": 1')
    assert "tree.json" in refused(capsys, tmp_path, "verify", model, tmp_path / "tree.json")


def test_a_tree_for_another_number_of_features_is_refused(model, tmp_path, capsys):
    onetree.Tree([-1], [0.0], [-1], [-1], [0], [0, 1], ("x0",), [False]).save(tmp_path / "tree.json")
    assert "1 features" in refused(capsys, tmp_path, "verify", model, tmp_path / "tree.json")


def test_an_unknown_objective_is_refused_with_the_known_ones(model, tmp_path, capsys):
    message = refused(capsys, tmp_path, "convert", model, "-o", tmp_path / "tree.json", "--objective", "width")
    assert "depth-leaves" in message


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly"],
        ["convert"],
        ["convert", "model.txt"],
        ["convert", "model.txt", "-o", "tree.json", "--time-limit", "0"],
        ["convert", "model.txt", "-o", "tree.json", "--time-limit", "nan"],
        ["convert", "model.txt", "-o", "tree.json", "--memory-limit", "-1"],
        ["convert", "model.txt", "-o", "tree.json", "--jobs", "0.5"],
        ["convert", "model.txt", "-o", "tree.json", "--method", "luck"],
        ["verify", "model.txt"],
        ["verify", "model.txt", "tree.json", "--max-cells", "many"],
    ],
)
def test_wrong_usage_is_refused(words, model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "usage: onetree" in refused(capsys, tmp_path, *words)


def test_a_grid_too_large_for_the_memory_is_refused(wide, tmp_path, capsys):
    wide.save(tmp_path / "wide.json")
    words = ["convert", tmp_path / "wide.json", "-o", tmp_path / "tree.json", "--method", "exact"]
    assert "raise memory_limit" in refused(capsys, tmp_path, *words, "--memory-limit", "0.001")


def test_too_many_cells_to_enumerate_are_refused(model, tmp_path, capsys):
    run("convert", model, "-o", tmp_path / "tree.json")
    capsys.readouterr()
    words = ["verify", model, tmp_path / "tree.json", "--method", "cells", "--max-cells", "2"]
    assert "search" in refused(capsys, tmp_path, *words)


@pytest.mark.parametrize("place", ["nowhere/tree.json", "folder", "model.txt/tree.json"])
@pytest.mark.parametrize("command", ["convert", "demo"])
def test_an_unwritable_output_is_refused_before_the_work(place, command, model, tmp_path, monkeypatch, capsys):
    def never(*_, **__):
        raise AssertionError("the work was begun")

    monkeypatch.setattr(onetree, "born_again", never)
    (tmp_path / "folder").mkdir()
    source = [model] if command == "convert" else []
    assert "cannot write" in refused(capsys, tmp_path, command, *source, "-o", tmp_path / place)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission_is_refused(model, tmp_path, capsys):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    assert "cannot write" in refused(capsys, tmp_path, "convert", model, "-o", folder / "tree.json")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (RandomForestClassifier(), "fit"),
        (DecisionTreeClassifier(), "fit"),
        (RandomForestRegressor(2, max_depth=1).fit(X, Y), "regress"),
        (RandomForestClassifier(2, max_depth=1).fit(X, np.stack([Y, Y], axis=1)), "output"),
        (None, ""),
    ],
    ids=["unfitted forest", "unfitted tree", "regressor", "several outputs", "nothing"],
)
@pytest.mark.parametrize("function", [onetree.born_again, Ensemble.from_model])
def test_models_that_cannot_be_converted_are_refused(source, message, function):
    with pytest.raises(onetree.UnsupportedModelError, match=rf"(?i){message}"):
        function(source)


def fail_with(error):
    def raise_it(*_, **__):
        raise error

    return raise_it


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (onetree.LimitReachedError("the time limit"), 3),
        (onetree.FidelityError("they differ"), 1),
        (onetree.GridTooLargeError("too large"), 2),
        (MemoryError("of 3 GB"), 2),
    ],
)
def test_exit_codes(error, code, model, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(onetree, "born_again", fail_with(error))
    assert refused(capsys, tmp_path, "convert", model, "-o", tmp_path / "tree.json", code=code).startswith("onetree: ")


def test_a_reader_that_goes_away_is_no_error(model):
    command = f'"{sys.executable}" -m onetree inspect "{model}" --json | true; exit ${{PIPESTATUS[0]}}'
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_authors_text_is_written_and_read(tmp_path, capsys):
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y)
    write_ba_text(Ensemble.from_model(forest, voting="hard"), tmp_path / "forest.txt")
    assert run("convert", tmp_path / "forest.txt", "-o", tmp_path / "tree.json") == 0
    tree = onetree.load_tree(tmp_path / "tree.json")
    assert np.array_equal(tree.predict(X), Ensemble.from_model(forest, voting="hard").predict(X))


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (123456, "123,456"), (10**9, "1e9"), (4**16, "4.29e9"), (7 * 10**400, "7e400")]
)
def test_counts_are_readable_however_large(number, text):
    assert count(number) == text


def test_the_tree_and_what_is_kept_for_a_later_run_are_two_files(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["convert", str(model), "-o", "tree.json", "--resume", "./tree.json"]) == 2
    assert "the same file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "labels"),
    [("no,yes", ["no", "yes"]), ("1, 2", [1, 2]), ('"a, b",c', ["a, b", "c"]), ("-1,1", [-1, 1])],
)
def test_classes_name_the_labels_of_a_file_without_any(model, tmp_path, given, labels):
    output = str(tmp_path / "tree.json")
    assert main(["convert", model, "-o", output, f"--classes={given}"]) == 0
    assert onetree.load_tree(output).classes.tolist() == labels
    assert main(["verify", model, output, f"--classes={given}"]) == 0


@pytest.mark.parametrize("given", ["yes", "", "a,,b", "a,a"])
def test_classes_that_are_not_labels_are_a_usage_error(model, tmp_path, given, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["convert", model, "-o", str(tmp_path / "tree.json"), "--classes", given])
    assert "such as no,yes" in capsys.readouterr().err
