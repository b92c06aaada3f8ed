"""The frontier as a result: its figures, what they say in plain words, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onetree.support.agreement import Agreement
from onetree.support.frontier.score import Difference, Score
from onetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class FrontierPoint:
    """A tree of at most so many leaves, and how it does on held-out rows.

    Parameters
    ----------
    max_leaves : int
    tree : Tree
        Follows the model where the data are; it is not exact.
    agreement : Agreement
        On how many rows it gives the class of the model; ``agreement.interval`` is a 95 % confidence interval.
    score : Score or None
        How often it is right, if that is known.
    cart : Score or None
        How often tuned CART of at most as many leaves is right.
    cart_leaves : int or None
        Leaves of that CART.
    lead : Difference or None
        Accuracy of the tree less that of CART, with a 95 % confidence interval.
    """

    max_leaves: int
    tree: Tree
    agreement: Agreement
    score: Score | None = None
    cart: Score | None = None
    cart_leaves: int | None = None
    lead: Difference | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as values that `json` writes."""
        low, high = self.agreement.interval
        figures: dict[str, Any] = {
            "max_leaves": self.max_leaves,
            "leaves": self.tree.n_leaves,
            "depth": self.tree.depth,
            "agreement": self.agreement.share,
            "agreement_low": low,
            "agreement_high": high,
        }
        if self.score is not None and self.cart is not None and self.lead is not None:
            figures |= {
                "accuracy": self.score.accuracy,
                "balanced_accuracy": self.score.balanced_accuracy,
                "cart_leaves": self.cart_leaves,
                "cart_accuracy": self.cart.accuracy,
                "cart_balanced_accuracy": self.cart.balanced_accuracy,
                "lead": self.lead.value,
                "lead_low": self.lead.low,
                "lead_high": self.lead.high,
            }
        return figures


@dataclass(frozen=True, eq=False)
class Frontier:
    """Trees of several sizes that follow a model where the data are, and what each is worth.

    Parameters
    ----------
    points : tuple of FrontierPoint
        The smallest first.
    model : Score or None
        How often the model is right on the held-out rows, if that is known.
    n_rows, n_held_out : int
        Rows that the trees were built from, and rows that all figures are about.
    may_be_seen : bool
        Whether the held-out rows are a part of `X`, which the model may have been trained on.
    seconds : float
    """

    points: tuple[FrontierPoint, ...]
    model: Score | None
    n_rows: int
    n_held_out: int
    may_be_seen: bool
    seconds: float

    @property
    def trees(self) -> dict[int, Tree]:
        """The trees by their largest number of leaves."""
        return {point.max_leaves: point.tree for point in self.points}

    @property
    def verdict(self) -> str:
        """One sentence on where CART, which needs no model, is as good."""
        leads = {point.max_leaves: point.lead for point in self.points if point.lead is not None}
        if not leads:
            return "Without y there is nothing to compare with CART."
        if self.may_be_seen:
            return (
                "Whether CART is as good is unknown: the model may have been trained on the held-out rows, so it "
                "and its trees may know their classes; give held_out=(X_test, y_test)."
            )
        better = [size for size, lead in leads.items() if lead.better == "first"]
        worse = [size for size, lead in leads.items() if lead.better == "second"]
        level = [size for size, lead in leads.items() if lead.better is None]
        parts = []
        if better:
            parts.append(f"the tree of the model is more accurate than CART at {_listed(better)}")
        if level:
            parts.append(f"CART is as good at {_listed(level)}, as far as {self.n_held_out:,} rows can show")
        if worse:
            parts.append(f"CART is more accurate at {_listed(worse)}")
        sentence = "; ".join(parts) + "."
        return sentence[0].upper() + sentence[1:]

    @property
    def notes(self) -> list[str]:
        """What a reader of the figures has to know."""
        rows = f"Measured on {self.n_held_out:,} rows that the trees were not built from; intervals are 95 %."
        if not self.may_be_seen:
            return [rows]
        caution = "They are a fifth of X, which the model may have been trained on"
        caution += "." if self.model is None else ": accuracies of the model and its trees may be too high."
        return [rows, caution]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as values that `json` writes."""
        figures: dict[str, Any] = {
            "rows": self.n_rows,
            "held_out_rows": self.n_held_out,
            "held_out_may_be_seen": self.may_be_seen,
            "seconds": self.seconds,
            "points": [point.to_dict() for point in self.points],
        }
        if self.model is not None:
            figures["model_accuracy"] = self.model.accuracy
            figures["model_balanced_accuracy"] = self.model.balanced_accuracy
            figures["verdict"] = self.verdict
        return figures

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the figures as words: a header, and a line for each size, the model last."""
        header = ["at most", "leaves", "depth", "same class as model"]
        lines = [[f"{point.max_leaves:,}", *_size(point.tree), _agreement(point.agreement)] for point in self.points]
        if self.model is None:
            return header, lines
        header += ["accuracy", "CART", "lead in points", "balanced accuracy", "CART"]
        for line, point in zip(lines, self.points, strict=True):
            line += _accuracies(point)
        model = self.model
        lines.append(["model", *[""] * 3, _percent(model.accuracy), "", "", _percent(model.balanced_accuracy), ""])
        return header, lines

    def plot(self) -> Figure:
        """Draw the frontier with matplotlib: agreement by leaves and, with `y`, accuracies."""
        from onetree.report.frontier_figure import plot_frontier

        return plot_frontier(self)

    def __str__(self) -> str:
        header, lines = self.table()
        widths = [max(len(line[column]) for line in [header, *lines]) for column in range(len(header))]
        page = [
            "  ".join(entry.rjust(width) for entry, width in zip(line, widths, strict=True)).rstrip()
            for line in [header, *lines]
        ]
        page += self.notes if self.model is None else [*self.notes, self.verdict]
        return "\n".join(page)

    def __repr__(self) -> str:
        shares = ", ".join(f"{point.max_leaves}: {_percent(point.agreement.share)}" for point in self.points)
        return f"Frontier(agreement by leaves on {self.n_held_out:,} held-out rows: {shares})"

    def _repr_html_(self) -> str:
        from onetree.display import frontier_html

        return frontier_html(self)


def _size(tree: Tree) -> list[str]:
    return [f"{tree.n_leaves:,}", str(tree.depth)]


def _accuracies(point: FrontierPoint) -> list[str]:
    if point.score is None or point.cart is None or point.lead is None:
        return [""] * 5
    lead = f"{100 * point.lead.value:+.1f} ({100 * point.lead.low:+.1f} to {100 * point.lead.high:+.1f})"
    return [
        _percent(point.score.accuracy),
        _percent(point.cart.accuracy),
        lead,
        _percent(point.score.balanced_accuracy),
        _percent(point.cart.balanced_accuracy),
    ]


def _agreement(agreement: Agreement) -> str:
    low, high = agreement.interval
    return f"{_percent(agreement.share)} ({100 * low:.1f} to {100 * high:.1f})"


def _percent(share: float | None) -> str:
    """Return a share, rounded down, so that 100 % means all."""
    return "none" if share is None else f"{int(1000 * share + 1e-9) / 10:.1f} %"


def _listed(sizes: list[int]) -> str:
    *first, last = map(str, sizes)
    words = f"{', '.join(first)} and {last}" if first else last
    return f"{words} {'leaf' if sizes == [1] else 'leaves'}"
