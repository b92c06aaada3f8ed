"""The authors' program and other explanations of a forest beside ours: ``python -m benchmarks.peers --out DIR``.

1. `authors`: the paper's forests, each objective, as `benchmarks.exact` measures them. With ``--peer-binary PATH`` the
   authors' program runs in between, alternating who goes first; without it ours runs alone.
2. `alternatives`: what one might take instead of an exact tree, on forests trained as in the paper; see
   `benchmarks.peers_one`. Libraries that are not installed are left out, with a line that says how to get them.

DIR gets peers.json, which keeps every run, peers.md with the tables, and peers.svg. What peers.json already holds is
not run again, so a run that was broken off goes on where it was. Ends with status 1 if a value of ours is not the
optimum, was not proven or not verified.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

from benchmarks import exact, paper_data, peers_tables, runs

PARTS = ("authors", "alternatives")
MORE_DATA_SETS = ("magic", "ionosphere")


def parse(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    paper_data.add_option(parser)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="unbinned data")
    parser.add_argument("--out", type=Path, default=Path("peers"), metavar="DIR", help="results (default: peers)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    names = (*paper_data.DATA_SETS, *MORE_DATA_SETS)
    parser.add_argument("--data-sets", nargs="+", choices=names, default=names)
    parser.add_argument("--folds", nargs="+", type=int, choices=paper_data.FOLDS, default=paper_data.FOLDS)
    parser.add_argument("--objectives", nargs="+", choices=exact.OBJECTIVES, default=exact.OBJECTIVES)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; times are medians")
    parser.add_argument("--peer-binary", type=Path, metavar="PATH", help="the authors' program, built elsewhere")
    parser.add_argument("--peer-time-limit", type=float, default=1800.0, help="in seconds")
    parser.add_argument("--peer-memory-limit", type=float, default=18.0, help="in GB of address space")
    parser.add_argument(
        "--peer-repeat-below", type=float, default=math.inf, metavar="S", help="run the peer once where it takes longer"
    )
    parser.add_argument("--alternative-time-limit", type=float, default=60.0, help="of each alternative, in seconds")
    # What benchmarks.exact leaves open; here ours runs as it comes, in one thread.
    parser.set_defaults(engine=None, time_limit=None, memory_limit=None, n_jobs=1)
    return parser.parse_args(arguments)


class Record:
    """All rows so far, in a file that is written whole after each."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "peers.json"
        self.rows = {part: [] for part in PARTS}
        if self.path.is_file():
            kept = json.loads(self.path.read_text())
            self.rows = {part: kept.get(part, []) for part in PARTS}

    def has(self, part, **key):
        return any(all(row.get(name) == value for name, value in key.items()) for row in self.rows[part])

    def add(self, part, row):
        self.rows[part].append(row)
        runs.save(self.path, self.rows)


def progress(words):
    print(words, file=sys.stderr, flush=True)


def run_authors(options, record):
    known = paper_data.optima(options.paper_data)
    binary = bool(options.peer_binary)
    for name in paper_data.DATA_SETS:
        for fold in options.folds if name in options.data_sets else ():
            for objective in options.objectives:
                key = {"data_set": name, "fold": fold, "objective": objective, "with_peer": binary}
                if record.has("authors", **key):
                    continue
                row = exact.measure(options, name, fold, objective, known[name, fold][objective]) | key
                if "ratio" in row:
                    ours = row["ours"]
                    # The peer is one small program. Ours counts what the solve adds to the interpreter and libraries.
                    row["memory_ratio"] = row["peer"]["peak_bytes"] / max(ours["peak_bytes_of_solve"], 1)
                    row["process_memory_ratio"] = row["peer"]["peak_bytes"] / ours["peak_bytes"]
                record.add("authors", row)
                beside = f", authors {exact.time_of(row['peer'])} s" if "peer" in row else ""
                progress(f"{name} fold {fold}, {objective}: ours {exact.time_of(row['ours'])} s{beside}")


def data_of(options, name, fold):
    """Arguments of `peers_one`: training file, and the held-out file where there is one."""
    if name in MORE_DATA_SETS:
        return (paper_data.data_path(options.data, name),)
    train = paper_data.fold_path(options.paper_data, name, fold)
    return train, train.with_name(train.name.replace(".train", ".test"))


def run_alternatives(options, record):
    told = set()
    for name in options.data_sets:
        for fold in options.folds:
            key = {"data_set": name, "fold": fold}
            if record.has("alternatives", **key):
                continue
            progress(f"{name} fold {fold}, alternatives")
            words = (*data_of(options, name, fold), "--seed", fold, "--time-limit", options.alternative_time_limit)
            found = runs.run_module("peers_one", *words)
            record.add("alternatives", key | found)
            if found["status"] == "failed":
                progress(f"    {found['message']}")
            for method, result in found.get("methods", {}).items():
                if result["status"] == "missing" and method not in told:
                    told.add(method)
                    progress(f"    {method} left out, {result['message']}")


def main():
    options = parse()
    record = Record(options.out)
    if "authors" in options.parts:
        run_authors(options, record)
    if "alternatives" in options.parts:
        run_alternatives(options, record)
    tables = peers_tables.write(record.rows, options.out)
    print(tables)
    wrong = [row for row in record.rows["authors"] if not (row["correct"] and row["proven_and_verified"])]
    for row in wrong:
        progress(f"{row['data_set']} fold {row['fold']}, {row['objective']}: not the optimum, or not proven")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
