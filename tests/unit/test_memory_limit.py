"""The memory limit, as the operating system sees it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="peak memory is read from the resource module")

# Four long axes: the table is small enough, but a list of all that could be done at once is not.
SCRIPT = """
import resource
import numpy as np
import onetree
from tests.strategies import painted

def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

ensemble = painted(np.random.default_rng(0).integers(0, 2, (15, 15, 15, 15)), 2)
before = peak_megabytes()
solution = onetree.born_again(
    ensemble, objective="depth", engine="interval-dp", memory_limit=0.5, time_limit=2, verify=False
)
print(peak_megabytes() - before)
"""


def test_the_interval_dp_takes_no_more_memory_than_it_may():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert float(done.stdout) < 550
