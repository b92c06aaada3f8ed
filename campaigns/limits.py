"""How well time and memory limits are kept: ``python -m campaigns.limits``.

Every stage of the work, on models from a few cells to grids that nobody can enumerate, under limits that it often
cannot keep by being done. Each run has a process of its own. Prints the worst overshoot of each stage. Ends with status
1 if a limit was passed by more than 5 %, or by more than what is allowed where that is less.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import runs
from campaigns.limits_one import STAGES

MODELS = (
    "iris,20,4",
    "wine,8,3",
    "wine,12,3",
    "breast_cancer,4,3",
    "breast_cancer,5,3",
    "breast_cancer,10,3",
    "digits,10,3",
    "breast_cancer,100,0",
    "breast_cancer,1,0,1",  # long axes
    "breast_cancer,3,0,2",
    "breast_cancer,10,0,3",
)
OBJECTIVES = ("leaves", "depth-leaves")
SHARE = 0.05
SLACK = {"time": 0.1, "memory": 20e6}  # seconds; bytes that an interpreter grows by for reasons of its own
MEMORY_SECONDS = 4.0  # that a run with a memory limit may take
ESTIMATE = 2.0  # times its budget that an estimate may take, as it says


def parse():
    parser = argparse.ArgumentParser(prog="python -m campaigns.limits", description=__doc__)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--objectives", nargs="+", default=OBJECTIVES)
    parser.add_argument("--seconds", nargs="*", type=float, default=[2.0, 5.0, 10.0])
    parser.add_argument("--gigabytes", nargs="*", type=float, default=[0.1, 0.5])
    parser.add_argument("--out", type=Path, help="write all results to this file, as JSON")
    return parser.parse_args()


def measure(stage, model, objective, kind, limit):
    words = (stage, model, objective)
    if kind == "time":
        result = runs.run_module("limits_one", *words, "--time-limit", limit, timeout=20 * limit + 300)
        allowed, used = limit * (ESTIMATE if stage == "estimate" else 1), result.get("seconds", 0.0)
    else:
        limits = ("--memory-limit", limit, "--time-limit", MEMORY_SECONDS)
        result = runs.run_module("limits_one", *words, *limits, timeout=600)
        allowed, used = limit * 1e9, result.get("bytes", 0)
    over = used - allowed
    fault = result["status"] == "failed" or over > max(SHARE * allowed, SLACK[kind])
    return {"stage": stage, "model": model, "objective": objective, "kind": kind, "limit": limit} | {
        "result": result,
        "over": over,
        "share": over / allowed,
        "fault": fault,
    }


def show(row):
    unit, scale = ("s", 1.0) if row["kind"] == "time" else ("GB", 1e9)
    print(
        f"{row['stage']:18}{row['model']:22}{row['objective']:14}{row['limit']:6g} {unit:3}"
        f"{row['over'] / scale:+9.3f} {unit:3}{row['share']:+8.1%}  {row['result']['status']}"
        + ("  OVER" if row["fault"] else ""),
        flush=True,
    )


def main():
    options = parse()
    kinds = [("time", limit) for limit in options.seconds] + [("memory", limit) for limit in options.gigabytes]
    rows = []
    for stage in options.stages:
        for model in options.models:
            for objective in options.objectives[:1] if stage == "front" else options.objectives:
                for kind, limit in kinds:
                    if kind == "memory" and stage.startswith(("proof", "estimate")):  # which take none
                        continue
                    rows.append(measure(stage, model, objective, kind, limit))
                    show(rows[-1])
                    if options.out:
                        runs.save(options.out, {"rows": rows})
    print(f"\n{'worst overshoot':18}{'time':>22}{'memory':>22}")
    for stage in options.stages:
        texts = []
        for kind, unit, scale in (("time", "s", 1.0), ("memory", "GB", 1e9)):
            of_kind = [row for row in rows if row["stage"] == stage and row["kind"] == kind]
            worst = max(of_kind, key=lambda row: row["over"], default=None)
            text = "" if worst is None else f"{worst['over'] / scale:+.3f} {unit} ({worst['share']:+.1%})"
            texts.append(f"{text:>22}")
        print(f"{stage:18}{''.join(texts)}")
    faults = [row for row in rows if row["fault"]]
    print(f"{len(faults)} of {len(rows)} runs passed their limit by more than they may")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
