"""One question to the native search, with limits, and its answer as an input that the ensemble confirms."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.base.limits import memory_bytes, seconds, steps
from onetree.base.progress import Reporter
from onetree.errors import FidelityError
from onetree.model.arrays import AxisEnsemble
from onetree.questions.around import Around
from onetree.questions.costs import within
from onetree.questions.options import Options

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_OUTCOMES = {
    _core.NearestOutcome.OPTIMAL: "optimal",
    _core.NearestOutcome.NONE: "none",
    _core.NearestOutcome.LIMIT: "limit",
}


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found out."""

    status: str  # "optimal", "none" or "limit"
    point: Floats | None
    point_class: int  # -1 without a point
    cost: float
    lower_bound: float
    n_boxes: int


class Asker:
    """Asks one model several questions, which share the limits.

    Parameters
    ----------
    options : Options
    time_limit : float, optional
        Seconds for all questions together.
    work_limit : int, optional
        Boxes that are looked at, for all questions together.
    memory_limit : float, optional
        Gigabytes.
    reporter : Reporter, optional
    """

    def __init__(
        self,
        options: Options,
        time_limit: float | None = None,
        work_limit: int | None = None,
        memory_limit: float | None = None,
        reporter: Reporter | None = None,
    ) -> None:
        self.options = options
        self._end = None if time_limit is None else perf_counter() + seconds(time_limit)
        self._boxes_left = None if work_limit is None else steps(work_limit)
        self._memory = memory_bytes(memory_limit)
        self._reporter = reporter
        self.n_boxes = 0

    def nearest(
        self,
        costs: tuple[Floats, Around],
        wanted: Bools,
        *,
        largest: bool = False,
        at_most: float = np.inf,
        first: bool = False,
    ) -> Found:
        """Return the cheapest input of a wanted class, or just the first that is found."""
        numbers, near = costs
        outcome, chosen, cost, lower, n_boxes = self.options.native.nearest(
            numbers, wanted, largest, at_most, first, *self.limits()
        )
        self.n_boxes += n_boxes
        if not chosen.size:
            return Found(_OUTCOMES[outcome], None, -1, np.inf, lower, n_boxes)
        point = near.point(chosen)
        found = int(self.options.ensemble.predict_index(point[np.newaxis])[0])
        if not wanted[found]:
            raise unconfirmed(point)
        return Found(_OUTCOMES[outcome], point, found, cost, lower, n_boxes)

    def differing(
        self,
        voters: tuple[AxisEnsemble, AxisEnsemble],
        wanted: Bools,
        ordered: tuple[int, int] = (-1, -1),
    ) -> tuple[str, Floats | None]:
        """Return an input to which two ensembles give a wanted pair of classes, and the status of the search.

        The axis `ordered[0]` must not be above the axis `ordered[1]`; there are no such axes if both are -1.
        """
        near = self.options.near(self.options.any_input())
        costs = within(near, {}, range(len(near)))
        outcome, chosen, _, _, n_boxes = self.options.native.differing(
            voters[0], voters[1], costs, wanted.ravel(), ordered[0], ordered[1], *self.limits()
        )
        self.n_boxes += n_boxes
        return _OUTCOMES[outcome], near.point(chosen) if chosen.size else None

    def limits(self) -> tuple[float, int, float, Reporter | None]:
        """Return what is left of the limits, as the core takes them."""
        left = 0.0 if self._end is None else max(self._end - perf_counter(), 1e-9)
        boxes = 0 if self._boxes_left is None else max(self._boxes_left - self.n_boxes, 1)
        return left, boxes, self._memory, self._reporter


def unconfirmed(point: Floats) -> FidelityError:
    """Return the error for an input that the model does not confirm."""
    return FidelityError(
        f"the search found the input {point!r}, but the model does not confirm its class; "
        "this is a bug in onetree, please report it with the model"
    )
