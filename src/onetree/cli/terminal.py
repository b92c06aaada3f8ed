"""What the subcommands print, and where to: results to stdout, progress to stderr."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onetree.errors import InvalidInputError
from onetree.limits import Progress

if TYPE_CHECKING:
    from tqdm import tqdm

_BAR_DELAY = 1.0  # seconds; short work shows no bar
# A terminal obeys control characters, and a file must not command the terminal.
_CONTROL = {*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")}
_AS_TEXT = {code: f"\\x{code:02x}" for code in _CONTROL}


def show(text: str) -> None:
    """Print a result for people, in which names from files may stand."""
    sys.stdout.write(text.translate(_AS_TEXT) + "\n")


def show_content(text: str) -> None:
    """Print what would else be written to a file, as it is."""
    sys.stdout.write(text + "\n")


def tell(message: str) -> None:
    """Print to stderr what became of the command."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"onetree: {message.translate(_AS_TEXT)}\n")


def show_json(result: dict[str, Any]) -> None:
    """Print a result for machines."""
    show(json.dumps(result, allow_nan=False))


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Give rows under a header, the first column to the left and numbers to the right."""
    lines = [[str(entry) for entry in row] for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def align(line: list[str]) -> str:
        first, *others = (entry.rjust(width) for entry, width in zip(line, widths, strict=True))
        return "  ".join([first.strip().ljust(widths[0]), *others])

    return "\n".join(align(line) for line in lines)


def size(n_bytes: float) -> str:
    """Give a number of bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"


def count(number: int) -> str:
    """Give a count for people: all digits while they can be read, then three and the power of ten."""
    if number < 10**9:
        return f"{number:,}"
    exponent = len(str(number)) - 1
    return f"{number // 10 ** (exponent - 2) / 100:.2f}e{exponent}"


def check_output(path: str) -> None:
    """Refuse a place that cannot be written to, before the long work rather than after it."""
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


class Bar:
    """A progress bar for the callbacks of the library."""

    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar

    def solving(self, progress: Progress) -> None:
        """Show a step of `born_again` or `estimate`."""
        detail = "" if progress.upper_bound is None else f", {progress.lower_bound} to {progress.upper_bound}"
        if progress.phase == "heuristic":
            detail = f", {count(progress.states)} leaves so far"
        self._move(progress.fraction, f"{progress.phase}{detail}")

    def checking(self, n_done: int, n_all: int) -> None:
        """Show a step of `verify`."""
        self._move(n_done / n_all, "proof")

    def _move(self, fraction: float | None, what: str) -> None:
        self._bar.set_description_str(what, refresh=False)
        # Work of unknown length leaves the bar where it is, and a new phase may begin at zero again.
        self._bar.n = self._bar.n if fraction is None else fraction
        self._bar.update(0)


@contextmanager
def bar() -> Iterator[Bar]:
    """Show a bar on stderr if that is a terminal and the work takes longer than a second."""
    from tqdm import tqdm

    with tqdm(
        total=1.0,
        delay=_BAR_DELAY,
        miniters=0,  # the fraction moves by far less than one
        disable=None,  # off unless stderr is a terminal
        leave=False,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}",
    ) as shown:
        yield Bar(shown)
