"""Inputs no two of which can share a leaf of any tree within a tolerance: so many leaves every such tree has.

A leaf that holds two inputs holds every mix of them, feature by feature. If some of these mixes admit no common number,
no leaf holds both. Only numbers of the model itself are compared, so the bound holds whatever it was looked for with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onetree.lowering.axes import Axes
from onetree.model.ensemble import Ensemble
from onetree.search.scoring import Scoring
from onetree.tree.tree import Tree

Floats = NDArray[np.float64]

_MOST_INPUTS = 400
_MOST_LEAVES = 20_000  # of a tree that is asked for an input of each
_MIXES = 12  # of two inputs
_AT_ONCE = 32  # inputs to compare with
_MOST_STEPS = 6_000_000  # rows times trees


def n_apart(axes: Axes, scoring: Scoring, tree: Tree, seed: int) -> int:
    """Return how many inputs were found, among corners of a tree's leaves; 1 where inputs depend on each other."""
    ensemble = axes.restricted
    is_plain = axes.ensemble is ensemble and axes.domain is None and not tree.has_subsets
    if not is_plain or tree.n_leaves > _MOST_LEAVES:
        return 1
    random = np.random.default_rng(seed)
    return max(1, len(_Apart(ensemble, scoring, random).of(_inputs(ensemble, tree, random))))


class _Apart:
    """Inputs that exclude each other, one after another."""

    def __init__(self, ensemble: Ensemble, scoring: Scoring, random: np.random.Generator) -> None:
        self._ensemble, self._scoring, self._random = ensemble, scoring, random
        self._rows_left = _MOST_STEPS // ensemble.n_trees

    def of(self, inputs: Floats) -> list[int]:
        least, most = self._admitted(inputs)
        # Extremes come first: they exclude most.
        middle = least / 2 + most / 2
        kept: list[int] = []
        for new in np.argsort(-np.abs(middle - np.median(middle, axis=0)).max(axis=1), kind="stable").tolist():
            others = np.array(kept, dtype=np.intp)
            at_odds = (least[new] > most[others]).any(axis=1) | (least[others] > most[new]).any(axis=1)
            if self._exclude(inputs[new], inputs[others[~at_odds]]):
                kept.append(new)
            if self._rows_left <= 0:
                break
        return kept

    def _exclude(self, row: Floats, others: Floats) -> bool:
        """Return whether mixes tell that the row can share a leaf with none of the others."""
        for first in range(0, len(others), _AT_ONCE):
            some = others[first : first + _AT_ONCE]
            self._rows_left -= _MIXES * len(some)
            if self._rows_left < 0:
                return False
            of_row = self._random.random((_MIXES, len(some), len(row))) < 0.5
            mixes = np.where(of_row, row, some)
            least, most = (ends.reshape(_MIXES, len(some), -1) for ends in self._admitted(mixes.reshape(-1, len(row))))
            if not (least.max(axis=0) > most.min(axis=0)).any(axis=1).all():
                return False
        return True

    def _admitted(self, rows: Floats) -> tuple[Floats, Floats]:
        return self._scoring.admit(np.asarray(self._ensemble.scores(rows), dtype=np.float64))


def _inputs(ensemble: Ensemble, tree: Tree, random: np.random.Generator) -> Floats:
    """Return corners of the leaves, or of some where there are many."""
    low, high = tree.boxes()
    lowest, highest = np.zeros(ensemble.n_features), np.zeros(ensemble.n_features)
    for feature in range(ensemble.n_features):
        cuts = ensemble.threshold[(ensemble.feature == feature) & np.isfinite(ensemble.threshold)]
        if cuts.size:
            lowest[feature], highest[feature] = cuts.min(), np.nextafter(cuts.max(), np.inf)
    chosen = np.linspace(0, len(low) - 1, _MOST_INPUTS).astype(np.intp)
    low, high = low[chosen], high[chosen]
    above = np.where(np.isfinite(low), np.nextafter(low, np.inf), lowest)
    return np.where(random.random(high.shape) < 0.5, np.where(np.isfinite(high), high, highest), above)
