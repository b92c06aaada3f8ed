"""The native core under sanitizers: of addresses and undefined behaviour, and of threads. All warnings are errors."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from onetree import _core
from tests.cases.native import compile_core, find_compiler, run

pytestmark = [pytest.mark.slow, pytest.mark.sanitizers]

REPORTS = ("AddressSanitizer", "ThreadSanitizer", "runtime error:", "Assertion")


@pytest.fixture(scope="module")
def compiler():
    return find_compiler()


def runtimes(compiler, sanitizer):
    """What has to be loaded before Python: the sanitizer, and the C++ runtime whose exceptions it looks at."""
    paths = [Path(run(compiler, f"-print-file-name={name}").stdout.strip()) for name in (sanitizer, "libstdc++.so")]
    if not all(path.is_absolute() and path.exists() for path in paths):  # a bare name: the compiler has no such library
        pytest.skip(f"{compiler} comes without {sanitizer}")
    return " ".join(map(str, paths))


def build(repository, compiler, folder, sanitizers):
    """Fill a folder with the package as it is in the repository, and a core with assertions and these sanitizers."""
    package = shutil.copytree(
        repository / "src" / "onetree", folder / "onetree", ignore=shutil.ignore_patterns("__pycache__", "*.so")
    )
    compile_core(repository, compiler, folder / "build", "_core", ONETREE_SANITIZE=sanitizers)
    (core,) = (folder / "build").glob("_core*.so")
    shutil.move(core, package)


def campaign(name, repository, folder, **environment):
    """Run a program of this folder with the core that was built; what it wrote."""
    # -S: an editable installation would put its own core first.
    packages = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return run(
        *(sys.executable, "-S", "-m", f"tests.integration.{name}", 0),
        cwd=repository,
        env=os.environ
        | {
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "PYTHONPATH": os.pathsep.join([str(folder), str(repository), *packages]),
        }
        | environment,
    )


def assert_clean(done, folder):
    assert not any(report in done.stderr for report in REPORTS), done.stderr
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"clean {folder}")


def test_the_core_is_clean_under_the_sanitizers(repository, compiler, tmp_path):
    preloaded = runtimes(compiler, "libasan.so")
    build(repository, compiler, tmp_path, "address,undefined")
    for path in _core.available_simd():
        done = campaign(
            *("sanitizer_campaign", repository, tmp_path),
            LD_PRELOAD=preloaded,
            ASAN_OPTIONS="detect_leaks=0",  # the interpreter frees little at its end
            ONETREE_SIMD=path,
        )
        assert_clean(done, tmp_path)


def test_the_threads_of_the_core_do_not_race_and_narrow_vectors_give_the_same_trees(repository, compiler, tmp_path):
    preloaded = runtimes(compiler, "libtsan.so")
    build(repository, compiler, tmp_path, "thread")
    done = campaign(
        *("thread_campaign", repository, tmp_path),
        LD_PRELOAD=preloaded,
        TSAN_OPTIONS="halt_on_error=1",
        ONETREE_SIMD="baseline",
        OPENBLAS_NUM_THREADS="1",  # the threads of other libraries are not ours to check
        OMP_NUM_THREADS="1",
    )
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer of this compiler does not run under this kernel's address randomisation")
    assert_clean(done, tmp_path)
    installed = run(sys.executable, "-m", "tests.integration.thread_campaign", 0, cwd=repository)
    assert installed.returncode == 0, installed.stderr
    assert done.stdout.splitlines()[1:] == installed.stdout.splitlines()[1:]
