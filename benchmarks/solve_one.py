"""Solves one forest in a process of its own and writes the result as JSON: so peak memory belongs to that solve.

``python -m benchmarks.solve_one FOREST OBJECTIVE [--method M] [--engine E] [--time-limit S] [--memory-limit GB] ...``

``--list-engines`` gives the names of the engines instead.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import sys
import time

import onetree
from onetree.search.solve import ENGINES
from onetree.verify import METHODS

SHORT = 0.02  # seconds
WARM_RUNS = 9
LOOK, MUCH = 0.2, 1.5  # of the limit: when to look ahead, and what is beyond all doubt


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class ListEngines(argparse.Action):
    def __call__(self, parser, *_):
        json.dump(ENGINES, sys.stdout)
        parser.exit()


def is_equal(tree, ensemble, quick):
    """Whether the tree was proven equal; None if that would take long and a quick proof was asked for."""
    if not quick or "search" in METHODS:
        return bool(onetree.verify(tree, ensemble))
    try:
        return bool(onetree.verify(tree, ensemble, method="cells"))
    except onetree.OnetreeError:  # too many cells to go through
        return None


class Outlook:
    """Gives up a table that would take much longer than there is; its progress is nearly linear."""

    def __init__(self, limit):
        self.limit = limit
        self.phase, self.begun = None, 0.0

    def __call__(self, report):
        now = time.process_time()
        if report.phase != self.phase or not report.fraction:
            self.phase, self.begun = report.phase, now
        elif now - self.begun > LOOK * self.limit and now - self.begun > MUCH * self.limit * report.fraction:
            message = f"{report.fraction:.0%} after {now - self.begun:.0f} s"
            json.dump({"status": "failed", "message": message}, sys.stdout)
            sys.stdout.flush()
            os._exit(0)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solve_one", description=__doc__)
    parser.add_argument("forest")
    parser.add_argument("objective")
    parser.add_argument("--method", choices=("exact", "heuristic"), default="exact")
    parser.add_argument("--engine")
    parser.add_argument("--time-limit", type=float)
    parser.add_argument(
        "--processor-limit", type=float, help="end the process when the call has taken so many seconds of the processor"
    )
    parser.add_argument("--memory-limit", type=float)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--quick-proof", action="store_true", help="do not verify where that would take long")
    parser.add_argument("--warm", action="store_true", help="time short solves again in the same process")
    parser.add_argument("--list-engines", action=ListEngines, nargs=0)
    options = parser.parse_args()

    ensemble = onetree.load_ensemble(options.forest)
    before = peak_bytes()
    limits = {"time_limit": options.time_limit, "memory_limit": options.memory_limit, "n_jobs": options.n_jobs}

    def solve():
        # Verification is not part of the peer's work; it is done below, outside the measured time.
        started, started_processor = time.perf_counter(), time.process_time()
        solution = onetree.born_again(
            ensemble, objective=options.objective, method=options.method, engine=options.engine, verify=False, **limits
        )
        return solution, time.perf_counter() - started, time.process_time() - started_processor

    if options.processor_limit:
        signal.setitimer(signal.ITIMER_PROF, options.processor_limit)
        limits["progress"] = Outlook(options.processor_limit)
    try:
        solution, call_seconds, processor_seconds = solve()
    except onetree.OnetreeError as error:
        json.dump({"status": "failed", "message": str(error), "peak_bytes": peak_bytes()}, sys.stdout)
        return
    signal.setitimer(signal.ITIMER_PROF, 0)
    first_seconds = seconds = solution.stats["seconds"]
    if options.warm and seconds < SHORT:
        # A process that has just begun pays for pages that it touches for the first time: users rarely do.
        again = [solve() for _ in range(WARM_RUNS)]
        seconds = statistics.median(each.stats["seconds"] for each, _, _ in again)
        call_seconds = statistics.median(call for _, call, _ in again)
        processor_seconds = statistics.median(processor for _, _, processor in again)
    after = peak_bytes()
    result = {
        "status": solution.status,
        "value": solution.value,
        "lower_bound": solution.lower_bound,
        "depth": solution.tree.depth,
        "leaves": solution.tree.n_leaves,
        "seconds": seconds,
        "first_seconds": first_seconds,
        "call_seconds": call_seconds,
        "call_processor_seconds": processor_seconds,  # as the peer counts its time: a busy machine does not lengthen it
        "peak_bytes": after,
        "peak_bytes_of_solve": after - before,  # without the interpreter and the libraries
        "engine": solution.stats["engine"],
        "cells": solution.stats.get("cells"),
        "boxes": solution.stats.get("boxes"),
        "states": solution.stats.get("states"),
        "verified": is_equal(solution.tree, ensemble, options.quick_proof),
    }
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
