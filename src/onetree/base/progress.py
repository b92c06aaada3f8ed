"""Progress of long work: what is reported, to whom, and the bar that appears by itself.

One shape for all of onetree: a callable that takes a `Progress`. None means "automatic": a bar where a person is
looking, on a terminal or in a notebook, once the work has taken a second. False means nothing at all.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

from onetree.errors import InvalidInputError

_DELAY = 1.0  # seconds; short work shows no bar
_IN_TEST = "PYTEST_CURRENT_TEST"  # a variable of the environment
_UNITS = {
    "heuristic": "leaves",
    "bound": "leaves",
    "support": "leaves",
    "estimate": "descents",
    "many": "sources",
    "parts": "parts",
    "proof": "cells or leaves",
}


@dataclass(frozen=True)
class Progress:
    """Progress of a piece of work.

    Parameters
    ----------
    phase : str
        What is being done.
    elapsed : float
        Seconds since the start.
    lower_bound, upper_bound : int or None
        What is proven, and what is in hand, for the objective's first measure.
    done : int
        How much is done, in the units of the phase: see `unit`.
    fraction : float or None
        Share of the work that is done, where it is known; in the phase "heuristic", share of the space.
    """

    phase: str
    elapsed: float
    lower_bound: int | None
    upper_bound: int | None
    done: int
    fraction: float | None

    @property
    def unit(self) -> str:
        """What `done` counts: leaves of the tree so far in the phases "heuristic" and "support", boxes in a search."""
        return _UNITS.get(self.phase, "boxes")

    def __str__(self) -> str:
        if self.phase in ("heuristic", "support"):
            return f"{self.phase}, {self.done:,} leaves so far"
        known = "" if self.upper_bound is None else f", {self.lower_bound} to {self.upper_bound}"
        return f"{self.phase}{known}"


ProgressCallback = Callable[[Progress], object]
ProgressOption = ProgressCallback | Literal[False] | None  # what functions take: None is automatic, False is nothing


class StopSearch(Exception):  # noqa: N818 - a request, not an error, like StopIteration
    """Raised in a progress callback: the work ends as at a time limit, with the best that there is.

    Any other exception ends it too, but leaves nothing.
    """


class Bar:
    """A progress callback that shows a bar, once the work has taken a second.

    Parameters
    ----------
    enabled : bool, optional
        By default, whether a person is looking.
    """

    def __init__(self, enabled: bool | None = None) -> None:
        self._enabled = is_watched() if enabled is None else enabled
        self._born = perf_counter()
        self._bar: Any = None

    def __call__(self, progress: Progress) -> None:
        """Show the progress."""
        if not self._enabled or (self._bar is None and perf_counter() - self._born < _DELAY):
            return
        if self._bar is None:
            self._bar = _new_bar()
        self._bar.set_description_str(str(progress), refresh=False)
        # Work of unknown length leaves the bar where it is, and a new phase may begin at zero again.
        self._bar.n = self._bar.n if progress.fraction is None else min(progress.fraction, 1.0)
        self._bar.refresh()

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def _new_bar() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a notebook without widgets: the bar is then text
        from tqdm.auto import tqdm

        return tqdm(total=1.0, leave=False, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}")


def is_watched() -> bool:
    """Return whether a bar would be seen: on a terminal or in a notebook, but not in a test or in a worker."""
    if _IN_TEST in os.environ or multiprocessing.current_process().name != "MainProcess":
        return False
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _in_notebook() -> bool:
    # A kernel has IPython loaded already; nobody else pays for the import.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config


@contextmanager
def shown(progress: ProgressOption) -> Iterator[ProgressCallback | None]:
    """Return the callback that an option asks for, if any; a bar of our own is removed at the end."""
    if progress is None and is_watched():
        bar = Bar(enabled=True)
        try:
            yield bar
        finally:
            bar.close()
    elif progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    else:
        raise InvalidInputError(
            f"progress must be a callable, None for a bar on a terminal or in a notebook, or False, not {progress!r}"
        )


class Reporter:
    """A progress callback as the native core calls it; remembers when it asked to stop."""

    interval = 0.1  # seconds between two calls, at least

    def __init__(self, progress: ProgressCallback) -> None:
        self._progress = progress
        self.stopped_at: float | None = None  # on the clock of `perf_counter`

    def __call__(self, phase: str, elapsed: float, lower: int, upper: int, done: int, fraction: float) -> bool:
        """Pass on the core's plain numbers as a `Progress`, and return whether to stop."""
        return self.tell(
            Progress(
                phase,
                elapsed,
                lower if lower >= 0 else None,
                upper if upper >= 0 else None,
                done,
                fraction if fraction >= 0 else None,
            )
        )

    def tell(self, progress: Progress) -> bool:
        """Pass on a report, and return whether to stop."""
        try:
            self._progress(progress)
        except StopSearch:
            if self.stopped_at is None:
                self.stopped_at = perf_counter()
        return self.stopped_at is not None


@contextmanager
def reporting(progress: ProgressOption) -> Iterator[Reporter | None]:
    """Return the reporter for the caller's callback, or None without one."""
    with shown(progress) as callback:
        yield None if callback is None else Reporter(callback)
