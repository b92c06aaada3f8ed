"""Trains one forest as the paper does and saves it: ``python -m benchmarks.train_one DATA.csv OUT.json``.

The last column of the file is the class. Every tree has one vote. Prints the size of the forest and of its grid.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.lowering.grid import Grid


def read(path):
    """Features and classes of a data file."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    try:
        return np.array([row[:-1] for row in rows], dtype=np.float64), np.array([row[-1] for row in rows])
    except ValueError as error:
        raise SystemExit(f"{path}: features have to be numbers: {error}") from None


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train_one", description=__doc__)
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    X, y = read(options.data)
    forest = RandomForestClassifier(options.trees, max_depth=options.depth, random_state=options.seed).fit(X, y)
    ensemble = onetree.Ensemble.from_model(forest, voting="hard")
    ensemble.save(options.out)
    grid = Grid.of(ensemble)
    size = {"forest_leaves": ensemble.n_leaves, "levels": grid.n_levels, "raw_cells": grid.n_cells}
    json.dump({"status": "trained"} | size, sys.stdout)


if __name__ == "__main__":
    main()
