"""What is asked of a tree whose leaves carry numbers: how near they must be, and what the native core needs to know.

Columns that the core sees: one for each number, then, where the class is kept, one whose only number is the class, and
where it is asked for, the largest and the smallest score of each leaf, which exclude nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.errors import InvalidInputError
from onetree.lowering.axes import Axes
from onetree.model.admission import admitted, leaf_number, least_tolerance
from onetree.model.ensemble import Ensemble
from onetree.model.response import Response
from onetree.tree.leaf_values import check_tolerance
from onetree.tree.tree import Tree

Floats = NDArray[np.float64]

_BATCHED = "linear"  # a matrix product, as of the last model of a stack: its last bits depend on the number of rows
_SLACK = 1e-12  # of probabilities, which is far more than those bits make


@dataclass(frozen=True, eq=False)
class Scoring:
    """The numbers of an ensemble, and how far those of its tree may be from them.

    Parameters
    ----------
    ensemble : Ensemble
        One that has a response.
    tolerance : float
        That of the search, at least 0; below 1 if it is relative.
    relative : bool
        Whether the tolerance is a share of the ensemble's number.
    keep_class : bool
        Whether the class is kept as well. A regressor has none.
    has_extremes : bool
        Whether the core tells the least and the greatest score of each leaf. Then a tree promises the least
        tolerance that its shape allows.
    promised : float, optional
        What a tree promises, where that is not the tolerance of the search.
    """

    ensemble: Ensemble
    tolerance: float
    relative: bool = False
    keep_class: bool = True
    has_extremes: bool = False
    promised: float | None = None

    @classmethod
    def of(cls, ensemble: Ensemble, tolerance: float, *, relative: bool = False, keep_class: bool = True) -> Scoring:
        """Return what is asked of an ensemble; a tolerance that cannot be kept is an error."""
        check_tolerance(tolerance, relative=relative)
        response_of(ensemble)
        return cls(ensemble, 0.0, relative, keep_class and ensemble.n_classes > 1).within(
            float(tolerance) + 0.0
        )  # no negative zero

    @property
    def response(self) -> Response:
        """How sums become numbers."""
        return response_of(self.ensemble)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers that the library returns."""
        return self.response.dtype

    @property
    def float32(self) -> bool:
        """Whether that is float32."""
        return bool(self.dtype == np.float32)

    @property
    def is_bounded(self) -> bool:
        """Whether bounds of the sums give bounds of the numbers; those of votes are shifted to break ties."""
        return all(stage.kind != "votes" for stage in self.response.stages)

    @property
    def n_numbers(self) -> int:
        """Numbers of a leaf."""
        return self.response.n_numbers

    @property
    def n_columns(self) -> int:
        """Columns that the core sees."""
        return self.n_numbers * (3 if self.has_extremes else 1) + self.keep_class

    @property
    def slack(self) -> float:
        """By how much the library's own numbers are uncertain; the search keeps off the tolerance by so much."""
        return _SLACK if any(stage.kind == _BATCHED for stage in self.response.stages) else 0.0

    @property
    def promise(self) -> float:
        """The tolerance that a tree promises."""
        return self.tolerance if self.promised is None else self.promised

    def within(self, tolerance: float) -> Scoring:
        """Return the same for a tree that promises another tolerance."""
        return replace(self, tolerance=max(tolerance - self.slack, 0.0), promised=tolerance)

    def is_promised_by(self, tree: Tree) -> bool:
        """Return whether a tree says that it is what is asked for; with `has_extremes`, of whatever tolerance."""
        if tree.value is None or tree.tolerance is None or tree.value.dtype != self.dtype:
            return False
        is_near = self.has_extremes or tree.tolerance == self.promise
        return is_near and tree.relative == self.relative and tree.keeps_class == self._keeps_class

    def admit(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return the ends of what a leaf may carry in each column where these sums occur."""
        numbers = np.asarray(self.response.numbers(sums), dtype=np.float64)
        least, most = admitted(numbers, self.tolerance, self.relative, self.dtype)
        lower, upper = [least], [most]
        if self.keep_class:
            index = self._classes(sums).astype(np.float64)[:, np.newaxis]
            lower.append(index)
            upper.append(index)
        if self.has_extremes:
            beyond = np.full(numbers.shape, np.inf)
            lower += [numbers, -beyond]
            upper += [beyond, numbers]
        return np.ascontiguousarray(np.hstack(lower)), np.ascontiguousarray(np.hstack(upper))

    def _classes(self, sums: Floats) -> NDArray[np.intp]:
        rule = self.ensemble.rule
        return self.ensemble.decide(sums if rule.combination is not None else sums.astype(rule.dtype))

    def tree(self, axes: Axes, nodes: _core.FlatTree, outcome: _core.Outcome) -> Tree:
        """Return a tree of the core on the features of the ensemble, with numbers in its leaves."""
        n = self.n_numbers
        value = leaf_number(outcome.leaf_least[:, :n], outcome.leaf_most[:, :n], self.dtype)
        return self._with_values(axes, nodes, outcome, value, self.promise)

    def nearest_tree(self, axes: Axes, nodes: _core.FlatTree, outcome: _core.Outcome) -> Tree:
        """Return the same with the least tolerance that its shape allows; for `has_extremes`."""
        rows = np.unique(nodes.leaf_class[nodes.leaf_class >= 0])
        n, start = self.n_numbers, self.n_numbers + self.keep_class
        high = outcome.leaf_least[:, start : start + n]
        low = outcome.leaf_most[:, start + n : start + 2 * n]
        needed = least_tolerance(low[rows], high[rows], self.relative, self.dtype)
        tolerance = min(float(needed.max()), self.tolerance)
        least, _ = admitted(high, tolerance, self.relative, self.dtype)
        _, most = admitted(low, tolerance, self.relative, self.dtype)
        promise = min(tolerance + self.slack, self.promise)
        return self._with_values(axes, nodes, outcome, leaf_number(least, most, self.dtype), promise)

    def _with_values(
        self, axes: Axes, nodes: _core.FlatTree, outcome: _core.Outcome, value: NDArray[Any], tolerance: float
    ) -> Tree:
        classes = np.zeros(len(value), dtype=np.int32)
        if self.keep_class:
            classes = outcome.leaf_least[:, self.n_numbers].astype(np.int32)
        elif self.ensemble.n_classes > 1:
            classes = np.argmax(value, axis=1).astype(np.int32)
        is_leaf = nodes.leaf_class >= 0
        leaf_value = np.zeros((len(is_leaf), self.n_numbers), dtype=value.dtype)
        leaf_value[is_leaf] = value[nodes.leaf_class[is_leaf]]
        leaf_class = np.full(len(is_leaf), -1, dtype=np.int32)
        leaf_class[is_leaf] = classes[nodes.leaf_class[is_leaf]]
        return axes.tree(
            nodes.feature,
            nodes.threshold,
            nodes.children_left,
            nodes.children_right,
            leaf_class,
            leaf_value,
            tolerance=tolerance,
            relative=self.relative,
            keeps_class=self._keeps_class,
        )

    @property
    def _keeps_class(self) -> bool:
        return self.keep_class or self.ensemble.n_classes <= 1

    def largest_tolerance(self, sums: Floats) -> float:
        """Return a tolerance with which one number does for all of these sums; a share stays below 1."""
        numbers = np.asarray(self.response.numbers(sums), dtype=np.float64)
        admitted(numbers, 0.0, self.relative, self.dtype)  # refuses numbers that are not finite
        needed = float(least_tolerance(numbers.min(axis=0), numbers.max(axis=0), self.relative, self.dtype).max())
        return needed + 2 * self.slack if np.isfinite(needed) else float(np.nextafter(1.0, 0.0))


def response_of(ensemble: Ensemble) -> Response:
    """Return the response of an ensemble; that it has none is an error."""
    if ensemble.response is None:
        raise InvalidInputError("nothing but the class of this ensemble is known, so there are no numbers to keep")
    return ensemble.response
