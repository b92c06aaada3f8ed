"""Runs the authors' own program, built elsewhere, on one forest.

Its objectives are numbers; its ``depth-leaves`` is the published recursion, not the optimum. It measures its own CPU
time, from the forest in memory to the tree.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

OBJECTIVES = {"depth": 0, "leaves": 1, "depth-leaves": 2, "heuristic": 4}


def _limits(memory_bytes):
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_peer(binary, forest, objective, *, time_limit, memory_limit):
    """Result of one run; running out of memory or time is a result too.

    Returns a dict: status ("solved", "out of memory", "out of time", "failed"), peak_bytes, and if solved depth,
    leaves, seconds, cells, states. `time_limit` is in seconds, `memory_limit` in GB of address space.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "peer"
        command = [binary, forest, out, "-obj", OBJECTIVES[objective], "-trees", 10, "-seed", 1]
        with (Path(folder) / "log").open("w+") as log:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: _limits(int(memory_limit * 1e9)),
            )
            overtime = threading.Event()

            def stop():
                overtime.set()
                process.kill()

            timer = threading.Timer(time_limit, stop)
            timer.start()
            _, wait_status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(wait_status)
            log.seek(0)
            message = log.read()
        result = {"peak_bytes": usage.ru_maxrss * 1024}
        statistics = out.with_suffix(".out")
        if process.returncode == 0 and statistics.is_file():
            fields = statistics.read_text().strip().split(",")
            return result | {
                "status": "solved",
                "depth": int(fields[6]),
                "leaves": int(fields[8]),
                "seconds": float(fields[10]),
                "cells": int(float(fields[11])),
                "states": int(float(fields[12])),
            }
        if overtime.is_set():
            return result | {"status": "out of time"}
        if "bad_alloc" in message or process.returncode in (-signal.SIGSEGV, -signal.SIGKILL):
            return result | {"status": "out of memory"}
        return result | {"status": "failed", "message": message.strip()[-500:]}
