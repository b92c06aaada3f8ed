"""The search for features that keep an input from some classes, whatever the other features are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.model.ensemble import Ensemble
from onetree.questions.around import is_same
from onetree.questions.ask import Asker
from onetree.questions.costs import Terms, within
from onetree.questions.hitting import smallest_hitting_set
from onetree.questions.options import Options
from onetree.questions.wording import interval, members, plain, shown

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Reasons:
    """Reasons why one input is not of some classes: by default of all but its own.

    Parameters
    ----------
    asker : Asker
    row : float64 array of shape (n_features,)
    wanted : bool array of shape (n_classes,), optional
        The classes that a reason rules out.
    """

    def __init__(self, asker: Asker, row: Floats, wanted: Bools | None = None) -> None:
        ensemble = asker.options.ensemble
        self.row, self.own = row, int(ensemble.predict_index(row[np.newaxis])[0])
        self.wanted: Bools = np.arange(ensemble.n_classes) != self.own if wanted is None else wanted
        self.n_features = ensemble.n_features
        self._asker, self._options, self._near = asker, asker.options, asker.options.near(row)
        counts = np.bincount(ensemble.feature[ensemble.feature >= 0], minlength=ensemble.n_features)
        order = np.argsort(counts, kind="stable").tolist()
        self.tested = [each for each in order if counts[each]]  # those first that matter least

    def _other_class(self, kept: set[int], inside: dict[int, Bools]) -> tuple[Floats | None, bool]:
        """Return an input of another class that differs only where it may, and whether it is proven that none is."""
        free = set(range(self.n_features)) - kept
        found = self._asker.nearest((within(self._near, inside, free), self._near), self.wanted, first=True)
        return found.point, found.status == "none"

    def minimal(self, features: list[int]) -> tuple[set[int], str]:
        """Leave features out one after the other, as long as the others are proven to fix the class."""
        kept, status = set(features), "minimal"
        for feature in features:
            point, proven = self._other_class(kept - {feature}, {})
            if proven:
                kept.remove(feature)
            elif point is None:
                status = "limit"
        return kept, status

    def smallest(self) -> tuple[set[int], str]:
        """Hit every set of features whose change can change the class, with as few features as possible."""
        contrasts: list[frozenset[int]] = []
        while True:
            hit = smallest_hitting_set(contrasts)
            point, proven = self._other_class(set(hit), {})
            if proven:
                return set(hit), "smallest"
            if point is None:
                return self.minimal(self.tested)[0], "limit"
            contrasts.append(self._shrunk(set(hit), point))

    def _shrunk(self, hit: set[int], point: Floats) -> frozenset[int]:
        """Return as few features as possible, apart from `hit`, whose change can change the class."""
        terms = Terms("l0", np.ones(self.n_features), fixed=hit, missing_cost=1.0)
        found = self._asker.nearest(terms.costs(self._options, self.row), self.wanted)
        nearest = point if found.point is None else found.point
        return frozenset(
            feature
            for feature in range(self.n_features)
            if not is_same(nearest[[feature]], float(self.row[feature]))[0] and feature not in hit
        )

    def widened(self, kept: set[int]) -> dict[int, Bools]:
        """Return for each kept axis the options that leave the class proven, all axes at once."""
        inside: dict[int, Bools] = {}
        grouped = {each for joint in self._options.joint.values() if len(joint.features) > 1 for each in joint.features}
        for axis in sorted(kept - grouped):
            choices = self._near[axis]
            own = is_same(choices.values[:, 0], float(self.row[axis]))
            inside[axis] = own
            if axis in self._options.joint or np.isnan(self.row[axis]):
                inside[axis] = self._with_single(kept, inside, axis, choices.allowed & ~own)
            else:
                inside[axis] = self._with_ranges(kept, inside, axis, int(np.argmax(own)))
        return inside

    def _holds(self, kept: set[int], inside: dict[int, Bools], axis: int, options: Bools) -> bool:
        return self._other_class(kept, inside | {axis: options})[1]

    def _with_single(self, kept: set[int], inside: dict[int, Bools], axis: int, others: Bools) -> Bools:
        """Add one value after the other."""
        options = inside[axis].copy()
        if np.isnan(self.row[axis]) and axis not in self._options.joint:
            return options
        for each in np.flatnonzero(others).tolist():
            tried = options.copy()
            tried[each] = True
            if self._holds(kept, inside, axis, tried):
                options = tried
        return options

    def _with_ranges(self, kept: set[int], inside: dict[int, Bools], axis: int, own: int) -> Bools:
        """Extend an interval of slabs in both directions, by bisection: what holds for a range holds for its parts."""
        n_slabs = len(self._options.levels[axis]) + 1
        first = last = own

        def holds(low: int, high: int) -> bool:
            tried = np.zeros(len(inside[axis]), dtype=bool)
            tried[low : high + 1] = True
            return self._holds(kept, inside, axis, tried)

        low, high = own, n_slabs - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if holds(first, middle) else (low, middle - 1)
        last = low
        low, high = 0, own
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle, last) else (middle + 1, high)
        first = low
        options = np.zeros(len(inside[axis]), dtype=bool)
        options[first : last + 1] = True
        return options


def described(
    options: Options, row: Floats, kept: list[int], inside: dict[int, Bools]
) -> tuple[dict[str, tuple[Any, ...]], tuple[str, ...]]:
    """Return the bounds of each kept feature, and a sentence about it."""
    ensemble: Ensemble = options.ensemble
    bounds: dict[str, tuple[Any, ...]] = {}
    sentences = []
    for feature in kept:
        name, value = ensemble.feature_names[feature], plain(ensemble, feature, float(row[feature]))
        said = f"{name} is {shown(value)}"
        if feature in inside and feature in options.joint:
            near = options.near(row)[feature].values[inside[feature], 0]
            bounds[name] = tuple(plain(ensemble, feature, float(each)) for each in near)
            kind = ensemble.categories[feature]
            if kind is not None and len(near) > 1:
                elements = sorted(int(each) for each in kind.element(near))
                said += f": {members(name, kind, elements)}"
        elif feature in inside and value is not None:
            chosen = np.flatnonzero(inside[feature])
            ends = np.concatenate([[-np.inf], options.levels[feature], [np.inf]])
            bounds[name] = (float(ends[chosen[0]]), float(ends[chosen[-1] + 1]))
            said += f": {interval(name, *bounds[name])}"
        else:
            bounds[name] = (value,)
        sentences.append(said)
    return bounds, tuple(sentences)
