"""What a cluster gives: ``python -m benchmarks.cluster``; needs ``pip install distributed``.

1. Throughput: the paper's 60 forests (``--paper-data``), or as many trained here, through `born_again_many` in this
   process, then on a dask.distributed cluster of processes with one worker, with two and so on.
2. One huge tree: breast cancer, through `born_again_in_parts`, likewise, beside `born_again`.
3. The same with one worker killed in the middle: the result is complete and identical.
4. What larger clusters would give, by the measured times of the parts: the longest-first schedule of N workers.

Ends with status 1 if two workers are not 1.6 times as fast as one, or a result differs.
"""

from __future__ import annotations

import argparse
import heapq
import os
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import joblib
import numpy as np
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from benchmarks import paper_data, runs

N_FORESTS = 60
LEAST_GAIN = 1.6  # two workers over one
MODELLED = (2, 4, 8, 16, 32)
# Dask watches itself and its workers many times a second, and has their heaps give back memory at once. That is meant
# for tasks of milliseconds and for results that stay; here it takes a tenth of two processors.
CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1},
}
ARRAYS = ("feature", "threshold", "children_left", "children_right", "leaf_class")


def parse():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    paper_data.add_option(parser)
    parser.add_argument("--jobs", nargs="+", choices=("many", "tree"), default=("many", "tree"))
    parser.add_argument("--workers", nargs="+", type=int, default=(1, 2))
    parser.add_argument("--objective", default="depth-leaves")
    parser.add_argument("--trees", type=int, default=10, help="of the forest that becomes one huge tree")
    parser.add_argument("--parts", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=1, help="times are the best of so many runs")
    parser.add_argument(
        "--warm",
        type=float,
        default=0,
        metavar="GB",
        help="memory to touch before each run: a virtual machine gets it from its host only then, which can take "
        "longer than the work, and the more so the more workers want some at a time",
    )
    parser.add_argument("--out", type=Path, help="write all results to this file, as JSON")
    return parser.parse_args()


def forests(options):
    """Sixty forests: the paper's where they are, otherwise smaller ones on data that come with scikit-learn."""
    if (options.paper_data / "forests").is_dir():
        paths = [
            paper_data.forest_path(options.paper_data, name, fold)
            for fold in paper_data.FOLDS
            for name in paper_data.DATA_SETS
        ]
        return [onetree.load_ensemble(path) for path in paths]
    X, y = load_breast_cancer(return_X_y=True)
    return [trained(X[:, :5], y, 8, seed) for seed in range(N_FORESTS)]


def trained(X, y, n_trees, seed):
    forest = RandomForestClassifier(n_trees, max_depth=3, random_state=seed).fit(X, y)
    return onetree.Ensemble.from_model(forest, voting="hard")


@contextmanager
def cluster(n_workers):
    with (
        dask.config.set(CALM),
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            host="127.0.0.1",
            local_directory=folder,
        ) as started,
        Client(started) as client,
        joblib.parallel_config(backend="dask"),
    ):
        client.run(__import__, "onetree")
        # For a single worker joblib would work in this process, and nothing of dask would be measured.
        backend, _ = joblib.parallel.get_active_backend()
        backend.effective_n_jobs = lambda n_jobs: max(2, n_workers)
        yield client


class KillingOne:
    """A progress callback that kills a worker after the first result."""

    def __init__(self, client):
        self.processes = client.run(os.getpid)

    def __call__(self, report):
        if report.done == 1:
            os.kill(next(iter(self.processes.values())), signal.SIGKILL)


def timed(job, options):
    """The result and the least seconds of some runs."""
    best = np.inf
    for _ in range(options.repeat):
        np.ones(int(options.warm * 1e9), dtype=np.uint8)
        started = time.perf_counter()
        result = job()
        best = min(best, time.perf_counter() - started)
    return result, best


def same(first, second):
    return len(first) == len(second) and all(
        np.array_equal(getattr(one.tree, name), getattr(other.tree, name))
        for one, other in zip(first, second, strict=True)
        for name in ARRAYS
    )


def schedule(seconds, n_workers):
    """How long workers take that take the longest task first."""
    busy = [0.0] * n_workers
    for task in sorted(seconds, reverse=True):
        heapq.heapreplace(busy, busy[0] + task)
    return max(busy)


def measure(name, job, options):
    """Run a job here, on clusters of growing size, then with a worker killed; `job` takes a progress callback."""
    once = argparse.Namespace(**vars(options) | {"repeat": 1})
    expected, alone = timed(lambda: job(None), options)
    print(f"{name:22}  no cluster{alone:9.2f} s", flush=True)
    row = {"name": name, "alone": alone, "seconds": {}, "identical": True}
    for n_workers in options.workers:
        with cluster(n_workers) as client:
            found, row["seconds"][n_workers] = timed(lambda: job(None), options)
            row["identical"] &= same(found, expected)
            print(f"{name:22}{n_workers:3} workers{row['seconds'][n_workers]:9.2f} s", flush=True)
            if n_workers > 1 and n_workers == max(options.workers):
                killing = KillingOne(client)
                found, seconds = timed(lambda killing=killing: job(killing), once)
                row["killed"] = {"seconds": seconds, "identical": same(found, expected)}
                print(f"{name:22}{n_workers:3} workers{seconds:9.2f} s, one killed: ", end="")
                print("identical" if row["killed"]["identical"] else "DIFFERENT", flush=True)
    row["found"] = expected
    return row


def model(row, serial, tasks):
    """Expected times of larger clusters: what stays in one process, and the schedule of the tasks."""
    print(f"{row['name']}: {len(tasks)} tasks, {sum(tasks):.1f} s in all, {max(tasks):.2f} s the longest; ", end="")
    print(f"{serial:.2f} s in one process")
    row["modelled"] = {n: serial + schedule(tasks, n) for n in MODELLED}
    for n_workers, seconds in row["modelled"].items():
        print(
            f"{'':22}{n_workers:3} workers{seconds:9.2f} s, {(serial + sum(tasks)) / seconds:5.1f} times one",
            flush=True,
        )


def many(options):
    sources = forests(options)
    row = measure(
        f"{len(sources)} forests",
        lambda progress: onetree.born_again_many(sources, objective=options.objective, progress=progress),
        options,
    )
    model(row, 0.0, [solution.stats["total_seconds"] for solution in row.pop("found")])
    return row


def tree(options):
    X, y = load_breast_cancer(return_X_y=True)
    forest = trained(X, y, options.trees, 0)
    whole, seconds = timed(lambda: onetree.born_again(forest, objective="leaves", method="heuristic"), options)
    print(f"{'not in parts':22}{'':11}{seconds:9.2f} s, {whole.tree.n_leaves} leaves", flush=True)
    row = measure(
        f"{options.trees} trees in parts",
        lambda progress: [
            onetree.born_again_in_parts(forest, objective="leaves", n_parts=options.parts, progress=progress)
        ],
        options,
    )
    (joined,) = row.pop("found")
    row |= {"leaves": joined.tree.n_leaves, "whole": {"leaves": whole.tree.n_leaves, "seconds": seconds}}
    print(f"{row['name']}: {joined.tree.n_leaves} leaves", flush=True)
    tasks = joined.stats["part_seconds"]
    model(row, max(0.0, row["alone"] - sum(tasks)), tasks)
    return row


def main():
    options = parse()
    rows = [{"many": many, "tree": tree}[job](options) for job in options.jobs]
    if options.out:
        runs.save(options.out, {"runs": rows})
    broken = 0
    for row in rows:
        if {1, 2} <= row["seconds"].keys():
            gain = row["seconds"][1] / row["seconds"][2]
            broken += gain < LEAST_GAIN
            print(f"{row['name']}: two workers {gain:.2f} times as fast as one, at least {LEAST_GAIN}")
        broken += not (row["identical"] and row.get("killed", row)["identical"])
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
