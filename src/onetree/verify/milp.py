"""The proof by mixed-integer programming: HiGHS looks in every leaf box for an input of another class.

For each leaf of the tree and each rival class the program asks for a cell of the leaf's box where the rival's score
reaches that of the leaf's class. What is proven depends on the scores:

* Scores that are exact in floating point (hard votes, and fractions with few binary digits): the rival wins or loses
  by a whole step, far above the solver's tolerance of 1e-6. "Infeasible" means that no such input exists.
* Other scores: the program asks for every cell where the rival comes within a tolerance that covers both the rounding
  of the library's sum and the solver. Such near-ties are evaluated by `Ensemble.predict`, in the library's own
  arithmetic; if the class is right, the cells that reach the same leaves are excluded and the search goes on.
  "Infeasible" then means that every cell was either far from a tie or evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from onetree.ensemble import Ensemble
from onetree.errors import LimitReachedError
from onetree.tree import Tree
from onetree.verify import cells
from onetree.verify.program import Program
from onetree.verify.verdict import Verdict, class_map, differing

_SOLVER_TOLERANCE = 1e-5  # per tree, in units of the largest score difference; HiGHS keeps rows and integrality to 1e-6
_MAX_NEAR_TIES = 100  # per box and rival, before the cells of the box are enumerated instead
_INFEASIBLE = 2  # status of scipy.optimize.milp


def prove(
    tree: Tree, ensemble: Ensemble, *, max_cells: int, progress: Callable[[int, int], None] | None = None
) -> Verdict:
    """Search the box of every leaf for an input to which the ensemble gives another class."""
    lower, upper = tree.boxes()
    classes = class_map(tree, ensemble)[tree.leaf_class[tree.leaves()]]
    step = _exact_step(ensemble)
    n_checked = 0
    for index, (low, high, label) in enumerate(zip(lower, upper, classes.tolist(), strict=True)):
        program = Program(ensemble, low, high)
        if not program.is_empty:
            n_checked += 1
            point = _other_class(program, label, step, cells_of_box=_box_axes(ensemble, low, high), max_cells=max_cells)
            if point is not None:
                return differing(tree, ensemble, "milp", n_checked, point)
        if progress is not None:
            progress(index + 1, len(classes))
    return Verdict(equivalent=True, method="milp", n_checked=n_checked)


def counterexample(
    ensemble: Ensemble, lower: NDArray[np.float64], upper: NDArray[np.float64], label: int, *, max_cells: int
) -> NDArray[np.float64] | None:
    """Return an input in ``lower < x <= upper`` whose class is not `label`, or None; bounds as in `Tree.boxes`."""
    program = Program(ensemble, lower, upper)
    if program.is_empty:
        return None
    axes = _box_axes(ensemble, lower, upper)
    return _other_class(program, label, _exact_step(ensemble), cells_of_box=axes, max_cells=max_cells)


def _other_class(
    program: Program, label: int, step: float | None, *, cells_of_box: Callable[[], cells.Axes], max_cells: int
) -> NDArray[np.float64] | None:
    """Return an input of the box whose class is not `label`, or None if there is none."""
    if label < 0:  # a label that the ensemble does not know: every input of the box will do
        return program.point(np.zeros(program.n_columns))
    if program.n_binary == 0:  # one cell
        point = program.point()
        return None if program.ensemble.predict_index(point[np.newaxis])[0] == label else point
    for duel in _duels(program.ensemble, label):
        found, is_settled = _search(program, duel, label, step)
        if found is not None:
            return found
        if not is_settled:
            return _enumerate(program.ensemble, label, cells_of_box(), max_cells)
    return None


@dataclass(frozen=True)
class _Duel:
    """A rival against the class of the box: the rival wins if value[leaves].sum() + base > 0, or = 0 and tie_wins."""

    value: NDArray[np.float64]  # per node of the ensemble
    base: float
    tie_wins: bool


def _duels(ensemble: Ensemble, label: int) -> list[_Duel]:
    rule = ensemble.rule
    if rule.kind == "score":
        sign = 1.0 if label == 0 else -1.0
        base = sign * (float(ensemble.base[0]) - rule.cut * rule.divisor)
        return [_Duel(sign * ensemble.value[:, 0], base, rule.cut_inclusive == (label == 0))]
    return [
        _Duel(
            ensemble.value[:, rival] - ensemble.value[:, label],
            float(ensemble.base[rival] - ensemble.base[label]),
            rival < label,
        )
        for rival in range(ensemble.n_classes)
        if rival != label
    ]


def _search(program: Program, duel: _Duel, label: int, step: float | None) -> tuple[NDArray[np.float64] | None, bool]:
    """Return an input of another class if the search meets one, and whether the duel is settled."""
    ensemble = program.ensemble
    weight = np.zeros(program.n_columns)
    weight[program.n_binary :] = duel.value[program.leaf_of]
    base = duel.base + float(duel.value[program.fixed].sum())
    scale = float(np.abs(weight).max()) or 1.0
    tolerance = _rounding(ensemble) / scale + _SOLVER_TOLERANCE * ensemble.n_trees
    if step is not None and step / scale > 4 * tolerance:
        goal = (-0.5 if duel.tie_wins else 0.5) * step / scale  # between two values that the margin can take
    else:
        goal = -tolerance
    weight /= scale
    goal -= base / scale
    # The best that each tree could do on its own already falls short: no program needed.
    if sum(float(weight[columns].max()) for columns in program.groups) < goal:
        return None, True
    if not goal > -len(program.groups):  # always met, and possibly too large for the solver, or NaN after an overflow
        goal = -float(len(program.groups) + 1)

    matrix, low, high = program.rows()
    matrix = vstack([matrix, csr_array(weight[np.newaxis])], format="csr")
    low, high = np.append(low, goal), np.append(high, math.inf)
    integrality = (np.arange(program.n_columns) < program.n_binary).astype(np.int64)
    for _ in range(_MAX_NEAR_TIES):
        result = milp(
            -weight,
            integrality=integrality,
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(matrix, low, high),
            options={"mip_rel_gap": 0.0},
        )
        if result.status == _INFEASIBLE:
            return None, True
        if result.x is None:
            raise LimitReachedError(f'HiGHS gave up: {result.message}; use method="cells" if the grid allows')
        point = program.point(result.x)
        if ensemble.predict_index(point[np.newaxis])[0] != label:
            return point, True
        # Every cell that reaches the same leaves has this very score: none of them needs to be seen again.
        same = np.isin(program.leaf_of, ensemble.apply(point[np.newaxis])[0])
        row = np.concatenate([np.zeros(program.n_binary), same])
        matrix = vstack([matrix, csr_array(row[np.newaxis])], format="csr")
        low, high = np.append(low, -math.inf), np.append(high, len(program.groups) - 1.0)
    return None, False


def _enumerate(ensemble: Ensemble, label: int, axes: cells.Axes, max_cells: int) -> NDArray[np.float64] | None:
    """Compare all cells of a box that holds too many near-ties for the program."""
    n_cells = cells.count(axes)
    if n_cells > max_cells:
        raise LimitReachedError(
            f"a leaf of the tree holds more than {_MAX_NEAR_TIES} near-ties of floating-point scores, "
            f"and its {n_cells:.3g} cells are over max_cells={max_cells:.3g}; raise max_cells"
        )
    for rows in cells.chunks(axes):
        differs = ensemble.predict_index(rows) != label
        if differs.any():
            found: NDArray[np.float64] = rows[int(np.argmax(differs))]
            return found
    return None


def _box_axes(ensemble: Ensemble, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Callable[[], cells.Axes]:
    def axes() -> cells.Axes:
        made = []
        for j in range(ensemble.n_features):
            levels = ensemble.threshold[ensemble.feature == j]
            takes_nan = bool(ensemble.nan_features[j]) and math.isnan(upper[j])
            numbers = cells.axis(levels, float(lower[j]), math.inf if math.isnan(upper[j]) else float(upper[j]))
            made.append(np.append(numbers, [math.nan] if takes_nan else []))
        return made

    return axes


def _largest_sum(ensemble: Ensemble) -> float:
    """Return a bound of every partial sum of every score, and of the cut it is compared with."""
    total = float(np.abs(ensemble.base).max()) + abs(ensemble.rule.cut * ensemble.rule.divisor)
    is_leaf = ensemble.feature < 0
    return total + ensemble.n_trees * float(np.abs(ensemble.value[is_leaf]).max())


def _rounding(ensemble: Ensemble) -> float:
    """Return how far the computed difference of two scores can be from the true one.

    That is 2 gamma(T + 3) sum |v|, with gamma(n) = nu / (1 - nu); twice that, since the weights of the program are
    rounded as well. What division loses below the smallest normal number is not relative, and comes on top; so does
    the distance at which a softmax still makes two scores one.
    """
    precision = np.finfo(ensemble.rule.dtype)
    unit, n = float(precision.eps) / 2, ensemble.n_trees + 3
    underflow = float(precision.smallest_subnormal) * (n + ensemble.rule.divisor)
    tie = 4 * unit * ensemble.rule.divisor if ensemble.rule.softmax else 0.0
    return 4 * (n * unit / (1 - n * unit) * _largest_sum(ensemble) + underflow + tie)


def _exact_step(ensemble: Ensemble) -> float | None:
    """Return a power of two of which all scores are small multiples, so that their sums are exact; or None."""
    rule = ensemble.rule
    if rule.softmax:
        return None
    numbers = np.append(ensemble.value.ravel(), [*ensemble.base, rule.cut * rule.divisor])
    for exponent in range(11):
        step = 2.0**-exponent
        if np.array_equal(numbers / step, np.rint(numbers / step)):
            # Below 2**20 steps the division by the divisor keeps different sums different, also in float32.
            return step if _largest_sum(ensemble) / step < 2**20 else None
    return None
