"""The memory limit, as the operating system sees it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="peak memory is read from the resource module")

pytestmark = pytest.mark.slow

SCRIPT = """
import resource
import numpy as np
import onetree
from campaigns.limits_one import train
from tests.cases.strategies import painted

def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

ensemble = {ensemble}
before = peak_megabytes()
solution = onetree.born_again(
    ensemble, engine="{engine}", objective="{objective}", memory_limit={gigabytes}, time_limit=2, verify=False
)
print(peak_megabytes() - before)
"""


def peak_megabytes(**options):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(**options)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    return float(done.stdout)


def test_the_interval_dp_takes_no_more_memory_than_it_may():
    """Four long axes: the table is small enough, but a list of all that could be done at once is not."""
    cells = "np.random.default_rng(0).integers(0, 2, (15, 15, 15, 15))"
    taken = peak_megabytes(ensemble=f"painted({cells}, 2)", engine="interval-dp", objective="depth", gigabytes=0.5)
    assert taken < 550


@pytest.mark.parametrize("engine", ["interval-dp", "branch-and-bound"])
def test_bounds_from_the_cells_are_left_out_where_their_work_space_does_not_fit(engine):
    """Axes that are too long for a word: each of two million cells is a row of its own, and takes a hundred bytes."""
    forest = 'train("breast_cancer", 10, 0, 3)'
    assert peak_megabytes(ensemble=forest, engine=engine, objective="leaves", gigabytes=0.1) < 110
