"""The same tree every time: for any number of threads and jobs, any hash seed, in any process.

For any width of the processor's vectors: `test_sanitizers` compares trees of a core built without wide ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def fingerprints(repository, n_jobs, hash_seed):
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.determinism_campaign", str(n_jobs)],
        cwd=repository,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def expected(repository):
    return fingerprints(repository, 1, "0")


@pytest.mark.parametrize(("n_jobs", "hash_seed"), [(1, "1"), (2, "0"), (4, "4294967295")])
def test_neither_threads_nor_hash_seed_change_a_tree(repository, expected, n_jobs, hash_seed):
    assert len(expected) > 60
    assert fingerprints(repository, n_jobs, hash_seed) == expected
