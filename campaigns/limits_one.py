"""One piece of work under one limit, in a process of its own: ``python -m campaigns.limits_one STAGE MODEL ...``.

Prints as JSON how long it took and how much the process grew.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from time import perf_counter

from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.lowering.grid import Grid

STAGES = (
    "interval-dp",
    "branch-and-bound",
    "exact",
    "auto",
    "heuristic",
    "front",
    "parts",
    "proof by search",
    "proof by cells",
    "estimate",
)


def train(name, n_trees, depth, n_features=None):
    """A forest on the first features of a data set that comes with scikit-learn; depth 0 is no limit."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    forest = RandomForestClassifier(n_trees, max_depth=depth or None, random_state=0).fit(X[:, :n_features], y)
    return onetree.Ensemble.from_model(forest, voting="hard")


def work(stage, ensemble, objective, limits):
    """What is to be measured, after what is not."""
    if stage == "estimate":
        budget = limits.get("time_limit", 1.5)
        return lambda: onetree.estimate(ensemble, objective=objective, budget=budget)
    if stage.startswith("proof"):
        try:
            tree = onetree.born_again(
                ensemble, objective=objective, method="heuristic", time_limit=60, verify=False
            ).tree
        except onetree.OnetreeError:
            return None
        method, limit = stage.rpartition(" ")[2], limits.get("time_limit")
        return lambda: onetree.verify(tree, ensemble, method=method, max_cells=10**12, time_limit=limit)
    if stage == "front":
        return lambda: onetree.pareto_front(ensemble, **limits)
    if stage == "parts":
        return lambda: onetree.born_again_in_parts(ensemble, objective=objective, n_parts=None, **limits)
    options = {"method": stage} if stage in ("exact", "auto", "heuristic") else {"engine": stage}
    return lambda: onetree.born_again(ensemble, objective=objective, **options, **limits)


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(prog="python -m campaigns.limits_one", description=__doc__)
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("model", help="data set of scikit-learn, trees, depth and features, such as wine,10,3,5")
    parser.add_argument("objective")
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--memory-limit", type=float)
    options = parser.parse_args()
    name, *numbers = options.model.split(",")
    ensemble = train(name, *map(int, numbers))
    given = {"time_limit": options.time_limit, "memory_limit": options.memory_limit}
    job = work(options.stage, ensemble, options.objective, {name: value for name, value in given.items() if value})
    result = {"boxes": float(Grid.of(ensemble).n_boxes), "status": "nothing to prove"}
    if job is not None:
        before, started = peak_bytes(), perf_counter()
        try:
            found = job()
            result["status"] = getattr(found, "status", "done")
        except onetree.OnetreeError as error:
            result["status"] = type(error).__name__
        result["seconds"] = perf_counter() - started
        result["bytes"] = peak_bytes() - before
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
