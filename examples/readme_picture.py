"""Draws the picture of the README: what a forest and its one tree do with two features of the iris data.

Run it from the top folder: python examples/readme_picture.py [FILE.svg]
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree

COLOURS = ["#8ecae6", "#ffb703", "#e07a5f"]
X_RANGE, Y_RANGE = (0.8, 7.1), (0.0, 2.6)  # petal length and width, in cm


def main(path: str) -> None:
    data = load_iris()
    X, y = data.data[:, 2:], data.target
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    ensemble = onetree.Ensemble.from_model(forest)
    tree = onetree.born_again(ensemble, objective="leaves-depth").tree

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), sharey=True, layout="constrained")
    draw_forest(left, ensemble)
    draw_tree(right, tree)
    left.set_title(f"forest: {ensemble.n_trees} trees, {ensemble.n_leaves} leaves")
    right.set_title(f"one tree: {tree.n_leaves} leaves, the same class everywhere")
    for axes in (left, right):
        axes.scatter(X[:, 0], X[:, 1], c=[COLOURS[label] for label in y], s=16, edgecolors="black", linewidths=0.6)
        axes.set(xlim=X_RANGE, ylim=Y_RANGE, xlabel="petal length (cm)")
    left.set_ylabel("petal width (cm)")
    handles = [Rectangle((0, 0), 1, 1, facecolor=colour, edgecolor="grey") for colour in COLOURS]
    figure.legend(handles, data.target_names.tolist(), loc="outside lower center", ncols=3, frameon=False)
    # The same bytes on every run: no date, and names that do not depend on chance.
    mpl.rcParams["svg.hashsalt"] = "onetree"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_forest(axes: plt.Axes, ensemble: onetree.Ensemble) -> None:
    """Colour the plane by the forest's class, with a line for every split of every tree."""
    xs, ys = np.linspace(*X_RANGE, 631), np.linspace(*Y_RANGE, 521)
    points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    classes = ensemble.predict_index(points).reshape(len(ys), len(xs))
    axes.pcolormesh(xs, ys, classes, cmap=ListedColormap(COLOURS), vmin=0, vmax=2, rasterized=True)
    inner = ensemble.feature >= 0
    for feature, threshold in zip(ensemble.feature[inner], ensemble.threshold[inner], strict=True):
        (axes.axvline if feature == 0 else axes.axhline)(threshold, color="black", linewidth=0.6, alpha=0.5)


def draw_tree(axes: plt.Axes, tree: onetree.Tree) -> None:
    """Draw the box of every leaf."""
    lower, upper = tree.boxes()
    lower = np.maximum(lower, [X_RANGE[0], Y_RANGE[0]])
    upper = np.minimum(upper, [X_RANGE[1], Y_RANGE[1]])
    for low, high, label in zip(lower, upper, tree.leaf_class[tree.leaves()], strict=True):
        axes.add_patch(Rectangle(tuple(low), *(high - low), facecolor=COLOURS[label], edgecolor="black", linewidth=1.2))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parent.parent / "docs" / "images" / "iris.svg"))
