"""What a tree that follows the data promises, and how well it does: the result of `support_tree`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onetree.base.amounts import leaves
from onetree.search.solution import Solution
from onetree.support.agreement import Agreement, NumberAgreement
from onetree.support.cores.regions import Cores
from onetree.verify import Deviation


@dataclass(frozen=True, eq=False, kw_only=True)
class SupportSolution(Solution):
    """A tree that follows an ensemble where the data are, and what is known about how well.

    The tree is not the same function as the ensemble, and says so: ``tree.exact`` is False. As a `Solution` it has the
    status "support", or "support-optimal" if no tree over the ensemble's hyperplanes that keeps the promise is smaller;
    `lower_bound` and `gap` are about such trees.

    Parameters
    ----------
    promise : str
        What holds for sure, in words.
    fidelity : float or None
        The share of the reference rows that is promised to get the ensemble's class; None if nothing is.
    reference : Agreement
        On the rows that the tree was built from.
    held_out : Agreement
        On rows that the tree was not built from, when it was measured.
    box : Agreement
        On random points of the bounding box of the data, most of which look like no row at all.
        All three are a `NumberAgreement`, with the mean and the worst deviation, if the tree has numbers.
    cores : Cores or None
        Where the class of each leaf is proven, if asked for.
    deviation : Deviation or None
        How far the numbers of the tree are from the ensemble's at worst, over all inputs, if asked for.
    """

    promise: str
    fidelity: float | None
    reference: Agreement
    held_out: Agreement
    box: Agreement
    cores: Cores | None = None
    deviation: Deviation | None = None

    def measured(self) -> dict[str, Agreement]:
        """Return on what inputs the tree was compared with the ensemble, and how well it did."""
        return {"reference": self.reference, "held_out": self.held_out, "box": self.box}

    def report(self) -> dict[str, Any]:
        """Return all figures as values that `json` writes."""
        figures: dict[str, Any] = {
            "promise": self.promise,
            "fidelity": self.fidelity,
            "leaves": self.tree.n_leaves,
            "depth": self.tree.depth,
            "reference_agreement": self.reference.share,
            "reference_rows": self.reference.n_inputs,
            "held_out_agreement": self.held_out.share,
            "held_out_rows": self.held_out.n_inputs,
            "box_agreement": self.box.share,
            "box_points": self.box.n_inputs,
        }
        for name, each in self.measured().items():
            if isinstance(each, NumberAgreement):
                if self.tree.output == "value":  # how many numbers are equal says little
                    del figures[f"{name}_agreement"]
                figures |= {f"{name}_mean_deviation": each.mean, f"{name}_worst_deviation": each.worst}
        if self.deviation is not None:
            figures["proven_worst_deviation"] = self.deviation.worst
        if self.cores is not None:
            figures["proven"] = self.cores.report()
        return figures

    def __str__(self) -> str:
        what = "same class" if self.tree.value is None else "deviation"
        lines = [
            f"{leaves(self.tree.n_leaves)}, depth {self.tree.depth}; {self.promise}",
            f"{what} on reference rows  {self.reference}",
            f"{what} on held-out rows   {self.held_out}",
            f"{what} on random points   {self.box} of the bounding box of the data",
        ]
        if self.tree.output == "probability":
            lines.append(f"same class on held-out rows  {self.held_out.counted}")
        if self.deviation is not None:
            lines.append(f"proven on every input        {self.deviation.worst!r} at worst")
        return "\n".join(lines if self.cores is None else [*lines, *self.cores.lines()])

    def __repr__(self) -> str:
        if isinstance(self.held_out, NumberAgreement):
            return (
                f"SupportSolution({self.status}, {leaves(self.tree.n_leaves)}, depth {self.tree.depth}, not exact: "
                f"{self.promise}; held-out deviation {self.held_out})"
            )
        held_out = self.held_out.share
        return (
            f"SupportSolution({self.status}, {leaves(self.tree.n_leaves)}, depth {self.tree.depth}, not exact: "
            f"{self.promise}; held-out agreement {'unknown' if held_out is None else f'{held_out:.1%}'})"
        )

    def _repr_html_(self) -> str:
        from onetree.display import support_html

        return support_html(self)
