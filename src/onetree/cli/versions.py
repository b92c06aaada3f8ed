"""``onetree --version``: of onetree alone or, with ``--json``, of all that a result may depend on."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version

import onetree
from onetree import _core
from onetree.cli import terminal

LIBRARIES = ("numpy", "scipy", "scikit-learn", "xgboost", "lightgbm", "catboost", "pandas", "polars")
_OTHER_NAMES = {"xgboost": "xgboost-cpu"}  # the same module in another package


def add_version(parser: argparse.ArgumentParser) -> None:
    """Add the options, which replace a subcommand."""
    parser.add_argument(
        "--version",
        action="store_true",
        help="show the version; with --json also those of Python and of the libraries",
    )
    # Every subcommand has a --json of its own; this one must not seem to reach them.
    parser.add_argument("--json", dest="version_as_json", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Show the version."""
    if arguments.version_as_json:
        terminal.show_json(
            {
                "onetree": onetree.__version__,
                "python": platform.python_version(),
                "machine": platform.machine(),
                "system": platform.system(),
                "simd": _core.simd(),
                "libraries": {name: installed(name) for name in LIBRARIES},
            }
        )
    else:
        terminal.show(f"onetree {onetree.__version__}")
    return 0


def installed(library: str) -> str | None:
    """Return the version of a library, without importing it; None if it is absent."""
    for name in (library, _OTHER_NAMES.get(library, library)):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None
