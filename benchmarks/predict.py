"""Throughput of `tree.predict` beside `forest.predict`, in one run: ``python -m benchmarks.predict``.

A forest of ten trees and its tree predict 100,000 rows in turns; the ratio of the median times is what counts.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree

FEATURES = (7, 20, 21, 27)  # of scikit-learn's breast cancer data; rounded, so that the grid stays small


def timed(predict, X):
    started = time.perf_counter()
    predicted = predict(X)
    return time.perf_counter() - started, predicted


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predict", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, FEATURES]
    X = ((X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)) * 10).round()
    forest = RandomForestClassifier(10, max_depth=3, random_state=0, n_jobs=1).fit(X, y)
    solution = onetree.born_again(forest, objective="depth-leaves")
    tree = solution.tree
    print(f"forest of 10 trees, tree of depth {tree.depth} with {tree.n_leaves} leaves, {options.rows} rows")
    print(f"{'input':12}{'forest s':>10}{'tree s':>10}{'rows/s':>11}{'ratio':>8}{'least':>8}")
    rng = np.random.default_rng(0)
    rows = X[rng.integers(len(X), size=options.rows)] + rng.normal(scale=0.5, size=(options.rows, X.shape[1]))
    for dtype in (np.float32, np.float64):
        for order in ("C", "F"):
            sample = np.array(rows, dtype=dtype, order=order)
            forest_times, tree_times = [], []
            for _ in range(options.repeat):
                seconds, expected = timed(forest.predict, sample)
                forest_times.append(seconds)
                seconds, predicted = timed(tree.predict, sample)
                tree_times.append(seconds)
                if not np.array_equal(expected, predicted):
                    raise SystemExit("forest and tree differ: run python -m campaigns.fidelity")
            ratios = [f / t for f, t in zip(forest_times, tree_times, strict=True)]
            forest_time, tree_time = statistics.median(forest_times), statistics.median(tree_times)
            print(
                f"{np.dtype(dtype).name} {order:4}{forest_time:10.4f}{tree_time:10.5f}{options.rows / tree_time:11.2e}"
                f"{forest_time / tree_time:7.1f}x{min(ratios):7.1f}x"
            )


if __name__ == "__main__":
    main()
