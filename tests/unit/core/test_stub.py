"""The stub of the native core is what nanobind generates from it."""

import subprocess
import sys

import pytest

from onetree import _core


@pytest.mark.slow  # versions of nanobind write stubs differently; the full tier has a pinned one
def test_the_stub_is_the_generated_one(repository, tmp_path):
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "onetree._core", "-o", made], check=True)
    assert (repository / "src" / "onetree" / "_core.pyi").read_text() == made.read_text()


@pytest.mark.parametrize("wrong", [0, "leaves", None, _core.Engine.AUTO])
def test_an_objective_is_not_a_number_or_a_text(wrong):
    with pytest.raises(TypeError):
        _core.heuristic(None, wrong, 0.0, 0, 0.0, 0, 0.0, 1, None)
