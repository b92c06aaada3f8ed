"""One JSON line of speed per run, so that commits can be compared: ``python -m benchmarks.track run >> track.jsonl``.

A fixed small set of work on models that are made of seeds, so that no data and no other library decide what is timed:
searches for each objective, with and without a categorical feature, a heuristic tree, a proof, predictions. Each is
timed beside a yardstick, a piece of plain numpy work that no commit changes, in turns; kept are the medians of the
seconds and of their ratios to the yardstick. Seconds compare commits on one machine, ratios also where it is busy now
and then. What was found is kept too: a search that is faster because it finds something else is no gain.

``python -m benchmarks.track compare track.jsonl [OLD NEW]`` compares two lines, by number or by the beginning of their
commit, the last two if none are given. It ends with status 1 if results differ, and says if machines do.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import onetree
from benchmarks.runs import ROOT, machine
from onetree import _core
from onetree.model.categories import FIRST, Categories
from onetree.model.ensemble import Rule

VERSION = 1  # of the set of work and of the line; lines of other versions are not compared
REPEAT = 5
SHORT = 0.02  # seconds; what takes less is done several times in a row
COLOURS = Categories.equal([0.0, 1.0, 2.0, 3.0])
SETS = ({FIRST, FIRST + 2}, {FIRST, FIRST + 1})  # of colours


def forest(seed, n_trees, depth, n_features, n_levels, *, n_classes=2, categorical=False):
    """Give full trees of a depth that vote, with random tests; the first feature may be one of four categories."""
    rng = random.Random(seed)
    feature, threshold, left, right, subset, value = [], [], [], [], [], []

    def grow(levels):
        node = len(feature)
        split = rng.randrange(n_features) if levels else -1
        by_set = categorical and split == 0
        feature.append(split)
        threshold.append(0.0 if levels == 0 or by_set else float(rng.randrange(n_levels)) + 0.5)
        subset.append(rng.randrange(2) if by_set else -1)
        value.append([0.0] * n_classes)
        left.append(-1)
        right.append(-1)
        if levels:
            left[node], right[node] = grow(levels - 1), grow(levels - 1)
        else:
            value[node][rng.randrange(n_classes)] = 1.0
        return node

    roots = [grow(depth) for _ in range(n_trees)]
    sets = [
        [element in chosen for element in range(COLOURS.n_elements)] for chosen in ({FIRST, FIRST + 2}, {FIRST + 1})
    ]
    more = (
        {"categories": (COLOURS, *[None] * (n_features - 1)), "subset": subset, "subsets": sets} if categorical else {}
    )
    return onetree.Ensemble(
        classes=list(range(n_classes)),
        feature_names=tuple(f"x{at}" for at in range(n_features)),
        roots=roots,
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_left=[False] * len(feature),
        value=value,
        base=[0.0] * n_classes,
        rule=Rule("hard"),
        nan_features=[False] * n_features,
        **more,
    )


def work():
    """The set: for each name, a function that does it and gives what it found."""

    def search(model, objective, **options):
        def run():
            found = onetree.born_again(model, objective=objective, verify=False, progress=False, **options)
            return [found.status, str(found.value)]

        return run

    ordered = forest(1, 9, 4, 5, 8, n_classes=3)
    mixed = forest(2, 12, 4, 7, 6, categorical=True)
    wide = forest(3, 12, 3, 12, 6)
    tree = onetree.born_again(ordered, objective="leaves", method="exact", verify=False, progress=False).tree
    rows = np.random.default_rng(0).uniform(0.0, 9.0, size=(200_000, 5))
    jobs = {f"exact {objective}": search(ordered, objective, method="exact") for objective in ("depth", "leaves")}
    jobs["exact depth-leaves"] = search(ordered, "depth-leaves", method="exact")
    jobs["exact leaves, a categorical feature"] = search(mixed, "leaves", method="exact")
    jobs["heuristic"] = search(wide, "leaves", method="heuristic", work_limit=20_000)
    jobs["proof"] = lambda: [bool(onetree.verify(tree, ordered, method="search"))]
    jobs["predict"] = lambda: [int(tree.predict_index(rows).sum())]
    return jobs


def yardstick():
    numbers = np.random.default_rng(0).random(200_000)
    return lambda: [float(np.sort(numbers)[1000])]


def seconds_of(job, times=1):
    started = time.perf_counter()
    for _ in range(times):
        found = job()
    return (time.perf_counter() - started) / times, found


def measure(jobs, yard, repeat=REPEAT):
    """Seconds and ratios to the yardstick, as medians, of jobs that are done in turns; and what they found."""
    times = {name: max(1, math.ceil(SHORT / max(seconds_of(job)[0], 1e-6))) for name, job in jobs.items()}
    yard_times = max(1, math.ceil(SHORT / max(seconds_of(yard)[0], 1e-6)))
    seconds, ratios, found = ({name: [] for name in jobs} for _ in range(3))
    for _ in range(repeat):
        for name, job in jobs.items():
            unit, _ = seconds_of(yard, yard_times)
            taken, result = seconds_of(job, times[name])
            seconds[name].append(taken)
            ratios[name].append(taken / unit)
            found[name].append(result)
    return {
        name: {
            "seconds": statistics.median(seconds[name]),
            "ratio": statistics.median(ratios[name]),
            "found": found[name][0],
            "same": all(each == found[name][0] for each in found[name]),
        }
        for name in jobs
    }


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def line(work_done):
    """All that a run is remembered by."""
    return {
        "version": VERSION,
        "commit": git("rev-parse", "HEAD"),
        "changed": bool(git("status", "--porcelain", "--untracked-files=no")),  # beside the commit
        "onetree": onetree.__version__,
        "simd": _core.simd(),
        "machine": machine(),
        "work": work_done,
    }


def chosen(lines, name):
    """The line of a number, as in a list, or of the beginning of a commit: the last, if there are several."""
    if name.lstrip("-").isdigit() and -len(lines) <= int(name) < len(lines):
        return lines[int(name)]
    found = [each for each in lines if (each["commit"] or "").startswith(name)]
    if not found:
        raise SystemExit(f"no line has the number or the commit {name}; there are {len(lines)} lines")
    return found[-1]


def comparison(old, new):
    """What to show of two lines, and whether they found the same."""
    if old["version"] != new["version"]:
        raise SystemExit(f"the lines are of versions {old['version']} and {new['version']}, which did other work")
    shown = [f"{'':40} {'old s':>10} {'new s':>10} {'speedup':>8} {'by ratio':>9}"]
    speedups, by_ratio, same = [], [], True
    for name in [name for name in old["work"] if name in new["work"]]:
        a, b = old["work"][name], new["work"][name]
        speedups.append(a["seconds"] / b["seconds"])
        by_ratio.append(a["ratio"] / b["ratio"])
        agree = a["found"] == b["found"] and a["same"] and b["same"]
        same &= agree
        shown.append(
            f"{name:40} {a['seconds']:10.4f} {b['seconds']:10.4f} {speedups[-1]:8.2f} {by_ratio[-1]:9.2f}"
            + ("" if agree else f"  found {b['found']}, not {a['found']}")
        )
    means = [statistics.geometric_mean(each) for each in (speedups, by_ratio)]
    shown.append(f"{'geometric mean':62} {means[0]:8.2f} {means[1]:9.2f}")
    if (old["machine"]["processor"], old["simd"]) != (new["machine"]["processor"], new["simd"]):
        shown.append("The processors or their vector instructions differ: look at the ratios, with care.")
    return "\n".join(shown), same


def parse(words=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.track", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure, and print one JSON line")
    run.add_argument("--repeat", type=int, default=REPEAT, help="turns; times are medians")
    compare = commands.add_parser("compare", help="compare two lines of a file")
    compare.add_argument("file", type=Path)
    compare.add_argument("lines", nargs="*", default=["-2", "-1"], help="old and new: numbers, or commits")
    return parser.parse_args(words)


def main(words=None):
    options = parse(words)
    if options.command == "run":
        print(json.dumps(line(measure(work(), yardstick(), options.repeat))))
        return 0
    if len(options.lines) != 2:
        raise SystemExit("compare takes two lines, an old and a new one")
    lines = [json.loads(text) for text in options.file.read_text(encoding="utf-8").splitlines() if text.strip()]
    shown, same = comparison(*(chosen(lines, name) for name in options.lines))
    print(shown)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
