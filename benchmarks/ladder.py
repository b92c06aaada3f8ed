"""Harder and harder forests, up to where each engine gives up: ``python -m benchmarks.ladder``.

Forests are trained as the paper trains them, on the first fold of its data and on data whose features are not binned.
Within a series they grow; an engine that could not prove an optimum within the limits is not asked for the next, except
for those that are goals. Each solve has a process of its own. Ends with status 1 if a goal was missed by the engine
that is chosen automatically, if two engines disagree, if a tree is not faithful, or if a limit was not kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import paper_data, runs

OBJECTIVES = ("depth", "leaves", "depth-leaves", "leaves-depth")
AUTO = "auto"
PATIENCE = 120.0  # seconds beyond the time limit, for loading and proof, before a process is ended
SLACK_SECONDS, SLACK_GB = 1.0, 0.1  # more than that beyond a limit is a fault


@dataclass(frozen=True)
class Series:
    """Forests of one kind, growing."""

    data_set: str
    n_trees: tuple[int, ...]  # as long as depths, or one for all
    depths: tuple[int, ...]
    binned: bool = True  # from the paper's folds, else from --data

    def rungs(self):
        n = max(len(self.n_trees), len(self.depths))
        n_trees = self.n_trees if len(self.n_trees) == n else self.n_trees * n
        return list(zip(n_trees, self.depths if len(self.depths) == n else self.depths * n, strict=True))


LADDER = (
    Series("HTRU2", (10, 20, 30, 50, 100), (3,)),
    Series("HTRU2", (10,), (4, 5, 6, 8)),
    Series("COMPAS-ProPublica", (10, 20, 30, 50, 100), (3,)),
    Series("COMPAS-ProPublica", (10,), (4, 5, 6, 8)),
    Series("FICO", (10, 20, 30, 50, 100), (3,)),
    Series("FICO", (20,), (4, 5, 6)),
    Series("Seeds", (10, 20, 30, 50, 100), (3,)),
    Series("Seeds", (10,), (4, 5, 6)),
    Series("Pima-Diabetes", (10, 15, 20, 30, 50, 100), (3,)),
    Series("Pima-Diabetes", (10,), (4, 5, 6)),
    Series("Breast-Cancer-Wisconsin", (10, 15, 20, 30, 50), (3,)),
    Series("Breast-Cancer-Wisconsin", (10,), (4, 5)),
    Series("magic", (3, 5, 7, 10, 15, 20), (3,), binned=False),
    Series("magic", (5,), (4, 5, 6), binned=False),
    Series("ionosphere", (3, 5, 7, 10, 15, 20), (3,), binned=False),
    Series("spambase", (3, 5, 7, 10, 15, 20), (3,), binned=False),
    Series("winequality_red", (3, 5, 7, 10, 15, 20), (3,), binned=False),
)
# Data set, trees, depth: depth and leaves are to be proven within a minute.
GOALS = {("Seeds", 10, 4), ("Seeds", 30, 3), ("Pima-Diabetes", 15, 3), ("FICO", 50, 3), ("HTRU2", 50, 3)}
GOAL_OBJECTIVES = ("depth", "leaves")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ladder", description=__doc__)
    paper_data.add_option(parser)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="unbinned data")
    names = sorted({series.data_set for series in LADDER})
    parser.add_argument("--data-sets", nargs="+", choices=names, default=names)
    parser.add_argument("--objectives", nargs="+", choices=OBJECTIVES, default=GOAL_OBJECTIVES)
    parser.add_argument("--engines", nargs="+", help=f"{AUTO} and names of engines (default: all there are)")
    parser.add_argument("--max-trees", type=int, default=1000, help="leave out larger forests")
    parser.add_argument("--max-depth", type=int, default=1000, help="leave out deeper forests")
    parser.add_argument("--goals-only", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="random_state of the forests")
    parser.add_argument("--time-limit", type=float, default=60.0, help="in seconds")
    parser.add_argument("--memory-limit", type=float, default=4.0, help="in GB")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="write all results to this file, as JSON")
    return parser.parse_args(arguments)


def train(options, series, n_trees, depth, path):
    if series.binned:
        data = paper_data.fold_path(options.paper_data, series.data_set, 1)
    else:
        data = paper_data.data_path(options.data, series.data_set)
    words = ("--trees", n_trees, "--depth", depth, "--seed", options.seed)
    trained = runs.run_module("train_one", data, path, *words)
    if trained["status"] == "failed":
        raise SystemExit(trained["message"])
    return trained


def climb(options, series, engines, record):
    """All rungs of a series; `record` gets one row per forest, objective and engine."""
    gave_up = set()
    for n_trees, depth in series.rungs():
        goal = (series.data_set, n_trees, depth) in GOALS
        too_large = n_trees > options.max_trees or depth > options.max_depth
        if too_large or (options.goals_only and not goal):
            continue
        attempts = [
            (objective, engine)
            for objective in options.objectives
            for engine in engines
            if goal or (objective, engine) not in gave_up
        ]
        if not attempts:
            continue
        with tempfile.TemporaryDirectory() as folder:
            forest = Path(folder) / "forest.json"
            trained = train(options, series, n_trees, depth, forest)
            for objective, engine in attempts:
                result = runs.solve(
                    forest,
                    objective,
                    engine=None if engine == AUTO else engine,
                    time_limit=options.time_limit,
                    memory_limit=options.memory_limit,
                    n_jobs=options.n_jobs,
                    quick_proof=True,
                    timeout=options.time_limit + PATIENCE,
                )
                if result["status"] != "optimal":
                    gave_up.add((objective, engine))
                record(
                    {"data_set": series.data_set, "binned": series.binned, "trees": n_trees, "depth": depth}
                    | {"goal": goal and objective in GOAL_OBJECTIVES, "objective": objective, "engine": engine}
                    | {"forest": trained, "result": result}
                )


def count(number):
    return "" if number is None else f"{number:.3g}" if number >= 1e7 else f"{number:.0f}"


def print_header():
    print(
        f"{'forest':34}{'objective':13}{'engine':18}{'status':10}{'value':>10}{'bound':>10}{'seconds':>10}"
        f"{'cells':>10}{'boxes':>10}{'states':>10}{'MB':>7}  goal"
    )


def print_row(row):
    result = row["result"]
    name = f"{row['data_set']} {row['trees']}x{row['depth']}" + ("" if row["binned"] else " unbinned")
    value, bound = (
        ", ".join(map(str, entry)) if isinstance(entry, list) else "" if entry is None else str(entry)
        for entry in (result.get("value"), result.get("lower_bound"))
    )
    seconds = f"{result['seconds']:.4f}" if "seconds" in result else ""
    goal = ("met" if result["status"] == "optimal" else "MISSED") if row["goal"] else ""
    cells = result.get("cells", row["forest"]["raw_cells"])
    print(
        f"{name:34}{row['objective']:13}{row['engine']:18}{result['status']:10}{value:>10}{bound:>10}{seconds:>10}"
        f"{count(cells):>10}{count(result.get('boxes')):>10}{count(result.get('states')):>10}"
        f"{result.get('peak_bytes_of_solve', 0) / 1e6:7.0f}  {goal}",
        flush=True,
    )
    if "message" in result:
        print(f"    {result['message']}")


def faults(rows, options):
    """What must not be: a goal missed by the automatic choice, proven values that differ, a limit not kept, ..."""
    found, proven = [], {}
    for row in rows:
        result = row["result"]
        name = f"{row['data_set']} {row['trees']}x{row['depth']}, {row['objective']}, {row['engine']}"
        if row["goal"] and row["engine"] == AUTO and result["status"] != "optimal":
            found.append(f"{name}: goal missed")
        if result.get("seconds", 0) > options.time_limit + SLACK_SECONDS:
            found.append(f"{name}: {result['seconds']:.1f} s, over the limit")
        if result.get("peak_bytes_of_solve", 0) > (options.memory_limit + SLACK_GB) * 1e9:
            found.append(f"{name}: {result['peak_bytes_of_solve'] / 1e9:.2f} GB, over the limit")
        if result.get("verified") is False:
            found.append(f"{name}: the tree differs from the forest")
        if result["status"] == "optimal":
            forest = (row["data_set"], row["trees"], row["depth"], row["objective"])
            if proven.setdefault(forest, result["value"]) != result["value"]:
                found.append(f"{name}: {result['value']} where another engine proved {proven[forest]}")
    return found


def main(arguments=None):
    options = parse(arguments)
    engines = options.engines or [AUTO, *runs.run_module("solve_one", "--list-engines")]
    print_header()
    rows = []

    def record(row):
        rows.append(row)
        print_row(row)
        if options.out:
            limits = {"time_limit": options.time_limit, "memory_limit": options.memory_limit}
            runs.save(options.out, limits | {"seed": options.seed, "n_jobs": options.n_jobs, "rows": rows})

    for series in LADDER:
        if series.data_set in options.data_sets:
            climb(options, series, engines, record)
    found = faults(rows, options)
    for fault in found:
        print(fault)
    n_proven = sum(row["result"]["status"] == "optimal" for row in rows)
    print(f"{n_proven} of {len(rows)} proven within {options.time_limit:g} s and {options.memory_limit:g} GB")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
