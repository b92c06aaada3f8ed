"""Build the core and its tests with every compiler that is here, for every target they know, and run what can run.

Without Python in the target: the core is a static library, and its tests (`tests/cpp`) a program. Looks for GCC and
Clang of any version, for Debian's cross compilers (`g++-aarch64-linux-gnu`, `g++-mingw-w64-x86-64-posix`,
`g++-s390x-linux-gnu`), and for Zig, which brings Clang and the libraries of all systems (`pip install ziglang`). What
was built runs by itself, in `qemu-user` or in `wine`. Prints the table of docs/platforms.md; ends with status 1 if
anything failed.

    python tools/cross_build.py --list
    python tools/cross_build.py zig-x86_64-windows-gnu g++-12
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFUSAL = "onetree needs a 64-bit, little-endian processor"
GCC, CLANG = range(11, 16), range(14, 24)


@dataclass(frozen=True)
class Build:
    """One line of the table."""

    name: str
    compiler: tuple[str, ...]
    target: str
    settings: dict[str, str] = field(default_factory=dict)
    runner: tuple[str, ...] | None = ()  # None: this machine has nothing that runs it
    refused: bool = False  # on purpose


def main() -> int:
    """Run the builds that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="builds to do; default: all")
    parser.add_argument("--list", action="store_true", help="only say which builds this machine can do")
    parser.add_argument("--jobs", type=int, default=1, help="compilations at the same time")
    parser.add_argument("--quick", action="store_true", help="without optimization: a tenth of the time")
    parser.add_argument("--folder", type=Path, help="build here, and keep it")
    arguments = parser.parse_args()
    found = builds()
    if unknown := sorted(set(arguments.names) - {build.name for build in found}):
        parser.error(f"{', '.join(unknown)}: not among {', '.join(build.name for build in found)}")
    chosen = [build for build in found if not arguments.names or build.name in arguments.names]
    if arguments.list:
        print(*(build.name for build in chosen), sep="\n")
        return 0
    print("| compiler | target | core and tests | tests run |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = (arguments.folder or Path(scratch)).resolve()
        outcomes = [tried(build, folder / build.name, arguments.jobs, arguments.quick) for build in chosen]
    return 0 if all(outcomes) else 1


def builds() -> list[Build]:
    """Return what can be built here."""
    all_builds = [
        Build(name, (name,), "this machine")
        for name in [*(f"g++-{n}" for n in GCC), *(f"clang++-{n}" for n in CLANG)]
        if shutil.which(name)
    ]
    if shutil.which("g++"):
        all_builds.append(Build("plain", ("g++",), "plain C++, as for Visual Studio", {"ONETREE_PLAIN": "ON"}))
    static = {"CMAKE_EXE_LINKER_FLAGS": "-static"}
    for compiler, target, system, runner in (
        ("aarch64-linux-gnu-g++", "aarch64-linux-gnu", "Linux", ("qemu-aarch64",)),
        ("x86_64-w64-mingw32-g++-posix", "x86_64-windows-gnu", "Windows", ("wine",)),
        ("s390x-linux-gnu-g++", "s390x-linux-gnu", "Linux", None),
    ):
        if shutil.which(compiler):
            settings = static | system_settings(system, target.split("-")[0])
            refused = target.startswith("s390x")
            all_builds.append(Build(compiler, (compiler,), target, settings, at_hand(runner), refused=refused))
    if zig := zig_command():
        for target, system, runner in (
            ("x86_64-linux-musl", "Linux", ()),
            ("aarch64-linux-musl", "Linux", ("qemu-aarch64",)),
            ("aarch64-linux-gnu.2.28", "Linux", ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")),
            ("x86_64-windows-gnu", "Windows", ("wine",)),
            ("aarch64-windows-gnu", "Windows", None),
            ("x86_64-macos.11.0", "Darwin", None),
            ("aarch64-macos.11.0", "Darwin", None),
        ):
            settings = system_settings(system, target.split("-")[0])
            command = (*zig, "c++", "-target", target)
            all_builds.append(Build(f"zig-{target}", command, target, settings, at_hand(runner)))
    return all_builds


def zig_command() -> tuple[str, ...] | None:
    """Return how Zig is called: as the Python package, or as a program."""
    package = subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True, check=False)
    if package.returncode == 0:
        return (sys.executable, "-m", "ziglang")
    program = shutil.which("zig")
    return (program,) if program else None


def at_hand(runner: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the runner if the program is here."""
    return runner if runner is None or runner == () or shutil.which(runner[0]) else None


def system_settings(system: str, processor: str) -> dict[str, str]:
    """Return what tells CMake that it builds for another machine."""
    settings = {"CMAKE_SYSTEM_NAME": system, "CMAKE_SYSTEM_PROCESSOR": processor}
    if system == "Darwin":  # there is no SDK to look for; Zig knows the system's libraries
        settings |= {"CMAKE_OSX_SYSROOT": "", "CMAKE_OSX_DEPLOYMENT_TARGET": ""}
    return settings


def tried(build: Build, folder: Path, jobs: int, quick: bool) -> bool:
    """Build and run, print a line of the table, and return whether all went as it should."""
    folder.mkdir(parents=True, exist_ok=True)
    compiler = wrapped(folder, "c++", build.compiler)
    settings = {
        "CMAKE_BUILD_TYPE": "Debug" if quick else "Release",
        "CMAKE_CXX_FLAGS_DEBUG": "-O0",
        "CMAKE_CXX_COMPILER": str(compiler),
        "ONETREE_MODULE": "OFF",
        "ONETREE_WARNINGS_AS_ERRORS": "ON",
    } | build.settings
    if "ziglang" in build.compiler or Path(build.compiler[0]).name == "zig":
        zig = build.compiler[: build.compiler.index("c++")]
        settings |= {f"CMAKE_{tool.upper()}": str(wrapped(folder, tool, (*zig, tool))) for tool in ("ar", "ranlib")}
    definitions = [f"-D{name}={value}" for name, value in settings.items()]
    steps = [
        ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(folder), *definitions],
        ["cmake", "--build", str(folder), "--target", "core_tests", "--parallel", str(jobs)],
    ]
    log = ""
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        log += done.stdout + done.stderr
        if done.returncode != 0:
            refused = build.refused and REFUSAL in " ".join(log.split())
            row(compiler, build, "refused, as it should be" if refused else "FAILED", "")
            if not refused:
                print(log, file=sys.stderr)
            return refused
    ran = outcome(build, folder)
    row(compiler, build, "built", ran)
    return not build.refused and "FAILED" not in ran


def wrapped(folder: Path, name: str, command: tuple[str, ...]) -> Path:
    """Return a program that is this command: CMake wants compilers to be one word."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    path.chmod(0o755)
    return path


def outcome(build: Build, folder: Path) -> str:
    """Run the tests; how many passed."""
    if build.runner is None:
        return "only linked"
    program = next(path for path in (folder / "core_tests", folder / "core_tests.exe") if path.exists())
    environment = os.environ | {"WINEDEBUG": "-all"}
    done = subprocess.run([*build.runner, program], capture_output=True, text=True, check=False, env=environment)
    lines = done.stdout.splitlines()
    passed = sum(line.startswith("passed ") for line in lines)
    if done.returncode != 0 or passed != len(lines) or not lines:
        print(done.stdout + done.stderr, file=sys.stderr)
        return f"FAILED: {passed} of {len(lines)}"
    by = f" in {build.runner[0]}" if build.runner else ""
    return f"{passed} passed{by}"


def row(compiler: Path, build: Build, built: str, ran: str) -> None:
    """Print a line of the table."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    family = "Clang" if "clang" in version.lower() else "GCC"
    number = re.search(r"version ([\d.]+)" if family == "Clang" else r"\) ([\d.]+)", version)
    shown = f"{family} {number[1] if number else '?'}"
    if "c++" in build.compiler:
        shown += " (Zig)"
    print(f"| {shown} | {build.target} | {built} | {ran} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
