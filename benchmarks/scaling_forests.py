"""Trains the forests of one point of `benchmarks.scaling`: ``python -m benchmarks.scaling_forests DATA.csv OUT ...``.

Features are random columns of real data, cut at quantiles into a given number of bins. With ``--made-classes K`` the
classes are not those of the data but K quantiles of its first principal component, so that their number can grow while
everything else stays. Writes OUT/0.json, OUT/1.json, ...
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import onetree
from benchmarks.train_one import read


def binned(column, n_levels):
    """The column cut into bins of about equal size: n_levels hyperplanes at most."""
    cuts = np.unique(np.quantile(column, np.arange(1, n_levels + 1) / (n_levels + 1)))
    return np.searchsorted(cuts, column).astype(np.float64)


def made_classes(X, n_classes):
    """Equally frequent classes: slices of the data across the direction in which they vary most."""
    standard = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), np.finfo(float).tiny)
    _, directions = np.linalg.eigh(standard.T @ standard)
    main = directions[:, -1]
    return binned(standard @ (main * np.sign(main[np.argmax(np.abs(main))])), n_classes - 1).astype(int)


def train(X, y, size, n_rows, seed):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[:n_rows]
    features = rng.permutation(X.shape[1])[: size["features"]]
    binned_X = np.stack([binned(X[rows, feature], size["levels"]) for feature in features], axis=1)
    forest = RandomForestClassifier(size["trees"], max_depth=size["depth"], random_state=seed).fit(binned_X, y[rows])
    return onetree.Ensemble.from_model(forest, voting="hard")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling_forests", description=__doc__)
    parser.add_argument("data")
    parser.add_argument("out", type=Path)
    for name in ("trees", "depth", "features", "levels", "forests", "rows"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--made-classes", type=int, default=0, help="0: the classes of the data")
    options = parser.parse_args()
    X, y = read(options.data)
    if options.made_classes:
        y = made_classes(X, options.made_classes)
    if options.features > X.shape[1]:
        raise SystemExit(f"{options.data} has {X.shape[1]} features, not {options.features}")
    for seed in range(options.forests):
        train(X, y, vars(options), options.rows, seed).save(options.out / f"{seed}.json")
    json.dump({"status": "trained", "n_classes": len(np.unique(y))}, sys.stdout)


if __name__ == "__main__":
    main()
