"""The commands that ask a model something."""

import json

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
