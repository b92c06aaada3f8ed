"""Conversions on a real cluster of processes: the trees of a single process, also when a worker is killed at work."""

from __future__ import annotations

import os
import signal
import time

import joblib
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from tests.cases.fingerprints import fingerprint

distributed = pytest.importorskip("distributed", reason="the cluster needs: pip install distributed")

pytestmark = pytest.mark.slow

N_WORKERS = 2
PATIENCE = 60.0  # seconds for the cluster to hand out work


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with (
        distributed.LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            local_directory=str(tmp_path_factory.mktemp("dask")),
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def client(running):
    """Two workers, each a process with one thread; one that a test killed has been started again."""
    running.wait_for_workers(N_WORKERS)
    return running


@pytest.fixture(scope="module")
def forests():
    X, y = load_breast_cancer(return_X_y=True)
    forests = [RandomForestClassifier(5, max_depth=2, random_state=seed).fit(X, y) for seed in range(12)]
    return [onetree.Ensemble.from_model(forest) for forest in forests]


def same(first, second):
    return fingerprint(first.tree) == fingerprint(second.tree)


class Killing:
    """A progress callback that kills a worker at work, as a lack of memory or a power failure would."""

    def __init__(self, client, after):
        self.client, self.after = client, after
        self.processes = client.run(os.getpid)
        self.n_lost = 0  # tasks that the worker had in hand

    def __call__(self, report):
        if report.done != self.after:
            return
        address, process = sorted(self.processes.items())[0]
        os.kill(process, signal.SIGSTOP)  # it finishes nothing any more, while the cluster still gives it work
        end = time.monotonic() + PATIENCE
        while not self.n_lost and time.monotonic() < end:
            self.n_lost = len(self.client.processing()[address])
            time.sleep(0.01)
        os.kill(process, signal.SIGKILL)


def test_a_cluster_gives_the_same_trees_in_the_same_order(client, forests):
    alone = onetree.born_again_many(forests)
    with joblib.parallel_config(backend="dask"):
        found = onetree.born_again_many(forests)
    assert all(same(one, other) for one, other in zip(found, alone, strict=True))
    assert len(client.scheduler_info()["workers"]) == N_WORKERS


def test_an_error_on_the_cluster_comes_back_in_its_place(client, forests):
    with joblib.parallel_config(backend="dask"):
        found = onetree.born_again_many([forests[0], object()], errors="return", domain={29: (0, 1)})
        (failed,) = onetree.born_again_many(forests[:1], errors="return", domain={30: (0, 1)})
    assert isinstance(found[0], onetree.Solution)
    assert isinstance(found[1], onetree.UnsupportedModelError)
    assert isinstance(failed, onetree.InvalidInputError)


def test_a_worker_that_is_killed_loses_no_source(client, forests):
    alone = onetree.born_again_many(forests)
    killing = Killing(client, after=3)
    with joblib.parallel_config(backend="dask"):
        found = onetree.born_again_many(forests, progress=killing)
    assert killing.n_lost > 0
    assert all(same(one, other) for one, other in zip(found, alone, strict=True))


def test_a_worker_that_is_killed_changes_nothing_in_a_tree_of_many_parts(client, monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 10_000)
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    options = {"objective": "leaves", "n_parts": 12}
    alone = onetree.born_again_in_parts(forest, **options)
    killing = Killing(client, after=2)
    with joblib.parallel_config(backend="dask"):
        found = onetree.born_again_in_parts(forest, progress=killing, **options)
    assert killing.n_lost > 0
    assert found.stats["parts"] == 12
    assert same(found, alone)
