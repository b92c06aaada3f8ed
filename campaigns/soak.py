"""Random models of every family with random options and limits, for as long as you like: ``python -m campaigns.soak``.

Models with categorical features, domains with ranges and groups, trees that follow data and models from files are
among them. Rounds run in a child process that goes on for hundreds of rounds, so that a leak shows; one that crashes is
counted and replaced. Ends with status 1 if a round failed: a tree that was refuted or that differs from its library,
two different optima, an unexpected error, a crash or a hang, a limit that was passed by more than `TIME_SLACK` or
`MEMORY_SLACK`, or if the memory of a child grew by more than `GROWTH_SLACK`.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from statistics import median
from time import monotonic

from benchmarks import runs

ROUNDS = 400  # of one child process
PATIENCE = 900.0  # seconds for one round
# Share of the limit, and what is allowed besides: for the work of Python and of the proof's own tables.
TIME_SLACK = (0.05, 0.2)
WAITING_SLACK = 0.5  # seconds more with several threads, whose waiting for a processor is not known
MEMORY_SLACK = (0.05, 32e6)
FEW_ROUNDS = 40  # too few to tell growth
GROWTH_SLACK = (0.03, 8e6)  # of the median memory of the last quarter over that of the first


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m campaigns.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write all rounds to this file, as JSON")
    return parser.parse_args(arguments)


def rounds_from(seed, seconds):
    """The rounds of one child process, as they come; the last one is a failure if it did not end by itself."""
    command = [sys.executable, "-W", "ignore", "-m", "campaigns.soak_one", str(seed), str(ROUNDS), str(seconds)]
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=runs.ROOT)
        lines: queue.Queue[str] = queue.Queue()
        reader = threading.Thread(target=lambda: [lines.put(line) for line in (*child.stdout, "")], daemon=True)
        reader.start()
        n_played, end = 0, ""
        try:
            while line := lines.get(timeout=PATIENCE):
                n_played += 1
                yield json.loads(line)
        except queue.Empty:
            end = f"still in one round after {PATIENCE:g} s"
        finally:
            if child.poll() is None and (end or sys.exc_info()[0]):
                child.kill()
            child.wait()
        if child.returncode:
            errors.seek(0)
            end = end or f"exit {child.returncode}: {errors.read().strip()[-300:]}"
            yield {"seed": seed + n_played, "status": "failed", "message": f"the process died: {end}"}


def time_overshoot(played):
    """Seconds beyond the time limit, those not counted in which the process waited for a processor."""
    limit = played.get("options", {}).get("time_limit")
    return 0.0 if limit is None else max(0.0, played.get("seconds", 0.0) - played.get("waited", 0.0) - limit)


def memory_overshoot(played):
    """Bytes beyond the memory limit, as the system counts them."""
    limit = played.get("options", {}).get("memory_limit")
    return 0.0 if limit is None else max(0.0, played.get("peak_bytes", 0) - 1e9 * limit)


def broken_limits(played):
    options = played.get("options", {})
    if "time_limit" not in options:
        return []
    waiting = WAITING_SLACK * (options["n_jobs"] > 1)
    over_time = time_overshoot(played) > TIME_SLACK[0] * options["time_limit"] + TIME_SLACK[1] + waiting
    over_memory = memory_overshoot(played) > MEMORY_SLACK[0] * 1e9 * options.get("memory_limit", 0) + MEMORY_SLACK[1]
    return ["time limit"] * over_time + ["memory limit"] * over_memory


def growth(children):
    """Of each child that played enough rounds: median memory in the first and in the last quarter of them."""
    found = []
    for played in children:
        resident = [each["resident_bytes"] for each in played if "resident_bytes" in each]
        if len(resident) >= FEW_ROUNDS:
            quarter = len(resident) // 4
            found.append((len(resident), median(resident[:quarter]), median(resident[-quarter:])))
    return found


def grew(first, last):
    return last - first > GROWTH_SLACK[0] * first + GROWTH_SLACK[1]


def report(children):
    """The lines of the report, and how many failures there were."""
    rounds = [each for played in children for each in played]
    failed = [each for each in rounds if each["status"] == "failed" or broken_limits(each)]
    quarters = growth(children)
    n_grown = sum(grew(first, last) for _, first, last in quarters)
    lines = [json.dumps(each | {"broken": broken_limits(each)}) for each in failed]
    proofs = Counter(tuple(each["proofs"]) for each in rounds if "proofs" in each)
    lines += [
        f"models                {len(rounds)}: {dict(Counter(each['status'] for each in rounds))}",
        f"families              {dict(Counter(each.get('family', '?') for each in rounds))}",
        f"categorical           {sum(bool(each.get('categorical')) for each in rounds)}",
        f"in a domain           {sum(bool(each.get('domain')) for each in rounds)}, "
        f"with a group {sum(bool(each.get('group')) for each in rounds)}",
        f"ended and resumed     {sum(bool(each.get('resumed')) for each in rounds)}",
        f"from a file           {sum(' from ' in each.get('model', '') for each in rounds)}",
        "proofs                " + ", ".join(f"{' and '.join(kinds)}: {n}" for kinds, n in sorted(proofs.items())),
        f"inputs compared       {sum(each.get('rows', 0) for each in rounds):,}",
        *limit_lines(rounds),
    ]
    for n, first, last in quarters:
        flat = "GREW" if grew(first, last) else "flat"
        lines.append(
            f"memory of a process   {flat}: {first / 1e6:.1f} MB in the first quarter of {n} rounds, "
            f"{last / 1e6:.1f} MB in the last"
        )
    died = sum("the process died" in each.get("message", "") for each in rounds)
    lines.append(f"failures              {len(failed) + n_grown} (crashes and hangs: {died})")
    return lines, len(failed) + n_grown


def limit_lines(rounds):
    """How well limits were kept: the worst case, also as a share for limits that are not tiny."""
    timed = [each for each in rounds if "seconds" in each and "time_limit" in each["options"]]
    bounded = [each for each in timed if "memory_limit" in each["options"]]
    lines = []
    if timed:
        worst = max(timed, key=time_overshoot)
        shares = [time_overshoot(each) / each["options"]["time_limit"] for each in timed if is_long(each)]
        raw = max(each["seconds"] - each["options"]["time_limit"] for each in timed)
        lines.append(
            f"time limits           {len(timed)}, worst overshoot {time_overshoot(worst):.3f} s "
            f"(seed {worst['seed']}); {max(shares, default=0):.1%} of a limit of 1 s or more; "
            f"{max(raw, 0):.2f} s with waiting for a processor"
        )
    if bounded:
        worst = max(bounded, key=memory_overshoot)
        shares = [memory_overshoot(each) / 1e9 / each["options"]["memory_limit"] for each in bounded if is_large(each)]
        lines.append(
            f"memory limits         {len(bounded)}, worst overshoot {memory_overshoot(worst) / 1e6:.1f} MB "
            f"(seed {worst['seed']}); {max(shares, default=0):.1%} of a limit of 200 MB or more"
        )
    return lines


def is_long(played):
    return played["options"]["time_limit"] >= 1


def is_large(played):
    return played["options"]["memory_limit"] >= 0.2


def main(arguments=None):
    options = parse(arguments)
    end, seed, children = monotonic() + options.seconds, options.first_seed, []
    while monotonic() < end:
        children.append([])
        for played in rounds_from(seed, end - monotonic()):
            children[-1].append(played)
            seed = played["seed"] + 1
            if options.out and len(children[-1]) % 20 == 0:
                runs.save(options.out, {"children": children})
        if not children[-1]:
            break  # a child that came up too late for a round
    if options.out:
        runs.save(options.out, {"children": children})
    lines, n_failures = report(children)
    print("\n".join(lines))
    return 1 if n_failures else 0


if __name__ == "__main__":
    sys.exit(main())
