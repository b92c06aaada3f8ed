"""The figures of the paper, drawn from our own runs; small files, the same in every run on the same results."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt

import onetree
from benchmarks.paper import units
from benchmarks.paper.drawing import COLOURS, draw_cells, draw_tree, ensemble_trees
from benchmarks.paper.illustration import three_trees
from benchmarks.paper.tables import LETTERS, REPORTED, SHORT_NAMES

mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "onetree", "font.size": 8, "axes.titlesize": 9})

EXAMPLE = "Seeds"


def draw_all(results, folder):
    """Draw what there are results for; give the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawings = {"times": times, "growth": growth, "seeds": seeds, "illustration": illustration}
    return {name: _save(draw(results), folder / f"paper_{name}.svg") for name, draw in drawings.items()}


def _save(figure, path):
    if figure is None:
        return None
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
    # Matplotlib leaves spaces at the ends of lines.
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
    return path.name


def times(results):
    """Time per objective and data set; the paper's means, where it gives them, as crosses."""
    groups = {
        (name, objective): [each["seconds"] for each in results.folds("tree", name, objective)]
        for name in results.data_sets
        for objective in units.OBJECTIVES
    }
    groups = {key: seconds for key, seconds in groups.items() if seconds}
    if not groups:
        return None
    figure, axes = plt.subplots(figsize=(7, 3))
    for place, objective in enumerate(units.OBJECTIVES):
        shown = [(at, name) for at, name in enumerate(results.data_sets) if (name, objective) in groups]
        positions = [at + 0.25 * (place - 1) for at, _ in shown]
        boxes = axes.boxplot(
            [groups[name, objective] for _, name in shown], positions=positions, widths=0.2, patch_artist=True
        )
        for box in boxes["boxes"]:
            box.set(facecolor=COLOURS[place], alpha=0.6)
        key = f"{objective}_seconds"
        for position, (_, name) in zip(positions, shown, strict=True):
            if key in REPORTED["heuristic"][name]:
                axes.plot(position, REPORTED["heuristic"][name][key], "x", color="black", markersize=5)
    axes.set_yscale("log")
    axes.set_xticks(range(len(results.data_sets)), [SHORT_NAMES[name] for name in results.data_sets])
    axes.set_ylabel("seconds")
    handles = [plt.Rectangle((0, 0), 1, 1, facecolor=COLOURS[at], alpha=0.6) for at in range(len(units.OBJECTIVES))]
    cross = plt.Line2D([], [], color="black", marker="x", linestyle="")
    axes.legend([*handles, cross], [*LETTERS.values(), "mean in the paper"], ncols=4, loc="upper right")
    axes.set_title(f"Time to find the optimal tree, {len(results.scope.folds)} folds")
    return figure


def growth(results):
    """Time for least depth on FICO, one factor at a time."""
    found = {
        factor: {value: results.one("growth", factor, value) for value in values}
        for factor, values in results.scope.growth.items()
    }
    if any(each is None for of_factor in found.values() for each in of_factor.values()):
        return None
    figure, panels = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True)
    for axes, (factor, of_factor) in zip(panels, found.items(), strict=True):
        axes.boxplot([[1000 * run["seconds"] for run in of_value] for of_value in of_factor.values()], widths=0.6)
        axes.set_xticks(range(1, len(of_factor) + 1), [str(value) for value in of_factor], rotation=45)
        axes.set_xlabel(f"number of {factor}")
        axes.set_yscale("log")
    panels[0].set_ylabel("milliseconds")
    return figure


def seeds(results):
    """A forest, its tree and the pruned tree: the fold of Seeds with the smallest tree."""
    leaves = {fold: results.one("tree", EXAMPLE, fold, "depth-leaves") for fold in results.scope.folds}
    if None in leaves.values():
        return None
    fold = min(leaves, key=lambda each: leaves[each]["leaves"])
    forest = units.forest_of(results.scope, EXAMPLE, fold)
    X = units.fold_of(results.scope, EXAMPLE, fold)[0]
    tree = onetree.born_again(forest, objective="depth-leaves").tree
    pruned = onetree.prune(tree, X)
    path = results.scope.paper_data / "datasets" / EXAMPLE / f"{EXAMPLE}.full.csv"
    with path.open() as file:
        names = file.readline().strip().split(",")[:-1]
    figure = plt.figure(figsize=(11, 8.5))
    rows = figure.add_gridspec(3, 1, height_ratios=(1, 2, 2.4), hspace=0.25)
    small = rows[0].subgridspec(1, forest.n_trees, wspace=0.1)
    for number, nodes in enumerate(ensemble_trees(forest)):
        axes = figure.add_subplot(small[number])
        draw_tree(axes, nodes)
        axes.set_title(f"tree {number + 1}", fontsize=7)
    middle, bottom = figure.add_subplot(rows[1]), figure.add_subplot(rows[2])
    draw_tree(middle, tree)
    middle.set_title(f"the one tree, equal everywhere: depth {tree.depth}, {tree.n_leaves} leaves")
    draw_tree(bottom, pruned, names=names)
    bottom.set_title(f"pruned with the training data: depth {pruned.depth}, {pruned.n_leaves} leaves")
    figure.suptitle(f"{EXAMPLE}, fold {fold}: a forest of {forest.n_trees} trees (colour: class)", y=0.95)
    return figure


def illustration(_):
    """Three trees over two features, the cells and their classes, and the one tree."""
    forest = three_trees()
    tree = onetree.born_again(forest, objective="depth-leaves").tree
    figure = plt.figure(figsize=(9, 5))
    rows = figure.add_gridspec(2, 1, hspace=0.35)
    top, bottom = rows[0].subgridspec(1, 3), rows[1].subgridspec(1, 2, width_ratios=(1, 1.6))
    for number, nodes in enumerate(ensemble_trees(forest)):
        axes = figure.add_subplot(top[number])
        draw_tree(axes, nodes, names=forest.feature_names)
        axes.set_title(f"tree {number + 1}")
    draw_cells(figure.add_subplot(bottom[0]), forest, tree)
    axes = figure.add_subplot(bottom[1])
    draw_tree(axes, tree, names=forest.feature_names)
    axes.set_title(f"the one tree: depth {tree.depth}, {tree.n_leaves} leaves")
    return figure


def trend(values, is_exponential):
    """How values grow, by least squares: the factor from one number to the next, or the power of the number."""
    x = np.array(list(values), dtype=float)
    slope = np.polyfit(x if is_exponential else np.log(x), np.log(list(values.values())), 1)[0]
    return float(np.exp(slope) if is_exponential else slope)
