"""Bad input: what, how much, what to do; exit code 2; no partial file."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree
from onetree import Ensemble
from tests.cases.commands import TEXT, refused, run

X, Y = load_iris(return_X_y=True)

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


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="the superuser may write anywhere")
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
        (RandomForestClassifier(2, max_depth=1).fit(X, np.stack([Y, Y], axis=1)), "output"),
        (None, ""),
    ],
    ids=["unfitted forest", "unfitted tree", "several outputs", "nothing"],
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
