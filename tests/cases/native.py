"""The native core, built for a test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest


def tool(name):
    """A program of this environment, or else of the machine; None if there is none."""
    return shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)


def run(*command, **options):
    """Run a program; what it wrote."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


def find_compiler():
    """Find the compiler to use; skip the test if it cannot be built."""
    path = tool(os.environ.get("CXX", "g++"))
    if path is None or tool("cmake") is None or tool("ninja") is None:
        pytest.skip("needs g++, cmake and ninja")
    return path


def compile_core(repository, compiler, folder, target, **settings):
    """Build a target in a folder, with assertions, and with warnings as errors."""
    settings = {
        "CMAKE_BUILD_TYPE": "Debug",  # our assertions and nanobind's are on
        "CMAKE_CXX_COMPILER": compiler,
        "CMAKE_CXX_COMPILER_LAUNCHER": tool("ccache") or "",
        "CMAKE_CXX_FLAGS_DEBUG": "-O1 -D_GLIBCXX_ASSERTIONS",
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "ONETREE_WARNINGS_AS_ERRORS": "ON",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": run(sys.executable, "-m", "nanobind", "--cmake_dir").stdout.strip(),
    } | settings
    definitions = [f"-D{name}={value}" for name, value in settings.items()]
    for command in (
        ["-G", "Ninja", "-S", repository, "-B", folder, *definitions],
        ["--build", folder, "--target", target],
    ):
        # A cache of compiled files must not mind that each run has a folder of its own.
        done = run(tool("cmake"), *command, env=os.environ | {"CCACHE_NOHASHDIR": "1"})
        assert done.returncode == 0, done.stdout + done.stderr
