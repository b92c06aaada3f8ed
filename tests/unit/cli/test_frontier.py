"""``onetree frontier``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.cli import main

X, Y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = np.arange(len(X)) % 3 > 0, np.arange(len(X)) % 3 == 0
WORDS = np.array(["malignant", "benign"])[Y]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frontier")
    ensemble = onetree.Ensemble.from_model(RandomForestClassifier(20, random_state=0).fit(X[TRAIN], WORDS[TRAIN]))
    ensemble.save(folder / "model.json")
    for name, chosen in (("train", TRAIN), ("test", TEST)):
        lines = [",".join([*ensemble.feature_names, "diagnosis"])]
        lines += [
            ",".join([*map(repr, row.tolist()), word]) for row, word in zip(X[chosen], WORDS[chosen], strict=True)
        ]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    return folder


def run(folder, *words):
    words = [folder / word if str(word).endswith(".csv") else word for word in words]
    return main([str(word) for word in ("frontier", folder / "model.json", "--leaves", 4, 8, "--data", *words)])


def test_the_table_is_printed(folder, capsys):
    assert run(folder, "train.csv", "--target", "diagnosis", "--held-out", "test.csv") == 0
    out = capsys.readouterr().out
    assert out.startswith("at most")
    assert "CART is as good" in out or "more accurate" in out


def test_json_has_the_figures_of_the_function(folder, capsys):
    assert run(folder, "train.csv", "--target", "diagnosis", "--held-out", "test.csv", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    model = onetree.load_ensemble(folder / "model.json")
    found = onetree.frontier(model, X[TRAIN], WORDS[TRAIN], leaves=(4, 8), held_out=(X[TEST], WORDS[TEST])).to_dict()
    assert printed == found | {"seconds": printed["seconds"], "saved": []}


def test_without_a_target_agreement_is_measured_on_rows_set_aside(folder, capsys):
    assert run(folder, "train.csv", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["held_out_may_be_seen"]
    assert "model_accuracy" not in printed


def test_trees_and_figure_are_saved_on_request(folder, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert run(folder, "train.csv", "--save", tmp_path / "trees", "--plot", tmp_path / "f.svg") == 0
    assert onetree.load_tree(tmp_path / "trees" / "tree-8.json").n_leaves <= 8
    assert "<svg" in (tmp_path / "f.svg").read_text()
    assert "tree-4.json" in capsys.readouterr().out


def test_a_class_that_the_model_does_not_have_is_refused(folder, capsys):
    text = (folder / "train.csv").read_text().replace("benign", "unsure", 1)
    (folder / "odd.csv").write_text(text)
    assert run(folder, "odd.csv", "--target", "diagnosis") == 2
    assert "'unsure' in row" in capsys.readouterr().err


def test_a_target_that_is_not_there_is_refused(folder, capsys):
    assert run(folder, "train.csv", "--target", "nothing") == 2
    assert "no column 'nothing'" in capsys.readouterr().err
