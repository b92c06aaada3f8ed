"""Free memory and processors as a container sees them, on made-up file systems."""

import ctypes
import os

import pytest

from onetree.base import machine

GIGABYTE = 10**9


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write the files of a machine with 8 GB free."""
    monkeypatch.setattr(machine, "_ROOT", tmp_path)

    def write(found):
        for name, content in {"proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 7812500 kB\n", **found}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(str(content))

    return write


def test_without_control_groups_it_is_what_the_machine_has(files):
    files({})
    assert machine.free_memory() == 8 * GIGABYTE


@pytest.mark.parametrize("folder", ["sys/fs/cgroup/pods/mine", "sys/fs/cgroup/pods", "sys/fs/cgroup"])
def test_a_limit_of_any_group_above_counts(folder, files):
    files(
        {
            "proc/self/cgroup": "0::/pods/mine\n",
            f"{folder}/memory.max": 3 * GIGABYTE,
            f"{folder}/memory.current": 2 * GIGABYTE,
            f"{folder}/memory.stat": f"anon 1\ninactive_file {GIGABYTE // 2}\n",
        }
    )
    assert machine.free_memory() == 1.5 * GIGABYTE


def test_the_first_version_of_control_groups_is_read_too(files):
    folder = "sys/fs/cgroup/memory"
    files(
        {
            "proc/self/cgroup": "3:cpu,cpuacct:/x\n2:memory:/docker/of-the-host\n",
            f"{folder}/memory.limit_in_bytes": GIGABYTE,
            f"{folder}/memory.usage_in_bytes": GIGABYTE // 4,
            f"{folder}/memory.stat": "total_inactive_file 0\n",
        }
    )
    assert machine.free_memory() == 0.75 * GIGABYTE


@pytest.mark.parametrize("limit", ["max", "", "none"])
def test_a_group_without_a_limit_takes_nothing_away(limit, files):
    files({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": limit, "sys/fs/cgroup/memory.current": GIGABYTE})
    assert machine.free_memory() == 8 * GIGABYTE


def test_a_group_that_is_over_its_limit_has_nothing_left(files):
    files(
        {
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": GIGABYTE,
            "sys/fs/cgroup/memory.current": 2 * GIGABYTE,
            "sys/fs/cgroup/memory.stat": "",
        }
    )
    assert machine.free_memory() == 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_a_process_that_is_bound_to_one_processor_has_one():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert machine.n_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_free_memory_is_read_again_after_a_tenth_of_a_second(monkeypatch):
    clock, readings = [50.0], iter([GIGABYTE, 2 * GIGABYTE])
    monkeypatch.setattr(machine, "monotonic", lambda: clock[0])
    monkeypatch.setattr(machine, "free_memory", lambda: next(readings))
    monkeypatch.setattr(machine, "_last_reading", (0.0, 0.0))
    found = []
    for clock[0] in (50.0, 50.05, 50.11):
        found.append(machine.recently_free_memory())
    assert found == [GIGABYTE, GIGABYTE, 2 * GIGABYTE]


def test_the_answer_of_windows_is_laid_out_as_windows_writes_it():
    assert ctypes.sizeof(machine._MemoryStatus) == 64
    assert machine._MemoryStatus.available_physical.offset == 16
