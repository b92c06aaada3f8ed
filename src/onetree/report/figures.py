"""Figures with matplotlib: the tree, cells and boxes of two features, feature use, sizes, repeated measurements.

Each function draws into the axes it is given, or into a new figure, and returns them: titles, sizes and files are the
caller's. Colours and lines follow the style that is in force, light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble, as_ensemble
from onetree.model.forest_checks import node_depths
from onetree.report.cells_figure import plot_cells
from onetree.report.drawing import (
    PALETTE,
    as_tree,
    class_colours,
    foreground,
    new_figure,
    plain_legend,
    plain_ticks,
    shown,
)
from onetree.report.tolerance_figure import plot_tolerance_front
from onetree.report.tree_figure import plot_tree
from onetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_cells", "plot_feature_use", "plot_runs", "plot_sizes", "plot_tolerance_front", "plot_tree"]

_LOG_FROM = 30.0  # ratio from which sizes are easier to compare on a logarithmic axis


def plot_feature_use(source: object, *, max_features: int = 15, max_depth: int = 15, ax: Axes | None = None) -> Axes:
    """Draw how often each feature is asked at each depth.

    Parameters
    ----------
    source : Tree, Solution or fitted BornAgainTreeClassifier
    max_features, max_depth : int
        Only the most used features, and only splits that are less deep; a note says what is left out.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib Axes
        Rows are features, columns are depths, the root's split at 1. Colour is the share of the splits of that depth,
        the number in a field their count; features with the largest mean share come first. A split that several paths
        share counts for each.
    """
    tree = as_tree(source)
    counts = _splits_by_depth(tree, max_depth)
    shares = counts / counts.sum(axis=1, keepdims=True)
    # Each depth counts alike, though the deep ones have far more splits: what is asked first matters to every input.
    total = shares.sum(axis=0)
    used = np.argsort(-total, kind="stable")[: int(np.count_nonzero(total))]
    drawn = used[:max_features]
    n_depths = max(1, len(counts))
    if ax is None:
        longest = max((len(shown(tree.feature_names[feature])) for feature in drawn), default=0)
        _, ax = new_figure(1.6 + 0.09 * longest + 0.5 * n_depths, max(2.4, 1.1 + 0.34 * len(drawn)))
    if not len(drawn):
        ax.set_axis_off()
        ax.text(0.5, 0.5, "a single leaf: no feature is used", ha="center", va="center", color=foreground())
        return ax
    from matplotlib.colors import PowerNorm

    fields = np.ma.masked_equal(shares[:, drawn].T, 0.0)
    image = ax.imshow(fields, cmap="cividis", norm=PowerNorm(0.5, vmin=0.0, vmax=1.0), aspect="auto")
    for row, feature in enumerate(drawn):
        for depth in range(n_depths):
            if counts[depth, feature]:
                ax.text(
                    depth,
                    row,
                    _short_count(counts[depth, feature]),
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="black" if fields[row, depth] > 0.3 else "white",
                )
    ax.set_xticks(range(n_depths), [str(depth + 1) for depth in range(n_depths)])
    ax.set_yticks(range(len(drawn)), [shown(tree.feature_names[feature]) for feature in drawn])
    plain_ticks(ax.get_yticklabels())
    left_out = [f"{len(used) - len(drawn)} less used features"] if len(used) > len(drawn) else []
    left_out += [f"depths {max_depth + 1} to {tree.depth}"] if tree.depth > max_depth else []
    ax.set_xlabel("depth of the split" + (f"\n(not shown: {', '.join(left_out)})" if left_out else ""))
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    bar.set_label("share at that depth")
    return ax


def plot_sizes(source: object, trees: object) -> Figure:
    """Draw the size of a forest beside that of one tree or several.

    Parameters
    ----------
    source : fitted model or Ensemble
    trees : Tree, Solution, fitted BornAgainTreeClassifier, or a mapping from names to such
        For instance one tree for each objective.

    Returns
    -------
    matplotlib Figure
        Left the leaves, those of the forest in one piece per tree; right the depth, that of the forest as its deepest
        tree and, pale, all its trees together, beyond which no shallowest tree ever goes.
    """
    ensemble = as_ensemble(source, output="auto")
    named = trees if isinstance(trees, Mapping) else {"one tree": trees}
    if not named:
        raise InvalidInputError("trees must hold at least one tree")
    sizes = {shown(name): as_tree(tree) for name, tree in named.items()}
    forest = f"{ensemble.n_trees} trees" if ensemble.n_trees > 1 else "the model"
    figure, (left, right) = new_figure(7.6 + 0.09 * max(map(len, sizes)), 1.1 + 0.42 * (len(sizes) + 1), 2)
    lines = list(range(len(sizes), -1, -1))
    names = [forest, *sizes]
    colours = [PALETTE[7], *[PALETTE[0]] * len(sizes)]
    ink = foreground()

    leaves = [ensemble.n_leaves, *(tree.n_leaves for tree in sizes.values())]
    left.barh(lines, leaves, color=colours, edgecolor=ink, linewidth=0.6)
    logarithmic = max(leaves) / min(leaves) > _LOG_FROM
    if logarithmic:
        left.set_xscale("log")
        left.set_xlim(left=0.5)
    else:
        pieces = np.cumsum(_leaves_per_tree(ensemble))[:-1]
        left.vlines(pieces, lines[0] - 0.4, lines[0] + 0.4, color=ink, linewidth=0.6)
    for line, count in zip(lines, leaves, strict=True):
        left.annotate(f"{count:,}", (count, line), xytext=(4, 0), textcoords="offset points", va="center", color=ink)
    left.set_xlabel("leaves" + (" (logarithmic)" if logarithmic else ""))

    depths = [int(ensemble.depths.max()), *(tree.depth for tree in sizes.values())]
    total = int(ensemble.depths.sum())
    right.barh(lines[:1], [total], color=PALETTE[7], alpha=0.35, edgecolor=ink, linewidth=0.6)
    right.barh(lines, depths, color=colours, edgecolor=ink, linewidth=0.6)
    for line, depth in zip(lines, depths, strict=True):
        text = f"{depth} the deepest, {total} together" if line == lines[0] and ensemble.n_trees > 1 else f"{depth}"
        at = max(depth, total) if line == lines[0] else depth
        right.annotate(text, (at, line), xytext=(4, 0), textcoords="offset points", va="center", color=ink)
    right.set_xlabel("depth")
    for axes, room in ((left, 1.18), (right, 1.75)):
        low, high = axes.get_xlim()
        axes.set_xlim(low, high * (high / low) ** 0.2 if axes is left and logarithmic else high * room)
        axes.set_yticks(lines if axes is left else [], names if axes is left else [])
        plain_ticks(axes.get_yticklabels())
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def plot_runs(
    runs: Mapping[str, Sequence[float] | Mapping[str, Sequence[float]]],
    *,
    label: str = "",
    logarithmic: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw repeated measurements as box plots, with a dot for every single one.

    Parameters
    ----------
    runs : mapping from names to numbers, or to mappings from names to numbers
        One box for each name; with two stages, groups side by side (for instance data sets) and in each group a
        box per colour (for instance objectives).
    label : str
        What was measured, with its unit.
    logarithmic : bool
        Scale of the axis.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib Axes
        Boxes hold the middle half of the values with the median as a line; whiskers reach to the smallest and largest.
    """
    groups: dict[str, dict[str, Sequence[float]]] = {
        shown(name): {shown(key): each for key, each in found.items()} if isinstance(found, Mapping) else {"": found}
        for name, found in runs.items()
    }
    series = list(dict.fromkeys(key for group in groups.values() for key in group))
    if not series:
        raise InvalidInputError("runs must hold at least one series of numbers")
    if logarithmic and any(np.min(each) <= 0 for group in groups.values() for each in group.values() if len(each)):
        raise InvalidInputError("a logarithmic axis needs numbers above zero; leave logarithmic out")
    if ax is None:
        _, ax = new_figure(max(4.0, 1.2 + 0.42 * len(groups) * (len(series) + 0.6)), 3.8)
    ink, width = foreground(), 0.8 / len(series)
    colours = class_colours(len(series))
    rng = np.random.default_rng(0)  # only moves dots sideways, so that equal ones are seen
    for place, group in enumerate(groups.values()):
        for key, values in group.items():
            if not len(values):
                continue
            which = series.index(key)
            centre = place + (which - (len(series) - 1) / 2) * width
            line: dict[str, Any] = {"color": ink, "linewidth": 1.0}
            ax.boxplot(
                [np.asarray(values, dtype=np.float64)],
                positions=[centre],
                widths=0.8 * width,
                whis=(0, 100),
                patch_artist=True,
                manage_ticks=False,
                boxprops={"facecolor": colours[which], "edgecolor": ink},
                medianprops={"color": "black", "linewidth": 1.8},
                whiskerprops=line,
                capprops=line,
            )
            sideways = centre + rng.uniform(-0.25, 0.25, len(values)) * width
            ax.scatter(sideways, values, s=9, color="white", edgecolors="black", linewidths=0.6, zorder=3)
    if logarithmic:
        ax.set_yscale("log")
    ax.set_xlim(-0.6, len(groups) - 0.4)
    crowded = max(map(len, groups)) > 6 * (len(series) + 1)
    ax.set_xticks(range(len(groups)), list(groups), rotation=30 if crowded else 0, ha="right" if crowded else "center")
    plain_ticks(ax.get_xticklabels())
    ax.set_ylabel(label, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    if len(series) > 1:
        plain_legend(ax, colours, series, frameon=False)
    return ax


def _splits_by_depth(tree: Tree, max_depth: int) -> NDArray[np.float64]:
    """Count the splits of each feature at each depth, down to `max_depth`, once for every path to them."""
    paths = np.zeros(tree.n_nodes)
    paths[0] = 1.0
    counts: list[NDArray[np.float64]] = []
    while len(counts) < max_depth:
        at = np.flatnonzero((paths > 0) & (tree.feature >= 0))
        if not at.size:
            break
        found = np.bincount(tree.feature[at], weights=paths[at], minlength=tree.n_features)
        counts.append(found.astype(np.float64))
        below = np.zeros(tree.n_nodes)
        for child in (tree.children_left, tree.children_right):
            np.add.at(below, child[at], paths[at])
        paths = below
    return np.array(counts, dtype=np.float64).reshape(len(counts), tree.n_features)


def _leaves_per_tree(ensemble: Ensemble) -> NDArray[np.intp]:
    root_of, _ = node_depths(ensemble.roots, ensemble.feature, ensemble.children_left, ensemble.children_right)
    return np.bincount(root_of[ensemble.feature < 0], minlength=len(ensemble.feature))[ensemble.roots]


def _short_count(count: float) -> str:
    """At most four characters."""
    for unit in ("", "k", "M", "G", "T"):
        if count < 1000:
            return f"{count:.0f}{unit}"
        count /= 1000
    return "…"
