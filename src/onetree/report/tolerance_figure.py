"""The front of tolerance and size: how many leaves a tree takes that stays so near to the model, drawn and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onetree.errors import InvalidInputError
from onetree.report.drawing import PALETTE, foreground, new_figure
from onetree.search.solution import Solution, measures
from onetree.tree.leaf_values import tolerance_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOG_FROM = 20.0  # ratio of leaves from which a logarithmic axis is easier to read
_MOST_NAMED = 16  # points whose leaves are written beside them


def plot_tolerance_front(front: Sequence[Solution], *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw the leaves of the smallest trees against their tolerance.

    Parameters
    ----------
    front : sequence of Solution
        What `onetree.tolerance_front` found.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure. Several fronts can share it.
    label : str, optional
        Name of the front in a legend.

    Returns
    -------
    matplotlib Axes
        A step for each tree: it serves every tolerance up to the next. Filled dots are proven to be smallest; from
        others a line leads down to what is proven.
    """
    points = front_points(front)
    if ax is None:
        _, ax = new_figure(6.4, 3.8)
    tolerances, leaves = [point["tolerance"] for point in points], [point["leaves"] for point in points]
    colour = PALETTE[(5, 6, 2, 4, 1, 7)[len(ax.lines) % 6]]
    (line,) = ax.step(tolerances, leaves, where="post", color=colour, linewidth=1.4, label=label)
    for point in points:
        at, size, bound = point["tolerance"], point["leaves"], point["bound"]
        if bound < size:
            ax.vlines(at, bound, size, color=colour, linewidth=1.0, linestyle=":")
        ax.scatter([at], [size], s=26, zorder=3, edgecolors=colour, facecolors=colour if bound == size else "none")
        if label is None and len(points) <= _MOST_NAMED:
            ink = foreground()
            ax.annotate(f"{size:,}", (at, size), (4, 4), textcoords="offset points", fontsize=8, color=ink)
    if max(leaves) / min(leaves) > _LOG_FROM:
        ax.set_yscale("log")
    elif ax.get_yscale() == "linear":
        ax.set_ylim(bottom=0)
    share = front[0].tree.relative
    ax.set_xlabel("tolerance, as a share of the value" if share else "tolerance")
    ax.set_ylabel("leaves")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.3)
    line.set_zorder(2)
    return ax


def front_points(front: Sequence[Solution]) -> list[dict[str, Any]]:
    """Return tolerance, leaves, depth, the leaves that are proven to be needed, and the tolerance in words."""
    if not front:
        raise InvalidInputError("the front has no trees; give what tolerance_front found")
    return [_point(solution) for solution in sorted(front, key=lambda each: each.tree.tolerance or 0.0)]


def _point(solution: Solution) -> dict[str, Any]:
    tree = solution.tree
    if tree.tolerance is None:
        raise InvalidInputError("a tree of the front promises no tolerance; give what tolerance_front found")
    proven = dict(zip(solution.objective.split("-"), measures(solution.lower_bound), strict=False))
    leaves_first = solution.objective.startswith("leaves")
    return {
        "tolerance": tree.tolerance,
        "words": tolerance_words(tree.tolerance, relative=tree.relative),
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "bound": proven["leaves"] if leaves_first else tree.n_leaves if solution.status == "optimal" else 1,
    }


def describe_tolerance_front(front: Sequence[Solution] | None) -> dict[str, Any] | None:
    """Return what a report shows of a front; null if there is none."""
    if front is None:
        return None
    points = front_points(front)
    lines = [
        [point["words"], f"{point['leaves']:,}", f"{point['depth']:,}", _proof(point["leaves"], point["bound"])]
        for point in points
    ]
    return {"header": ["tolerance", "leaves", "depth", "smallest"], "lines": lines, "points": points}


def _proof(leaves: int, bound: int) -> str:
    return "proven" if bound == leaves else f"at least {bound:,} are needed"
