"""Files that would do something to the terminal, or to the numbers, of the person who opens them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import onetree
from onetree.cli import main
from onetree.cli.table import read_inputs
from onetree.errors import InvalidInputError

CLEAR = "\x1b[2J\x9b2J\x07"


@pytest.fixture
def model(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    ensemble = onetree.Ensemble.from_model(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, X.sum(1) > 0))
    path = tmp_path / "model.json"
    replace(ensemble, feature_names=(f"a{CLEAR}", "b")).save(path)
    return str(path)


@pytest.mark.parametrize("words", [("inspect",), ("convert", "--domain", "0=-1:1")])
def test_a_name_from_a_file_does_not_command_the_terminal(words, model, tmp_path, capsys):
    command, *options = words
    output = ["-o", str(tmp_path / "tree.json")] if command == "convert" else []
    assert main([command, model, *options, *output]) == 0
    shown = capsys.readouterr().out
    assert r"a\x1b[2J\x9b2J\x07" in shown
    assert not set(shown) & {"\x1b", "\x9b", "\x07"}


def test_a_message_does_not_command_the_terminal(tmp_path, capsys):
    assert main(["inspect", str(tmp_path / CLEAR)]) == 2
    assert r"\x1b[2J\x9b2J\x07" in capsys.readouterr().err


def test_python_spellings_of_numbers_are_none_in_a_table(model, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text(f"a{CLEAR},b\n1_0,2\n")
    with pytest.raises(InvalidInputError, match=r"in row 1 holds '1_0', which is not a number"):
        read_inputs(str(table), onetree.load_ensemble(model), label=None, by_position=False)
