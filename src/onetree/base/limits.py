"""Objectives and limits: what a caller may ask of long work, checked and put into the native core's terms."""

from dataclasses import dataclass
from numbers import Real
from time import time

import numpy as np

from onetree.base.machine import n_cores, recently_free_memory
from onetree.base.progress import Progress
from onetree.errors import InvalidInputError, LimitReachedError

OBJECTIVES = ("depth", "leaves", "depth-leaves", "leaves-depth")
DEFAULT_OBJECTIVE = "leaves-depth"  # the fewest rules to read


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


def steps(work_limit: int | None) -> int:
    """Return steps of work as the core takes them: 0 for no limit."""
    if work_limit is None:
        return 0
    if not is_integer(work_limit, 1):
        raise InvalidInputError(f"work_limit must be a positive integer, not {work_limit!r}")
    return int(work_limit)


def memory_bytes(memory_limit: float | None) -> float:
    """Bytes of a limit in gigabytes; by default 80 % of what is free here."""
    if memory_limit is None:
        return 0.8 * recently_free_memory()
    if not memory_limit > 0:
        raise InvalidInputError(f"memory_limit must be a positive number of gigabytes, not {memory_limit!r}")
    return float(memory_limit) * 1e9


def workers(n_jobs: int | None) -> int:
    """Return a number of workers: None is one, -1 one per processor."""
    if n_jobs is None:
        return 1
    if n_jobs == -1:
        return n_cores()
    if not is_integer(n_jobs, 1):
        raise InvalidInputError(f"n_jobs must be a positive integer, -1 for one worker per processor, not {n_jobs!r}")
    return int(n_jobs)


def is_integer(value: object, least: int) -> bool:
    """Return whether a value is an integer, of Python or numpy, and at least `least`."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


def is_number(value: object) -> bool:
    """Return whether a value is a real number, of Python or numpy, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def flag(name: str, value: object) -> bool:
    """Return a truth value of Python or numpy as Python's; anything else is an error."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{name} must be True or False, not {value!r}")
    return bool(value)


@dataclass(frozen=True)
class Until:
    """A progress callback that ends the work at a time of day, in whichever process it is called."""

    end: float  # seconds since the epoch, which all processes of a machine agree on

    @classmethod
    def after(cls, time_limit: float) -> "Until":
        """Return the callback for a limit in seconds from now."""
        return cls(time() + time_limit)

    def __call__(self, progress: Progress | None = None) -> None:
        """Raise `LimitReachedError` if the time is up."""
        if time() >= self.end:
            raise LimitReachedError("the time limit was reached before all was done; raise time_limit")
