"""The commands that ask a model something."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from tests.cases.commands import run


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    """A model file, a file of rows, the model, and the names of its features."""
    folder = tmp_path_factory.mktemp("flowers")
    data = load_iris()
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(data.data, data.target_names[data.target])
    ensemble = onetree.Ensemble.from_model(forest)
    ensemble.save(folder / "forest.json")
    names = ensemble.feature_names
    np.savetxt(folder / "rows.csv", data.data, delimiter=",", header=",".join(names), comments="")
    return folder / "forest.json", folder / "rows.csv", forest, list(names)


@pytest.fixture
def ask(capsys):
    """Run a command; give its exit code, results and messages."""

    def answer(*words):
        return run(*words), *capsys.readouterr()

    return answer


def test_a_counterfactual_is_printed_for_people_and_for_machines(ask, flowers):
    model, rows, forest, _ = flowers
    words = ("counterfactual", model, "--data", rows, "--row", 60, "--target", "setosa")
    code, out, _ = ask(*words)
    assert code == 0
    assert out.startswith("setosa instead of versicolor, if\n")
    code, out, _ = ask(*words, "--json")
    found = json.loads(out)
    assert (code, found["status"], found["new_class"]) == (0, "optimal", "setosa")
    assert forest.predict([found["point"]])[0] == "setosa"


def test_what_cannot_change_is_said_by_the_exit_code(ask, flowers):
    model, rows, _, names = flowers
    code, out, _ = ask("counterfactual", model, "--data", rows, "--fixed", json.dumps(names))
    assert code == 1
    assert "every allowed case" in out


def test_a_reason_is_printed_for_people_and_for_machines(ask, flowers):
    model, rows, _, names = flowers
    code, out, _ = ask("explain", model, "--data", rows, "--size", "smallest")
    assert code == 0
    assert out.startswith("setosa, whatever the other features are, because\n")
    code, out, _ = ask("explain", model, "--data", rows, "--json")
    found = json.loads(out)
    assert (code, found["status"]) == (0, "minimal")
    assert set(found["bounds"]) == set(found["features"]) < set(names)
    assert found["radius"] > 0


def test_a_witness_is_printed_for_people_and_for_machines(ask, flowers):
    model, _, forest, names = flowers
    code, out, _ = ask("check", model, "--irrelevant", names[2], "--json")
    found = json.loads(out)
    assert (code, found["holds"]) == (1, False)
    assert forest.predict(found["witness"]).tolist() == found["witness_classes"]
    code, out, _ = ask("check", model, "--irrelevant", names[2])
    assert code == 1
    first, second, third = out.splitlines()
    assert first.startswith("refuted: ")
    assert names[0] in second
    assert names[2] in third


def test_checks_are_decided_by_the_exit_code(ask, flowers):
    model, rows, _, names = flowers
    assert ask("check", model, "--reachable", "setosa")[0] == 0
    code, out, _ = ask("check", model, "--stable", 1e-9, "--data", rows)
    assert code == 0
    assert "holds for 150 of 150 rows" in out
    assert ask("check", model, "--decreasing", names[3])[0] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--stable", "1"], "give them with --data"),
        (["--reachable", "setosa", "--data", "rows.csv"], "leave out --data"),
        (["--reachable", "rose"], "not a class"),
        (["--irrelevant", "[1"], "not a JSON list"),
    ],
)
def test_what_cannot_be_checked_is_refused(ask, flowers, words, message):
    code, _, errors = ask("check", flowers[0], *words)
    assert code == 2
    assert message in errors


def test_a_row_past_the_end_is_refused(ask, flowers):
    code, _, errors = ask("explain", flowers[0], "--data", flowers[1], "--row", 151)
    assert code == 2
    assert "past the 150 rows" in errors


def read(path):
    """The lines of a CSV file, as dictionaries."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_several_answers_are_printed_for_people_and_for_machines(ask, flowers):
    model, rows, forest, names = flowers
    words = ("counterfactual", model, "--data", rows, "--row", 60, "-n", 3, "--norm", "l1+0.5*l0")
    code, out, _ = ask(*words, "--cost", f"{names[0]}=100")
    assert code == 0
    assert out.count("\nor\n") == 1
    assert out.endswith("there is no other way that differs as asked for\n")
    code, out, _ = ask(*words, "--json", "--diverse", "disjoint")
    found = json.loads(out)
    assert (found["norm"], found["row"]) == ("l1 + 0.5 l0", 60)
    answers = [found, *found["alternatives"]]
    assert forest.predict([each["point"] for each in answers]).tolist() == [each["new_class"] for each in answers]
    assert not set(answers[0]["changes"]) & set(answers[1]["changes"])


def test_all_rows_are_answered_in_a_csv_file(ask, flowers, tmp_path):
    model, rows, forest, names = flowers
    few = tmp_path / "few.csv"
    few.write_text("".join(rows.read_text().splitlines(keepends=True)[:6]))
    code, out, _ = ask("counterfactual", model, "--data", few, "-o", tmp_path / "answers.csv", "-n", 2)
    assert code == 0
    assert out.startswith("5 of 5 rows have an answer\n")
    lines = read(tmp_path / "answers.csv")
    assert [line["row"] for line in lines if line["answer"] == "1"] == ["1", "2", "3", "4", "5"]
    points = [[float(line[name]) for name in names] for line in lines]
    assert forest.predict(points).tolist() == [line["new_class"] for line in lines]
    code, out, _ = ask("counterfactual", model, "--data", few, "-o", tmp_path / "no.csv", "--fixed", json.dumps(names))
    assert code == 1
    assert [line["status"] for line in read(tmp_path / "no.csv")] == ["none"] * 5
    code, out, _ = ask("explain", model, "--data", few, "-o", tmp_path / "why.csv", "--contrast", "ALL", "--json")
    assert code == 0
    assert [each["row"] for each in json.loads(out)["rows"]] == [1, 2, 3, 4, 5]
    lines = read(tmp_path / "why.csv")
    assert [line["class"] for line in lines] == ["setosa"] * 5
    assert all("It would be virginica" in line["contrasts"] for line in lines)
    code, out, _ = ask("check", model, "--fair", names[3], "--data", rows, "-o", tmp_path / "fair.csv")
    expected = onetree.check_fair(model, names[3], X=load_iris().data)
    assert code == 1
    assert [line["holds"] for line in read(tmp_path / "fair.csv")] == ["yes" if x else "no" for x in expected.rows]


def test_a_contrast_is_printed_for_people_and_for_machines(ask, flowers):
    model, rows, forest, _ = flowers
    words = ("explain", model, "--data", rows, "--contrast", "virginica", "--contrast", "setosa")
    code, out, _ = ask(*words)
    assert code == 0
    assert "\nNot virginica, whatever" in out
    code, out, _ = ask(*words, "--json")
    (contrast,) = json.loads(out)["contrasts"]
    assert forest.predict([contrast["point"]])[0] == contrast["class"] == "virginica"


@pytest.fixture(scope="module")
def versions(flowers, tmp_path_factory):
    """The files of an older and a newer model, of the newer one's tree, and of rows."""
    folder = tmp_path_factory.mktemp("versions")
    model, rows, forest, _ = flowers
    data = load_iris()
    newer = RandomForestClassifier(5, max_depth=2, random_state=1).fit(data.data, forest.classes_[data.target])
    names = onetree.load_ensemble(model).feature_names
    replace(onetree.Ensemble.from_model(newer), feature_names=names).save(folder / "newer.json")
    onetree.born_again(folder / "newer.json").tree.save(folder / "tree.json")
    return model, folder / "newer.json", folder / "tree.json", rows


def test_a_difference_is_printed_for_people_and_for_machines(ask, versions, tmp_path):
    older, newer, tree, rows = versions
    code, out, _ = ask("difference", newer, tree)
    assert (code, out) == (0, "proven: both give the same class to every input\n")
    words = ("difference", older, tree, "--data", rows, "--save-tree", tmp_path / "where.json")
    code, out, _ = ask(*words, "-o", tmp_path / "both.csv")
    assert code == 1
    assert out.startswith("they differ: ")
    assert out.endswith(f"saved to {tmp_path / 'where.json'}\n")
    code, out, _ = ask(*words, "--tree", "pairs", "--json")
    found = json.loads(out)
    lines = read(tmp_path / "both.csv")
    n_differing = sum(line["forest.json"] != line["tree.json"] for line in lines)
    assert found["share"] == n_differing / 150
    assert sum(box["rows"] for box in found["boxes"]) == n_differing
    assert onetree.load_tree(tmp_path / "where.json").n_leaves == found["tree"]["leaves"]


def test_a_difference_that_is_not_decided_has_an_exit_code_of_its_own(ask, versions):
    older, newer, _, _ = versions
    code, out, _ = ask("difference", older, newer, "--time-limit", 1e-9)
    assert code in (1, 3)  # the first input looked at may show it
    assert out.startswith("they differ" if code == 1 else "not decided")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("counterfactual", "--norm", "l1+l1"), "is not a distance"),
        (("counterfactual", "--norm", "x*l1"), "is not a distance"),
        (("counterfactual", "--cost", "age"), "is not NAME=NUMBER"),
        (("check", "--irrelevant", "a", "-o", "x.csv"), "give them with --data"),
        (("difference", "-o", "x.csv"), "give them with --data"),
    ],
)
def test_what_cannot_be_asked_of_rows_is_refused(ask, flowers, words, message):
    model, rows, _, _ = flowers
    command, *others = words
    given = {"counterfactual": ["--data", rows], "check": [], "difference": [model]}[command]
    code, _, errors = ask(command, model, *given, *others)
    assert code == 2
    assert message in errors


def test_a_tree_can_be_asked_in_place_of_its_model(ask, versions):
    _, newer, tree, rows = versions
    answers = [json.loads(ask("counterfactual", each, "--data", rows, "--json")[1]) for each in (newer, tree)]
    assert answers[0]["distance"] == answers[1]["distance"]


def test_an_audit_is_written_and_its_exit_code_says_whether_all_is_proven(ask, versions, tmp_path):
    older, newer, tree, rows = versions
    names = onetree.load_ensemble(newer).feature_names
    page = tmp_path / "audit.html"
    words = ("audit", newer, "--data", rows, "-o", page, "--tree", tree, "--previous", older)
    code, out, _ = ask(*words, "--protected", names[3], "--increasing", names[2], "--stable", 0.01)
    assert code == 1
    assert out.endswith(f"saved to {page}\n")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    code, out, _ = ask(*words, "--everywhere", "--json")
    found = json.loads(out)
    assert (code, found["differ"], found["rows"]) == (0, True, 150)
    assert [check["kind"] for check in found["checks"]] == ["reachable"] * 3
    code, _, errors = ask(*words, "--everywhere", "--domain", f"{names[0]}=0:9")
    assert code == 2
    assert "exclude each other" in errors
