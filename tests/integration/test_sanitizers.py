"""The native core under the address and undefined-behaviour sanitizers, all warnings being errors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPORTS = ("AddressSanitizer", "runtime error:", "Assertion")


def tool(name):
    """A program of this environment, or else of the machine; None if there is none."""
    return shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="module")
def compiler():
    path = tool(os.environ.get("CXX", "g++"))
    if path is None or tool("cmake") is None or tool("ninja") is None:
        pytest.skip("needs g++, cmake and ninja")
    return path


@pytest.fixture(scope="module")
def runtimes(compiler):
    """What has to be loaded before Python: the sanitizer, and the C++ runtime whose exceptions it looks at."""
    paths = [Path(run(compiler, f"-print-file-name={name}").stdout.strip()) for name in ("libasan.so", "libstdc++.so")]
    if not all(path.is_absolute() and path.exists() for path in paths):  # a bare name: the compiler has no such library
        pytest.skip(f"{compiler} comes without the address sanitizer")
    return paths


@pytest.fixture(scope="module")
def sanitized(repository, compiler, runtimes, tmp_path_factory):
    """A folder with the package as it is in the repository, and a core built to stop at the first fault."""
    folder = tmp_path_factory.mktemp("sanitized")
    package = shutil.copytree(
        repository / "src" / "onetree", folder / "onetree", ignore=shutil.ignore_patterns("__pycache__", "*.so")
    )
    settings = {
        "CMAKE_BUILD_TYPE": "Debug",  # our assertions and nanobind's are on
        "CMAKE_CXX_COMPILER": compiler,
        "CMAKE_CXX_FLAGS_DEBUG": "-O1 -D_GLIBCXX_ASSERTIONS",
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "ONETREE_SANITIZE": "ON",
        "ONETREE_WARNINGS_AS_ERRORS": "ON",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": run(sys.executable, "-m", "nanobind", "--cmake_dir").stdout.strip(),
    }
    definitions = [f"-D{name}={value}" for name, value in settings.items()]
    for command in (
        ["-G", "Ninja", "-S", repository, "-B", folder / "build", *definitions],
        ["--build", folder / "build", "--target", "_core"],
    ):
        done = run(tool("cmake"), *command)
        assert done.returncode == 0, done.stdout + done.stderr
    (core,) = (folder / "build").glob("_core*.so")
    shutil.move(core, package)
    return folder


def test_the_core_is_clean_under_the_sanitizers(sanitized, runtimes, repository):
    # -S: an editable installation would put its own core first.
    packages = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    done = run(
        *(sys.executable, "-S", "-m", "tests.integration.sanitizer_campaign", 0),
        cwd=repository,
        env=os.environ
        | {
            "LD_PRELOAD": " ".join(map(str, runtimes)),
            "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter frees little at its end
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "PYTHONPATH": os.pathsep.join([str(sanitized), str(repository), *packages]),
        },
    )
    assert not any(report in done.stderr for report in REPORTS), done.stderr
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"clean {sanitized}")
