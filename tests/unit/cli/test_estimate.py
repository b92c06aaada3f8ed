"""The command where the tree is large: the estimate first, limits that stop before the work, Ctrl-C during it."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree import Ensemble
from onetree.cli import main
from onetree.search import advice
from tests.cases.estimates import estimate_by_trees

X, Y = load_breast_cancer(return_X_y=True)


def saved(folder, name, n_trees, max_depth):
    forest = RandomForestClassifier(n_trees, max_depth=max_depth, random_state=0).fit(X, Y)
    Ensemble.from_model(forest, voting="hard").save(folder / name)
    return folder / name


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def small(folder):
    """A model of a tree with a handful of leaves."""
    return saved(folder, "small.json", 3, 2)


@pytest.fixture(scope="module")
def middling(folder):
    """A model of a tree with some thousand leaves."""
    return saved(folder, "middling.json", 6, 3)


@pytest.fixture(scope="module")
def large(folder):
    """A model of a tree with some hundred million leaves."""
    return saved(folder, "large.json", 16, 3)


@pytest.fixture(scope="module")
def hopeless(folder):
    """A model of a tree that fits on no disk."""
    return saved(folder, "hopeless.json", 100, None)


def run(*words):
    return main([str(word) for word in words])


def test_estimate_gives_numbers_with_ranges(middling, capsys):
    assert run("estimate", middling, "--objective", "leaves") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split()[:2] for line in out.splitlines()[:3]] == [
        ["leaves", "about"],
        ["time", "about"],
        ["memory", "about"],
    ]
    assert all(" to " in line for line in out.splitlines()[:3])


def test_estimate_speaks_json(middling, capsys, monkeypatch):
    asked, given, estimate = [], [], onetree.estimate

    def recorded(*model, **options):  # how much is sampled depends on the machine, so it is not asked twice
        asked.append(options)
        given.append(estimate(*model, **options))
        return given[-1]

    monkeypatch.setattr(onetree, "estimate", recorded)
    assert run("estimate", middling, "--objective", "leaves", "--random-state", 3, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (asked[0]["objective"], asked[0]["random_state"]) == ("leaves", 3)
    assert (found["objective"], found["leaves"], found["beyond"]) == ("leaves", given[0].leaves, False)
    assert found["leaves_range"] == list(given[0].leaves_range)


def test_estimate_of_a_small_model_is_exact_and_says_no_more(small, capsys):
    assert run("estimate", small) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 3
    assert "about" not in out


def test_estimate_says_when_the_tree_is_out_of_reach_and_what_else_there_is(hopeless, capsys, monkeypatch):
    monkeypatch.setattr(advice, "estimated", estimate_by_trees)  # what is tried must not depend on the machine
    assert run("estimate", hopeless) == 0
    out = capsys.readouterr().out
    assert re.search(r"more than [0-9.]+e(1[2-9]|[2-9][0-9])", out)
    assert "Tried on this one:\n  the first 8 trees: about 10,000 leaves\n" in out
    assert "support_tree(model, X)" in out


def test_estimate_does_not_claim_1e12_leaves_where_it_was_cut_off_before(capsys):
    found = onetree.Estimate(5e4, (1e4, 9e4), 3e8, (1e8, 9e8), 1e9, (1e8, 1e10), False, True, 0.0, 1)
    assert list(found.describe().values())[:2] == ["more than 50,000", "more than 9.51 years"]


def refusal(capsys, tmp_path, *words):
    """Run a convert that stops before the work; give its message."""
    assert run("convert", *words, "-o", tmp_path / "tree.json") == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("onetree: the tree would ")
    assert list(tmp_path.iterdir()) == []
    return err


def test_convert_stops_before_a_tree_that_is_too_large(hopeless, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(advice, "estimated", estimate_by_trees)
    message = refusal(capsys, tmp_path, hopeless)
    assert re.search(r"have more than [0-9.]+e[0-9]{2} leaves", message)
    assert "nothing was written" in message
    assert "the first 8 trees: about 10,000 leaves" in message
    assert "nevertheless" not in message


def test_convert_proposes_a_command_that_does_the_work(large, tmp_path, capsys):
    message = refusal(capsys, tmp_path, large, "--objective", "leaves", "--random-state", 2)
    (command,) = [line.partition(" onetree ")[2] for line in message.splitlines() if "--method heuristic" in line]
    words = shlex.split(command)
    assert words[:2] == ["convert", str(large)]
    assert words[words.index("--random-state") + 1] == "2"


def test_a_limit_without_a_tree_names_what_there_is_instead(hopeless, tmp_path, capsys):
    words = ["--method", "heuristic", "--time-limit", 0.3]
    assert run("convert", hopeless, "-o", tmp_path / "tree.json", *words) == 3
    assert "support_tree" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_limit_in_steps_is_kept(hopeless, tmp_path, capsys):
    words = ["--method", "heuristic", "--work-limit", 50]
    assert run("convert", hopeless, "-o", tmp_path / "tree.json", *words) == 3
    assert "the work limit was reached" in capsys.readouterr().err


def test_a_heuristic_tree_says_what_is_proven_of_it(middling, tmp_path, capsys):
    words = ["--method", "heuristic", "--objective", "leaves", "--json"]
    assert run("convert", middling, "-o", tmp_path / "tree.json", *words) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["status"], result["verified"], result["stats"]["engine"]) == ("feasible", True, "heuristic")
    assert 1 < result["lower_bound"] < result["value"] == onetree.load_tree(tmp_path / "tree.json").n_leaves


def test_small_models_and_exact_search_need_no_estimate(small, large, tmp_path, monkeypatch, capsys):
    def never(*_, **__):
        raise AssertionError("the estimate was begun")

    monkeypatch.setattr(onetree, "estimate", never)
    assert run("convert", small, "-o", tmp_path / "tree.json") == 0
    words = ["--method", "exact", "--memory-limit", 0.01, "--time-limit", 5]
    assert run("convert", large, "-o", tmp_path / "other.json", *words) in (2, 3)
    assert not (tmp_path / "other.json").exists()


@pytest.mark.parametrize("number", ["-1", "1.5", "many", ""])
def test_a_wrong_random_state_is_refused(number, small, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("estimate", small, "--random-state", number)
    assert "usage: onetree" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "model", "wait"),
    [
        ("estimate", "hopeless", 0.5),
        ("convert", "hopeless", 1.0),
        ("convert", "large", 1.0),
    ],
)
def test_an_interrupt_is_answered(command, model, wait, request, tmp_path):
    path = request.getfixturevalue(model)
    words = [command, str(path)]
    if command == "convert":
        words += ["-o", str(tmp_path / "tree.json"), "--method", "heuristic"]
    code = f"import sys, onetree.cli; print('ready', flush=True); sys.exit(onetree.cli.main({words!r}))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=600)  # against a hang, not a measurement
        assert process.returncode == 130
        assert "interrupted; no file was written" in process.stderr.read()
    assert list(tmp_path.iterdir()) == []


def test_estimates_are_close_enough_to_be_worth_a_limit(middling):
    found = onetree.estimate(onetree.load_ensemble(middling), objective="leaves")
    low, high = found.leaves_range
    assert high < 2 * low
