"""What of the machine this process may use, as its container sees it: free memory and processors."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from time import monotonic

_ROOT = Path("/")
_FRESH = 0.1  # seconds for which a reading counts: a dozen files take longer to read than many a search
_last_reading = (-_FRESH, 0.0)  # when, and bytes


def n_cores() -> int:
    """Return the number of processors that affinity and the container's quota leave."""
    from joblib import cpu_count

    return int(cpu_count())


def free_memory() -> float:
    """Return the bytes that can be taken: free on the machine, and left under every limit of the control groups."""
    return min([_free_on_machine(), *_left_in_groups()])


def recently_free_memory() -> float:
    """Return `free_memory()` as it is or was at most a tenth of a second ago."""
    global _last_reading
    now = monotonic()
    if now - _last_reading[0] >= _FRESH:
        _last_reading = (now, free_memory())
    return _last_reading[1]


def _free_on_machine() -> float:
    try:
        for line in _read("proc/meminfo").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    if sys.platform == "win32":  # pragma: no cover
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return float(status.available_physical)
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of Windows."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total_physical", ctypes.c_uint64),
        ("available_physical", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 5),
    )


def _left_in_groups() -> Iterator[float]:
    """Give what each control group above this process has left; nothing where there are none, or no limits."""
    try:
        lines = _read("proc/self/cgroup").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2: one tree for all
            mount, limit, usage = "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            mount, limit, usage = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        # Inside a container the path may be that of the host, which is not there: its own group is at the mount.
        group = PurePosixPath(path.lstrip("/"))
        for each in (group, *group.parents):
            left = _left(f"{mount}/{each}", limit, usage)
            if left is not None:
                yield left


def _left(folder: str, limit: str, usage: str) -> float | None:
    try:
        most = _read(f"{folder}/{limit}").strip()
        if not most.isdigit():  # "max"
            return None
        used = int(_read(f"{folder}/{usage}"))
        # Pages of files that nobody uses count as used, but make room when it is needed.
        stat = dict(line.split(maxsplit=1) for line in _read(f"{folder}/memory.stat").splitlines())
        used -= int(stat.get("total_inactive_file", stat.get("inactive_file", 0)))
    except (OSError, ValueError):
        return None
    return float(max(int(most) - used, 0))


def _read(path: str) -> str:
    return (_ROOT / path).read_text(encoding="ascii", errors="replace")
