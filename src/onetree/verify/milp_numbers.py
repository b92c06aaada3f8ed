"""The proof of numbers by mixed-integer programming: HiGHS finds the largest and the smallest sums of every leaf.

The sums are linear in the columns of the program, and what comes after them is bounded by interval arithmetic. Every
cell that the program names is evaluated in the library's own arithmetic. What is proven depends on the response:

* Numbers that are the sums, or made of one sum: its largest and smallest value bound them. The solver is not exact, so
  cells near the tolerance are evaluated one after the other and excluded, until what is left is clearly within it.
* Numbers made of several sums: a box of sums whose numbers may be out of the tolerance is cut in two, as for rules of
  two levels (`onetree.verify.milp_combined`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import LimitReachedError
from onetree.model.combined_bounds import fill_registers, sum_errors
from onetree.model.ensemble import Ensemble
from onetree.tree.tree import Tree
from onetree.verify import cells
from onetree.verify.blocks import Block
from onetree.verify.deviation import deviation
from onetree.verify.milp import Leaf, leaf_values
from onetree.verify.ranges import bounding_operations
from onetree.verify.translated import Translated
from onetree.verify.verdict import Verdict, with_numbers

Floats = NDArray[np.float64]
_SOLVER_TOLERANCE = 1e-5  # per tree, in units of the largest leaf value; HiGHS keeps rows and integrality to 1e-6
_MAX_NEAR_TIES = 100  # per leaf, before its cells are enumerated instead
_MAX_BOXES = 400
_INFEASIBLE = 2  # status of scipy.optimize.milp


def prove(
    tree: Tree,
    ensemble: Ensemble,
    blocks: tuple[Block, ...] = (),
    *,
    max_cells: int,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Search the box of every leaf for an input whose numbers are not within the tree's tolerance."""
    on_axes = Translated(tree, ensemble, blocks)
    lower, upper = on_axes.tree.boxes()
    if on_axes.tree.value is None or tree.tolerance is None:
        raise ValueError("the tree has no numbers, or promises nothing of them")
    numbers = on_axes.tree.value[on_axes.tree.leaves()].astype(np.float64)
    bounds = NumberBounds(ensemble)
    worst, worst_input, n_checked = 0.0, None, 0
    boxes = zip(lower, upper, leaf_values(on_axes), numbers, strict=True)
    for index, (low, high, held, own) in enumerate(boxes):
        leaf = Leaf.of(on_axes, ensemble, blocks, low, high, held)
        if not leaf.program.is_empty:
            n_checked += 1
            search = _LeafSearch(leaf, own, bounds, tree.tolerance, tree.relative)
            search.settle(max_cells)
            if search.worst > worst:
                worst, worst_input = search.worst, search.point
            if worst > tree.tolerance:
                break
        if progress is not None:
            progress(index + 1, len(numbers))
    return with_numbers(tree, ensemble, "milp", n_checked, worst, worst_input)


class NumberBounds:
    """What bounds of the undivided real sums say of the numbers that the library returns.

    Parameters
    ----------
    ensemble : Ensemble
        With a response.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        response = ensemble.response
        if response is None:
            raise ValueError("the ensemble has no numbers")
        self._operations = bounding_operations(response)
        self._divisors = response.divisors()
        self._n_numbers = response.n_numbers
        self.error = sum_errors(ensemble, [dtype.itemsize == 4 for dtype in response.dtypes()])
        self.is_separate = not self._operations or len(self._divisors) == 1
        """Whether no number is made of several sums."""

    def numbers(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return bounds of each number, from bounds of the sums; a row per box."""
        with np.errstate(all="ignore"):
            lows = list(((low - self.error) / self._divisors).T)
            highs = list(((high + self.error) / self._divisors).T)
            fill_registers(self._operations, lows, highs)
        return np.stack(lows[-self._n_numbers :], axis=1), np.stack(highs[-self._n_numbers :], axis=1)

    def largest_deviation(self, own: Floats, low: Floats, high: Floats, *, relative: bool) -> Floats:
        """Return at most how far the numbers of each box are from those of a leaf."""
        least, most = self.numbers(low, high)
        off = np.maximum(deviation(own, least, relative=relative), deviation(own, most, relative=relative))
        if relative:  # near zero a share is without bound
            near_zero = (least <= 0) & (most >= 0) & (least < most)
            off = np.where(near_zero, np.where(own == 0, 1.0, np.inf), off)
        largest: Floats = np.where(least <= most, off, np.inf).max(axis=1)
        return largest


class _LeafSearch:
    """The sums of the cells of one leaf, and the worst deviation that was met among them."""

    def __init__(self, leaf: Leaf, own: Floats, bounds: NumberBounds, tolerance: float, relative: bool) -> None:
        self._leaf, self._own, self._bounds = leaf, own, bounds
        self._tolerance, self._relative = tolerance, relative
        self.worst = 0.0
        self.point: Floats | None = None
        program, value = leaf.program, leaf.ensemble.value
        self._weight = np.zeros((leaf.ensemble.n_outputs, program.n_columns))
        self._weight[:, program.n_binary :] = value[program.leaf_of].T
        self._base = leaf.ensemble.base + value[program.fixed].sum(axis=0)
        self._scale = np.maximum(np.abs(self._weight).max(axis=1, initial=0.0), 1e-300)
        self._slack = _SOLVER_TOLERANCE * leaf.ensemble.n_trees * self._scale + 2 * bounds.error
        self._excluded: list[Floats] = []  # rows about the leaves of cells that were evaluated

    def settle(self, max_cells: int) -> None:
        """Look at every cell of the leaf, or show that it is within the tolerance; stop beyond it."""
        if self._leaf.program.n_binary == 0:  # one cell
            self._evaluate(self._leaf.point())
            return
        low, high = self._base.copy(), self._base.copy()
        for columns in self._leaf.program.groups:
            low += self._weight[:, columns].min(axis=1)
            high += self._weight[:, columns].max(axis=1)
        for k in np.flatnonzero(low < high).tolist():
            low[k], high[k] = max(low[k], self._extreme(k, -1)), min(high[k], self._extreme(k, 1))
            if self.worst > self._tolerance or not low[k] <= high[k]:  # every cell has been evaluated
                return
        is_settled = self._exclude(low, high) if self._bounds.is_separate else self._halve(low, high)
        if not is_settled and self.worst <= self._tolerance:
            self._enumerate(max_cells)

    def _off(self, low: Floats, high: Floats) -> float:
        rows = low[np.newaxis], high[np.newaxis]
        return float(self._bounds.largest_deviation(self._own, *rows, relative=self._relative)[0])

    def _evaluate(self, point: Floats) -> None:
        numbers = self._leaf.ensemble.numbers(point[np.newaxis])[0]
        off = float(deviation(self._own, numbers, relative=self._relative).max())
        if off > self.worst:
            self.worst, self.point = off, point

    def _solve(self, objective: Floats, low: Floats | None = None, high: Floats | None = None) -> Any:
        """Return the solver's result, with the sums in a box if one is given; None if no cell is left."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, vstack

        program = self._leaf.program
        matrix, row_low, row_high = program.rows()
        if low is not None and high is not None:
            matrix = vstack([matrix, csr_array(self._weight / self._scale[:, np.newaxis])], format="csr")
            row_low = np.append(row_low, (low - self._base - self._slack) / self._scale)
            row_high = np.append(row_high, (high - self._base + self._slack) / self._scale)
        if self._excluded:
            matrix = vstack([matrix, csr_array(np.array(self._excluded))], format="csr")
            row_low = np.append(row_low, np.full(len(self._excluded), -math.inf))
            row_high = np.append(row_high, np.full(len(self._excluded), len(program.groups) - 1.0))
        result = milp(
            objective,
            integrality=(np.arange(program.n_columns) < program.n_binary).astype(np.int64),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(matrix, row_low, row_high),
            options={"mip_rel_gap": 0.0},
        )
        if result.status == _INFEASIBLE:
            return None
        if result.x is None:
            raise LimitReachedError(f'HiGHS gave up: {result.message}; use method="cells" if the grid allows')
        point = self._leaf.point(result.x)
        self._evaluate(point)
        # Every cell that reaches the same leaves has the very same sums: none of them needs to be seen again.
        same = np.isin(program.leaf_of, self._leaf.ensemble.apply(point[np.newaxis])[0])
        self._excluded.append(np.concatenate([np.zeros(program.n_binary), same]))
        return result

    def _extreme(self, k: int, sign: int) -> float:
        """Evaluate the cell with the largest or smallest sum; return a bound of all sums that are left."""
        result = self._solve(-sign * self._weight[k] / self._scale[k])
        if result is None:
            return -sign * math.inf
        bound = result.fun if result.mip_dual_bound is None else result.mip_dual_bound
        return float(self._base[k] + sign * (self._slack[k] - float(bound) * self._scale[k]))

    def _exclude(self, low: Floats, high: Floats) -> bool:
        """Evaluate the cells at an end whose numbers may be out of the tolerance, until no such cell is left."""
        for _ in range(_MAX_NEAR_TIES):
            if self._off(low, high) <= self._tolerance:
                return True
            ends = [(self._off_at(k, end[k]), k, sign) for k in range(len(low)) for sign, end in ((1, high), (-1, low))]
            off, k, sign = max(ends)
            if off <= self._tolerance:
                return False
            bound = self._extreme(k, sign)
            if self.worst > self._tolerance or math.isinf(bound):
                return True
            if sign > 0:
                high[k] = min(high[k], bound)
            else:
                low[k] = max(low[k], bound)
            if low[k] > high[k]:  # all others are out of what is left
                return True
        return False

    def _off_at(self, k: int, end: float) -> float:
        """Return at most how far the numbers are off that are made of one sum, at one end of it."""
        sums = np.full((1, len(self._base)), end)
        least, most = self._bounds.numbers(sums, sums)
        off = np.maximum(*(deviation(self._own, each, relative=self._relative) for each in (least, most)))[0]
        return float(off[k] if len(sums[0]) > 1 else off.max())

    def _halve(self, low: Floats, high: Floats) -> bool:
        """Cut boxes of sums in two whose numbers may be out of the tolerance, if they have cells."""
        boxes, nothing = [(low, high)], np.zeros(self._leaf.program.n_columns)
        for _ in range(_MAX_BOXES):
            if not boxes:
                return True
            low, high = boxes.pop()
            if self._off(low, high) <= self._tolerance or self._solve(nothing, low, high) is None:
                continue
            if self.worst > self._tolerance:
                return True
            boxes += self._parts(low, high)
        return False

    def _parts(self, low: Floats, high: Floats) -> list[tuple[Floats, Floats]]:
        """Return two parts of a box, cut where knowing a sum tells most; or the box, if it is as small as can be."""
        n = len(low)
        lows, highs = np.tile(low, (n, 1)), np.tile(high, (n, 1))
        middle = low + (high - low) / 2
        lows[np.arange(n), np.arange(n)] = highs[np.arange(n), np.arange(n)] = middle
        left = self._bounds.largest_deviation(self._own, lows, highs, relative=self._relative)
        wide = high - low > 4 * self._slack
        if not wide.any():
            return [(low, high)]  # the cell that was found there is excluded now
        k = int(np.argmin(np.where(wide, left, math.inf)))
        k = k if wide[k] else int(np.argmax(wide))
        lower, upper = high.copy(), low.copy()
        lower[k] = upper[k] = middle[k]
        return [(low, lower), (upper, high)]

    def _enumerate(self, max_cells: int) -> None:
        """Evaluate all cells of a leaf that holds too many near-ties for the program."""
        axes, blocks = self._leaf.own_cells()
        n_cells = cells.count(axes, blocks)
        if n_cells > max_cells:
            raise LimitReachedError(
                f"a leaf of the tree holds more than {_MAX_NEAR_TIES} cells near the tolerance, and its {n_cells:.3g} "
                f'cells are over max_cells={max_cells:.3g}; use method="search", or raise max_cells'
            )
        for rows in cells.chunks(axes, blocks):
            off = deviation(self._own, self._leaf.ensemble.numbers(rows), relative=self._relative).max(axis=1)
            largest = int(np.argmax(off))
            if off[largest] > self.worst:
                self.worst, self.point = float(off[largest]), rows[largest]
