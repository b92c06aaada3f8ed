"""Questions answered the slow and obvious way: every cell, with the nearest input of each, one after another.

Shares no code with `onetree.questions`: of the package it uses the reference prediction and what a domain contains.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from onetree.domain.domain import Domain
from tests.tiers import at_length

PLAIN, SETS, COMBINED = CASES = (0, 1, 2)  # numbers only; categories and groups; rules of two levels, on either
FLOAT32 = 1.2e-7  # by how much a float32 number next to another may be away from it


def tries(all_of_them, some):
    """How many random questions to ask."""
    return at_length(all_of_them, some)


def everything(ensemble):
    """The domain of all inputs."""
    return Domain((None,) * ensemble.n_features)


def nearest_on_axis(ensemble, domain, feature, x):
    """For every place on an axis that splits tell apart, the input of the domain that is nearest to `x`."""
    kind, values = ensemble.categories[feature], domain.values[feature]
    grouped = any(feature in group.features for group in domain.groups)
    near = {x, 0.0, 1.0, *ensemble.threshold[ensemble.feature == feature].tolist()}
    if kind is not None:
        near |= {*kind.codes, *kind.low.tolist(), *kind.high.tolist()}
    if values is not None:
        near |= {values.low, values.high, *(values.choices or ())}
    near = {each for each in near if not math.isnan(each)}
    near |= {math.nextafter(each, way) for each in near for way in (-math.inf, math.inf)}
    near |= {round(each) + step for each in near if abs(each) < 1e9 for step in (-1.0, 0.0, 1.0)}
    axis = np.array([*sorted(each for each in near if math.isfinite(each)), math.nan])
    inside = ~np.isnan(axis) | ensemble.nan_features[feature]
    axis = axis[inside if values is None else inside & values.contain(axis)]
    if grouped:
        return axis
    if kind is None:
        levels = np.unique(ensemble.threshold[ensemble.feature == feature])
        place = np.where(np.isnan(axis), -1, np.searchsorted(levels, axis))
    else:
        place = kind.element(axis)
    with np.errstate(over="ignore"):
        away = np.where(np.isnan(axis), 0.0, np.abs(axis - (0.0 if math.isnan(x) else x)))
    order = np.lexsort([away, place])
    return axis[order[np.unique(place[order], return_index=True)[1]]]


def cells_near(ensemble, domain, row):
    """One input of every cell of the domain, the nearest to a row."""
    axes = [nearest_on_axis(ensemble, domain, feature, x) for feature, x in enumerate(row.tolist())]
    if math.prod(len(axis) for axis in axes) > 40_000:
        return None
    X = np.array(list(itertools.product(*axes)), dtype=np.float64).reshape(-1, ensemble.n_features)
    return X[domain.contains(X)]


def distances(ensemble, row, X, norm, weights, missing_cost=None):
    """What each input costs: at least and at most, since an answer may be rounded to float32."""
    least, most = np.zeros(len(X)), np.zeros(len(X))
    for feature, x in enumerate(row.tolist()):
        column, weight, kind = X[:, feature], weights[feature], ensemble.categories[feature]
        if kind is not None:
            low = high = np.where(kind.element(column) == kind.element(x), 0.0, weight)
        else:
            same = np.isnan(column) if math.isnan(x) else column == x
            with np.errstate(over="ignore"):
                size = np.abs(column - x)
            slack = FLOAT32 * np.abs(column) + 1e-40
            low, high = np.maximum(size - slack, 0) * weight, (size + slack) * weight
            if norm == "l0":
                low = high = np.full(len(X), float(weight))
            low, high = np.where(same, 0.0, low), np.where(same, 0.0, high)
        changed = np.isnan(column) != math.isnan(x)
        cost = math.inf if missing_cost is None else weight * missing_cost
        low, high = np.where(changed, cost, low), np.where(changed, cost, high)
        if norm == "linf":
            least, most = np.maximum(least, low), np.maximum(most, high)
        else:
            least, most = least + low, most + high
    return least, most
