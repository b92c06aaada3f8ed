"""The time limit and the progress of a growing tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

from onetree.base.progress import Progress, Reporter
from onetree.errors import LimitReachedError

_EVERY = 0.1  # seconds between reports


class Clock:
    """Knows how much time is left, and reports progress to the caller."""

    def __init__(self, time_limit: float | None, reporter: Reporter | None) -> None:
        self._started = perf_counter()
        self._limit = time_limit
        self._reporter = reporter
        self._reported = -math.inf  # the first step is told at once, however short the work is

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self._started

    @property
    def left(self) -> float | None:
        """Seconds that are left, None without a limit; 0 when the caller has asked to stop."""
        if self._reporter is not None and self._reporter.stopped_at is not None:
            return 0.0
        return None if self._limit is None else max(0.0, self._limit - self.elapsed)

    def of_leaves(self, n_wanted: int) -> Callable[[int, int], bool]:
        """Return the step of a growth up to some leaves: when the time is over, those so far will do."""

        def step(n_leaves: int, n_wrong: int) -> bool:
            self._report(n_leaves, n_leaves / n_wanted)
            return self.left is None or self.left > 0

        return step

    def of_rows(self, n_rows: int) -> Callable[[int, int], bool]:
        """Return the step of a growth that has to go on until the rows are right: a limit is then an error."""

        def step(n_leaves: int, n_wrong: int) -> bool:
            self._report(n_leaves, 1 - n_wrong / n_rows)
            if self.left == 0:
                raise LimitReachedError(
                    f"after {self.elapsed:.3g} seconds {n_wrong:,} of {n_rows:,} rows still have another class than "
                    "the ensemble gives them; raise time_limit, lower fidelity, or give max_leaves instead"
                )
            return True

        return step

    def _report(self, n_leaves: int, fraction: float) -> None:
        elapsed = self.elapsed
        if self._reporter is not None and elapsed >= self._reported + _EVERY:
            self._reported = elapsed
            self._reporter.tell(Progress("support", elapsed, None, None, n_leaves, fraction))
