"""Two features as a plane: the cells that an ensemble cuts it into, their classes, and the boxes of a tree's leaves.

Nothing is sampled: every cell is drawn from its own edges, in the class of a point inside it.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError
from onetree.export.shades import SCALE
from onetree.model.ensemble import Ensemble, as_ensemble
from onetree.model.inputs import RowsLike, read_inputs, read_row
from onetree.report.coverage import targets
from onetree.report.drawing import as_tree, class_colours, labels_of, new_figure, plain_legend, shown
from onetree.report.plane_axes import Bounds, CategoryAxis, NumberAxis, Part, PlaneAxis
from onetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

_MARGIN = 0.08  # of the range of levels, beyond the outermost


def plot_cells(
    source: object,
    *,
    tree: object = None,
    features: tuple[int | str, int | str] = (0, 1),
    at: Any = None,
    X: RowsLike | None = None,
    y: ArrayLike | None = None,
    limits: tuple[Bounds, Bounds] | None = None,
    lines: bool = True,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the plane of two features in the colours of the predicted classes, or along a scale of predicted values.

    Parameters
    ----------
    source : fitted model, Ensemble, Tree or Solution
        Its class colours each cell, and its thresholds are the thin lines.
    tree : Tree, Solution or fitted BornAgainTreeClassifier, optional
        The boxes of its leaves are drawn on top with thick lines.
    features : pair of int or str
        The horizontal and the vertical feature, by index or name.
    at : array of shape (n_features,), or mapping from names to values, optional
        The input through which the plane is laid, where there are more than two features. By default the median of `X`,
        and of categorical features what is most frequent there.
    X, y : arrays, optional; `X` may be a data frame
        Rows to draw as points in the colours of their labels (without `y`: of their predictions).
    limits : pair of pairs, optional
        Range of each of the two features; by default all thresholds and rows, with a margin. A categorical feature has
        none: what is given for it is not used.
    lines : bool
        Whether to draw the thin lines.
    legend : bool
        Whether to name the classes, below the axes, or above where long names of categories are below.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Where missing values are an input, they have a strip of their own at the far end of the feature. A categorical
    feature has a strip for each category and one for all other numbers; a leaf is then drawn as several boxes where its
    categories do not lie side by side.
    """
    model: Ensemble | Tree = _model(source)
    first, second = (_feature_index(model, feature) for feature in features)
    if first == second:
        raise InvalidInputError(f"features must be two different ones, not {features!r}")
    rows = None if X is None else read_inputs(X, model).astype(np.float64)
    point = _point(model, at, rows, {first, second})
    across, up = (
        _axis(model, feature, rows, None if limits is None else limits[i]) for i, feature in enumerate((first, second))
    )
    if ax is None:
        _, ax = new_figure(5.6, 4.8)
    colours = class_colours(len(model.classes))
    mesh = _draw_cells(ax, model, point, (first, second), across, up, colours)
    for axis, draw_line in ((across, ax.axvline), (up, ax.axhline)):
        if axis.nan_edge is not None:
            draw_line(axis.nan_edge, color=ax.get_facecolor(), linewidth=4.0)
    if lines:
        for level in across.edges[1:-1]:
            ax.axvline(level, color="black", linewidth=0.6, alpha=0.45)
        for level in up.edges[1:-1]:
            ax.axhline(level, color="black", linewidth=0.6, alpha=0.45)
    if tree is not None:
        _draw_boxes(ax, as_tree(tree), point, (first, second), across, up)
    if rows is not None:
        _draw_rows(ax, model, rows, y, (first, second), across, up, colours, mesh)
    for axis, set_limits, set_label, ticks in (
        (across, ax.set_xlim, ax.set_xlabel, ax.xaxis),
        (up, ax.set_ylim, ax.set_ylabel, ax.yaxis),
    ):
        set_limits(float(axis.edges[0]), float(axis.edges[-1]))
        set_label(axis.name, parse_math=False)
        axis.set_ticks(ticks)
    if legend and not colours:
        ax.figure.colorbar(mesh, ax=ax, pad=0.02).set_label("value")
    elif legend:
        plain_legend(
            ax,
            colours,
            labels_of(model.classes.tolist()),
            loc="lower center" if across.turned else "upper center",
            bbox_to_anchor=(0.5, 1.0 if across.turned else -0.14),
            ncols=min(len(colours), 4),
            frameon=False,
        )
    return ax


def _model(source: object) -> Ensemble | Tree:
    if isinstance(source, Ensemble | Tree):
        return source
    if isinstance(getattr(source, "tree", None), Tree):
        return as_tree(source)
    return as_ensemble(source, output="auto")


def _feature_index(model: Ensemble | Tree, feature: int | str) -> int:
    if isinstance(feature, str):
        if feature not in model.feature_names:
            raise InvalidInputError(f"there is no feature {feature!r}; there are {', '.join(model.feature_names)}")
        return model.feature_names.index(feature)
    if not 0 <= feature < model.n_features:
        raise InvalidInputError(f"there is no feature {feature}; the model has features 0 to {model.n_features - 1}")
    return int(feature)


def _point(model: Ensemble | Tree, at: Any, rows: NDArray[np.float64] | None, free: set[int]) -> NDArray[np.float64]:
    if at is not None:
        return np.asarray(read_row(at, model)[0], dtype=np.float64)
    if model.n_features <= len(free):
        return np.zeros(model.n_features)
    if rows is None:
        raise InvalidInputError(
            f"the model has {model.n_features} features and a plane shows two; say where the others are with at=, "
            "or give X to use its medians"
        )
    point = np.asarray(np.nanmedian(rows, axis=0), dtype=np.float64)
    for feature, kind in enumerate(model.categories):
        if kind is not None:  # the median of codes may be no code
            element = np.bincount(kind.element(rows[:, feature])).argmax()
            point[feature] = kind.example(int(element))
    return point


def _axis(model: Ensemble | Tree, feature: int, rows: NDArray[np.float64] | None, limits: Bounds | None) -> PlaneAxis:
    kind, name = model.categories[feature], shown(model.feature_names[feature])
    if kind is not None:
        return CategoryAxis.of(name, kind, bool(model.nan_features[feature]))
    levels = np.unique(model.threshold[model.feature == feature])
    levels = levels[np.isfinite(levels)]
    if limits is None:
        known = levels if rows is None else np.append(levels, rows[:, feature])
        known = known[np.isfinite(known)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        margin = _MARGIN * (high - low) if high > low else max(abs(low), 1.0) * 0.5
        limits = low - margin, high + margin
    if not limits[0] < limits[1]:
        raise InvalidInputError(f"limits must be pairs (low, high) with low < high, not {limits!r}")
    return NumberAxis.of(name, levels, bool(model.nan_features[feature]), limits)


def _draw_cells(
    ax: Axes,
    model: Ensemble | Tree,
    point: NDArray[np.float64],
    features: tuple[int, int],
    across: PlaneAxis,
    up: PlaneAxis,
    colours: list[str],
) -> QuadMesh:
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    cells = np.tile(point, (len(up.inside) * len(across.inside), 1))
    columns, lines = np.meshgrid(across.inside, up.inside)
    cells[:, features[0]], cells[:, features[1]] = columns.ravel(), lines.ravel()
    if not colours:  # a regressor
        scale = LinearSegmentedColormap.from_list("values", list(SCALE))
        values = model.predict(cells).reshape(columns.shape)
        return ax.pcolormesh(across.edges, up.edges, values, cmap=scale, shading="flat")
    classes = model.predict_index(cells).reshape(columns.shape)
    return ax.pcolormesh(
        across.edges,
        up.edges,
        classes,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        shading="flat",
    )


def _draw_boxes(
    ax: Axes, tree: Tree, point: NDArray[np.float64], features: tuple[int, int], across: PlaneAxis, up: PlaneAxis
) -> None:
    from matplotlib.patches import Rectangle

    for part_across, part_up in _parts_in_plane(tree, point, features, across, up):
        for (x0, x1), (y0, y1) in product(across.spans(part_across), up.spans(part_up)):
            ax.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, edgecolor="black", linewidth=1.6))


def _parts_in_plane(
    tree: Tree, point: NDArray[np.float64], features: tuple[int, int], across: PlaneAxis, up: PlaneAxis
) -> list[tuple[Part, Part]]:
    """Parts of both axes for each leaf that the plane through `point` meets; the rest is not walked through."""
    for feature, axis in zip(features, (across, up), strict=True):
        if tree.categories[feature] != (axis.kind if isinstance(axis, CategoryAxis) else None):
            raise InvalidInputError(f"the tree has not the categories that the source has for {axis.name}")
    found: list[tuple[Part, Part]] = []
    stack: list[tuple[int, Part, Part]] = [(0, across.whole, up.whole)]
    while stack:
        node, here, there = stack.pop()
        feature = int(tree.feature[node])
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if feature < 0:
            found.append((here, there))
        elif feature == features[0]:
            inside, outside = across.parted(here, tree, node)
            stack += ((right, outside, there), (left, inside, there))
        elif feature == features[1]:
            inside, outside = up.parted(there, tree, node)
            stack += ((right, here, outside), (left, here, inside))
        else:
            stack.append((left if _goes_left(tree, node, point) else right, here, there))
    return found


def _goes_left(tree: Tree, node: int, point: NDArray[np.float64]) -> bool:
    feature = tree.feature[node]
    kind = tree.categories[feature]
    if kind is None:
        return bool(point[feature] <= tree.threshold[node])
    return bool(tree.subsets[tree.subset[node], kind.element(point[feature])])


def _draw_rows(
    ax: Axes,
    model: Ensemble | Tree,
    rows: NDArray[np.float64],
    y: ArrayLike | None,
    features: tuple[int, int],
    across: PlaneAxis,
    up: PlaneAxis,
    colours: list[str],
    mesh: QuadMesh,
) -> None:
    places = []
    for feature, axis in zip(features, (across, up), strict=True):
        places.append(axis.places(rows[:, feature]))
    dots: dict[str, Any] = {"s": 16, "edgecolors": "black", "linewidths": 0.7, "zorder": 3}
    if not colours:
        values = model.predict(rows) if y is None else targets(y, len(rows))
        dots |= {"cmap": mesh.cmap, "norm": mesh.norm}
        ax.scatter(places[0], places[1], c=values, **dots)
        return
    if y is None:
        index = model.predict_index(rows)
    else:
        known: dict[Any, int] = {label: i for i, label in enumerate(model.classes.tolist())}
        try:
            index = np.array([known[label] for label in np.asarray(y).tolist()], dtype=np.intp)
        except KeyError as error:
            raise InvalidInputError(f"y holds a label that the model does not know: {error}") from None
    ax.scatter(places[0], places[1], c=[colours[i] for i in index], **dots)
