"""What a search may spend: seconds, or steps of work that are the same on every machine.

All scheduling is in shares of it, so that a limit in steps leads to the same decisions everywhere.
"""

from __future__ import annotations

from time import perf_counter

_NEXT_TO_NOTHING = 1e-9  # seconds; 0 would be no limit


class Budget:
    """Seconds and steps for one search, and how much of them is gone.

    Parameters
    ----------
    seconds : float
        From now on; 0 for no limit.
    steps : int
        As the native core counts them; 0 for no limit.
    """

    def __init__(self, seconds: float = 0.0, steps: int = 0) -> None:
        self.seconds, self.steps = seconds, steps
        self._start, self._steps_done = perf_counter(), 0

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return self.seconds > 0 or self.steps > 0

    @property
    def is_timed(self) -> bool:
        """Whether the clock decides, so that another machine may get further."""
        return self.seconds > 0

    @property
    def used(self) -> float:
        """Share that is gone, of whichever limit is nearer."""
        of_time = (perf_counter() - self._start) / self.seconds if self.seconds else 0.0
        of_work = self._steps_done / self.steps if self.steps else 0.0
        return max(of_time, of_work)

    @property
    def left(self) -> float:
        """Share that is left."""
        return max(0.0, 1.0 - self.used)

    def allow(self, share: float = 1.0) -> tuple[float, int]:
        """Return seconds and steps for the next piece of work: this share of what is left; 0 is no limit."""
        seconds, steps = 0.0, 0
        if self.seconds:
            left = self.seconds - (perf_counter() - self._start)
            seconds = max(share * left, _NEXT_TO_NOTHING)
        if self.steps:
            steps = max(int(share * (self.steps - self._steps_done)), 1)
        return seconds, steps

    def charge(self, steps: int) -> None:
        """Record steps that were done; time passes by itself."""
        self._steps_done += steps
