"""Bounds, inputs and amounts as people read them; numbers as short as the model's thresholds allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.domain.values import Values
from onetree.export.words.decimals import PrintedCut, printed_cuts
from onetree.export.words.wording import printable
from onetree.model.categories import FIRST, OTHER, Categories
from onetree.model.ensemble import Ensemble
from onetree.questions.wording import plain, shown

Floats = NDArray[np.float64]
_MOST_CATEGORIES = 60  # named in a sentence


class Words:
    """What features and values of an ensemble are called."""

    def __init__(self, ensemble: Ensemble, domain: Domain | None = None) -> None:
        self._ensemble = ensemble
        self._values = (None,) * ensemble.n_features if domain is None else domain.values
        self._cuts: dict[int, dict[float, PrintedCut]] = {}

    def names(self) -> tuple[str, ...]:
        """Return the names of all features, as the model has them."""
        return self._ensemble.feature_names

    def classes(self) -> list[Any]:
        """Return the labels in their order."""
        labels: list[Any] = self._ensemble.classes.tolist()
        return labels

    def name(self, feature: int) -> str:
        """Return the name of a feature."""
        return printable(self._ensemble.feature_names[feature])

    def value(self, feature: int, x: float) -> str:
        """Return a value of a feature."""
        return printable(shown(plain(self._ensemble, feature, float(x))))

    def bounds(self, feature: int, bounds: tuple[Any, ...]) -> str:
        """Return what bounds, as those of a reason or a box, ask of a feature."""
        name = self.name(feature)
        if self._ensemble.categories[feature] is None and len(bounds) == 3:
            known = self.bounds(feature, bounds[:2])
            return f"{name} is anything" if known == f"{name} is known" else f"{known} or missing"
        kind = self._ensemble.categories[feature]
        if kind is not None or len(bounds) != 2:
            return f"{name} {self._among(feature, kind, bounds)}"
        low, high = (self._cut(feature, end) for end in bounds)
        if low and high:
            if low.number == high.number:  # "<" below and "<=" above
                return f"{name} = {low.number}"
            return f"{low.number} {low.above} {name} {high.left} {high.number}"
        if high:
            return f"{name} {high.left} {high.number}"
        return f"{name} {low.right} {low.number}" if low else f"{name} is known"

    def _among(self, feature: int, kind: Categories | None, bounds: tuple[Any, ...]) -> str:
        """Return that a value is one of some, or none of the others if these are fewer."""
        if kind is None or not kind.names:
            return f"is {_listed(bounds)}"
        own = self._values[feature]
        possible: list[str | None] = [
            kind.label(at) for at in range(FIRST, kind.n_elements) if _has(own, kind.codes[at - FIRST])
        ]
        possible += [kind.label(OTHER)] if own is None else []
        possible += [None] if self._ensemble.nan_features[feature] and (own is None or own.missing) else []
        inside, outside = [x for x in possible if x in bounds], [x for x in possible if x not in bounds]
        if not outside:
            return "is anything"
        return f"is not {_listed(outside)}" if len(outside) < len(inside) else f"is {_listed(inside or bounds)}"

    def _cut(self, feature: int, end: float) -> PrintedCut | None:
        if not np.isfinite(end):
            return None
        if feature not in self._cuts:
            own = self._ensemble.threshold[self._ensemble.feature == feature]
            self._cuts[feature] = printed_cuts(own[np.isfinite(own)].tolist())
        known = self._cuts[feature]
        return known.get(end) or printed_cuts([end])[end]

    def domain(self, domain: Domain) -> list[str]:
        """Return what a domain requires of the inputs, with categories by name."""
        said = domain.describe(self._ensemble.feature_names)
        for feature, values in enumerate(domain.values):
            kind = self._ensemble.categories[feature]
            if values is None or kind is None or not kind.names:
                continue
            known = [
                name for name, code in zip(kind.names, kind.codes, strict=True) if values.contain(np.array([code]))[0]
            ]
            some = f"one of its {len(known)} categories" if len(known) == len(kind.names) else ", ".join(known)
            missing = " or missing" if values.missing else ""
            name = self._ensemble.feature_names[feature]
            own = values.describe(name)
            said = [f"{name} is {some}{missing}" if each == own else each for each in said]
        return said

    def rule(self, bounds: dict[str, tuple[Any, ...]]) -> list[str]:
        """Return the conditions of a rule, in the order of the features."""
        places = {name: at for at, name in enumerate(self._ensemble.feature_names)}
        said = [self.bounds(places[name], ends) for name, ends in bounds.items()]
        return [each for each in said if not each.endswith(" is anything")]


def _has(values: Values | None, code: float) -> bool:
    return values is None or bool(values.contain(np.array([code]))[0])


def _listed(values: Sequence[Any]) -> str:
    said = ["missing" if each is None else printable(shown(each)) for each in values]
    if len(said) > _MOST_CATEGORIES:
        said = [*said[: _MOST_CATEGORIES - 1], f"{len(said) - _MOST_CATEGORIES + 1} others"]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} or {said[-1]}"


def percent(part: int, whole: int) -> str:
    """Return a share rounded so that only all is 100 % and only nothing 0 %."""
    if part in (0, whole) or whole == 0:
        return "0 %" if part == 0 else "100 %"
    share = min(max(100 * part / whole, 0.1), 99.9)
    return f"{share:.1f} %"
