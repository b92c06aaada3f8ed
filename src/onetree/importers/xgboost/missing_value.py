"""A number that counts as missing, as in `XGBClassifier(missing=-999)`: it goes where NaN goes.

Only the numbers that float32 rounds to it do so, not those beside it. Where a split sends it to the other side than its
neighbours, the tree first asks whether x is below it, is it, or is above it, and then need not ask again.
"""

from dataclasses import replace

import numpy as np

from onetree.errors import UnsupportedModelError
from onetree.importers.sizes import too_many_values
from onetree.importers.thresholds import canonical_thresholds, canonical_thresholds_below
from onetree.model.categories import MISSING
from onetree.model.ensemble import Ensemble

_BELOW, _IS, _ABOVE = -1, 0, 1  # where x is known to lie; NaN counts as the number


def with_missing_value(ensemble: Ensemble, marker: float, name: str) -> Ensemble:
    """Return an ensemble for which a number is as good as NaN; `name` is that of the model, for errors."""
    number = np.float32(marker)
    by_threshold = (ensemble.feature >= 0) & (ensemble.subset < 0)
    elsewhere = by_threshold & ((float(number) <= ensemble.threshold) != ensemble.missing_left)
    _refuse_categories(ensemble, float(number), marker, name)
    if not elsewhere.any():
        return ensemble
    if not np.isfinite(number):
        raise UnsupportedModelError(
            f"this {name} takes {marker} for a missing value, which no split can express; pass model.get_booster() "
            f"instead, and inputs with NaN in place of {marker}"
        )
    (low,), (high,) = canonical_thresholds_below(np.array([number])), canonical_thresholds(np.array([number]))
    return _Rewriting(ensemble, elsewhere.tolist(), float(low), float(high), name).ensemble()


def _refuse_categories(ensemble: Ensemble, number: float, marker: float, name: str) -> None:
    """Refuse a number that is a category, and goes elsewhere than NaN: its neighbours are the same category."""
    for feature, kind in enumerate(ensemble.categories):
        if kind is None:
            continue
        members = ensemble.subsets[ensemble.subset[ensemble.feature == feature]]
        if np.any(members[:, kind.element(number)] != members[:, MISSING]):
            raise UnsupportedModelError(
                f"this {name} takes {marker} for a missing value, which is also a category of feature "
                f"{ensemble.feature_names[feature]!r}; pass model.get_booster() instead, and inputs with NaN in place "
                f"of {marker}"
            )


class _Rewriting:
    """The trees of an ensemble, node by node, from the roots down."""

    def __init__(self, ensemble: Ensemble, elsewhere: list[bool], low: float, high: float, name: str) -> None:
        self.given, self.elsewhere, self.low, self.high, self.name = ensemble, elsewhere, low, high, name
        self.source: list[int] = []  # the node that each new one stands for
        self.threshold: list[float] = []
        self.missing_left: list[bool] = []
        self.children: list[list[int]] = []

    def ensemble(self) -> Ensemble:
        """Return the ensemble of the new trees."""
        given = self.given
        roots = [self._tree(root) for root in given.roots.tolist()]
        source, children = np.array(self.source), np.array(self.children, dtype=np.int32)
        leaf = children[:, 0] < 0
        return replace(
            given,
            roots=np.array(roots),
            feature=np.where(leaf, -1, given.feature[source]),
            threshold=np.array(self.threshold),
            children_left=children[:, 0],
            children_right=children[:, 1],
            missing_left=np.array(self.missing_left),
            value=np.where(leaf[:, np.newaxis], given.value[source], 0.0),
            subset=np.where(leaf, -1, given.subset[source]),
        )

    def _tree(self, root: int) -> int:
        """Write one tree and return its root."""
        feature, left, right = (getattr(self.given, key) for key in ("feature", "children_left", "children_right"))
        first = len(self.source)
        todo: list[tuple[int, dict[int, int], int, int]] = [(root, {}, -1, 0)]  # a node, what is known, parent, side
        while todo:
            node, known, parent, side = todo.pop()
            while (goes_left := self._settled(node, known)) is not None:
                node = int(left[node] if goes_left else right[node])
            if parent >= 0:
                self.children[parent][side] = len(self.source)
            at = self._write(node)
            own = int(feature[node])
            if own < 0:
                continue
            if self.elsewhere[node] and own not in known:
                self.threshold[at], self.missing_left[at] = self.high, True
                below = self._write(node)
                self.threshold[below], self.missing_left[below] = self.low, False
                self.children[at][0] = below
                todo += [
                    (node, {**known, own: _ABOVE}, at, 1),
                    (node, {**known, own: _IS}, below, 1),
                    (node, {**known, own: _BELOW}, below, 0),
                ]
                continue
            todo += [
                (int(right[node]), self._known(node, known, left=False), at, 1),
                (int(left[node]), self._known(node, known, left=True), at, 0),
            ]
        return first

    def _settled(self, node: int, known: dict[int, int]) -> bool | None:
        """Return whether x goes left, if what is known says so; None otherwise, and at a leaf."""
        place = known.get(int(self.given.feature[node])) if self.given.subset[node] < 0 else None
        if place is None:
            return None
        threshold = float(self.given.threshold[node])
        if place == _IS:
            return bool(self.given.missing_left[node])
        if place == _BELOW:
            return True if threshold >= self.low else None
        return False if threshold <= self.high else None

    def _known(self, node: int, known: dict[int, int], *, left: bool) -> dict[int, int]:
        """Return what is known below a split that is kept: the side without the number lies all below or above it."""
        own = int(self.given.feature[node])
        if self.given.subset[node] >= 0 or own in known or bool(self.given.missing_left[node]) == left:
            return known
        return {**known, own: _BELOW if left else _ABOVE}

    def _write(self, node: int) -> int:
        self.source.append(node)
        self.threshold.append(float(self.given.threshold[node]))
        self.missing_left.append(bool(self.given.missing_left[node]))
        self.children.append([-1, -1])
        if too_many_values(len(self.source), self.given.n_outputs):
            raise UnsupportedModelError(
                f"with a number that counts as missing, the trees of this {self.name} become too large; pass "
                "model.get_booster() instead, and inputs with NaN in place of that number"
            )
        return len(self.source) - 1
