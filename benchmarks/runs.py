"""What the drivers share: solves in processes of their own, and results that are kept as they come.

Imports nothing but the standard library, for the reason that `paper_data` gives.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run_module(name, *words, timeout=None):
    """Run ``python -m benchmarks.NAME`` and give the JSON it prints, or what went wrong."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"status": "failed", "message": f"still running after {timeout:g} s"}
    if done.returncode:
        return {"status": "failed", "message": done.stderr.strip().rpartition("\n")[2]}
    return json.loads(done.stdout)


def solve(forest, objective, *, timeout=None, **options):
    """One solve by `benchmarks.solve_one`; its options by name, None for those not given, True for switches."""
    words = []
    for name, value in options.items():
        if value is not None and value is not False:
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    return run_module("solve_one", Path(forest).absolute(), objective, *words, timeout=timeout)


def machine():
    processor = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        models = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        processor = models[0].partition(":")[2].strip() if models else processor
    return {
        "processor": processor,
        "n_processors": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def save(path, results):
    """Write all results so far; a run that is broken off leaves those it had."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"machine": machine()} | results, indent=1) + "\n")
    partial.replace(path)
