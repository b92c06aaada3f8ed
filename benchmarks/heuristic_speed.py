"""How fast the heuristic is, by family of models: ``python -m benchmarks.heuristic_speed``.

1. ``compare``: the same models with this version and, with ``--before SRC``, with another one, such as the ``src`` of
   an older commit with its compiled core in it. Runs alternate; kept is the least processor time of each.
2. ``families``: the first tree, whose parts of up to 10,000 boxes are optimal, and the tree that comes without a limit:
   leaves, and leaves per second.
3. ``threads``: the same tree with one, two and four threads, and the time on the clock.
4. ``reach``: models with an estimate below a million leaves: their first trees, and whether they are equal.

Each run has a process of its own. Prints tables as the documentation has them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.exact import geometric_mean
from benchmarks.runs import ROOT, machine

PARTS = ("compare", "families", "threads", "reach")
FIRST_BOXES = 1e4
LEAST_SECONDS = 0.3  # of runs in one process, the fastest of which counts
# Data set, kind, trees, depth.
COMPARED = (
    ("wine", "soft", 10, 3), ("breast_cancer", "soft", 8, 3), ("breast_cancer", "soft", 10, 3),
    ("breast_cancer", "sklearn", 20, 2), ("breast_cancer", "sklearn", 10, 3),
    ("breast_cancer", "xgboost", 10, 2), ("breast_cancer", "xgboost", 20, 2), ("breast_cancer", "xgboost", 10, 3),
    ("breast_cancer", "lightgbm", 20, 2), ("breast_cancer", "lightgbm", 10, 3),
    ("breast_cancer", "catboost", 10, 2), ("breast_cancer", "catboost", 10, 3),
)  # fmt: skip
FAMILIES = (
    ("wine", "hard", 10, 3), ("breast_cancer", "hard", 8, 3), ("wine", "soft", 10, 3), ("breast_cancer", "soft", 8, 3),
    ("breast_cancer", "sklearn", 20, 2), ("breast_cancer", "xgboost", 10, 3), ("breast_cancer", "lightgbm", 20, 2),
    ("breast_cancer", "catboost", 10, 3), ("breast_cancer", "histogram", 10, 3), ("wine", "xgboost", 6, 2),
)  # fmt: skip
THREADS = (("breast_cancer", "soft", 8, 3), ("breast_cancer", "catboost", 10, 3), ("wine", "soft", 10, 3))
REACH = (
    ("breast_cancer", "hard", 9, 3), ("breast_cancer", "soft", 8, 3), ("breast_cancer", "soft", 5, 4),
    ("breast_cancer", "sklearn", 25, 2), ("breast_cancer", "sklearn", 20, 3), ("breast_cancer", "xgboost", 15, 2),
    ("breast_cancer", "lightgbm", 20, 3), ("breast_cancer", "catboost", 9, 3), ("wine", "soft", 12, 3),
    ("wine", "sklearn", 10, 2), ("wine", "xgboost", 8, 2), ("wine", "lightgbm", 8, 3),
)  # fmt: skip


def name_of(case):
    data, kind, n_trees, depth = case
    return f"{data} {n_trees}x{depth} {kind}"


def train(case):
    """Fit the model; libraries are imported where they are needed."""
    from sklearn import datasets, ensemble

    import onetree

    data, kind, n_trees, depth = case
    X, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    if kind in ("hard", "soft"):
        forest = ensemble.RandomForestClassifier(n_trees, max_depth=depth, random_state=0).fit(X, y)
        return onetree.Ensemble.from_model(forest, voting=kind)
    if kind == "sklearn":
        model = ensemble.GradientBoostingClassifier(n_estimators=n_trees, max_depth=depth, random_state=0)
    elif kind == "histogram":
        model = ensemble.HistGradientBoostingClassifier(max_iter=n_trees, max_depth=depth, random_state=0)
    elif kind == "xgboost":
        import xgboost

        model = xgboost.XGBClassifier(n_estimators=n_trees, max_depth=depth, random_state=0, n_jobs=1)
    elif kind == "lightgbm":
        import lightgbm

        model = lightgbm.LGBMClassifier(n_estimators=n_trees, max_depth=depth, random_state=0, n_jobs=1, verbose=-1)
    else:
        import catboost

        model = catboost.CatBoostClassifier(
            iterations=n_trees, depth=depth, random_seed=0, thread_count=1, verbose=False, allow_writing_files=False
        )
    return onetree.Ensemble.from_model(model.fit(X, y))


def convert_one(words):
    """In a process of its own: convert the ensemble of a file and print what that took."""
    import onetree

    options = json.loads(words)
    ensemble = onetree.load_ensemble(options["forest"])
    used, clock, took = [], [], 0.0
    while not used or took < LEAST_SECONDS:
        started = time.perf_counter(), time.process_time()
        solution = heuristic(ensemble, options.get("n_jobs", 1), options.get("max_boxes", 0.0))
        clock.append(time.perf_counter() - started[0])
        used.append(time.process_time() - started[1])
        took += clock[-1]
    tree = solution.tree
    arrays = (tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.leaf_class)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()
    result = {"leaves": tree.n_leaves, "cpu": min(used), "clock": min(clock), "tree": digest}
    if options.get("verify"):
        result["verified"] = bool(onetree.verify(tree, ensemble, method="search"))
    print(json.dumps(result))


def heuristic(ensemble, n_jobs, max_boxes):
    """Run the heuristic alone: no bounds, no proof."""
    from onetree.lowering.axes import axes_of
    from onetree.search.budget import Budget
    from onetree.search.request import Request

    request = Request(axes_of(ensemble, None), "leaves", 16e9, n_jobs, 0, None)
    found = request.heuristic(Budget(), max_boxes=max_boxes)
    return found[0] if isinstance(found, tuple) else found  # 0.1 has no tuple


def run_one(forest, source=None, **options):
    """Run `convert_one` with the package of this repository, or with that of another `src`."""
    paths = [str(source or ROOT / "src"), str(ROOT)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.heuristic_speed", "--one", json.dumps({"forest": str(forest)} | options)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    if done.returncode:
        return {"failed": done.stderr.strip().rpartition("\n")[2]}
    return json.loads(done.stdout)


def compare(options, forest_of):
    print("\n| model | leaves before | after | seconds before | after | times as fast |\n|---|--:|--:|--:|--:|--:|")
    ratios, sizes = [], []
    for case in COMPARED:
        found = {"before": [], "after": []}
        for turn in range(options.repeat):
            for side in ("before", "after") if turn % 2 == 0 else ("after", "before"):
                found[side].append(run_one(forest_of(case), options.before if side == "before" else None))
        old, new = (min(run["cpu"] for run in found[side]) for side in ("before", "after"))
        leaves = [found[side][0]["leaves"] for side in ("before", "after")]
        ratios.append(old / new)
        sizes.append(leaves[1] / leaves[0])
        print(
            f"| {name_of(case)} | {leaves[0]:,} | {leaves[1]:,} | {old:.3f} | {new:.3f} | {old / new:.1f} |", flush=True
        )
    print(f"\ngeometric mean: {geometric_mean(ratios):.2f} times as fast, {geometric_mean(sizes):.3f} times the leaves")


def families(_, forest_of):
    print("\n| model | leaves of the first tree | a second | leaves in the end | a second |\n|---|--:|--:|--:|--:|")
    for case in FAMILIES:
        rates = []
        for max_boxes in (FIRST_BOXES, 0.0):
            found = run_one(forest_of(case), max_boxes=max_boxes)
            rates.append(f"{found['leaves']:,} | {found['leaves'] / found['cpu']:,.0f}")
        print(f"| {name_of(case)} | {' | '.join(rates)} |", flush=True)


def threads(_, forest_of):
    print("\n| model | leaves | one thread, seconds | two | four | same tree |\n|---|--:|--:|--:|--:|---|")
    for case in THREADS:
        found = [run_one(forest_of(case), n_jobs=n_jobs) for n_jobs in (1, 2, 4)]
        times = " | ".join(f"{run['clock']:.2f}" for run in found)
        same = "yes" if len({run["tree"] for run in found}) == 1 else "NO"
        print(f"| {name_of(case)} | {found[0]['leaves']:,} | {times} | {same} |", flush=True)


def reach(_, forest_of):
    import onetree

    print("\n| model | estimate | leaves of the first tree | seconds | proven equal |\n|---|--:|--:|--:|---|")
    for case in REACH:
        guess = onetree.estimate(onetree.load_ensemble(forest_of(case)), objective="leaves", progress=False)
        found = run_one(forest_of(case), max_boxes=FIRST_BOXES, verify=True) if guess.leaves < 1e6 else {}
        proven = "yes" if found.get("verified") else found.get("failed", "no")
        line = f"{found['leaves']:,} | {found['cpu']:.2f} | {proven}" if "leaves" in found else "not tried"
        print(f"| {name_of(case)} | {guess.leaves:,.0f} | {line} |", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heuristic_speed", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--before", type=Path, metavar="SRC", help="folder with another version of the package")
    parser.add_argument("--repeat", type=int, default=2, help="processes for each side of a comparison")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        convert_one(options.one)
        return
    warnings.simplefilter("ignore")
    from onetree import _core

    print(f"{machine()['processor']}, {_core.simd()}")
    with tempfile.TemporaryDirectory() as folder:

        def forest_of(case):
            path = Path(folder) / f"{name_of(case).replace(' ', '-')}.json"
            if not path.exists():
                train(case).save(path)
            return path

        for part in options.parts:
            if part != "compare" or options.before:
                globals()[part](options, forest_of)


if __name__ == "__main__":
    main()
