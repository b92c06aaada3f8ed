"""How time and states grow with trees, depth, features and levels: ``python -m benchmarks.scaling --out FILE.svg``.

One factor grows while the others stay at their base values. Forests are trained on real data whose features are cut at
quantiles into a given number of bins, on random features in random order; each point is the median over several. The
exponents are those of least-squares lines through the logarithms, so a factor x multiplies the time by x^exponent.
Beside the figure, FILE.json keeps every run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import onetree
from benchmarks import paper_data, runs
from benchmarks.train_one import read
from onetree.solve import ENGINES, OBJECTIVES

BASE = {"trees": 10, "depth": 3, "features": 6, "levels": 8}
FACTORS = {
    "trees": (2, 3, 5, 7, 10, 12, 15, 17, 20),
    "depth": (1, 2, 3, 4, 5, 6),
    "features": (2, 3, 4, 5, 6, 7, 8, 9, 10),
    "levels": (1, 2, 3, 4, 6, 8, 12, 16),
}
# What is measured, and the least that counts for a line: below a millisecond time is not growth but setting up.
MEASURES = {"seconds": 1e-3, "states": 1}


def parse():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="unbinned data")
    parser.add_argument("--data-set", default="magic", help="name of a file in there, without .csv")
    parser.add_argument("--factors", nargs="+", choices=FACTORS, default=tuple(FACTORS))
    parser.add_argument("--objectives", nargs="+", choices=OBJECTIVES, default=("depth", "leaves"))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--forests", type=int, default=5, help="forests per point")
    parser.add_argument("--rows", type=int, default=2500, help="rows to train on")
    parser.add_argument("--time-limit", type=float, default=60.0, help="in seconds")
    parser.add_argument("--memory-limit", type=float, default=2.0, help="in GB")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="the figure, PNG or SVG; results go to .json beside it")
    for factor, value in BASE.items():
        parser.add_argument(f"--{factor}", type=int, default=value, help=f"base value (default: {value})")
        parser.add_argument(f"--max-{factor}", type=int, default=max(FACTORS[factor]), help="largest value to try")
    return parser.parse_args()


def binned(column, n_levels):
    """The column cut into bins of about equal size: n_levels hyperplanes at most."""
    cuts = np.unique(np.quantile(column, np.arange(1, n_levels + 1) / (n_levels + 1)))
    return np.searchsorted(cuts, column).astype(np.float64)


def train(X, y, size, n_rows, seed):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[:n_rows]
    features = rng.permutation(X.shape[1])[: size["features"]]
    binned_X = np.stack([binned(X[rows, feature], size["levels"]) for feature in features], axis=1)
    forest = RandomForestClassifier(size["trees"], max_depth=size["depth"], random_state=seed).fit(binned_X, y[rows])
    return onetree.Ensemble.from_model(forest, voting="hard")


def measure(options, ensemble, objective, engine):
    """One run; seconds and states are None if nothing was proven within the limits."""
    started = time.perf_counter()
    try:
        solution = onetree.born_again(
            ensemble,
            objective=objective,
            method="exact",
            engine=engine,
            time_limit=options.time_limit,
            memory_limit=options.memory_limit,
            n_jobs=options.n_jobs,
            verify=False,
        )
    except onetree.OnetreeError as error:
        status, message = "failed", str(error)
    else:
        status, message = solution.status, None
    run = {"status": status, "message": message, "call_seconds": time.perf_counter() - started}
    if status != "optimal":
        return run | {"seconds": None, "states": None}
    stats = solution.stats
    # The interval DP settles every box.
    states = stats["boxes"] if engine == "interval-dp" else max(1, stats["states"])
    return run | {"seconds": stats["seconds"], "states": states, "value": solution.value, "cells": stats["cells"]}


def grow(options, X, y, factor):
    """Medians and runs per value, engine and objective; an engine that cannot prove half of them is not asked on."""
    gave_up = set()
    for value in FACTORS[factor]:
        if value > getattr(options, f"max_{factor}") or (factor == "features" and value > X.shape[1]):
            continue
        size = {name: getattr(options, name) for name in BASE} | {factor: value}
        ensembles = [train(X, y, size, options.rows, seed) for seed in range(options.forests)]
        for engine in options.engines:
            for objective in options.objectives:
                if (engine, objective) in gave_up:
                    continue
                results = [measure(options, ensemble, objective, engine) for ensemble in ensembles]
                proven = [result for result in results if result["status"] == "optimal"]
                if 2 * len(proven) <= len(results):
                    gave_up.add((engine, objective))
                    continue  # no median
                row = {"factor": factor, "value": value, "engine": engine, "objective": objective, "runs": results}
                # An unproven run took longer than any proven one, so the median stands.
                for name in MEASURES:
                    known = [np.inf if result[name] is None else result[name] for result in results]
                    row[name] = statistics.median_low(known)
                yield row


def fit(xs, ys, least):
    """The power law y = scale x^exponent; None where there are too few points.

    Counted are all points from the first that reaches `least` on. Dropping every point below it would keep those that
    happen to lie high, and flatten the line.
    """
    first = next((index for index, y in enumerate(ys) if y >= least), len(ys))
    xs, ys = np.array(xs[first:], dtype=float), np.array(ys[first:], dtype=float)
    if len(xs) < 3:
        return None
    log_x, log_y = np.log(xs), np.log(ys)
    exponent, constant = np.polyfit(log_x, log_y, 1)
    spread = np.sum((log_y - log_y.mean()) ** 2)
    missed = np.sum((log_y - exponent * log_x - constant) ** 2)
    return {
        "exponent": float(exponent),
        "scale": float(np.exp(constant)),
        "r_squared": float(1 - missed / spread) if spread > 0 else 1.0,
        "from": float(xs[0]),
        "to": float(xs[-1]),
        "n_points": len(xs),
    }


def curves(rows, measure):
    """Per factor, engine and objective: values, medians, and the line through them."""
    groups = {}
    for row in rows:
        groups.setdefault((row["factor"], row["engine"], row["objective"]), []).append((row["value"], row[measure]))
    found = {}
    for key, points in groups.items():
        xs, ys = zip(*points, strict=True)
        found[key] = xs, ys, fit(xs, ys, MEASURES[measure])
    return found


def draw(rows, factors, path):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    shape = (len(MEASURES), len(factors))
    size = (3.4 * len(factors), 3.0 * len(MEASURES))
    figure, grid = plt.subplots(*shape, figsize=size, squeeze=False, sharey="row", layout="constrained")
    series = sorted({(row["engine"], row["objective"]) for row in rows})
    for line, name in zip(grid, MEASURES, strict=True):
        found = curves(rows, name)
        for axes, factor in zip(line, factors, strict=True):
            for number, (engine, objective) in enumerate(series):
                if (factor, engine, objective) not in found:
                    continue
                xs, ys, power = found[factor, engine, objective]
                label = f"{engine}, {objective}"
                if power:
                    label += f": ^{power['exponent']:.1f}"
                    ends = np.array([power["from"], power["to"]])
                    axes.plot(ends, power["scale"] * ends ** power["exponent"], color=f"C{number}", linewidth=0.8)
                axes.plot(xs, ys, "o", color=f"C{number}", markersize=4, label=label)
            ticks = sorted({row["value"] for row in rows if row["factor"] == factor})
            axes.set(xscale="log", yscale="log", xlabel=factor)
            axes.set_xticks(ticks, labels=map(str, ticks))
            axes.minorticks_off()
            axes.grid(alpha=0.3)
            if axes.get_legend_handles_labels()[1]:
                axes.legend(fontsize=7)
        line[0].set_ylabel(name)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main():
    options = parse()
    X, y = read(paper_data.data_path(options.data, options.data_set))
    base = {name: getattr(options, name) for name in BASE}
    print(f"{options.data_set}, {options.rows} rows, base {base}, median of {options.forests} forests")
    print(f"{'factor':10}{'value':>6}  {'engine':18}{'objective':13}{'proven':>7}{'seconds':>12}{'states':>12}")
    rows = []
    for factor in options.factors:
        for row in grow(options, X, y, factor):
            rows.append(row)
            n_proven = sum(result["status"] == "optimal" for result in row["runs"])
            print(
                f"{factor:10}{row['value']:6}  {row['engine']:18}{row['objective']:13}"
                f"{n_proven:>3} of {len(row['runs'])}{row['seconds']:12.5f}{row['states']:12.3g}",
                flush=True,
            )
    fits = [
        {"measure": name, "factor": factor, "engine": engine, "objective": objective} | power
        for name in MEASURES
        for (factor, engine, objective), (_, _, power) in curves(rows, name).items()
        if power
    ]
    for found in fits:
        print(
            f"{found['measure']:8} ~ {found['factor']}^{found['exponent']:.2f}  "
            f"({found['engine']}, {found['objective']}; {found['n_points']} points "
            f"from {found['from']:g} to {found['to']:g}, R^2 {found['r_squared']:.3f})"
        )
    runs.save(options.out.with_suffix(".json"), {"base": base, "rows": rows, "fits": fits})
    draw(rows, options.factors, options.out)


if __name__ == "__main__":
    main()
