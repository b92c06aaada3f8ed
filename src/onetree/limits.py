"""Objectives, limits and progress: what a caller may ask of long work, checked and put into the native core's terms."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time

import numpy as np

from onetree.errors import InvalidInputError, LimitReachedError

OBJECTIVES = ("depth", "leaves", "depth-leaves", "leaves-depth")  # in the order of the core's numbers


@dataclass(frozen=True)
class Progress:
    """How far a search has come.

    Parameters
    ----------
    phase : str
        What is being done.
    elapsed : float
        Seconds since the start.
    lower_bound, upper_bound : int or None
        What is proven, and what is in hand, for the objective's first measure.
    states : int
        Boxes or states settled; leaves of the tree so far in the phase "heuristic", descents in "estimate", sources
        in "many", parts in "parts", cells or leaves proven in "proof".
    fraction : float or None
        Share of the work that is done, where it is known; in the phase "heuristic", share of the space.
    """

    phase: str
    elapsed: float
    lower_bound: int | None
    upper_bound: int | None
    states: int
    fraction: float | None


ProgressCallback = Callable[[Progress], object]


class StopSearch(Exception):  # noqa: N818 - no error, but a wish, as StopIteration is
    """Raised in a progress callback: the work ends as at a time limit, with the best that there is.

    Any other exception ends it too, but leaves nothing.
    """


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the choices, naming them."""
    if value not in choices:
        raise InvalidInputError(f"unknown {name} {value!r}; use one of {', '.join(map(repr, choices))}")


def seconds(time_limit: float | None) -> float:
    """Seconds as the core takes them: 0 for no limit."""
    if time_limit is None:
        return 0.0
    if not time_limit > 0:
        raise InvalidInputError(f"time_limit must be a positive number of seconds, not {time_limit!r}")
    return float(time_limit)


def memory_bytes(memory_limit: float | None) -> float:
    """Bytes of a limit in gigabytes; by default 80 % of what the machine has free."""
    if memory_limit is None:
        return 0.8 * _free_memory()
    if not memory_limit > 0:
        raise InvalidInputError(f"memory_limit must be a positive number of gigabytes, not {memory_limit!r}")
    return float(memory_limit) * 1e9


def _free_memory() -> float:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2


def threads(n_jobs: int) -> int:
    """Give a number of threads; -1 means one per processor."""
    if n_jobs == -1:
        return os.cpu_count() or 1
    if not is_whole(n_jobs, 1):
        raise InvalidInputError(f"n_jobs must be a positive whole number or -1, not {n_jobs!r}")
    return int(n_jobs)


def is_whole(value: object, least: int) -> bool:
    """Tell whether a value is a whole number, of Python or numpy, and not too small."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


class Reporter:
    """A progress callback as the native core calls it; remembers when it asked to stop."""

    interval = 0.1  # seconds between two calls, at least

    def __init__(self, progress: ProgressCallback) -> None:
        self._progress = progress
        self.stopped_at: float | None = None  # on the clock of `perf_counter`

    def __call__(self, phase: str, elapsed: float, lower: int, upper: int, states: int, fraction: float) -> bool:
        """Pass on the core's plain numbers as a `Progress`, and tell whether to stop."""
        return self.tell(
            Progress(
                phase,
                elapsed,
                lower if lower >= 0 else None,
                upper if upper >= 0 else None,
                states,
                fraction if fraction >= 0 else None,
            )
        )

    def tell(self, progress: Progress) -> bool:
        """Pass on a report, and tell whether to stop."""
        try:
            self._progress(progress)
        except StopSearch:
            if self.stopped_at is None:
                self.stopped_at = perf_counter()
        return self.stopped_at is not None


def adapt(progress: ProgressCallback | None) -> Reporter | None:
    """Make a callback for the core, if there is one to call."""
    return None if progress is None else Reporter(progress)


@dataclass(frozen=True)
class Until:
    """A progress callback that ends the work at a time of day, in whichever process it is called."""

    end: float  # seconds since the epoch, which all processes of a machine agree on

    @classmethod
    def after(cls, time_limit: float) -> "Until":
        """Give the callback for a limit in seconds from now."""
        return cls(time() + time_limit)

    def __call__(self, progress: Progress | None = None) -> None:
        """Raise `LimitReachedError` if the time is up."""
        if time() >= self.end:
            raise LimitReachedError("the time limit was reached before all was done; raise time_limit")
