"""Draws the picture of the README: what a forest and its one tree do with two features of the iris data.

Run it from the top folder: python examples/readme_picture.py [FILE.svg]
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.report.drawing import class_colours, plain_legend
from onetree.report.figures import plot_cells

LIMITS = ((0.8, 7.1), (0.0, 2.6))  # petal length and width, in cm


def main(path: str) -> None:
    data = load_iris(as_frame=True)
    X, y = data.data[["petal length (cm)", "petal width (cm)"]], data.target_names[data.target]
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    ensemble = onetree.Ensemble.from_model(forest)
    tree = onetree.born_again(ensemble, objective="leaves-depth").tree

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), sharey=True, layout="constrained")
    plot_cells(ensemble, X=X, y=y, limits=LIMITS, legend=False, ax=left)
    plot_cells(tree, tree=tree, X=X, y=y, limits=LIMITS, lines=False, legend=False, ax=right)
    left.set_title(f"forest: {ensemble.n_trees} trees, {ensemble.n_leaves} leaves")
    right.set_title(f"one tree: {tree.n_leaves} leaves, the same class everywhere")
    right.set_ylabel("")
    plain_legend(figure, class_colours(3), tree.classes.tolist(), loc="outside lower center", ncols=3, frameon=False)
    # The same bytes on every run: no date, and names that do not depend on chance.
    mpl.rcParams["svg.hashsalt"] = "onetree"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parent.parent / "docs" / "images" / "iris.svg"))
