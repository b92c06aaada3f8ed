"""``onetree verify`` for trees with numbers."""

import json

import pytest

from tests.cases.commands import run
from tests.unit.verify.test_numbers import number_tree, probabilities, probability_tree, regressor


@pytest.fixture
def files(tmp_path):
    """Names for a model and a tree that is written there."""

    def write(ensemble, tree):
        ensemble.save(tmp_path / "model.json")
        tree.save(tmp_path / "tree.json")
        return tmp_path / "model.json", tmp_path / "tree.json"

    return write


def test_what_is_kept_is_said_with_the_worst_deviation(files, capsys):
    assert run("verify", *files(regressor(1.0), number_tree(1.0, 1.0, 2.25, tolerance=0.5))) == 0
    said = capsys.readouterr().out
    assert "within 0.5 (at most 0.25) on every input" in said
    assert "the worst deviation, 0.25, is at x0=1.0000000000000002" in said


def test_equal_numbers_are_said_to_be_equal(files, capsys):
    assert run("verify", *files(probabilities(1.0), probability_tree(1.0, 0.0, 1.0))) == 0
    said = capsys.readouterr().out
    assert "equal on every input" in said
    assert "deviation" not in said


def test_what_is_not_kept_is_shown(files, capsys):
    paths = files(probabilities(1.0), probability_tree(1.0, 0.25, 1.0, tolerance=0.125))
    assert run("verify", *paths) == 1
    assert "not within 0.125: the tree says 0.75, the ensemble 1.0 for column 0, at x0=1.0" in capsys.readouterr().out
    assert run("verify", *paths, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["equivalent"], found["tolerance"], found["relative"], found["worst"]) == (False, 0.125, False, 0.25)
    assert (found["tree_value"], found["ensemble_value"]) == ([0.75, 0.25], [1.0, 0.0])
    assert found["counterexample"] == found["worst_input"] == [1.0]
