"""What the subcommands print, and where to: results to stdout, progress to stderr."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onetree.base.progress import Bar
from onetree.errors import InvalidInputError

# Control characters in a file must not reach the terminal.
_CONTROL = {*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")}
_AS_TEXT = {code: f"\\x{code:02x}" for code in _CONTROL}


def write_utf8() -> None:
    """Have output that goes to files and pipes written as UTF-8 on Windows too, as everywhere else."""
    if sys.platform == "win32":  # pragma: no cover
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
                stream.reconfigure(encoding="utf-8")


def show(text: str) -> None:
    """Print a result for people, in which names from files may stand."""
    sys.stdout.write(text.translate(_AS_TEXT) + "\n")


def show_content(text: str) -> None:
    """Print, unchanged, what would otherwise be written to a file."""
    sys.stdout.write(text + "\n")


def tell(message: str) -> None:
    """Print the outcome of the command to stderr."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"onetree: {message.translate(_AS_TEXT)}\n")


def show_json(result: dict[str, Any]) -> None:
    """Print a result for machines."""
    show(json.dumps(result, allow_nan=False))


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows under a header, the first column to the left and numbers to the right."""
    lines = [[str(entry) for entry in row] for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def align(line: list[str]) -> str:
        first, *others = (entry.rjust(width) for entry, width in zip(line, widths, strict=True))
        return "  ".join([first.strip().ljust(widths[0]), *others])

    return "\n".join(align(line) for line in lines)


def check_output(path: str) -> None:
    """Refuse a place that cannot be written to, before the work begins."""
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        if target.exists() and not target.is_file():
            return  # a device or a pipe
        with tempfile.NamedTemporaryFile(dir=target.resolve().parent, prefix=".onetree-", suffix=".partial"):
            pass
    except OSError as error:
        raise InvalidInputError(
            f"cannot write {path}: {error.strerror or error}; choose a file in a writable folder"
        ) from None


@contextmanager
def bar() -> Iterator[Bar]:
    """Show a bar on stderr if that is a terminal and the work takes longer than a second."""
    shown = Bar()
    try:
        yield shown
    finally:
        shown.close()
