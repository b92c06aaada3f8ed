"""Which library a model or a file belongs to is told by its class and its first bytes, never by its name."""

import json
import sys
import types

import numpy as np
import pytest

from onetree import Ensemble, ModelFileError, UnsupportedModelError, load_ensemble
from onetree.model.ensemble import Rule
from onetree.model.rounding import count_order_fragile

LIBRARIES = ("xgboost", "lightgbm", "catboost")


def leaves_only(values, kind):
    """Return an ensemble in which each tree is one leaf with a vector of `values`."""
    n_trees = len(values)
    return Ensemble(
        classes=[0, 1],
        feature_names=("a",),
        roots=np.arange(n_trees),
        feature=[-1] * n_trees,
        threshold=[0.0] * n_trees,
        children_left=[-1] * n_trees,
        children_right=[-1] * n_trees,
        missing_left=[False] * n_trees,
        value=values,
        base=[0.0] * len(values[0]),
        rule=Rule(kind),
        nan_features=[False],
    )


@pytest.fixture
def importers(monkeypatch):
    """Importers that only note that they were called."""
    called = []
    entrances = {
        "xgboost": ("import_xgboost", "parse_xgboost_json", "parse_xgboost_ubj"),
        "lightgbm": ("import_lightgbm", "parse_lightgbm_text"),
        "catboost": ("import_catboost", "parse_catboost_json"),
    }
    for library, names in entrances.items():
        module = types.ModuleType(f"onetree.importers.{library}.model")
        for name in names:

            def note(source, missing=None, data=None, output=None, name=name):
                called.append((name, missing))
                return leaves_only([[1.0, 0.0]], "hard")

            setattr(module, name, note)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return called


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_goes_to_the_importer_of_its_library(library, importers):
    class Model:
        pass

    Model.__module__ = f"{library}.sklearn"
    Ensemble.from_model(Model(), missing="follow")
    assert importers == [(f"import_{library}", "follow")]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_boosted_models_of_other_libraries_take_no_vote(library, voting, importers):
    class Model:
        pass

    Model.__module__ = library
    with pytest.raises(UnsupportedModelError, match='Use voting="auto"'):
        Ensemble.from_model(Model(), voting=voting)


@pytest.mark.parametrize(
    ("content", "entrance"),
    [
        (b'{"learner": {"gradient_booster": {}}, "version": [3, 2, 0]}', "parse_xgboost_json"),
        (b'  {"version": [3, 2, 0], "learner": {}}', "parse_xgboost_json"),
        (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{", "parse_xgboost_ubj"),
        (b"tree\nversion=v4\nnum_class=1\n", "parse_lightgbm_text"),
        (b"tree\r\nversion=v4\r\n", "parse_lightgbm_text"),
        (b'{"features_info": {}, "oblivious_trees": []}', "parse_catboost_json"),
    ],
)
def test_a_file_is_recognised_by_its_content(content, entrance, importers, tmp_path):
    (tmp_path / "model.any").write_bytes(content)
    load_ensemble(tmp_path / "model.any")
    assert importers == [(entrance, "auto")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"binf\x00\x00", "old binary format"),
        (b'{"name": "tree", "tree_info": []}', "save_model"),
        (json.dumps({"format": "onetree-tree"}).encode(), "a tree that onetree made"),
        (b'{"format": "something else"}', "not a known model file"),
        (b"", "not a known model file"),
        (b"{", "not a known model file"),
    ],
)
def test_files_of_other_kinds_are_refused_with_the_remedy(content, message, tmp_path):
    (tmp_path / "model.any").write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        load_ensemble(tmp_path / "model.any")


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_exhaustion_while_reading_is_an_error_of_the_file(error, monkeypatch, importers, tmp_path):
    def fail(content, missing, output):
        raise error

    monkeypatch.setattr(sys.modules["onetree.importers.lightgbm.model"], "parse_lightgbm_text", fail)
    (tmp_path / "model.txt").write_bytes(b"tree\n")
    with pytest.raises(ModelFileError, match=r"model\.txt"):
        load_ensemble(tmp_path / "model.txt")


def test_an_unsupported_model_in_a_file_names_the_file(monkeypatch, importers, tmp_path):
    def refuse(content, missing, output):
        raise UnsupportedModelError("linear trees")

    monkeypatch.setattr(sys.modules["onetree.importers.lightgbm.model"], "parse_lightgbm_text", refuse)
    (tmp_path / "model.txt").write_bytes(b"tree\n")
    with pytest.raises(UnsupportedModelError, match=r"model\.txt: linear trees"):
        load_ensemble(tmp_path / "model.txt")


@pytest.mark.parametrize(
    ("ensemble", "n_fragile"),
    [
        (leaves_only([[0.1, 0.3], [0.2, 0.0]], "scores"), 1),  # 0.1 + 0.2 is a rounding away from 0.3
        (leaves_only([[0.1, 0.4], [0.2, 0.0]], "scores"), 0),
        (leaves_only([[0.1], [0.2], [-0.3]], "score"), 1),
        (leaves_only([[0.1], [0.2], [-0.2]], "score"), 0),
        (leaves_only([[1.0, 0.0], [0.0, 1.0]], "hard"), 0),
    ],
)
def test_inputs_whose_class_hangs_on_the_order_of_adding_are_counted(ensemble, n_fragile):
    assert count_order_fragile(ensemble, np.zeros((1, 1))) == n_fragile
