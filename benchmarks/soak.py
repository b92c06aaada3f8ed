"""Random models of every family with random options and limits, for as long as you like: ``python -m benchmarks.soak``.

Rounds run in child processes, some at a time, so that a crash is counted and the soak goes on. Ends with status 1 if a
round failed: a tree that was refuted or that differs from its library, two different optima, an unexpected error, a
crash, or a limit that was passed by more than SLACK.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import monotonic

from benchmarks import runs

ROUNDS = 50  # of one child process
SLACK = (0.05, 0.5)  # share of the time limit, and seconds for the machine's other work
PATIENCE = 1800.0  # seconds for one child process


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write all rounds to this file, as JSON")
    return parser.parse_args(arguments)


def rounds_from(seed):
    """The rounds of one child process; the last one is a failure if it did not end by itself."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.soak_one", str(seed), str(ROUNDS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=runs.ROOT, timeout=PATIENCE)
        lines, end = done.stdout, f"exit {done.returncode}: {done.stderr.strip()[-200:]}" if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        lines, end = (error.stdout or b"").decode(), f"still running after {PATIENCE:g} s"
    found = [json.loads(line) for line in lines.splitlines()]
    if end:
        found.append({"seed": seed + len(found), "status": "failed", "message": f"the process died: {end}"})
    return found


def overshoot(played):
    """Seconds beyond the time limit."""
    return max(0.0, played.get("seconds", 0.0) - played.get("options", {}).get("time_limit", float("inf")))


def is_over(played):
    limit = played.get("options", {}).get("time_limit", 0.0)
    return overshoot(played) > SLACK[0] * limit + SLACK[1]


def main(arguments=None):
    options = parse(arguments)
    end, seed, all_rounds, growth = monotonic() + 60 * options.minutes, options.first_seed, [], []
    while monotonic() < end:
        found = rounds_from(seed)
        seed += max(len(found), 1)
        all_rounds += found
        resident = [played["resident_bytes"] for played in found if "resident_bytes" in played]
        # The first rounds load the libraries.
        growth += [resident[-1] - resident[len(resident) // 2]] if len(resident) > ROUNDS // 2 else []
        if options.out:
            runs.save(options.out, {"rounds": all_rounds})
        counts = Counter(played["status"] for played in all_rounds)
        print(f"{len(all_rounds)} rounds: {dict(counts)}", file=sys.stderr)
    failed = [played for played in all_rounds if played["status"] == "failed" or is_over(played)]
    for played in failed:
        print(json.dumps(played))
    proofs = Counter(proof for played in all_rounds for proof in played.get("proofs", ()))
    worst = max(all_rounds, key=overshoot, default=None)
    print(f"models                {len(all_rounds)}: {dict(Counter(played['status'] for played in all_rounds))}")
    print(f"proofs                {dict(proofs)}")
    print(f"inputs compared       {sum(played.get('rows', 0) for played in all_rounds):,}")
    if worst is not None:
        print(f"worst overshoot       {overshoot(worst):.2f} s (seed {worst['seed']})")
    if growth:
        print(f"growth of a process   {sum(growth) / len(growth) / 1e6:.1f} MB in its last {ROUNDS // 2} rounds, mean")
    print(f"failures              {len(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
