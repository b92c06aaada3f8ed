"""How many trees can be proven: ``python -m benchmarks.exact_frontier``.

For each data set, depth of the trees and objective, the largest forest whose smallest tree is found and proven within
the limits. Forests are trained as the paper trains them, on the first fold of its data and on data whose features are
not binned; one of more trees begins with the trees of a smaller one. What is proven for one objective is where the
search for the next begins. Each solve has a process of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import ladder, paper_data, runs

UNBINNED = ("magic", "ionosphere", "spambase", "winequality_red")
OBJECTIVES = ("depth", "leaves", "depth-leaves")


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
    parser.add_argument("--time-limit", type=float, default=60.0, help="in seconds")
    parser.add_argument(
        "--busy",
        type=float,
        default=1.0,
        metavar="F",
        help="allow F times as long, if the processor time is in the limit",
    )
    parser.add_argument("--memory-limit", type=float, default=8.0, help="in GB")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="random_state of the forests")
    parser.add_argument("--out", type=Path, help="write all results to this file, as JSON")
    return parser.parse_args(arguments)


def largest(is_proven, most, guess):
    """The largest number up to `most` that is proven, 0 if none is; each is asked for at most once.

    Begins at the guess, goes away from it in steps that double until the answer changes, and halves in between.
    """
    proven, failed = 0, most + 1
    number, step = min(max(guess, 1), most), 1
    while failed - proven > 1:
        if is_proven(number):
            proven = number
            number = number + step if failed > most else (proven + failed) // 2
        else:
            failed = number
            number = number - step if not proven else (proven + failed) // 2
        number = min(max(number, proven + 1), failed - 1)
        step *= 2
    return proven


def climb(options, name, depth, objective, guess, record):
    series = ladder.Series(name, (1,), (depth,), binned=name in paper_data.DATA_SETS)

    def is_proven(n_trees):
        with tempfile.TemporaryDirectory() as folder:
            forest = Path(folder) / "forest.json"
            ladder.train(options, series, n_trees, depth, forest)
            result = runs.solve(
                forest,
                objective,
                time_limit=options.time_limit * options.busy,
                memory_limit=options.memory_limit,
                n_jobs=options.n_jobs,
                quick_proof=True,
                timeout=options.time_limit * options.busy + ladder.PATIENCE,
            )
        record(
            {"data_set": name, "depth": depth, "objective": objective, "trees": n_trees, "result": result},
        )
        return result["status"] == "optimal" and (
            options.busy == 1.0 or result["call_processor_seconds"] <= options.time_limit
        )

    return largest(is_proven, options.max_trees, guess)


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
