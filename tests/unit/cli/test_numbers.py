"""The commands for trees with numbers: probabilities, regressors, bands, the front of tolerances."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier

from onetree import Ensemble, estimate, load_tree
from onetree.cli import main


@pytest.fixture(scope="module")
def data():
    X, y = load_wine(return_X_y=True)
    return X[:, :4], (y == 1).astype(int)


@pytest.fixture(scope="module")
def forest(data):
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(*data)


@pytest.fixture(scope="module")
def regressor():
    X, y = load_diabetes(return_X_y=True)
    return GradientBoostingRegressor(n_estimators=3, max_depth=2, random_state=0).fit(X[:, :4], y)


@pytest.fixture
def files(forest, regressor, tmp_path):
    Ensemble.from_model(forest, output="probability").save(tmp_path / "forest.json")
    Ensemble.from_model(regressor).save(tmp_path / "regressor.json")
    return tmp_path


def run(capsys, *arguments):
    code = main([str(each) for each in arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_tree_with_probabilities_is_converted_and_verified(files, forest, data, capsys):
    given = ("--predicts", "probability", "--tolerance", "0.1")
    code, out, _ = run(capsys, "convert", files / "forest.json", "-o", files / "tree.json", *given)
    assert code == 0
    assert "verified within 0.1 everywhere" in out
    tree = load_tree(files / "tree.json")
    assert np.abs(tree.predict_proba(data[0]) - forest.predict_proba(data[0])).max() <= 0.1
    code, out, _ = run(capsys, "verify", files / "forest.json", files / "tree.json")
    assert code == 0
    assert out.startswith("within 0.1")


def test_a_regressor_needs_no_more_than_a_tolerance(files, regressor, capsys):
    given = ("--tolerance", "2", "--json")
    code, out, _ = run(capsys, "convert", files / "regressor.json", "-o", files / "tree.json", *given)
    found = json.loads(out)
    assert (code, found["predicts"], found["tolerance"], found["verified"]) == (0, "value", 2.0, True)
    X = load_diabetes(return_X_y=True)[0][:, :4]
    assert np.abs(load_tree(files / "tree.json").predict(X) - regressor.predict(X)).max() <= 2


def test_the_least_tolerance_of_a_size(files, capsys):
    given = ("--max-leaves", "4", "--objective", "leaves", "--json")
    code, out, _ = run(capsys, "convert", files / "regressor.json", "-o", files / "tree.json", *given)
    found = json.loads(out)
    assert (code, found["leaves"] <= 4, found["tolerance"] > 0) == (0, True, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--tolerance", "0.1"), "--tolerance is for numbers; add --predicts probability"),
        (("--relative",), "--relative is for numbers"),
        (("--max-leaves", "3"), "--max-leaves needs --data CSV"),
        (("--predicts", "probability"), "tolerance"),
        (("--predicts", "value", "--tolerance", "1"), "value"),
    ],
)
def test_options_that_do_not_go_together_are_refused(files, given, message, capsys):
    model = files / "classes.json"
    Ensemble.from_model(RandomForestClassifier(2, max_depth=2, random_state=0).fit([[0.0], [1.0]], [0, 1])).save(model)
    source = model if given[0] in ("--tolerance", "--relative", "--max-leaves") else files / "forest.json"
    code, _, err = run(capsys, "convert", source, "-o", files / "tree.json", *given)
    assert code == 2
    assert message in err


@pytest.mark.parametrize("text", ["-0.1", "nan", "inf", "much"])
def test_a_tolerance_is_a_number_of_at_least_zero(files, text, capsys):
    with pytest.raises(SystemExit):
        main(["convert", str(files / "forest.json"), "-o", "tree.json", f"--tolerance={text}"])
    assert "is not a non-negative number" in capsys.readouterr().err


def test_the_front_is_a_table_and_can_be_saved_and_drawn(files, capsys):
    pytest.importorskip("matplotlib")
    more = ("--save", files / "trees", "--plot", files / "front.svg")
    code, out, _ = run(capsys, "tolerance-front", files / "regressor.json", *more)
    assert code == 0
    assert out.split("\n")[0].split() == ["tolerance", "leaves", "depth", "smallest"]
    assert "proven" in out
    assert (files / "front.svg").exists()
    assert (files / "trees" / "tree-1.json").exists()


def test_the_front_of_a_classifier_is_that_of_its_probabilities(files, capsys):
    given = ("--tolerances", "0.3", "0", "--any-class", "--json")
    code, out, _ = run(capsys, "tolerance-front", files / "forest.json", *given)
    front = json.loads(out)["front"]
    assert code == 0
    assert [each["tolerance"] for each in front] == [0.0, 0.3]
    assert {each["predicts"] for each in front} == {"probability"}
    assert front[0]["leaves"] >= front[1]["leaves"]


def test_a_report_of_a_regressor_has_its_errors(files, capsys):
    run(capsys, "convert", files / "regressor.json", "-o", files / "tree.json", "--tolerance", "2")
    X, y = load_diabetes(return_X_y=True)
    rows = np.column_stack([X[:20, :4], y[:20]])
    np.savetxt(files / "rows.csv", rows, delimiter=",", header="x0,x1,x2,x3,y", comments="")
    more = ("--model", files / "regressor.json", "--data", files / "rows.csv", "--target", "y")
    code, out, _ = run(capsys, "report", files / "tree.json", "-o", files / "report.html", *more)
    assert code == 0
    assert "within 2 of the model's" in out
    assert "errors" in (files / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def csv(data, files):
    header = ",".join(f"x{k}" for k in range(4))
    np.savetxt(files / "data.csv", data[0], delimiter=",", header=header, comments="", fmt="%.17g")
    return files / "data.csv"


def test_a_tree_for_the_data_has_probabilities_if_asked(files, csv, capsys):
    given = ("--data", csv, "--by-position", "--max-leaves", "4", "--certify")
    line = ("convert", files / "forest.json", "-o", files / "tree.json", *given)
    code, out, _ = run(capsys, *line, "--predicts", "probability")
    assert code == 0
    assert "deviation on held-out rows" in out
    assert "proven on every input" in out
    tree = load_tree(files / "tree.json")
    assert (tree.output, tree.exact, tree.tolerance) == ("probability", False, None)
    code, out, _ = run(capsys, *line, "--json")
    assert (code, load_tree(files / "tree.json").output) == (0, "class")
    assert "held_out_worst_deviation" not in json.loads(out)


def test_a_tree_for_the_data_keeps_no_tolerance(files, csv, capsys):
    given = ("--data", csv, "--by-position", "--predicts", "probability", "--tolerance", "0.1")
    code, _, err = run(capsys, "convert", files / "forest.json", "-o", files / "tree.json", *given)
    assert code != 0
    assert "give --max-leaves in place of --tolerance" in err


def test_the_class_of_a_file_with_probabilities_needs_no_tolerance(files, forest, data, capsys):
    assert run(capsys, "convert", files / "forest.json", "-o", files / "tree.json")[0] == 0
    tree = load_tree(files / "tree.json")
    assert tree.output == "class"
    np.testing.assert_array_equal(tree.predict(data[0]), forest.predict(data[0]))


@pytest.mark.parametrize("command", ["convert", "estimate"])
def test_what_is_missing_is_named_in_the_words_of_the_command_line(command, files, capsys):
    output = ("-o", files / "tree.json") if command == "convert" else ()
    code, _, err = run(capsys, command, files / "regressor.json", *output)
    assert code == 2
    assert "--tolerance E" in err
    assert "onetree tolerance-front" in err


def test_a_regressor_is_inspected(files, capsys):
    code, out, _ = run(capsys, "inspect", files / "regressor.json")
    assert code == 0
    assert "the value of a regressor" in out
    found = json.loads(run(capsys, "inspect", files / "regressor.json", "--json")[1])
    assert (found["output"], found["classes"], found["trees"]) == ("value", [], 3)


def test_leaves_within_a_tolerance_are_estimated(files, regressor, capsys):
    code, out, _ = run(capsys, "estimate", files / "regressor.json", "--tolerance", "5", "--json")
    assert code == 0
    assert json.loads(out)["leaves"] == estimate(regressor, tolerance=5).leaves
    given = ("--predicts", "probability", "--tolerance", "0.1", "--any-class", "--json")
    assert json.loads(run(capsys, "estimate", files / "forest.json", *given)[1])["leaves"] >= 1
