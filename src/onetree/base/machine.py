"""What of the machine this process may use, as its container sees it: free memory and processors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")


def n_cores() -> int:
    """Return the number of processors that affinity and the container's quota leave."""
    from joblib import cpu_count

    return int(cpu_count())


def free_memory() -> float:
    """Return the bytes that can be taken: free on the machine, and left under every limit of the control groups."""
    return min([_free_on_machine(), *_left_in_groups()])


def _free_on_machine() -> float:
    try:
        for line in (_ROOT / "proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2


def _left_in_groups() -> Iterator[float]:
    """Give what each control group above this process has left; nothing where there are none, or no limits."""
    try:
        lines = (_ROOT / "proc/self/cgroup").read_text(encoding="ascii", errors="replace").splitlines()
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
        group = Path(path.lstrip("/"))
        for each in (group, *group.parents):
            left = _left(_ROOT / mount / each, limit, usage)
            if left is not None:
                yield left


def _left(folder: Path, limit: str, usage: str) -> float | None:
    try:
        most = (folder / limit).read_text(encoding="ascii").strip()
        if not most.isdigit():  # "max"
            return None
        used = int((folder / usage).read_text(encoding="ascii"))
        # Pages of files that nobody uses count as used, but make room when it is needed.
        stat = dict(line.split(maxsplit=1) for line in (folder / "memory.stat").read_text("ascii").splitlines())
        used -= int(stat.get("total_inactive_file", stat.get("inactive_file", 0)))
    except (OSError, ValueError):
        return None
    return float(max(int(most) - used, 0))
