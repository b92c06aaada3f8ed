"""The tests of the native core that are written in C++, in `tests/cpp`."""

from __future__ import annotations

import re

import pytest

from tests.cases.native import compile_core, find_compiler, run

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

_TEST = re.compile(r"^TEST\((\w+)\)", re.MULTILINE)


def test_every_test_of_the_core_passes(repository, tmp_path):
    compile_core(repository, find_compiler(), tmp_path, "core_tests")
    done = run(tmp_path / "core_tests")
    assert done.returncode == 0, done.stdout + done.stderr
    names = {name for path in (repository / "tests" / "cpp").glob("*.cpp") for name in _TEST.findall(path.read_text())}
    assert names
    assert {f"passed {name}" for name in names} == set(done.stdout.splitlines())


def test_a_failed_check_fails_the_run(repository, tmp_path):
    (tmp_path / "fails.cpp").write_text(
        '#include "check.hpp"\nTEST(one_is_two) { CHECK_EQUAL(1, 2); }\nTEST(one_is_one) { CHECK(1 == 1); }\n'
    )
    tests = repository / "tests" / "cpp"
    program = tmp_path / "fails"
    built = run(find_compiler(), "-std=c++20", f"-I{tests}", tmp_path / "fails.cpp", tests / "check.cpp", "-o", program)
    assert built.returncode == 0, built.stderr
    done = run(program)
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["FAILED one_is_two", "passed one_is_one"]
    assert "1 is not 2" in done.stderr
