"""What a report says of a tree that follows its source where the data are: the promise, and how well it was kept.

Such a tree is not equal to its source and not meant to be, so nothing is proven here: what was measured is repeated.
"""

from __future__ import annotations

from typing import Any

from onetree.report.facts import Equality, describe_stats
from onetree.search.solve import Solution
from onetree.support import SupportSolution
from onetree.support.agreement import Agreement, NumberAgreement
from onetree.tree.leaf_values import tolerance_words
from onetree.tree.tree import Tree

_ELSEWHERE = "A tree that is equal to the model everywhere may need many more leaves."
_SETS = {"held_out": "held-out rows", "reference": "reference rows", "box": "random points"}


def stated_equality(found: SupportSolution) -> Equality:
    """Return what such a tree states about itself."""
    return Equality(
        "support",
        f"Follows the model where the data are and can differ elsewhere. Promised: {found.promise}.",
    )


def describe_support(found: Tree | Solution) -> dict[str, Any] | None:
    """Return the agreement on each set of inputs, and how many of them lie in proven cores; null for other trees."""
    if not isinstance(found, SupportSolution):
        return None
    agreement = {name: found.measured()[name] for name in _SETS}
    coverage = {} if found.cores is None else found.cores.coverage
    return {
        "measured": [
            {
                "inputs": _SETS[name],
                "n_inputs": each.n_inputs,
                **_compared(each),
                "proven": None
                if name not in coverage
                else _percent(Agreement(coverage[name].n_inside, coverage[name].n_inputs)),
            }
            for name, each in agreement.items()
            if each.n_inputs
        ],
        "cores": found.cores is not None,
    }


def describe_proof(found: SupportSolution) -> dict[str, Any]:
    """Return what is known of the size; a bound is about trees that keep the promise, so there is no gap to tell."""
    kind = {"objective": found.objective, "stats": describe_stats(found)}
    if found.status == "support-optimal":
        text = "No tree over the model's own thresholds that keeps the promise is smaller."
        return {"state": "support-optimal", "text": f"{text} {_ELSEWHERE}", **kind}
    text = "A support tree is grown to agree with the model on the data; no smallest one was searched for."
    return {"state": "support", "text": f"{text} {_ELSEWHERE}", **kind}


def _compared(agreement: Agreement) -> dict[str, str]:
    """Return how far the numbers are apart, or on what share of the inputs the class is the same."""
    if not isinstance(agreement, NumberAgreement) or agreement.mean is None or agreement.worst is None:
        return {"same": _percent(agreement)}
    return {
        "mean": tolerance_words(agreement.mean, relative=False),
        "most": tolerance_words(agreement.worst, relative=False),
    }


def _percent(agreement: Agreement) -> str:
    """Return a share rounded down, so that 100 % means all of them."""
    return f"{10_000 * agreement.n_agreeing // agreement.n_inputs / 100:.2f} %"
