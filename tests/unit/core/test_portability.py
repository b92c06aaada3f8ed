"""The core knows its operating system in one file and its compiler in another; one interpreter loads it at a time."""

import re
import sys

import pytest

from onetree import _core

SYSTEM, COMPILER = "base/system_memory.cpp", "base/compiler.hpp"
# Headers that not every system has, and what only some compilers know.
_SYSTEM_HEADER = re.compile(r"#\s*include\s*<(sys/|unistd|windows|pthread|sched|fcntl|malloc|dlfcn)")
_COMPILER_WORD = re.compile(r"__builtin_prefetch|always_inline|__GNUC__|_MSC_VER|__x86_64__|__aarch64__|std::endian")


def files_with(repository, pattern):
    folder = repository / "cpp"
    paths = [path for suffix in ("cpp", "hpp", "inl") for path in folder.rglob(f"*.{suffix}")]
    return {path.relative_to(folder).as_posix() for path in paths if pattern.search(path.read_text())}


def test_one_file_knows_the_operating_system(repository):
    assert files_with(repository, _SYSTEM_HEADER) == {SYSTEM}


def test_one_file_knows_the_compiler_and_the_processors(repository):
    assert files_with(repository, _COMPILER_WORD) == {COMPILER}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="this Python lets any module into a subinterpreter")
def test_a_subinterpreter_is_refused_with_an_import_error(tmp_path):
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    said = tmp_path / "said"
    code = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("onetree._core", {_core.__file__!r})
try:
    importlib.util.module_from_spec(spec)
    message = "it was loaded"
except ImportError as error:
    message = str(error)
with open({str(said)!r}, "w") as file:
    file.write(message)
"""
    interpreter = interpreters.create()
    try:
        interpreters.run_string(interpreter, code)
    finally:
        interpreters.destroy(interpreter)
    assert "does not support" in said.read_text()
