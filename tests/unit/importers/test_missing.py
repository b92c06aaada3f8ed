"""The option `missing` for files, in Python and on the command line."""

import json

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import onetree
from onetree import Ensemble, InvalidInputError, ModelFileError, load_ensemble
from onetree.cli import main
from onetree.importers.ba_text import write_ba_text


def data(*, gaps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    if gaps:  # more of them in one class, so that every model sends them its way
        X[rng.random(X.shape) < np.where(y, 0.5, 0.05)[:, np.newaxis]] = np.nan
    return X, y


def save_xgboost(path, X, y):
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 2}, xgboost.DMatrix(X, y), 3)
    path.write_bytes(booster.save_raw("json"))


def save_lightgbm(path, X, y):
    lightgbm = pytest.importorskip("lightgbm")
    booster = lightgbm.train({"objective": "binary", "verbose": -1, "num_leaves": 4}, lightgbm.Dataset(X, y), 3)
    path.write_text(booster.model_to_string())


def save_catboost(path, X, y):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(iterations=3, depth=2, verbose=False, allow_writing_files=False)
    model.fit(X, y).save_model(str(path), format="json")


def save_skops(path, X, y):
    skops_io = pytest.importorskip("skops.io")
    path.write_bytes(skops_io.dumps(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)))


@pytest.mark.parametrize("save", [save_xgboost, save_lightgbm, save_catboost, save_skops])
def test_a_file_of_a_library_is_read_with_missing_values_as_asked(save, tmp_path):
    save(tmp_path / "whole", *data(gaps=False))
    save(tmp_path / "gaps", *data(gaps=True))
    assert not load_ensemble(tmp_path / "whole").nan_features.any()
    assert load_ensemble(tmp_path / "whole", missing="follow").nan_features.all()
    assert load_ensemble(tmp_path / "gaps").nan_features.any()
    assert not load_ensemble(tmp_path / "gaps", missing="refuse").nan_features.any()


def ensemble(*, gaps):
    return Ensemble.from_model(DecisionTreeClassifier(max_depth=3, random_state=0).fit(*data(gaps=gaps)))


def test_missing_values_can_be_taken_away_from_a_saved_ensemble(tmp_path):
    ensemble(gaps=True).save(tmp_path / "model.json")
    for missing, takes_nan in (("auto", True), ("follow", True), ("refuse", False)):
        assert load_ensemble(tmp_path / "model.json", missing=missing).nan_features.all() == takes_nan


@pytest.mark.parametrize("save", [Ensemble.save, lambda model, path: write_ba_text(model.to_hard_vote(), path)])
def test_a_saved_ensemble_without_missing_values_cannot_follow_them(save, tmp_path):
    save(ensemble(gaps=False), tmp_path / "model")
    with pytest.raises(ModelFileError, match="no feature takes missing values"):
        load_ensemble(tmp_path / "model", missing="follow")


def test_an_unknown_word_for_missing_is_refused_before_the_file_is_opened(tmp_path):
    with pytest.raises(InvalidInputError, match="auto, follow, refuse"):
        load_ensemble(tmp_path / "no such file", missing="never")


def test_the_command_line_reads_missing_values_as_asked(tmp_path, capsys):
    path = str(tmp_path / "model.json")
    ensemble(gaps=True).save(path)
    for missing, n_features in (("auto", 3), ("refuse", 0)):
        assert main(["inspect", path, "--missing", missing, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["features_with_nan"] == n_features


def test_a_tree_converted_without_missing_values_is_verified_without_them(tmp_path, capsys):
    path, tree = str(tmp_path / "model.json"), str(tmp_path / "tree.json")
    ensemble(gaps=True).save(path)
    assert main(["convert", path, "-o", tree, "--missing", "refuse"]) == 0
    assert not onetree.load_tree(tree).nan_features.any()
    assert main(["verify", path, tree, "--missing", "refuse"]) == 0
    assert main(["verify", path, tree]) == 2
    assert 'missing="refuse"' in capsys.readouterr().err
