"""What a notebook shows of trees, solutions, estimates, verdicts and ensembles, and one prediction in sentences.

Imported only when something is shown.
"""

from onetree.display.explanation import Explanation, explain
from onetree.display.pages import (
    ensemble_html,
    estimate_html,
    frontier_html,
    solution_html,
    support_html,
    tree_html,
    verdict_html,
)

__all__ = [
    "Explanation",
    "ensemble_html",
    "estimate_html",
    "explain",
    "frontier_html",
    "solution_html",
    "support_html",
    "tree_html",
    "verdict_html",
]
