"""What a report shows of a frontier: what trees of other sizes would be worth."""

from __future__ import annotations

from typing import Any

from onetree.support.frontier import Frontier


def describe_frontier(frontier: Frontier | None) -> dict[str, Any] | None:
    """Return its figures, in words for the table and as numbers for the drawing; null if there is none."""
    if frontier is None:
        return None
    header, lines = frontier.table()
    return {
        "header": header,
        "lines": lines,
        "notes": frontier.notes if frontier.model is None else [*frontier.notes, frontier.verdict],
        "points": [point.to_dict() for point in frontier.points],
        "model": None if frontier.model is None else frontier.model.accuracy,
    }
