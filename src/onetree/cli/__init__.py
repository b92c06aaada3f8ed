"""The command ``onetree``: arguments in, library calls, results out. No logic of its own.

Results go to stdout, messages and the progress bar to stderr. Each subcommand is a module here with ``add_parser``,
which names its ``run``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from onetree.cli import signals, terminal, versions
from onetree.cli.commands import (
    audit,
    check,
    convert,
    counterfactual,
    demo,
    difference,
    estimate,
    explain,
    export,
    frontier,
    inspect,
    prune,
    report,
    tolerance_front,
    verify,
)
from onetree.errors import FidelityError, LimitReachedError, OnetreeError

__all__ = ["main"]

COMMANDS = (
    demo,
    inspect,
    estimate,
    convert,
    frontier,
    tolerance_front,
    verify,
    counterfactual,
    explain,
    check,
    difference,
    prune,
    export,
    report,
    audit,
)

DONE, NOT_EQUIVALENT, BAD_INPUT, LIMIT_REACHED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    terminal.write_utf8()
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.version:
        return versions.run(arguments)
    if arguments.run is None:
        parser.error("a COMMAND is missing; begin with `onetree demo`")
    try:
        with signals.raised():
            code: int = arguments.run(arguments)
            sys.stdout.flush()
    except signals.Terminated as signal:
        return _fail(f"terminated; {str(signal) or 'no file was written'}", TERMINATED)
    except KeyboardInterrupt as signal:
        return _fail(f"interrupted; {str(signal) or 'no file was written'}", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away, as in `onetree inspect m.txt | head -1`
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the flush at exit stays silent
        return DONE
    except LimitReachedError as error:
        return _fail(str(error), LIMIT_REACHED)
    except FidelityError as error:
        return _fail(str(error), NOT_EQUIVALENT)
    except OnetreeError as error:
        return _fail(str(error), BAD_INPUT)
    except MemoryError as error:
        return _fail(f"out of memory {error}; set --memory-limit lower", BAD_INPUT)
    return code


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    parser = argparse.ArgumentParser(
        prog="onetree",
        description="Turn a tree ensemble into one decision tree that predicts exactly the same class everywhere.",
        epilog="Begin with `onetree demo`; `onetree COMMAND --help` explains a command. Exit codes: 0 done, 1 not "
        "equivalent, 2 usage, unsupported model or bad input, 3 a limit was reached before any faithful tree was "
        "found, or before it was proven; 130 interrupted, 143 terminated.",
    )
    versions.add_version(parser)
    parser.set_defaults(run=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


def _fail(message: str, code: int) -> int:
    terminal.tell(message)
    return code
