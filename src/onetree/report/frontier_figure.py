"""The frontier drawn: agreement with the model by leaves and, where classes are known, accuracies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onetree.report.drawing import PALETTE, foreground, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from onetree.support.frontier import Frontier

_TREE, _CART = PALETTE[5], PALETTE[6]


def plot_frontier(frontier: Frontier) -> Figure:
    """Draw a frontier.

    Parameters
    ----------
    frontier : Frontier

    Returns
    -------
    matplotlib.figure.Figure
        Agreement on the left; accuracies of tree, CART and model on the right, if they are known.
    """
    with_scores = frontier.model is not None
    figure, axes = new_figure(9.0 if with_scores else 4.8, 3.6, 2 if with_scores else 1)
    agreement = axes[0] if with_scores else axes
    sizes = np.array([point.max_leaves for point in frontier.points])
    shares = 100 * np.array([point.agreement.share for point in frontier.points])
    ends = 100 * np.array([point.agreement.interval for point in frontier.points])
    errors = np.abs(ends.T - shares)
    agreement.errorbar(sizes, shares, yerr=errors, color=_TREE, marker="o", capsize=3)
    _label(agreement, sizes, "same class as the model, %")
    if with_scores:
        _draw_scores(axes[1], sizes, frontier)
    return figure


def _draw_scores(axes: Any, sizes: Any, frontier: Frontier) -> None:
    scored = [point for point in frontier.points if point.score is not None and point.cart is not None]
    for name, colour, marker in (("score", _TREE, "o"), ("cart", _CART, "s")):
        accuracy = [100 * getattr(point, name).accuracy for point in scored]
        label = "tree of the model" if name == "score" else "tuned CART"
        axes.plot(sizes, accuracy, color=colour, marker=marker, label=label)
    if frontier.model is not None:
        axes.axhline(100 * frontier.model.accuracy, color=foreground(), linestyle=":", label="model")
    where = "rows that the model may know" if frontier.may_be_seen else "unseen rows"
    _label(axes, sizes, f"accuracy on {where}, %")
    axes.legend()


def _label(axes: Any, sizes: Any, what: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("leaves, at most")
    axes.set_ylabel(what)
    axes.grid(alpha=0.3)
