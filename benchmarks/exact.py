"""The 60 forests of the paper, each objective, against the known optima: ``python -m benchmarks.exact``.

With ``--peer-binary PATH``, the authors' program runs in between, alternating who goes first. Compared are its own
clock and our ``stats["seconds"]``, which span the same work: from the forest in memory to the tree; beside it is the
ratio for the whole call of `born_again`, without its proof. Each solve has a process of its own; one that takes less
than 20 ms is timed again in that process, as in a library that is used more than once, and the ratio for its first
solve is given beside. Ends with status 1 if any value differs from the optimum, was not proven, or was not verified.

With ``--ladder`` it is `benchmarks.ladder` instead, with the options of that: harder forests.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from pathlib import Path

from benchmarks import ladder, paper_data, peer, runs

OBJECTIVES = ("depth", "leaves", "depth-leaves")


def parse():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__)
    paper_data.add_option(parser)
    parser.add_argument("--data-sets", nargs="+", choices=paper_data.DATA_SETS, default=paper_data.DATA_SETS)
    parser.add_argument("--folds", nargs="+", type=int, choices=paper_data.FOLDS, default=paper_data.FOLDS)
    parser.add_argument("--objectives", nargs="+", choices=OBJECTIVES, default=OBJECTIVES)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; times are medians")
    parser.add_argument("--out", type=Path, help="write all results to this file, as JSON")
    parser.add_argument("--engine", help="force one engine")
    parser.add_argument("--time-limit", type=float, help="of our solves, in seconds")
    parser.add_argument("--memory-limit", type=float, help="of our solves, in GB")
    parser.add_argument("--n-jobs", type=int, default=1, help="threads of our solves")
    parser.add_argument("--peer-binary", type=Path, metavar="PATH", help="the authors' program, built elsewhere")
    parser.add_argument("--peer-time-limit", type=float, default=1800.0, help="in seconds")
    parser.add_argument("--peer-memory-limit", type=float, default=18.0, help="in GB of address space")
    parser.add_argument(
        "--peer-repeat-below", type=float, default=math.inf, metavar="S", help="run the peer once where it takes longer"
    )
    parser.add_argument("--ladder", action="store_true", help="harder forests instead; see benchmarks.ladder --help")
    return parser.parse_args()


def run_ours(options, forest, objective):
    names = ("engine", "time_limit", "memory_limit", "n_jobs")
    return runs.solve(forest, objective, warm=True, **{name: getattr(options, name) for name in names})


def run_peer(options, forest, objective):
    return peer.run_peer(
        options.peer_binary,
        forest,
        objective,
        time_limit=options.peer_time_limit,
        memory_limit=options.peer_memory_limit,
    )


def summary(results):
    """The runs of one program on one forest as one result: medians of times, the largest memory."""
    times = {
        name: statistics.median(result[name] for result in results)
        for name in ("seconds", "first_seconds", "call_seconds", "call_processor_seconds")
        if all(name in result for result in results)
    }
    peaks = {
        name: max(result[name] for result in results)
        for name in ("peak_bytes", "peak_bytes_of_solve")
        if all(name in result for result in results)
    }
    return results[-1] | times | peaks | {"all_seconds": [result.get("seconds") for result in results]}


def measure(options, name, fold, objective, optimum):
    forest = paper_data.forest_path(options.paper_data, name, fold)
    ours, peers = [], []
    for repetition in range(options.repeat):
        turns = [(ours, run_ours)]
        # A peer that ran out of time or memory once is not asked again, nor one that takes too long to ask twice.
        if options.peer_binary and all(run.get("seconds", math.inf) < options.peer_repeat_below for run in peers):
            turns.append((peers, run_peer))
        for results, run in turns if repetition % 2 == 0 else reversed(turns):
            results.append(run(options, forest, objective))
    row = {"data_set": name, "fold": fold, "objective": objective, "optimum": optimum, "ours": summary(ours)}
    values = [tuple(run["value"]) if isinstance(run.get("value"), list) else run.get("value") for run in ours]
    row["correct"] = all(value == optimum for value in values)
    row["proven_and_verified"] = all(run["status"] == "optimal" and run.get("verified") for run in ours)
    if peers:
        row["peer"] = summary(peers)
        if row["peer"]["status"] == "solved" and "seconds" in row["ours"]:
            # The peer's clock ticks in microseconds.
            seconds = max(row["peer"]["seconds"], 1e-6)
            row["ratio"] = seconds / row["ours"]["seconds"]
            row["first_ratio"] = seconds / row["ours"]["first_seconds"]
            row["call_ratio"] = seconds / row["ours"]["call_seconds"]
            row["call_processor_ratio"] = seconds / row["ours"]["call_processor_seconds"]
    return row


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios)) if ratios else None


def ratios_of(rows):
    """Speed-ups as geometric means: per objective, per data set and objective, over all."""
    groups = {"all": rows}
    for objective in OBJECTIVES:
        groups[objective] = [row for row in rows if row["objective"] == objective]
        for name in paper_data.DATA_SETS:
            groups[f"{objective}, {name}"] = [row for row in groups[objective] if row["data_set"] == name]
    found = {}
    for group, members in groups.items():
        solved = [row for row in members if "ratio" in row]
        if solved:
            found[group] = {"n": len(solved), "least": min(row["ratio"] for row in solved)}
            found[group]["least_call_processor"] = min(row["call_processor_ratio"] for row in solved)
            for prefix in ("", "first_", "call_", "call_processor_"):
                found[group][f"{prefix}geometric_mean"] = geometric_mean([row[f"{prefix}ratio"] for row in solved])
    return found


def text(value):
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def time_of(result):
    return f"{result['seconds']:.6f}" if "seconds" in result else result["status"]


def print_header(with_peer):
    columns = (
        f"{'data set':24}{'fold':>4} {'objective':13}{'optimum':>9}{'found':>9}{'seconds':>12}{'call':>10}{'MB':>7}"
    )
    print(columns + (f"{'peer s':>14}{'peer MB':>9}{'ratio':>9}" if with_peer else ""))


def print_row(row):
    ours = row["ours"]
    value = ours.get("value")
    found = "none" if value is None else text(tuple(value) if isinstance(value, list) else value)
    line = f"{row['data_set']:24}{row['fold']:4} {row['objective']:13}{text(row['optimum']):>9}{found:>9}"
    call = f"{ours['call_seconds']:.4f}" if "call_seconds" in ours else ""
    line += f"{time_of(ours):>12}{call:>10}{ours.get('peak_bytes_of_solve', 0) / 1e6:7.0f}"
    if "peer" in row:
        line += f"{time_of(row['peer']):>14}{row['peer']['peak_bytes'] / 1e6:9.0f}"
        line += f"{row['ratio']:8.1f}x" if "ratio" in row else ""
    if not row["correct"]:
        line += "  DIFFERS"
    elif not row["proven_and_verified"]:
        line += "  NOT PROVEN"
    print(line, flush=True)
    if "message" in ours:
        print(f"    {ours['message']}")


def main():
    if "--ladder" in sys.argv:
        return ladder.main([word for word in sys.argv[1:] if word != "--ladder"])
    options = parse()
    known = paper_data.optima(options.paper_data)
    print_header(bool(options.peer_binary))
    rows = []
    for name in options.data_sets:
        for fold in options.folds:
            for objective in options.objectives:
                rows.append(measure(options, name, fold, objective, known[name, fold][objective]))
                print_row(rows[-1])
                if options.out:
                    runs.save(options.out, {"repeat": options.repeat, "rows": rows, "ratios": ratios_of(rows)})
    for group, ratio in ratios_of(rows).items():
        print(
            f"{group:40} {ratio['geometric_mean']:8.1f}x over {ratio['n']} (least {ratio['least']:.1f}x; "
            f"first solve of a process {ratio['first_geometric_mean']:.1f}x; whole call, from the ensemble in memory, "
            f"{ratio['call_geometric_mean']:.1f}x; the same in processor time "
            f"{ratio['call_processor_geometric_mean']:.1f}x, least {ratio['least_call_processor']:.1f}x)"
        )
    n_wrong = sum(not (row["correct"] and row["proven_and_verified"]) for row in rows)
    print(f"{len(rows) - n_wrong} of {len(rows)} values equal to the optimum, proven, trees verified")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
