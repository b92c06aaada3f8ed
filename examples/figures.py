"""Draws the figures of docs/figures.md, each with one call.

Run it from the top folder: python examples/figures.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.report.figures import plot_cells, plot_feature_use, plot_runs, plot_sizes, plot_tree


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "onetree"  # the same bytes on every run
    data = load_iris(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    trees = {objective: onetree.born_again(forest, objective=objective) for objective in ("depth", "leaves")}
    petals = X[["petal length (cm)", "petal width (cm)"]]
    small_forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(petals, y)
    small = onetree.born_again(small_forest, objective="leaves-depth")
    figures = {
        "tree": plot_tree(small).figure,
        "cells": plot_cells(small_forest, tree=small, X=petals, y=y).figure,
        "feature-use": plot_feature_use(trees["leaves"]).figure,
        "sizes": plot_sizes(forest, trees),
        "runs": plot_runs(leaves_by_seed(petals, y), label="leaves of the one tree").figure,
    }
    for name, figure in figures.items():
        figure.savefig(folder / f"figure-{name}.svg", metadata={"Date": None})
        plt.close(figure)


def leaves_by_seed(X, y) -> dict[str, dict[str, list[int]]]:
    """Leaves of the smallest trees of forests that differ only by their seed."""
    found: dict[str, dict[str, list[int]]] = {}
    for n_trees in (3, 6, 10):
        forests = [RandomForestClassifier(n_trees, max_depth=3, random_state=seed).fit(X, y) for seed in range(8)]
        found[f"{n_trees} trees"] = {
            objective: [onetree.born_again(forest, objective=objective).tree.n_leaves for forest in forests]
            for objective in ("depth", "leaves")
        }
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "images")
