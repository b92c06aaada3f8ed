"""SIGINT and SIGTERM: a command ends within a second, with its best result so far.

Only the main thread receives signals; elsewhere nothing here has any effect.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from onetree.base.progress import Progress, StopSearch

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}

_Handler = Callable[[int, FrameType | None], None]


class Terminated(KeyboardInterrupt):
    """SIGTERM, raised where SIGINT would raise KeyboardInterrupt."""


def _raise(number: int, _: FrameType | None) -> None:
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


class Stop:
    """A request to stop: the signal that was received, if any."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None

    def check(self, _: Progress | None = None) -> None:
        """Raise `StopSearch` if a signal was received; a progress callback."""
        if self.signal is not None:
            raise StopSearch

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Remember the first signal; raise the second."""
        if self.signal is not None:
            _raise(number, frame)
        self.signal = signal.Signals(number)


@contextmanager
def raised() -> Iterator[None]:
    """Have signals raise an exception wherever Python code runs, or native code looks for them."""
    with _handled(_raise):
        yield


@contextmanager
def remembered() -> Iterator[Stop]:
    """Have the first signal remembered, for a progress callback to end the work with what it has."""
    stop = Stop()
    with _handled(stop.hear):
        yield stop


@contextmanager
def _handled(handler: _Handler) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in CODES}
    try:
        yield
    finally:
        for number, previous in before.items():
            # None: set by code other than Python, which cannot be restored.
            signal.signal(number, signal.SIG_DFL if previous is None else previous)
