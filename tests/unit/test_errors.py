"""The errors: what they carry, and that a missing package is the same error everywhere."""

import importlib
import pickle
import sys
from types import SimpleNamespace

import pytest

from onetree import MissingDependencyError, OnetreeError, TooLargeError
from onetree.cli.commands.export import _sklearn
from onetree.errors import missing


def test_a_tree_that_is_too_large_carries_its_estimate():
    error = TooLargeError("too large", estimate=5)
    assert isinstance(error, OnetreeError)
    assert error.estimate == 5


def test_a_missing_package_is_an_import_error_with_the_command():
    error = missing("matplotlib", "plot")
    assert isinstance(error, OnetreeError)
    assert isinstance(error, ImportError)
    assert error.name == "matplotlib"
    assert "pip install 'onetree[plot]'" in str(error)


def test_a_package_that_is_no_extra_is_installed_by_its_name():
    assert str(missing("distributed")).endswith("pip install distributed")


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_a_model_whose_library_is_gone_names_the_extra(monkeypatch, library):
    module = importlib.import_module(f"onetree.importers.{library}.model")
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'onetree\[{library}\]'"):
        getattr(module, f"import_{library}")(SimpleNamespace())


def test_a_skops_file_without_skops_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'onetree\[skops\]'"):
        _sklearn(None)


@pytest.mark.parametrize("error", [TooLargeError("large", 7), missing("onnx", "onnx")])
def test_errors_come_back_whole_from_a_worker(error):
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert getattr(again, "estimate", None) == getattr(error, "estimate", None)
