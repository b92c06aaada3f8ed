"""Estimates and converts one ensemble in a process of its own: ``python -m benchmarks.heuristic_one OBJECTIVE ...``.

The ensemble is a forest file (``--forest``) or trained on a data set (``--data-set``, with ``--trees``, ``--depth`` and
so on). The tree is saved, loaded and proven equal. Prints everything as JSON; peak memory is that of this process.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import onetree
from benchmarks import paper_data
from benchmarks.certificate import boosted
from benchmarks.scaling_forests import binned
from benchmarks.solve_one import peak_bytes
from benchmarks.train_one import read

COMES_WITH_SKLEARN = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
}
SYNTHETIC = {"n_samples": 145_000, "n_features": 50, "n_informative": 10, "random_state": 0}


def load(options):
    """Features and classes of the data set."""
    if options.data_set == "synthetic":
        X, y = datasets.make_classification(**SYNTHETIC)
    elif options.data_set in COMES_WITH_SKLEARN:
        X, y = COMES_WITH_SKLEARN[options.data_set](return_X_y=True)
    else:
        X, y = read(paper_data.data_path(options.data, options.data_set))
    if options.bins:
        X = np.stack([binned(column, options.bins - 1) for column in X.T], axis=1)
    return X, y


def train(options):
    X, y = load(options)
    size = {"n_estimators": options.trees, "max_depth": options.depth or None, "random_state": options.seed}
    if options.voting == "boosted":
        return boosted(GradientBoostingClassifier(**size).fit(X, y), X)
    # The paper has half of the features to choose from at each split.
    forest = RandomForestClassifier(**size, max_features=0.5 if options.bins else "sqrt", n_jobs=-1)
    return onetree.Ensemble.from_model(forest.fit(X, y), voting=options.voting)


def estimate(options, ensemble):
    started = time.perf_counter()
    found = onetree.estimate(ensemble, objective=options.objective)
    return {
        "estimate_seconds": time.perf_counter() - started,
        "estimated_leaves": found.leaves,
        "estimated_leaves_range": found.leaves_range,
        "estimated_seconds": found.seconds,
        "estimated_seconds_range": found.seconds_range,
        "estimated_bytes": found.memory_bytes,
        "beyond": found.beyond,
    }


def convert(options, ensemble):
    solution = onetree.born_again(
        ensemble, objective=options.objective, method="heuristic", time_limit=options.time_limit, verify=False
    )
    tree = solution.tree
    result = {
        "status": "converted",
        "value": solution.value,
        "lower_bound": solution.lower_bound,
        "optimal": solution.status == "optimal",
        "depth": tree.depth,
        "leaves": tree.n_leaves,
        "nodes": tree.n_nodes,
        "seconds": solution.stats["seconds"],
        "held_bytes": solution.stats["peak_bytes"],
    }
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        tree.save(Path(folder) / "tree.json")
        loaded = onetree.load_tree(Path(folder) / "tree.json")
        result["file_bytes"] = (Path(folder) / "tree.json").stat().st_size
        result["save_and_load_seconds"] = time.perf_counter() - started
    started = time.perf_counter()
    result["verified"] = bool(onetree.verify(loaded, ensemble, method="search"))
    return result | {"verify_seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heuristic_one", description=__doc__)
    parser.add_argument("objective")
    parser.add_argument("--forest")
    parser.add_argument("--data-set")
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--depth", type=int, default=3, help="0: no limit")
    parser.add_argument("--bins", type=int, default=0, help="levels of each feature; 0: as they come")
    parser.add_argument("--voting", default="hard", choices=("hard", "soft", "boosted"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--max-leaves", type=float, default=1e7, help="do not convert if the estimate says more")
    parser.add_argument("--no-estimate", action="store_true")
    options = parser.parse_args()
    ensemble = onetree.load_ensemble(options.forest) if options.forest else train(options)
    result = {} if options.no_estimate else estimate(options, ensemble)
    if result.get("beyond") or result.get("estimated_leaves", 0) > options.max_leaves:
        result["status"] = "too large"
    else:
        try:
            result |= convert(options, ensemble)
        except onetree.OnetreeError as error:
            result |= {"status": "failed", "message": str(error), "peak_bytes": peak_bytes()}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
