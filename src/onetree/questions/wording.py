"""Values and classes as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onetree.model.categories import Categories
from onetree.model.ensemble import Ensemble


def plain(ensemble: Ensemble, feature: int, value: float) -> Any:
    """Return a value as data: the name of a category, None if it is missing, else the number."""
    kind = ensemble.categories[feature]
    if np.isnan(value):
        return None
    if kind is not None and kind.names:
        return kind.label(int(kind.element(value)))
    return value


def shown(value: Any) -> str:
    """Return a value as text."""
    if value is None:
        return "missing"
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def interval(name: str, low: float, high: float) -> str:
    """Return ``low < name <= high`` as text, without an infinite end."""
    if np.isinf(low) and np.isinf(high):
        return f"{name} is any number"
    if np.isinf(low):
        return f"{name} <= {high!r}"
    return f"{name} > {low!r}" if np.isinf(high) else f"{low!r} < {name} <= {high!r}"


def members(name: str, kind: Categories, elements: Sequence[int]) -> str:
    """Return that a feature is one of some elements of its categories."""
    chosen = np.zeros(kind.n_elements, dtype=bool)
    chosen[list(elements)] = True
    return f"{name} is in {kind.describe(chosen)}"
