"""The first cuts of a huge tree: the space in boxes that can be worked on apart.

Follows the rule of the heuristic: cut where sampled cells on both sides can share a leaf least often, since their class
changes or their numbers are too far apart, and where least is left.
Cuts only at thresholds of features that stand alone: categorical features and groups stay whole in every box. The cuts
depend on the ensemble, what is asked of its tree, the seed and the number of boxes only.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.domain.restrict import restrict
from onetree.domain.values import Values
from onetree.lowering.grid import Grid
from onetree.lowering.native_predict import NativePredictor
from onetree.model.categories import Categories
from onetree.model.ensemble import Ensemble
from onetree.model.forest_checks import node_depths
from onetree.search.scoring import Scoring

FEW_CELLS = 10**8  # of a box that is not worth cutting: its tree takes a second or two
_N_SAMPLES = 256  # cells that are looked up
_N_HYPERPLANES = 64  # the heaviest of a box, among which the cut is chosen
_N_CANDIDATES = 8  # of which both sides are counted
_NEAR_BEST = 0.7  # share of the most changes that makes a candidate


@dataclass(frozen=True, eq=False)
class Box:
    """A part of the space: the values of each feature, and the ensemble inside."""

    domain: Domain
    inside: Ensemble
    n_cells: int

    @classmethod
    def of(cls, domain: Domain, ensemble: Ensemble) -> "Box":
        """Return the box with this domain, which belongs to the inputs of the ensemble and has values everywhere."""
        return cls._of(domain, restrict(ensemble, domain))

    @classmethod
    def _of(cls, domain: Domain, inside: Ensemble) -> "Box":
        return cls(domain, inside, Grid.of(inside, domain if domain.groups else None).n_cells)

    def sides(self, feature: int, threshold: float) -> tuple["Box", "Box"]:
        """Cut the box in two. Neither side is empty where the ensemble inside has this split."""
        left, right = (self._with(feature, half) for half in _halves(self.whole(feature), threshold))
        return left, right

    def _with(self, feature: int, values: Values) -> "Box":
        """Return the part where a feature has these values; what the others have is in the ensemble inside already."""
        before, after = self.domain.values[:feature], self.domain.values[feature + 1 :]
        alone = Domain((*(None,) * len(before), values, *(None,) * len(after)))
        return Box._of(replace(self.domain, values=(*before, values, *after)), restrict(self.inside, alone))

    def whole(self, feature: int) -> Values:
        """Return the values of a feature."""
        values = self.domain.values[feature]
        return Values(missing=bool(self.inside.nan_features[feature])) if values is None else values


@dataclass(frozen=True)
class Cut:
    """A split of a box, and the nodes that its sides are."""

    feature: int
    threshold: float
    left: int
    right: int


@dataclass(frozen=True, eq=False)
class Partition:
    """The top of a tree. Node 0 is the whole, children have larger numbers, and what is not cut is a box to work on."""

    cuts: dict[int, Cut]
    boxes: dict[int, Box]


def partition(
    ensemble: Ensemble,
    domain: Domain | None,
    max_boxes: int,
    seed: int,
    *,
    scoring: Scoring | None = None,
    known: Mapping[int, Cut] | None = None,
    made: Callable[[int, Cut], None] | None = None,
    tick: Callable[[], None] = lambda: None,
) -> Partition:
    """Cut the box with most cells, again and again, until there are enough boxes or all are small.

    With a `scoring`, leaves carry numbers. Cuts that are `known` from an earlier call with the same arguments are not
    searched for again; `made` receives each of the others. `tick` is called between steps that take long for a large
    ensemble; it may raise.
    """
    given = Domain((None,) * ensemble.n_features) if domain is None else domain
    whole = tuple(
        Values(missing=missing) if values is None and kind is None else values
        for values, missing, kind in zip(given.values, ensemble.nan_features.tolist(), ensemble.categories, strict=True)
    )
    boxes = {0: Box.of(replace(given, values=whole, origin=""), ensemble)}  # those that are not cut
    cuts: dict[int, Cut] = {}
    waiting = [(-boxes[0].n_cells, 0)]
    n_nodes = 1
    while waiting and len(boxes) < max_boxes and -waiting[0][0] > FEW_CELLS:
        _, node = heappop(waiting)
        tick()
        if known is not None and node in known:
            cuts[node] = known[node]
            sides = boxes[node].sides(known[node].feature, known[node].threshold)
        else:
            found = _best_cut(boxes[node], np.random.default_rng((seed, node)), scoring, tick)
            if found is None:
                continue  # large, but without a threshold to cut at
            hyperplane, sides = found
            cuts[node] = Cut(*hyperplane, n_nodes, n_nodes + 1)
            if made is not None:
                made(node, cuts[node])
        del boxes[node]
        for side in sides:
            heappush(waiting, (-side.n_cells, n_nodes))
            boxes[n_nodes] = side
            n_nodes += 1
    return Partition(cuts, boxes)


def _halves(values: Values, threshold: float) -> tuple[Values, Values]:
    """Return the values on the left of a threshold and those on its right, where a missing value goes."""
    if values.choices is not None:
        left = tuple(choice for choice in values.choices if choice <= threshold)
        right = tuple(choice for choice in values.choices if choice > threshold)
        return replace(values, choices=left, missing=False), replace(values, choices=right)
    below = replace(values, high=min(values.high, threshold), missing=False)
    following = float(values.above(np.array([threshold]))[0])
    if math.isnan(following):  # no number is above
        return below, Values(choices=(), missing=values.missing)
    return below, replace(values, low=following)


def _best_cut(
    box: Box, rng: np.random.Generator, scoring: Scoring | None, tick: Callable[[], None]
) -> tuple[tuple[int, float], tuple[Box, Box]] | None:
    """Choose a hyperplane, and give both sides of the box; None if there is no hyperplane to choose."""
    hyperplanes = _heaviest(box)
    if not hyperplanes:
        return None
    changes = _changes(box, hyperplanes, rng, scoring)
    order = np.argsort(-changes, kind="stable")  # the heavier first among equals
    near = order[changes[order] >= _NEAR_BEST * changes.max()][: _N_CANDIDATES if changes.any() else 1]
    candidates = []
    for index in near.tolist():
        tick()
        candidates.append((hyperplanes[index], box.sides(*hyperplanes[index])))
    return min(candidates, key=lambda candidate: _left_over(candidate[1]))  # the first of equals


def _left_over(sides: tuple[Box, Box]) -> float:
    """Return the sum of the square roots of the sides' cells, as a logarithm, which numbers of any size have."""
    left, right = (math.log(side.n_cells) / 2 for side in sides)
    return float(np.logaddexp(left, right))


def _heaviest(box: Box) -> list[tuple[int, float]]:
    """Return the hyperplanes that most inputs meet, if each split halved them: feature and threshold."""
    ensemble = box.inside
    alone = np.array([kind is None for kind in ensemble.categories])
    alone[[feature for group in box.domain.groups for feature in group.features]] = False
    _, depth = node_depths(ensemble.roots, ensemble.feature, ensemble.children_left, ensemble.children_right)
    splits = (ensemble.feature >= 0) & alone[ensemble.feature]
    splits &= (ensemble.threshold < np.inf) | ensemble.nan_features[ensemble.feature]
    pairs = np.stack([ensemble.feature[splits].astype(np.float64), ensemble.threshold[splits]])
    pairs, at = np.unique(pairs, axis=1, return_inverse=True)
    weight = np.bincount(at.ravel(), np.exp2(-depth[splits].astype(np.float64)))
    chosen = np.argsort(-weight, kind="stable")[:_N_HYPERPLANES]
    return [(int(feature), threshold) for feature, threshold in pairs[:, chosen].T.tolist()]


def _changes(
    box: Box, hyperplanes: list[tuple[int, float]], rng: np.random.Generator, scoring: Scoring | None
) -> NDArray[np.int64]:
    """Count for each hyperplane the sampled cells that cannot share a leaf with the cell across it."""
    ensemble = box.inside
    levels = Grid.of(ensemble).levels
    slabs = [
        _inputs_of_slabs(each) if kind is None else _inputs_of_elements(kind, box.whole(feature))
        for feature, (each, kind) in enumerate(zip(levels, ensemble.categories, strict=True))
    ]
    cells = np.stack([inputs[rng.integers(len(inputs), size=_N_SAMPLES)] for inputs in slabs], axis=1)
    for group in box.domain.groups:
        cells[:, group.features] = group.allowed[rng.integers(len(group.allowed), size=_N_SAMPLES)]
    rows = np.tile(cells, (len(hyperplanes), 2, 1, 1))
    for pair, (feature, threshold) in zip(rows, hyperplanes, strict=True):
        level = int(np.searchsorted(levels[feature], threshold))
        pair[:, :, feature] = slabs[feature][level : level + 2, np.newaxis]
    flat = rows.reshape(-1, ensemble.n_features)
    if scoring is not None:
        return _apart(scoring, ensemble.scores(flat), rows.shape[:3])
    classes = ensemble.predict_index(flat) if ensemble.has_subsets else NativePredictor(ensemble).classes(flat)
    classes = classes.reshape(rows.shape[:3])
    changes: NDArray[np.int64] = np.count_nonzero(classes[:, 0] != classes[:, 1], axis=1)
    return changes


def _apart(scoring: Scoring, sums: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Count the pairs for which no leaf will do; the shape is that of hyperplanes, sides and samples."""
    least, most = (ends.reshape(*shape, -1) for ends in scoring.admit(sums.astype(np.float64)))
    apart = least.max(axis=1) > most.min(axis=1)
    changes: NDArray[np.int64] = np.count_nonzero(apart.any(axis=2), axis=1)
    return changes


def _inputs_of_slabs(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one input of each slab of a feature; above the level +inf are the missing values."""
    if levels.size == 0:
        return np.zeros(1)
    last = np.nan if levels[-1] == np.inf else np.nextafter(levels[-1], np.inf)
    return np.append(levels, last)


def _inputs_of_elements(kind: Categories, values: Values) -> NDArray[np.float64]:
    """Return an input for each element of a categorical feature whose example belongs to the values, or for one."""
    inputs = np.array([kind.example(element) for element in range(kind.n_elements)])
    inputs = inputs[values.contain(inputs)]
    return inputs if inputs.size else np.zeros(1)
