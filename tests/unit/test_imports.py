"""The direction of imports, and the names that users rely on."""

import doctest
import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import onetree

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(onetree.__path__, "onetree.")
    if not module.name.endswith(("._core", ".__main__"))
)


def test_every_module_imports_only_from_earlier_stages(repository, tmp_path):
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    result = subprocess.run(
        [*command, "--config", str(repository / "pyproject.toml"), "--no-cache"],
        cwd=tmp_path,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


SLOW = ("scipy", "sklearn", "matplotlib", "pandas", "polars", "joblib", "tqdm", "xgboost", "lightgbm", "catboost")


@pytest.mark.parametrize("code", ["import onetree", "from onetree.cli import main; main(['--version'])"])
def test_nothing_slow_is_imported_before_it_is_needed(code):
    code = f"{code}\nimport sys; print(sorted(set({SLOW}) & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", onetree.__all__)
def test_every_public_name_is_there(name):
    assert getattr(onetree, name) is not None


@pytest.mark.parametrize("name", ["onetree", *MODULES])
def test_the_examples_in_the_docstrings_are_true(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", ["onetree", *MODULES])
def test_every_module_begins_by_saying_what_it_is_for(name):
    assert (importlib.import_module(name).__doc__ or "").strip()


def test_errors_are_also_the_builtin_errors_that_callers_expect():
    assert issubclass(onetree.InvalidInputError, ValueError)
    assert issubclass(onetree.GridTooLargeError, MemoryError)
    assert all(
        issubclass(getattr(onetree, name), onetree.OnetreeError) for name in onetree.__all__ if name.endswith("Error")
    )
