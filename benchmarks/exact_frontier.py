"""How many trees can be proven: ``python -m benchmarks.exact_frontier``.

For each data set, depth of the trees and objective, the largest forest whose smallest tree is found and proven within
the limits. Forests are trained as the paper trains them, on the first fold of its data and on data whose features are
not binned; one of more trees begins with the trees of a smaller one. What is proven for one objective is where the
search for the next begins. Each solve has a process of its own, which ends when the processor time of the call is over
the time limit, or is sure to be: so another process beside it does not change the table.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path

from benchmarks import ladder, paper_data, runs

UNBINNED = ("magic", "ionosphere", "spambase", "winequality_red")
OBJECTIVES = ("depth", "leaves", "depth-leaves")
GROWTH = 5  # power of the number of trees with which the time grows, to begin with
PATIENCE = 20  # times the limit: a process that waits for the processor is not ended


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact_frontier", description=__doc__)
    paper_data.add_option(parser)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="unbinned data")
    names = (*paper_data.DATA_SETS, *UNBINNED)
    parser.add_argument("--data-sets", nargs="+", choices=names, default=names)
    parser.add_argument("--depths", nargs="+", type=int, default=(3, 4))
    parser.add_argument("--objectives", nargs="+", choices=OBJECTIVES, default=OBJECTIVES)
    parser.add_argument("--max-trees", type=int, default=256)
    parser.add_argument("--guess", type=int, default=8, metavar="N", help="trees to begin with")
    parser.add_argument("--time-limit", type=float, default=60.0, help="in seconds of the processor")
    parser.add_argument("--memory-limit", type=float, default=8.0, help="in GB")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="random_state of the forests")
    parser.add_argument("--out", type=Path, help="write all results to this file, as JSON")
    return parser.parse_args(arguments)


def largest(seconds_of, most, guess, limit):
    """The largest number up to `most` for which there is a time, 0 if there is none; each is asked for at most once.

    `seconds_of` gives the time that a number takes, None if it is not proven. The next number is where the time would
    reach the limit if it grew as between the last two, between the largest that is proven and the smallest that is not.
    """
    proven, failed, power = 0, most + 1, GROWTH
    before = None
    number = min(max(guess, 1), most)
    while failed - proven > 1:
        seconds = seconds_of(number)
        if seconds is None:
            failed = number
            expected = (proven + failed) // 2
        else:
            seconds = max(seconds, limit / 1000)
            if before and before[1] < seconds:
                steepest = math.log(seconds / before[1]) / math.log(number / before[0])
                power = min(max(steepest, GROWTH / 2), 2 * GROWTH)
            proven, before = number, (number, seconds)
            expected = int(number * (limit / seconds) ** (1 / power))
            if failed <= most:
                expected = min(expected, (proven + failed) // 2)
        number = min(max(expected, proven + 1), failed - 1)
    return proven


def climb(options, name, depth, objective, guess, record):
    series = ladder.Series(name, (1,), (depth,), binned=name in paper_data.DATA_SETS)

    def seconds_of(n_trees):
        with tempfile.TemporaryDirectory() as folder:
            forest = Path(folder) / "forest.json"
            ladder.train(options, series, n_trees, depth, forest)
            result = runs.solve(
                forest,
                objective,
                processor_limit=options.time_limit,
                memory_limit=options.memory_limit,
                n_jobs=options.n_jobs,
                quick_proof=True,
                timeout=options.time_limit * PATIENCE,
            )
        record(
            {"data_set": name, "depth": depth, "objective": objective, "trees": n_trees, "result": result},
        )
        return result["call_processor_seconds"] if result["status"] == "optimal" else None

    return largest(seconds_of, options.max_trees, guess, options.time_limit)


def main(arguments=None):
    options = parse(arguments)
    rows, frontier = [], []

    def record(row):
        rows.append(row)
        if options.out:
            runs.save(options.out, {"rows": rows, "frontier": frontier})

    for depth in options.depths:
        print(f"trees of depth {depth}")
        print("".join([f"{'':26}", *(f"{objective:>14}" for objective in options.objectives)]))
        for name in options.data_sets:
            print(f"{name:26}", end="", flush=True)
            n_trees = options.guess
            for objective in options.objectives:
                n_trees = climb(options, name, depth, objective, n_trees, record)
                frontier.append({"data_set": name, "depth": depth, "objective": objective, "trees": n_trees})
                print(f"{n_trees:14}", end="", flush=True)
            print()
    if options.out:
        runs.save(options.out, {"rows": rows, "frontier": frontier})
    return 0


if __name__ == "__main__":
    sys.exit(main())
