"""The proof by mixed-integer programming: HiGHS looks in every leaf box for an input of another class.

For each leaf of the tree and each rival class the program asks for a cell of the leaf's box where the rival's score
reaches that of the leaf's class. What is proven depends on the scores:

* Scores that are exact in floating point (hard votes, and fractions with few binary digits): the rival wins or loses
  by a whole step, far above the solver's tolerance of 1e-6. "Infeasible" means that no such input exists.
* Other scores: the program asks for every cell where the rival comes within a tolerance that covers both the rounding
  of the library's sum and the solver. Such near-ties are evaluated by `Ensemble.predict`, in the library's own
  arithmetic; if the class is right, the cells that reach the same leaves are excluded and the search goes on.
  "Infeasible" then means that every cell was either far from a tie or evaluated.
* Rules of two levels: see `onetree.verify.milp_combined`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.errors import LimitReachedError
from onetree.model.ensemble import Ensemble
from onetree.model.rounding import difference_error, largest_sum
from onetree.tree.tree import Tree
from onetree.verify import cells
from onetree.verify.blocks import Block
from onetree.verify.milp_combined import SumSearch
from onetree.verify.program import Program
from onetree.verify.translated import Translated
from onetree.verify.verdict import Verdict, class_map, differing

_SOLVER_TOLERANCE = 1e-5  # per tree, in units of the largest score difference; HiGHS keeps rows and integrality to 1e-6
_MAX_NEAR_TIES = 100  # per box and rival, before the cells of the box are enumerated instead
_INFEASIBLE = 2  # status of scipy.optimize.milp


def prove(
    tree: Tree,
    ensemble: Ensemble,
    blocks: tuple[Block, ...] = (),
    *,
    max_cells: int,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Search the box of every leaf for an input to which the ensemble gives another class."""
    on_axes = Translated(tree, ensemble, blocks)
    lower, upper = on_axes.tree.boxes()
    classes = class_map(tree, ensemble)[on_axes.tree.leaf_class[on_axes.tree.leaves()]]
    step = _exact_step(ensemble)
    n_checked = 0
    boxes = zip(lower, upper, leaf_values(on_axes), classes.tolist(), strict=True)
    for index, (low, high, held, label) in enumerate(boxes):
        leaf = Leaf.of(on_axes, ensemble, blocks, low, high, held)
        if not leaf.program.is_empty:
            n_checked += 1
            point = _other_class(leaf, label, step, max_cells=max_cells)
            if point is not None:
                return differing(tree, ensemble, "milp", n_checked, point)
        if progress is not None:
            progress(index + 1, len(classes))
    return Verdict(equivalent=True, method="milp", n_checked=n_checked)


def counterexample(
    ensemble: Ensemble, lower: NDArray[np.float64], upper: NDArray[np.float64], label: int, *, max_cells: int
) -> NDArray[np.float64] | None:
    """Return an input in ``lower < x <= upper`` whose class is not `label`, or None; bounds as in `Tree.boxes`.

    For ensembles without set tests.
    """
    program = Program(ensemble, lower, upper)
    if program.is_empty:
        return None
    leaf = Leaf(ensemble, program, lambda point: point, lambda: (_box_axes(ensemble, lower, upper), ()))
    return _other_class(leaf, label, _exact_step(ensemble), max_cells=max_cells)


@dataclass(frozen=True, eq=False)
class Leaf:
    """The inputs that end in one leaf of the tree."""

    ensemble: Ensemble
    program: Program  # the ensemble on these inputs
    input_of: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # behind a point of the program
    own_cells: Callable[[], tuple[cells.Axes, tuple[Block, ...]]]

    @classmethod
    def of(
        cls,
        on_axes: Translated,
        ensemble: Ensemble,
        blocks: tuple[Block, ...],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        held: dict[int, NDArray[np.bool_]],
    ) -> Leaf:
        """Return the leaf with these bounds, and these values of the set axes."""
        low, high, axes = lower.copy(), upper.copy(), list(held)
        low[axes], high[axes] = -math.inf, math.inf  # what they were is about numbers of tests

        def own_cells() -> tuple[cells.Axes, tuple[Block, ...]]:
            apart = {feature for block in blocks for feature in block.features}
            own = [Block(block.features, block.inputs[held.get(block.features[0], slice(1))]) for block in blocks]
            return _box_axes(ensemble, low, high, apart), tuple(own)

        return cls(ensemble, Program(on_axes.ensemble, low, high, held), on_axes.point, own_cells)

    def point(self, solution: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return an actual input from the cell of a solution."""
        return self.input_of(self.program.point(solution))


def leaf_values(on_axes: Translated) -> list[dict[int, NDArray[np.bool_]]]:
    """Return for each leaf, from left to right, the values of each set axis that come to it."""
    tree = on_axes.tree
    sets = {axis: members > 0 for axis, members in enumerate(on_axes.sets) if members is not None}
    found = []
    stack = [(0, {axis: np.ones(members.shape[1], dtype=bool) for axis, members in sets.items()})]
    while stack:
        node, held = stack.pop()
        axis = int(tree.feature[node])
        if axis < 0:
            found.append(held)
            continue
        left = right = held
        if axis in sets:
            goes_left = sets[axis][int(tree.threshold[node])]
            left, right = held | {axis: held[axis] & goes_left}, held | {axis: held[axis] & ~goes_left}
        stack += [(int(tree.children_right[node]), right), (int(tree.children_left[node]), left)]
    return found


def _other_class(leaf: Leaf, label: int, step: float | None, *, max_cells: int) -> NDArray[np.float64] | None:
    """Return an input of the leaf whose class is not `label`, or None."""
    if label < 0:  # a label that the ensemble does not know: every input of the leaf will do
        return leaf.point(np.zeros(leaf.program.n_columns))
    if leaf.program.n_binary == 0:  # one cell
        point = leaf.point()
        return None if leaf.ensemble.predict_index(point[np.newaxis])[0] == label else point
    if leaf.ensemble.rule.combination is not None:
        found, is_settled = SumSearch(leaf, label).other_class()
        return found if is_settled else _enumerate(leaf, label, max_cells)
    for duel in _duels(leaf.ensemble, label):
        found, is_settled = _search(leaf, duel, label, step)
        if found is not None:
            return found
        if not is_settled:
            return _enumerate(leaf, label, max_cells)
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


def _search(leaf: Leaf, duel: _Duel, label: int, step: float | None) -> tuple[NDArray[np.float64] | None, bool]:
    """Return an input of another class if the search meets one, and whether the duel is settled."""
    ensemble, program = leaf.ensemble, leaf.program
    weight = np.zeros(program.n_columns)
    weight[program.n_binary :] = duel.value[program.leaf_of]
    base = duel.base + float(duel.value[program.fixed].sum())
    scale = float(np.abs(weight).max()) or 1.0
    # Twice: the weights of the program are rounded as well.
    tolerance = 2 * float(difference_error(ensemble, largest_sum(ensemble))) / scale
    tolerance += _SOLVER_TOLERANCE * ensemble.n_trees
    if step is not None and step / scale > 4 * tolerance:
        goal = (-0.5 if duel.tie_wins else 0.5) * step / scale  # between two values that the margin can take
    else:
        goal = -tolerance
    weight /= scale
    goal -= base / scale
    # The best that each tree could do on its own already falls short: no program needed.
    if sum(float(weight[columns].max()) for columns in program.groups) < goal:
        return None, True
    if not goal > -len(program.groups):  # always met, and perhaps too large for the solver, or NaN after an overflow
        goal = -float(len(program.groups) + 1)

    from scipy.optimize import Bounds, LinearConstraint, milp  # takes as long to import as all of onetree
    from scipy.sparse import csr_array, vstack

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
        point = leaf.point(result.x)
        if ensemble.predict_index(point[np.newaxis])[0] != label:
            return point, True
        # Every cell that reaches the same leaves has this very score: none of them needs to be seen again.
        same = np.isin(program.leaf_of, ensemble.apply(point[np.newaxis])[0])
        row = np.concatenate([np.zeros(program.n_binary), same])
        matrix = vstack([matrix, csr_array(row[np.newaxis])], format="csr")
        low, high = np.append(low, -math.inf), np.append(high, len(program.groups) - 1.0)
    return None, False


def _enumerate(leaf: Leaf, label: int, max_cells: int) -> NDArray[np.float64] | None:
    """Compare all cells of a leaf that holds too many near-ties for the program."""
    axes, blocks = leaf.own_cells()
    n_cells = cells.count(axes, blocks)
    if n_cells > max_cells:
        raise LimitReachedError(
            f"a leaf of the tree holds more than {_MAX_NEAR_TIES} near-ties of floating-point scores, "
            f"and its {n_cells:.3g} cells are over max_cells={max_cells:.3g}; raise max_cells"
        )
    for rows in cells.chunks(axes, blocks):
        differs = leaf.ensemble.predict_index(rows) != label
        if differs.any():
            found: NDArray[np.float64] = rows[int(np.argmax(differs))]
            return found
    return None


def _box_axes(
    ensemble: Ensemble, lower: NDArray[np.float64], upper: NDArray[np.float64], apart: Collection[int] = ()
) -> cells.Axes:
    """Return one value for each slab of a box, as `cells.joint_axes` does for the whole space."""
    made = []
    for j in range(ensemble.n_features):
        if j in apart:
            made.append(np.zeros(1))
            continue
        levels = ensemble.threshold[ensemble.feature == j]
        takes_nan = bool(ensemble.nan_features[j]) and math.isnan(upper[j])
        numbers = cells.axis(levels, float(lower[j]), math.inf if math.isnan(upper[j]) else float(upper[j]))
        made.append(np.append(numbers, [math.nan] if takes_nan else []))
    return made


def _exact_step(ensemble: Ensemble) -> float | None:
    """Return a power of two of which all scores are small multiples, so that their sums are exact; or None."""
    rule = ensemble.rule
    if rule.softmax or rule.combination is not None:
        return None
    numbers = np.append(ensemble.value.ravel(), [*ensemble.base, rule.cut * rule.divisor])
    for exponent in range(11):
        step = 2.0**-exponent
        if np.array_equal(numbers / step, np.rint(numbers / step)):
            # Below 2**20 steps the division by the divisor keeps different sums different, also in float32.
            return step if largest_sum(ensemble) / step < 2**20 else None
    return None
