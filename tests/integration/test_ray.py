"""Conversions on a real Ray cluster of processes: the trees of a single process, also when a worker is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import joblib
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from tests.cases.fingerprints import fingerprint

ray = pytest.importorskip("ray", reason="the cluster needs: pip install ray")

pytestmark = [pytest.mark.slow, pytest.mark.cluster, pytest.mark.filterwarnings("ignore:::ray")]

N_WORKERS = 2
# A worker that dies is started again, and what it had in hand is done again.
AGAIN = {"max_restarts": -1, "max_task_retries": -1}


@pytest.fixture(scope="module")
def cluster():
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def forests():
    X, y = load_breast_cancer(return_X_y=True)
    forests = [RandomForestClassifier(5, max_depth=2, random_state=seed).fit(X, y) for seed in range(12)]
    return [onetree.Ensemble.from_model(forest) for forest in forests]


@pytest.fixture(scope="module")
def alone(forests):
    return [fingerprint(solution.tree) for solution in onetree.born_again_many(forests)]


def trees(solutions):
    return [fingerprint(solution.tree) for solution in solutions]


def a_worker():
    """The process of one worker of the pool, which has the name that Ray gave it."""
    names = {path: path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()}
    return next(int(path.parent.name) for path, name in names.items() if name.startswith(b"ray::PoolActor"))


def test_a_cluster_gives_the_same_trees_in_the_same_order(cluster, forests, alone):
    done = []
    with joblib.parallel_config(backend="ray", n_jobs=N_WORKERS):
        found = onetree.born_again_many(forests, progress=lambda report: done.append(report.done))
    assert trees(found) == alone
    assert done == list(range(1, len(forests) + 1))


def test_a_worker_that_is_killed_loses_no_source(cluster, forests, alone):
    killed = []

    def kill(report):
        if not killed:
            killed.append(a_worker())
            os.kill(killed[0], signal.SIGKILL)

    with joblib.parallel_config(backend="ray", n_jobs=N_WORKERS, ray_remote_args=AGAIN):
        found = onetree.born_again_many(forests, progress=kill)
    assert killed
    assert trees(found) == alone


def test_what_was_done_before_a_crash_is_in_the_checkpoint(cluster, forests, alone, tmp_path):
    path = tmp_path / "many.sqlite"

    def stop(report):
        if report.done == 9:  # the first wave has eight
            raise KeyboardInterrupt

    with joblib.parallel_config(backend="ray", n_jobs=N_WORKERS):
        with pytest.raises(KeyboardInterrupt):
            onetree.born_again_many(forests, progress=stop, checkpoint=path)
        again = []
        found = onetree.born_again_many(forests, progress=again.append, checkpoint=path)
    assert len(again) <= len(forests) - 8
    assert trees(found) == alone


def test_trees_for_the_data_of_many_models_are_those_of_one_process(cluster, forests):
    X, _ = load_breast_cancer(return_X_y=True)
    task = joblib.delayed(onetree.support_tree)
    here = [onetree.support_tree(forest, X, max_leaves=8, progress=False) for forest in forests[:4]]
    with joblib.parallel_config(backend="ray", n_jobs=N_WORKERS):
        there = joblib.Parallel()(task(forest, X, max_leaves=8, progress=False) for forest in forests[:4])
    assert trees(there) == trees(here)
