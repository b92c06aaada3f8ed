"""The command: results on stdout, messages on stderr, exit codes, and no partial files."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import onetree
from onetree import Ensemble
from onetree.base.amounts import count
from onetree.cli import main
from onetree.cli.commands import inspect
from onetree.cli.versions import installed
from onetree.importers.ba_text import write_ba_text
from onetree.lowering.grid import Grid
from tests.cases.commands import files, run

X, Y = load_iris(return_X_y=True)


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


def test_a_pipeline_is_read_on_its_raw_columns_unless_the_last_step_is_asked_for(tmp_path, capsys):
    skops = pytest.importorskip("skops.io")
    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20) > 9
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, y)
    skops.dump(pipeline, tmp_path / "pipeline.skops")
    printed = []
    for how in ("raw", "last-step"):
        tree = tmp_path / f"{how}.json"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert run("convert", tmp_path / "pipeline.skops", "-o", tree, "--pipelines", how) == 0
        assert run("export", tree, "--to", "text") == 0
        printed.append(capsys.readouterr().out)
    assert "x0 <= 9.5" in printed[0] or "x0 < 9.5" in printed[0]
    assert "9.5" not in printed[1]
