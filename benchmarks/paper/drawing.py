"""Trees and cells on matplotlib axes: all edges of a tree are one line, and words are drawn on request only."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.patches import Rectangle

from onetree.lowering.grid import Grid

COLOURS = ("#3b6ea8", "#d98b2b", "#4b9b5f", "#a04a6c")


def ensemble_trees(ensemble):
    """The trees of an ensemble, each in the form of a `Tree` as far as drawing needs it."""
    for root in ensemble.roots.tolist():
        order, place = [root], {}
        for node in order:  # grows while it is read
            place[node] = len(place)
            if ensemble.children_left[node] >= 0:
                order += [int(ensemble.children_left[node]), int(ensemble.children_right[node])]
        nodes = np.array(order)
        leaf = ensemble.children_left[nodes] < 0
        yield SimpleNamespace(
            feature=ensemble.feature[nodes],
            threshold=ensemble.threshold[nodes],
            children_left=np.array([place.get(int(node), -1) for node in ensemble.children_left[nodes]]),
            children_right=np.array([place.get(int(node), -1) for node in ensemble.children_right[nodes]]),
            leaf_class=np.where(leaf, ensemble.value[nodes].argmax(axis=1), -1),
        )


def _layout(tree):
    """Place of every node: leaves side by side, a split above the middle of its sides. One place per path."""
    spots, order, stack = [], [], [(0, 0, None)]
    while stack:
        node, depth, parent = stack.pop()
        number = len(spots)
        spots.append([node, None, depth, parent])
        if tree.children_left[node] < 0:
            order.append(number)
        else:
            stack.append((tree.children_right[node], depth + 1, number))
            stack.append((tree.children_left[node], depth + 1, number))
    for x, number in enumerate(order):
        spots[number][1] = float(x)
    sides = {}
    for number in range(len(spots) - 1, -1, -1):  # children come later, so theirs are known
        if spots[number][1] is None:
            spots[number][1] = sum(sides[number]) / 2
        sides.setdefault(spots[number][3], []).append(spots[number][1])
    return spots


def draw_tree(axes, tree, names=None):
    """Draw a tree; with `names`, its splits are labelled."""
    spots = _layout(tree)
    segments_x, segments_y = [], []
    for _, x, depth, parent in spots:
        if parent is not None:
            segments_x += [spots[parent][1], x, None]
            segments_y += [-spots[parent][2], -depth, None]
    axes.plot(segments_x, segments_y, color="0.6", linewidth=0.6, zorder=1)
    leaves = [spot for spot in spots if tree.children_left[spot[0]] < 0]
    size = 40 if names else max(9.0, 220 / len(leaves))
    for label in sorted({int(tree.leaf_class[node]) for node, *_ in leaves}):
        here = [(x, -depth) for node, x, depth, _ in leaves if tree.leaf_class[node] == label]
        axes.scatter(*zip(*here, strict=True), s=size, color=COLOURS[label], marker="s", linewidths=0, zorder=2)
    if names:
        for node, x, depth, _ in spots:
            if tree.children_left[node] >= 0:
                text = f"{names[tree.feature[node]]} ≤ {tree.threshold[node]:g}"
                box = {"facecolor": "white", "edgecolor": "0.7", "linewidth": 0.4, "pad": 1.0}
                axes.text(x, -depth, text, ha="center", va="center", fontsize=5.5, bbox=box, zorder=3)
    axes.margins(0.08)
    axes.set_axis_off()


def draw_cells(axes, ensemble, tree):
    """The cells of an ensemble of two features with their classes, and the leaves of the tree as boxes."""
    levels = Grid.of(ensemble).levels
    edges = [np.concatenate([[cuts[0] - 1], cuts, [cuts[-1] + 1]]) for cuts in levels]
    for left, right in zip(edges[0], edges[0][1:], strict=False):
        for below, above in zip(edges[1], edges[1][1:], strict=False):
            middle = (left + right) / 2, (below + above) / 2
            label = int(ensemble.predict_index([middle])[0])
            axes.plot(*middle, "o", markersize=6, color="black", fillstyle="full" if label else "none")
    for axis, line in ((0, axes.axvline), (1, axes.axhline)):
        for cut in levels[axis]:
            line(cut, color="0.75", linewidth=0.6, linestyle="--")
    lower, upper = tree.boxes()
    for (x0, y0), (x1, y1), leaf in zip(lower, upper, tree.leaves(), strict=True):
        x0, x1 = np.clip([x0, x1], edges[0][0], edges[0][-1])
        y0, y1 = np.clip([y0, y1], edges[1][0], edges[1][-1])
        colour = COLOURS[int(tree.leaf_class[leaf])]
        axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=colour, alpha=0.35, edgecolor="black"))
    axes.set_xlim(edges[0][0], edges[0][-1])
    axes.set_ylim(edges[1][0], edges[1][-1])
    axes.set_xlabel(ensemble.feature_names[0])
    axes.set_ylabel(ensemble.feature_names[1])
    axes.set_title("cells, their classes, and the leaves of the tree")
