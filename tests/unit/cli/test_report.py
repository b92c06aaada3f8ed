"""``onetree report``: files in, a page out, and an exit code that tells whether tree and model are equal."""

import json
import re

import pytest

import onetree
from onetree.cli import main
from tests.unit.report.test_report import stump


@pytest.fixture
def files(tmp_path, monkeypatch, capsys):
    """A model, its tree, and what convert printed about it."""
    monkeypatch.chdir(tmp_path)
    stump().save("model.json")
    assert main(["convert", "model.json", "-o", "tree.json", "--objective", "leaves", "--json"]) == 0
    (tmp_path / "solution.json").write_text(capsys.readouterr().out)
    (tmp_path / "data.csv").write_text("name,age\nTom,0.5\nKit,3\n")
    return tmp_path


def data_in(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_a_tree_alone_gives_a_report_that_claims_nothing(files):
    assert main(["report", "tree.json", "-o", "report.html"]) == 0
    data = data_in(files / "report.html")
    assert (data["equality"]["state"], data["proof"]["state"], data["title"]) == ("unchecked", "unknown", "tree.json")


def test_with_model_solution_and_data_everything_is_told(files, capsys):
    words = ["report", "tree.json", "-o", "report.html", "--model", "model.json", "--data", "data.csv", "--json"]
    assert main([*words, "--solution", "solution.json", "--title", "Cats"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "equality": "equal",
        "status": "optimal",
        "depth": 1,
        "leaves": 2,
        "rows": 2,
        "bytes": (files / "report.html").stat().st_size,
        "output": "report.html",
    }
    data = data_in(files / "report.html")
    assert data["title"] == "Cats"
    assert data["proof"]["text"] == "No equal tree has fewer leaves."
    assert data["rows"]["columns"][0]["values"] == [0.5, 3.0]


def test_rows_count_by_the_target_column(files):
    (files / "data.csv").write_text("age,kind\n0.5,cat\n3,cat\n4, kitten\n")
    assert main(["report", "tree.json", "-o", "report.html", "--data", "data.csv", "--target", "kind"]) == 0
    data = data_in(files / "report.html")
    assert (data["coverage"]["of"], data["accuracy"]) == ("data", {"rows": 3, "tree": 1})


def test_a_target_that_is_not_a_class_is_refused(files, capsys):
    (files / "data.csv").write_text("age,kind\n0.5,dog\n")
    assert main(["report", "tree.json", "-o", "report.html", "--data", "data.csv", "--target", "kind"]) == 2
    assert "'dog' in row 1" in capsys.readouterr().err


def test_a_tree_of_another_model_is_told_by_the_exit_code(files, capsys):
    stump(2.0).save("other.json")
    assert main(["report", "tree.json", "-o", "report.html", "--model", "other.json"]) == 1
    assert "the tree says “cat”, the model “kitten”" in capsys.readouterr().out
    assert data_in(files / "report.html")["equality"]["state"] == "differs"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"depth": 2}, "another tree"),
        ({"objective": "beauty"}, "not what `onetree convert --json` prints"),
        ({"stats": None}, "not what `onetree convert --json` prints"),
        ({"lower_bound": [1, 2]}, "is not a value or a bound"),
        ({"lower_bound": True}, "is not a value or a bound"),
    ],
)
def test_a_solution_that_does_not_fit_is_refused(files, capsys, change, message):
    solution = files / "solution.json"
    solution.write_text(json.dumps(json.loads(solution.read_text()) | change))
    assert main(["report", "tree.json", "-o", "report.html", "--solution", "solution.json"]) == 2
    assert message in capsys.readouterr().err
    assert not (files / "report.html").exists()


@pytest.mark.parametrize("content", ["", "[]", "null", "{}", "\xff"])
def test_a_file_that_is_no_solution_is_refused(files, capsys, content):
    (files / "solution.json").write_text(content, encoding="latin-1")
    assert main(["report", "tree.json", "-o", "report.html", "--solution", "solution.json"]) == 2
    assert "not what `onetree convert --json` prints" in capsys.readouterr().err


def test_the_bound_of_a_tree_that_is_not_proven_smallest_is_told(files):
    solution = files / "solution.json"
    change = {"status": "feasible", "objective": "depth-leaves", "value": [1, 2], "lower_bound": [1, 1]}
    solution.write_text(json.dumps(json.loads(solution.read_text()) | change))
    assert main(["report", "tree.json", "-o", "report.html", "--solution", "solution.json"]) == 0
    assert "at least depth 1 and 1 leaves" in data_in(files / "report.html")["proof"]["text"]


def test_the_report_of_a_pruned_tree_says_so(files):
    onetree.prune(onetree.load_tree("tree.json"), [[0.5]]).save("pruned.json")
    assert main(["report", "pruned.json", "-o", "report.html"]) == 0
    assert data_in(files / "report.html")["equality"]["exact"] is False
