"""What became of each column of a model: numbers with thresholds, categories with sets, or nothing at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from onetree.base.amounts import counted
from onetree.export.words.decimals import printed_cuts
from onetree.export.words.wording import printable
from onetree.model.categories import FIRST, MISSING, OTHER
from onetree.model.ensemble import Ensemble

_MOST_SHOWN = 30  # columns
_MOST_WORDS = 6  # thresholds or categories of a column


def describe_columns(ensemble: Ensemble) -> list[dict[str, Any]]:
    """Return for each feature what the trees ask of it, in the order of the features."""
    return [_column(ensemble, at) for at in range(ensemble.n_features)]


def _column(ensemble: Ensemble, at: int) -> dict[str, Any]:
    nodes = np.flatnonzero(ensemble.feature == at)
    kind = ensemble.categories[at]
    found: dict[str, Any] = {
        "name": ensemble.feature_names[at],
        "tests": len(nodes),
        "may_be_missing": bool(ensemble.nan_features[at]),
        "thresholds": [],
        "categories": None,
    }
    if kind is None:
        found["thresholds"] = [
            number for number in np.unique(ensemble.threshold[nodes]).tolist() if np.isfinite(number)
        ]
        return found
    sets = ensemble.subsets[np.unique(ensemble.subset[nodes])] if len(nodes) else np.zeros((0, kind.n_elements), bool)
    elements = [*range(FIRST, kind.n_elements), OTHER, *([MISSING] if ensemble.nan_features[at] else [])]
    found["categories"] = [kind.label(element) for element in elements]
    found["sets"] = len(sets)
    # Categories that no set tells apart are one to the model.
    found["groups"] = len({sets[:, element].tobytes() for element in elements})
    return found


def column_lines(columns: list[dict[str, Any]]) -> list[str]:
    """Return a line for each column that is used, and one for the others."""
    used = [column for column in columns if column["tests"]]
    width = min(30, max((len(printable(column["name"])) for column in used[:_MOST_SHOWN]), default=0))
    lines = [f"  {printable(column['name']):<{width}}  {_words(column)}" for column in used[:_MOST_SHOWN]]
    if len(used) > _MOST_SHOWN:
        lines.append(f"  and {len(used) - _MOST_SHOWN:,} more; --json lists all")
    n_unused = len(columns) - len(used)
    if n_unused:
        lines.append(f"  {counted(n_unused, 'column is', 'columns are')} not used by any tree")
    return lines


def _words(column: dict[str, Any]) -> str:
    gaps = ", may be missing" if column["may_be_missing"] else ""
    tests = counted(column["tests"], "test")
    if column["categories"] is not None:
        known = [word for word in column["categories"] if word not in ("other", "missing")]
        groups = counted(column["groups"], "group")
        return f"{counted(len(known), 'category', 'categories')} in {groups}{gaps}, {tests}: {_some(known)}"
    cuts = column["thresholds"]
    if not cuts:
        return f"asked only whether it is missing, {tests}"
    printed = printed_cuts(cuts)
    return f"number{gaps}, {tests}: {_some([f'{printed[cut].left} {printed[cut].number}' for cut in cuts])}"


def _some(words: list[str]) -> str:
    if len(words) <= _MOST_WORDS:
        return ", ".join(map(printable, words))
    return ", ".join(map(printable, [*words[: _MOST_WORDS - 1], "...", words[-1]]))
