"""The proof by mixed-integer programming for rules of two levels: boxes of sums, split until they are settled.

The sums of the members are linear in the columns of the program; what follows them is not. So the program is asked
whether a cell of the leaf has its sums in a box, and interval arithmetic whether a box of sums has one class. A box
that neither settles is cut in two. Cells that the program names are evaluated in the library's own arithmetic.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onetree.errors import LimitReachedError
from onetree.model.combined_bounds import CombinedBounds

if TYPE_CHECKING:
    from onetree.verify.milp import Leaf

Floats = NDArray[np.float64]
_SOLVER_TOLERANCE = 1e-5  # per tree, in units of the largest leaf value; HiGHS keeps rows and integrality to 1e-6
_MAX_BOXES = 400  # per leaf, before its cells are enumerated instead
_INFEASIBLE = 2  # status of scipy.optimize.milp


class SumSearch:
    """The sums of the cells of one leaf.

    Parameters
    ----------
    leaf : Leaf
    label : int
        The class that all cells should have.
    """

    def __init__(self, leaf: Leaf, label: int) -> None:
        self._leaf, self._label = leaf, label
        self._bounds = CombinedBounds(leaf.ensemble)
        program, value = leaf.program, leaf.ensemble.value
        self._weight = np.zeros((leaf.ensemble.n_outputs, program.n_columns))
        self._weight[:, program.n_binary :] = value[program.leaf_of].T
        self._base = leaf.ensemble.base + value[program.fixed].sum(axis=0)
        self._scale = np.maximum(np.abs(self._weight).max(axis=1), 1e-300)
        # Of the solver, and of the sums that make up the bounds of a box.
        self._tolerance = _SOLVER_TOLERANCE * leaf.ensemble.n_trees * self._scale + 2 * self._bounds.error

    def other_class(self) -> tuple[Floats | None, bool]:
        """Return an input of another class if one is met, and whether the leaf is settled."""
        low, high = self._base.copy(), self._base.copy()
        for columns in self._leaf.program.groups:
            low += self._weight[:, columns].min(axis=1)
            high += self._weight[:, columns].max(axis=1)
        boxes = [(low, high)]
        for _ in range(_MAX_BOXES):
            if not boxes:
                return None, True
            low, high = boxes.pop()
            if self._bounds.winners(low[np.newaxis], high[np.newaxis])[0] == self._label:
                continue
            point = self._cell(low, high)
            if point is None:
                continue
            if self._leaf.ensemble.predict_index(point[np.newaxis])[0] != self._label:
                return point, True
            halves = self._halves(low, high)
            if halves is None:
                return None, False
            boxes += halves
        return None, False

    def _cell(self, low: Floats, high: Floats) -> Floats | None:
        """Return an input whose sums are in the box, up to the solver's tolerance, or None."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, vstack

        program = self._leaf.program
        matrix, row_low, row_high = program.rows()
        scale = self._scale[:, np.newaxis]
        matrix = vstack([matrix, csr_array(self._weight / scale)], format="csr")
        row_low = np.append(row_low, (low - self._base - self._tolerance) / self._scale)
        row_high = np.append(row_high, (high - self._base + self._tolerance) / self._scale)
        result = milp(
            np.zeros(program.n_columns),
            integrality=(np.arange(program.n_columns) < program.n_binary).astype(np.int64),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(matrix, row_low, row_high),
        )
        if result.status == _INFEASIBLE:
            return None
        if result.x is None:
            raise LimitReachedError(f'HiGHS gave up: {result.message}; use method="cells" if the grid allows')
        return self._leaf.point(result.x)

    def _halves(self, low: Floats, high: Floats) -> list[tuple[Floats, Floats]] | None:
        """Return the two parts of a box, cut where knowing a sum tells most; None if it is as small as can be."""
        n = len(low)
        lows, highs = np.tile(low, (n + 1, 1)), np.tile(high, (n + 1, 1))
        middle = low + (high - low) / 2
        lows[np.arange(n), np.arange(n)] = highs[np.arange(n), np.arange(n)] = middle
        least, most = self._bounds.decisive(lows, highs)
        lead = np.delete(most, self._label, axis=1).max(axis=1) - least[:, self._label]
        gain = np.where(high - low > 4 * self._tolerance, lead[-1] - lead[:-1], -math.inf)
        if not np.isfinite(gain).any():
            return None
        k = int(np.nanargmax(gain))
        lower, upper = high.copy(), low.copy()
        lower[k] = upper[k] = middle[k]
        return [(low, lower), (upper, high)]
