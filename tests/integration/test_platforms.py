"""The core for other compilers and processors. `tools/cross_build.py` builds all of it for all of them."""

from __future__ import annotations

import shutil

import pytest

from tests.cases.native import find_compiler, run

BIG_ENDIAN = "s390x-linux-gnu-g++"


@pytest.mark.compiler
@pytest.mark.slow
def test_the_plain_kernel_computes_every_lane_as_plain_code_does(repository, tmp_path):
    sources = [*(repository / "cpp" / "kernel").glob("*.cpp")]
    sources += [repository / "tests" / "cpp" / name for name in ("check.cpp", "test_kernels.cpp")]
    options = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-DONETREE_PLAIN"]
    folders = [f"-I{repository / 'cpp'}", f"-I{repository / 'tests' / 'cpp'}"]
    built = run(find_compiler(), *options, *folders, *sources, "-o", tmp_path / "plain")
    assert built.returncode == 0, built.stderr
    done = run(tmp_path / "plain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("passed ") == 2


@pytest.mark.compiler
def test_a_big_endian_processor_is_refused_in_one_line(repository):
    if shutil.which(BIG_ENDIAN) is None:
        pytest.skip(f"needs {BIG_ENDIAN}")
    header = repository / "cpp" / "base" / "compiler.hpp"
    done = run(BIG_ENDIAN, "-std=c++20", "-fsyntax-only", "-include", header, "-x", "c++", "/dev/null")
    assert done.returncode != 0
    (error,) = [line for line in done.stderr.splitlines() if "error:" in line]
    assert "onetree needs a 64-bit, little-endian processor" in error
