"""``onetree convert --data``: a tree for the data only, and the commands that are proposed for large models."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.cli import main

X, Y = load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of a tree that fits on no disk, and the data."""
    folder = tmp_path_factory.mktemp("support")
    ensemble = onetree.Ensemble.from_model(RandomForestClassifier(40, random_state=0).fit(X, Y))
    ensemble.save(folder / "model.json")
    header = ",".join([*ensemble.feature_names, "class"])
    np.savetxt(folder / "data.csv", np.column_stack([X, Y]), delimiter=",", header=header, comments="", fmt="%.17g")
    return folder


def run(*words):
    return main([str(word) for word in words])


def convert(folder, *words):
    return run("convert", folder / "model.json", "-o", folder / "tree.json", "--data", folder / "data.csv", *words)


def test_the_tree_for_the_data_is_saved_as_not_exact(folder, capsys):
    assert convert(folder, "--max-leaves", 10) == 0
    tree = onetree.load_tree(folder / "tree.json")
    assert tree.n_leaves <= 10
    assert not tree.exact
    out = capsys.readouterr().out
    assert "at most 10 leaves, no promise about any row" in out
    assert "held-out rows" in out


def test_fidelity_holds_for_every_row_of_the_file(folder, capsys):
    assert convert(folder, "--fidelity", "1.0", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["exact"], found["reference_agreement"], found["reference_rows"]) == (False, 1.0, len(X))
    model, tree = onetree.load_ensemble(folder / "model.json"), onetree.load_tree(folder / "tree.json")
    assert (tree.predict(X) == model.predict(X)).all()


def test_certified_parts_are_counted(folder, capsys):
    assert convert(folder, "--max-leaves", 6, "--certify", "--held-out", folder / "data.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["proven"]["held_out"]["share"] <= 1
    assert found["held_out_rows"] == len(X)


def test_a_model_that_is_too_large_is_told_with_the_estimate_and_commands(folder, capsys):
    assert run("convert", folder / "model.json", "-o", folder / "none.json") == 3
    message = capsys.readouterr().err
    assert re.search(r"more than [0-9.]+e[0-9]+ leaves", message)
    assert not (folder / "none.json").exists()
    commands = [line[line.index("onetree convert") :] for line in message.splitlines() if "--data DATA.csv" in line]
    assert [shlex.split(command)[-2:] for command in commands[:2]] == [["--max-leaves", "256"], ["--fidelity", "1.0"]]
    assert commands[2].endswith("--certify")


def test_a_proposed_command_works_as_it_is(folder, capsys):
    assert run("convert", folder / "model.json", "-o", folder / "offered.json") == 3
    message = capsys.readouterr().err
    line = next(line for line in message.splitlines() if line.endswith("--fidelity 1.0"))
    command = line[line.index("onetree convert") :].replace("DATA.csv", shlex.quote(str(folder / "data.csv")))
    assert main(shlex.split(command)[1:]) == 0
    assert (folder / "offered.json").exists()


@pytest.mark.parametrize("option", [["--fidelity", "1.0"], ["--certify"], ["--held-out", "rows.csv"]])
def test_options_for_the_data_need_data(folder, capsys, option):
    assert run("convert", folder / "model.json", "-o", folder / "tree.json", *option) == 2
    assert f"{option[0]} needs --data CSV" in capsys.readouterr().err


def test_data_and_domain_exclude_each_other(folder, capsys):
    assert convert(folder, "--domain", "0=0:9") == 2
    assert "leave one of them out" in capsys.readouterr().err


def test_a_fidelity_above_one_is_refused(folder, capsys):
    with pytest.raises(SystemExit):
        convert(folder, "--fidelity", "1.5")
    assert "not a share" in capsys.readouterr().err
