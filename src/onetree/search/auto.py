"""The schedule of ``method="auto"``, and of every search under a limit: a faithful tree first, then better ones.

Decides only what is tried when, in shares of a `Budget`; the work is the core's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from time import perf_counter

from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.lowering.grid import Grid
from onetree.search.budget import Budget
from onetree.search.own_tree import own_tree
from onetree.search.request import Request
from onetree.search.solution import Solution, best_of

_FEW_BOXES = 10**7  # of the whole grid: the table takes less time than a first tree is worth
_FEW_CELLS = 10**5  # of the whole grid, all axes with an order: painted in a millisecond, with at most 1e8 boxes
_PAINTED_CELLS = 10**8  # of a grid that is painted soon enough to leave time for more
_MOST_STEPPED_BOXES = 3 * 10**8  # of a table that is begun under a limit in steps, which says nothing about memory
# Rounds of the heuristic: boxes of the grids that it leaves to the table, and how many times the cost of the round
# before is expected, at most.
_ROUNDS = ((1e4, 1), (1e6, 3), (1e7, 6), (1e8, 10), (1e9, 10))
_ROUNDS_WITH_SETS = 3  # whose tables take longer
_FIRST_SHARE = 0.15  # of a budget, in which most models have a first tree
_SHARE_OF_BOUNDS = 0.5  # of what is left after the first tree, at most: they take about as long as the tree
_SHARE_OF_ROUNDS = 0.2  # of what is left: larger grids may be tried for so much before the exact search


class Auto:
    """One search: the best that is known so far, and what to try next.

    Parameters
    ----------
    request : Request
    budget : Budget
        Limited: without a limit, nothing but the optimum would do.
    """

    def __init__(self, request: Request, budget: Budget) -> None:
        self._request, self._budget = request, budget
        self._best = own_tree(request.axes, request.objective) if request.scoring is None else None
        self._next, self._cost = 0, 0.0  # round, and the cost of the one before
        self._started, self._peak_bytes = perf_counter(), 0
        self._is_painted = False  # whether the exact search was tried
        self._is_bounded = False  # whether a tree of the heuristic gave its bounds
        self._ended: LimitReachedError | None = None  # what kept the heuristic from a tree
        self._counts: dict[str, int] = {}  # of the grid, if it was painted
        grid = Grid.on(request.axes)
        self._n_cells, self._n_boxes = grid.n_cells, grid.n_boxes
        self._has_sets = bool(grid.n_values)
        self._rounds = _ROUNDS[:_ROUNDS_WITH_SETS] if self._has_sets else _ROUNDS
        if sum(n > 1 for n in grid.n_slabs) <= 1:  # a line is known without a search
            self._n_boxes, self._rounds = 0, _ROUNDS[-1:]

    def run(self, in_doubt: Callable[[], None]) -> Solution:
        """Return the best tree; `in_doubt` is called, and may raise, when there is none after a first attempt."""
        if self._n_boxes <= _FEW_BOXES or (self._n_cells <= _FEW_CELLS and not self._has_sets):
            self._exact()
            if self._is_done():
                return self._found()
        if not self._round(_FIRST_SHARE) and self._best is None and not self._request.is_stopped:
            in_doubt()
            self._round(1.0)
        self._more(_SHARE_OF_ROUNDS)
        is_painted_soon = self._n_cells <= _PAINTED_CELLS
        if is_painted_soon:
            self._exact()
        self._more(math.inf)  # nothing else is left to try
        if not is_painted_soon:
            self._exact()
        return self._found()

    def rounds(self) -> Solution:
        """Return the best tree of the heuristic alone."""
        self._round(_FIRST_SHARE)
        if self._best is None and not self._request.is_stopped:
            self._round(1.0)
        self._more(math.inf)  # nothing else is left to try
        return self._found()

    def _found(self) -> Solution:
        if self._best is None:
            try:  # a small grid has a tree whatever the limit
                return self._request.exact_table(self._budget)
            except GridTooLargeError:
                raise self._ended or LimitReachedError("stopped before any faithful tree was found") from None
        seconds = perf_counter() - self._started
        stats = {**self._best.stats, **self._counts, "seconds": seconds, "peak_bytes": self._peak_bytes}
        return replace(self._best, stats=stats)

    def _is_done(self) -> bool:
        if self._request.is_stopped:
            return True
        return self._best is not None and (self._best.status == "optimal" or self._budget.left <= 0)

    def _exact(self) -> None:
        """Look for the optimum, and for the bounds that the cells of the grid give, once."""
        is_too_much = self._budget.steps > 0 and self._n_boxes > _MOST_STEPPED_BOXES
        if self._is_painted or self._is_done() or is_too_much:
            return
        self._is_painted = True
        with suppress(GridTooLargeError, LimitReachedError):
            self._keep(self._request.exact_table(self._budget))

    def _more(self, share: float) -> None:
        """Leave larger grids to the exact engine, while the next round is expected to cost no more than this share."""
        while self._best is not None and not self._is_done() and self._next < len(self._rounds):
            if self._rounds[self._next][1] * self._cost > share * self._budget.left or not self._round(1.0):
                return

    def _round(self, share: float) -> bool:
        before = self._budget.used
        try:
            found, nodes = self._request.heuristic(self._budget, share, self._rounds[self._next][0])
        except LimitReachedError as error:
            self._ended = error
            return False
        finally:
            self._cost = self._budget.used - before
        if not self._is_bounded:  # the bounds hardly depend on the tree, so those of the first will do
            self._is_bounded = True
            found = self._request.bounded(found, nodes, self._budget, _SHARE_OF_BOUNDS)
        self._keep(found)
        self._next += 1
        return True

    def _keep(self, found: Solution) -> None:
        self._peak_bytes = max(self._peak_bytes, found.stats["peak_bytes"])
        if found.stats["cells"]:
            self._counts = {name: found.stats[name] for name in ("cells", "boxes")}
        self._best = found if self._best is None else best_of(found, self._best)
