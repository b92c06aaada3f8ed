"""How far trees of 1,000 to 300,000 leaves are from what is proven about their size: ``python -m benchmarks.bounds``.

For each model, the heuristic's tree, then lower bounds on its leaves: the number of hyperplanes, which was all that was
known, and cells of which no two fit in one leaf. Seconds are processor time, tree and bound one after the other in one
process. Ends with status 1 if a bound took more than `SLACK` times as long as its tree.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from benchmarks import paper_data, runs
from benchmarks.heuristic_one import train
from onetree.lowering.axes import axes_of
from onetree.search.budget import Budget
from onetree.search.request import Request

SLACK = 3.0
MODELS = (
    ("magic", 10, 3, "hard"),
    ("winequality_red", 10, 3, "hard"),
    ("breast_cancer", 12, 2, "boosted"),
    ("wine", 20, 2, "hard"),
    ("breast_cancer", 12, 2, "hard"),
    ("wine", 8, 3, "hard"),
    ("wine", 8, 3, "soft"),
    ("breast_cancer", 6, 3, "hard"),
    ("breast_cancer", 6, 3, "soft"),
    ("wine", 10, 3, "soft"),
    ("winequality_red", 7, 4, "hard"),
    ("ionosphere", 10, 3, "hard"),
    ("wine", 12, 3, "soft"),
    ("breast_cancer", 16, 2, "hard"),
    ("breast_cancer", 8, 3, "soft"),
)
HEADER = (
    "model",
    "leaves",
    "depth",
    "hyperplanes",
    "cells",
    "share",
    "gap before",
    "gap",
    "depth bound",
    "tree, s",
    "bound, s",
)


def measure(data_set, trees, depth, voting, data):
    """Sizes, bounds and times of one model."""
    options = SimpleNamespace(data_set=data_set, trees=trees, depth=depth, voting=voting, bins=0, seed=0, data=data)
    request = Request(axes_of(train(options)), "leaves-depth", 4e9, 1, 0, None)
    started = time.process_time()
    found, nodes = request.heuristic(Budget())
    made = time.process_time()
    bounded = request.bounded(found, nodes, Budget())
    return {
        "model": f"{data_set} {trees}x{depth} {voting}",
        "leaves": found.value[0],
        "depth": found.value[1],
        "before": found.lower_bound[0],
        "bound": bounded.lower_bound[0],
        "depth_bound": bounded.lower_bound[1],
        "gap_before": found.gap,
        "gap": bounded.gap,
        "tree_seconds": made - started,
        "bound_seconds": time.process_time() - made,
    }


def line(row):
    """Give one line of the table in Markdown."""
    share = row["bound"] / row["leaves"]
    return (
        f"| {row['model']} | {row['leaves']:,} | {row['depth']} | {row['before']:,} | {row['bound']:,} | {share:.0%} "
        f"| {row['gap_before']:,.0f} | {row['gap']:.2f} | {row['depth_bound']} "
        f"| {row['tree_seconds']:.2f} | {row['bound_seconds']:.2f} |"
    )


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bounds", description=__doc__)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="unbinned data")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="models of these data sets")
    parser.add_argument("--out", type=Path, help="write all results to this file, as JSON")
    options = parser.parse_args()
    print(runs.machine(), "", "| " + " | ".join(HEADER) + " |", "|---" + "|---:" * (len(HEADER) - 1) + "|", sep="\n")
    rows = []
    for data_set, *model in MODELS:
        if options.only and data_set not in options.only:
            continue
        rows.append(measure(data_set, *model, options.data))
        print(line(rows[-1]), flush=True)
        if options.out:
            runs.save(options.out, {"models": rows})
    return int(any(row["bound_seconds"] > SLACK * row["tree_seconds"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
