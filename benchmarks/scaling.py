"""How time, memory, states and leaves grow: ``python -m benchmarks.scaling --out FILE.svg``.

One of trees, depth, features, levels and classes grows while the others stay at their base values, for each exact
engine and the heuristic. Each solve has a process of its own, with limits; each point is the median over several
forests (see `benchmarks.scaling_forests`). The exponents are those of least-squares lines through the logarithms, so
a factor x multiplies the time by x^exponent. Beside the figure, FILE.json keeps every run; what it holds of the same
options is not run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks import paper_data, runs

BASE = {"trees": 10, "depth": 3, "features": 7, "levels": 8}
FACTORS = {
    "trees": (3, 5, 7, 10, 14, 20, 28, 40),
    "depth": (1, 2, 3, 4, 5, 6),
    "features": (2, 3, 4, 6, 8, 10),
    "levels": (2, 4, 8, 16, 32),
    "classes": (2, 3, 4, 6, 8),
}
SERIES = {
    "interval-dp": {"engine": "interval-dp"},
    "branch-and-bound": {"engine": "branch-and-bound"},
    "heuristic": {"method": "heuristic"},
}
OBJECTIVES = ("depth", "leaves", "depth-leaves", "leaves-depth")
MEASURES = ("seconds", "megabytes", "states", "leaves")
PATIENCE = 60.0  # seconds beyond the time limit, for loading and proof, before a process is ended


def parse(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="unbinned data")
    parser.add_argument("--data-set", default="magic", help="name of a file in there, without .csv")
    parser.add_argument("--factors", nargs="+", choices=FACTORS, default=tuple(FACTORS))
    parser.add_argument("--objective", choices=OBJECTIVES, default="leaves")
    parser.add_argument("--series", nargs="+", choices=SERIES, default=tuple(SERIES))
    parser.add_argument("--forests", type=int, default=3, help="forests per point")
    parser.add_argument("--rows", type=int, default=2500, help="rows to train on")
    parser.add_argument("--time-limit", type=float, default=20.0, help="of a solve, in seconds")
    parser.add_argument("--memory-limit", type=float, default=2.0, help="of a solve, in GB")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="the figure, PNG or SVG; results go to .json beside it")
    for factor, value in BASE.items():
        parser.add_argument(f"--{factor}", type=int, default=value, help=f"base value (default: {value})")
    for factor, values in FACTORS.items():
        parser.add_argument(f"--max-{factor}", type=int, default=max(values), help="largest value to try")
    return parser.parse_args(arguments)


def train(options, factor, value, folder):
    """Forests of one point, as files in the folder."""
    size = {name: getattr(options, name) for name in BASE}
    size |= {factor: value} if factor in BASE else {"made-classes": value}
    words = [word for name, entry in size.items() for word in (f"--{name}", entry)]
    words += ["--forests", options.forests, "--rows", options.rows]
    data = paper_data.data_path(options.data, options.data_set)
    return runs.run_module("scaling_forests", data, folder, *words)


def measured(series, result):
    """One run as what is plotted; None for what an unfinished run does not know.

    A run that ended with a limit is not a point of the exact engines. The heuristic has no proof to miss.
    """
    kept = {"status": result["status"], "message": result.get("message"), "verified": result.get("verified")}
    done = result["status"] == "optimal" or (series == "heuristic" and result["status"] == "feasible")
    if not done:
        return kept | dict.fromkeys(MEASURES)
    return kept | {
        "seconds": result["seconds"],
        "megabytes": result["peak_bytes_of_solve"] / 1e6,
        # The interval DP settles every box; the heuristic counts regions.
        "states": max(1, result["boxes"] if series == "interval-dp" else result["states"]),
        "leaves": result["leaves"],
        "cells": result["cells"],
    }


def median(values):
    """The median where a run without a value took more than any other; None if that is the middle one."""
    return statistics.median_low([float("inf") if value is None else value for value in values])


def grow(options, factor, record):
    """All points of a factor; a series that cannot finish half of the forests of a point is not asked for the next."""
    gave_up = set()
    for value in FACTORS[factor]:
        if value > getattr(options, f"max_{factor}"):
            continue
        open_series = [series for series in options.series if series not in gave_up]
        known = [record.find(factor, value, series) for series in open_series]
        with tempfile.TemporaryDirectory() as folder:
            if not all(known):
                trained = train(options, factor, value, folder)
                if trained["status"] == "failed":
                    print(f"{factor} {value}: {trained['message']}", file=sys.stderr, flush=True)
                    return
            for series, row in zip(open_series, known, strict=True):
                if row is None:
                    row = record.add(factor, value, series, solve_all(options, folder, series))
                if row["seconds"] is None:
                    gave_up.add(series)


def solve_all(options, folder, series):
    limits = {"time_limit": options.time_limit, "memory_limit": options.memory_limit, "n_jobs": options.n_jobs}
    return [
        measured(
            series,
            runs.solve(
                Path(folder) / f"{seed}.json",
                options.objective,
                warm=True,
                quick_proof=True,
                timeout=options.time_limit + PATIENCE,
                **SERIES[series],
                **limits,
            ),
        )
        for seed in range(options.forests)
    ]


class Record:
    """Rows so far, in a file that is written whole after each; rows of other options are not kept."""

    def __init__(self, options):
        self.path = options.out.with_suffix(".json")
        names = ("data_set", "objective", "forests", "rows", "time_limit", "memory_limit", "n_jobs", *BASE)
        self.options = {name: getattr(options, name) for name in names}
        self.rows = []
        if self.path.is_file():
            kept = json.loads(self.path.read_text())
            if kept.get("options") == self.options:
                self.rows = kept["rows"]

    def find(self, factor, value, series):
        key = {"factor": factor, "value": value, "series": series}
        return next((row for row in self.rows if key.items() <= row.items()), None)

    def add(self, factor, value, series, results):
        row = {"factor": factor, "value": value, "series": series, "runs": results}
        for name in MEASURES:
            middle = median([result[name] for result in results])
            row[name] = None if middle == float("inf") else middle
        self.rows.append(row)
        self.save()
        words = ", ".join(f"{row[name]:.4g} {name}" for name in MEASURES if row[name] is not None)
        print(f"{factor} {value}, {series}: {words or 'nothing within the limits'}", file=sys.stderr, flush=True)
        return row

    def save(self, **more):
        runs.save(self.path, {"options": self.options, "rows": self.rows} | more)


def main():
    options = parse()
    record = Record(options)
    for factor in options.factors:
        grow(options, factor, record)
    # Only now: a driver that has grown itself would blur the peak memory of what it starts.
    from benchmarks import scaling_figure

    finished = [row for row in record.rows if row["seconds"] is not None and row["factor"] in options.factors]
    fits = scaling_figure.fits(finished)
    record.save(fits=fits)
    print(scaling_figure.table(fits))
    scaling_figure.draw(finished, options.out)
    wrong = [row for row in finished if any(run["verified"] is False for run in row["runs"])]
    for row in wrong:
        print(f"{row['factor']} {row['value']}, {row['series']}: a tree differs from its forest", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
