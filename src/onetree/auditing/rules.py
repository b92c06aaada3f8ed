"""The rules that decide most rows: leaves of the exact tree or, without one, reasons that are proven for the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.model.ensemble import Ensemble
from onetree.questions.reason import explain
from onetree.questions.regions import described, leaf_regions
from onetree.questions.wording import plain
from onetree.tree.leaf_probabilities import leaf_numbers
from onetree.tree.tree import Tree

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
_MOST_CLASSES = 10  # for each of which the page has a rule at least
MOST_LEAVES = 200  # of a tree whose leaves are shown; reasons say more about a larger one in fewer words


@dataclass(frozen=True, eq=False)
class CoveringRule:
    """A rule that holds for every input: whatever meets its bounds has its class.

    Parameters
    ----------
    label : label
    bounds : dict
        As in `SufficientReason`.
    n_rows : int
        Rows that meet it.
    n_right : int or None
        Those whose true class it says, if true classes were given.
    """

    label: Any
    bounds: dict[str, tuple[Any, ...]]
    n_rows: int
    n_right: int | None = None


def rules_of_tree(
    tree: Tree, ensemble: Ensemble, rows: Floats, y: NDArray[Any] | None, most: int
) -> list[CoveringRule]:
    """Return the leaves that most rows reach, and for each class the two that most of its rows do."""
    leaf, predicted = leaf_numbers(tree, rows), tree.predict_index(rows)
    counts = dict(Counter(leaf.tolist()).most_common(most))
    for each in np.unique(predicted)[:_MOST_CLASSES]:
        counts |= dict(Counter(leaf[predicted == each].tolist()).most_common(2))
    found = []
    for number, node, region in leaf_regions(tree):
        if number in counts:
            label = tree.classes[tree.leaf_class[node]]
            right = None if y is None else int(np.sum(y[leaf == number] == label))
            found.append(CoveringRule(label, described(tree, region, ensemble)[0], counts[number], right))
    return sorted(found, key=lambda rule: -rule.n_rows)


def rules_of_model(
    ensemble: Ensemble,
    domain: Domain | None,
    rows: Floats,
    y: NDArray[Any] | None,
    most: int,
    n_asked: int,
    time_limit: float,
) -> list[CoveringRule]:
    """Return reasons for the classes of some rows, those first that cover most rows that no rule before covers."""
    asked = np.unique(np.linspace(0, len(rows) - 1, min(n_asked, len(rows))).astype(int))
    classes = ensemble.predict(rows)
    candidates: list[tuple[Bools, Any, dict[str, tuple[Any, ...]]]] = []
    for row in asked.tolist():
        if any(covers[row] for covers, _, _ in candidates):
            continue
        reason = explain(ensemble, rows[row], domain=domain, time_limit=time_limit / len(asked), progress=False)
        covers = _met(ensemble, rows, reason.bounds) & (classes == reason.x_class)
        candidates.append((covers, reason.x_class, reason.bounds))
    chosen: list[CoveringRule] = []
    left = np.ones(len(rows), dtype=bool)
    for label in (None, *dict.fromkeys(each for _, each, _ in candidates)):  # of all classes, then one of each at least
        while candidates and len(chosen) < most if label is None else label not in {rule.label for rule in chosen}:
            usable = [each for each in candidates if label is None or each[1] == label]
            best = max(usable, key=lambda each: int(np.sum(each[0] & left)))
            candidates = [each for each in candidates if each is not best]
            covers, own, bounds = best
            right = None if y is None else int(np.sum(y[covers] == own))
            if (covers & left).any() or label is not None:
                chosen.append(CoveringRule(own, bounds, int(covers.sum()), right))
            left &= ~covers
    return sorted(chosen, key=lambda rule: -rule.n_rows)


def _met(ensemble: Ensemble, rows: Floats, bounds: dict[str, tuple[Any, ...]]) -> Bools:
    """Return which rows meet bounds."""
    met = np.ones(len(rows), dtype=bool)
    for name, ends in bounds.items():
        feature = ensemble.feature_names.index(name)
        column, kind = rows[:, feature], ensemble.categories[feature]
        if kind is not None and kind.names:
            values, place = np.unique(column, return_inverse=True)
            met &= np.array([plain(ensemble, feature, float(x)) in ends for x in values], dtype=bool)[place]
        elif kind is not None:
            numbers = np.array([np.nan if each is None else each for each in ends], dtype=np.float64)
            met &= np.isin(kind.element(column), kind.element(numbers))
        elif len(ends) == 2:
            met &= (ends[0] < column) & (column <= ends[1])
        else:
            met &= np.isnan(column) if ends[0] is None else column == ends[0]
    return met
