"""The kernels for ARM, cross-compiled and run in an emulator, compute lane by lane what plain code does."""

from __future__ import annotations

import shutil

import pytest

from tests.cases.native import run

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
NAMES = """
#include <cstdio>

#include "kernel/simd.hpp"

int main() {
  for (const onetree::Simd simd : onetree::available_simd()) std::puts(onetree::name_of(simd));
}
"""


@pytest.fixture(scope="module")
def emulated(repository, tmp_path_factory):
    """A function that builds a program with the kernels, runs it, and gives what it wrote."""
    if shutil.which(COMPILER) is None or shutil.which(EMULATOR) is None:
        pytest.skip(f"needs {COMPILER} and {EMULATOR}")
    folder = tmp_path_factory.mktemp("arm")
    command = [COMPILER, "-std=c++20", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command += [f"-I{repository / 'cpp'}", f"-I{repository / 'tests' / 'cpp'}"]

    def build(*arguments):
        done = run(*command, *arguments)
        assert done.returncode == 0, done.stderr

    kernels = []
    for path in sorted((repository / "cpp" / "kernel").glob("*.cpp")):
        kernels.append(folder / f"{path.stem}.o")
        build("-c", path, "-o", kernels[-1])

    def output(*sources):
        program = folder / "program"
        build("-static", "-pthread", *sources, *kernels, "-o", program)
        done = run(EMULATOR, program)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    return output


def test_neon_is_chosen_on_arm(emulated, tmp_path):
    (tmp_path / "names.cpp").write_text(NAMES)
    assert emulated(tmp_path / "names.cpp") == ["baseline", "neon"]


def test_every_lane_is_what_plain_code_computes(emulated, repository):
    tests = repository / "tests" / "cpp"
    lines = emulated(tests / "check.cpp", tests / "test_kernels.cpp")
    assert lines
    assert all(line.startswith("passed ") for line in lines)
