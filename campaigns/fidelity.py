"""Do library, ensemble, tree and exported tree ever disagree? ``python -m campaigns.fidelity``.

Each model of `fidelity_configurations` is compared on its training data, on random points, on points that lie on a
threshold or one float beside it and, where the model takes missing values, on points with gaps; in float64, and a
quarter as many in float32. Categorical features take their codes, what lies beside them, and numbers that are no
category. What the library predicts is compared with `Ensemble.predict`, with the tree of
`born_again` and with the scikit-learn tree that `to_sklearn` makes of it. The tests run the same on fewer points.

A scikit-learn tree rounds its inputs to float32. Where the library does not (HistGradientBoosting, LightGBM), the
exported tree is compared on the same points rounded to float32.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import sys
import time
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

import onetree
from campaigns.fidelity_configurations import CONFIGURATIONS, FAMILIES
from campaigns.fidelity_models import quietly
from campaigns.fidelity_points import samples

TIME_LIMIT = 30.0  # seconds for one tree
LIBRARIES = ("numpy", "scikit-learn", "xgboost-cpu", "xgboost", "lightgbm", "catboost")
COMPARED = ("ensemble", "tree", "exported")


def count_mismatches(configuration, n_points):
    """Train, convert and compare one model: rows compared and disagreements with the library, and the tree's size."""
    model, X = configuration.fit()
    ensemble = configuration.ensemble(model)
    # LightGBM does not tell NaN in a categorical feature from rare categories.
    ordinary = np.array([categories is None for categories in ensemble.categories])
    if ensemble.nan_features[ordinary].any() != configuration.takes_nan:
        raise SystemExit(f"{configuration}: whether NaN is an input was read wrongly")
    if ensemble.has_subsets != (configuration.n_categories > 0):
        raise SystemExit(f"{configuration}: whether there are categories was read wrongly")
    solution = None if configuration.large else smallest_tree(ensemble)
    tree = None if solution is None else solution.tree
    exported = None if tree is None else exported_tree(tree)
    rng = np.random.default_rng(zlib.crc32(str(configuration).encode()))
    rows, mismatches = Counter(), dict.fromkeys(COMPARED, 0)
    for kind, double in samples(ensemble, X, n_points, rng).items():
        for sample in (double, double[: max(len(X), n_points // 4)].astype(np.float32)):
            expected = configuration.reference(model, sample)
            rows[kind] += len(sample)
            mismatches["ensemble"] += differences(in_parts(ensemble.predict, sample), expected)
            if tree is None:
                continue
            mismatches["tree"] += differences(tree.predict(sample), expected)
            if exported is None:
                continue
            if not configuration.compares_float32:
                sample = sample.astype(np.float32)
                expected = configuration.reference(model, sample)
            mismatches["exported"] += differences(quietly(exported.predict, sample), expected)
    return {
        "model": str(configuration),
        "depth": None if tree is None else tree.depth,
        "leaves": None if tree is None else tree.n_leaves,
        "status": "no tree" if solution is None else solution.status,
        "exported": exported is not None,
        "rows": dict(rows),
        "mismatches": mismatches,
    }


def smallest_tree(ensemble):
    """The tree, proven smallest if there is time, or None if none was found."""
    try:
        return onetree.born_again(ensemble, time_limit=TIME_LIMIT)
    except (onetree.LimitReachedError, onetree.GridTooLargeError):
        return None


def exported_tree(tree):
    """The tree for scikit-learn, or None if its set tests take too many nodes as thresholds."""
    try:
        return tree.to_sklearn()
    except onetree.InvalidInputError:
        if tree.has_subsets:
            return None
        raise


def in_parts(predict, X):
    """Predict some thousand rows at a time: the reference predictor holds a number for each row and tree."""
    return np.concatenate([predict(X[start : start + 20_000]) for start in range(0, len(X), 20_000)])


def differences(found, expected):
    return int(np.count_nonzero(found != expected))


def versions():
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def page(results, of_versions):
    """The table in Markdown."""
    n_rows = sum(sum(result["rows"].values()) for result in results)
    n_mismatches = sum(sum(result["mismatches"].values()) for result in results)
    lines = [
        "With " + ", ".join(f"{name} {version}" for name, version in of_versions.items()) + ":",
        f"{len(results)} models, {n_rows:,} rows, {n_mismatches} mismatches.",
        "",
        "| model | depth, leaves of the tree | rows | of these with gaps | ensemble | tree | exported |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for result in results:
        size = "too large" if result["leaves"] is None else f"{result['depth']}, {result['leaves']:,}"
        size += " (not proven smallest)" * (result["status"] == "feasible")
        cells = [f"{sum(result['rows'].values()):,}", f"{result['rows'].get('gaps', 0):,}"]
        compared = COMPARED[: 1 + (result["leaves"] is not None) + result["exported"]]
        cells += [str(result["mismatches"][key]) if key in compared else "" for key in COMPARED]
        lines.append(f"| {result['model']} | {size} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="python -m campaigns.fidelity", description=__doc__)
    parser.add_argument("--points", type=int, default=100_000, help="of each kind, per model (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="10,000 points of each kind")
    parser.add_argument("--only", action="append", choices=FAMILIES, help="a family; may be given again for another")
    parser.add_argument("--categorical", action="store_true", help="only models that split by categories")
    parser.add_argument("--out", metavar="NAME", help="write NAME.json and NAME.md")
    options = parser.parse_args()
    n_points = 10_000 if options.quick else options.points
    results, started = [], time.perf_counter()
    for configuration in CONFIGURATIONS:
        if options.only and configuration.family not in options.only:
            continue
        if options.categorical and not configuration.n_categories:
            continue
        begun = time.perf_counter()
        try:
            result = count_mismatches(configuration, n_points)
        except ModuleNotFoundError as error:
            print(f"{configuration!s:64} left out: {error}")
            continue
        results.append(result)
        print(
            f"{result['model']:64} depth {result['depth']}, {result['leaves']} leaves, {result['status']}; "
            f"{sum(result['rows'].values()):,} rows, mismatches {result['mismatches']}, "
            f"{time.perf_counter() - begun:.1f} s",
            flush=True,
        )
    found = versions()
    total = sum(sum(result["mismatches"].values()) for result in results)
    print(f"{total} mismatches in {len(results)} models, {time.perf_counter() - started:.0f} s; {found}")
    if options.out:
        Path(f"{options.out}.json").write_text(json.dumps({"versions": found, "results": results}, indent=1) + "\n")
        Path(f"{options.out}.md").write_text(page(results, found))
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
