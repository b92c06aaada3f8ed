"""Boxes per second of the interval DP on Pima-Diabetes fold 1: ``python -m benchmarks.boxes``.

The rate is `stats["boxes"]` over `stats["seconds"]`, which spans the whole solve, building the grid and reading the
tree back included.
"""

from __future__ import annotations

import argparse
import statistics

import onetree
from benchmarks import paper_data
from onetree.search.solve import OBJECTIVES


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.boxes", description=__doc__)
    paper_data.add_option(parser)
    parser.add_argument("--data-set", choices=paper_data.DATA_SETS, default="Pima-Diabetes")
    parser.add_argument("--fold", type=int, choices=paper_data.FOLDS, default=1)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
    ensemble = onetree.load_ensemble(paper_data.forest_path(options.paper_data, options.data_set, options.fold))
    print(f"{options.data_set} fold {options.fold}, {options.n_jobs} thread(s), median and best of {options.repeat}")
    print(f"{'objective':13}{'value':>12}{'cells':>12}{'boxes':>14}{'seconds':>10}{'boxes/s':>11}{'best':>11}")
    for objective in OBJECTIVES:
        solutions = [
            onetree.born_again(ensemble, objective=objective, engine="interval-dp", n_jobs=options.n_jobs, verify=False)
            for _ in range(options.repeat)
        ]
        seconds = [solution.stats["seconds"] for solution in solutions]
        middle, stats = statistics.median(seconds), solutions[0].stats
        print(
            f"{objective:13}{solutions[0].value!s:>12}{stats['cells']:12}{stats['boxes']:14}{middle:10.4f}"
            f"{stats['boxes'] / middle:11.2e}{stats['boxes'] / min(seconds):11.2e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
