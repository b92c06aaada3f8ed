"""The memory of this process as the operating system sees it; 0 where it does not tell (only Linux does).

Imports nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET_PEAK = "5"


def resident_bytes():
    """Memory in use now."""
    return _entry("VmRSS:")


def peak_bytes():
    """Most memory in use since `reset_peak`."""
    return _entry("VmHWM:")


def reset_peak():
    """Let the peak begin again from what is in use now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)


def give_back():
    """Free what nobody uses, and return it to the system, so that only what is still held is counted."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _entry(name):
    if not _STATUS.exists():
        return 0
    lines = (line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return sum(1024 * int(line.split()[1]) for line in lines)
