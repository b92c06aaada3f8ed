"""Random ensembles, for Hypothesis (which shrinks them) and from a seed (for campaigns of thousands).

Both come from one description, `_ensemble`, which takes every decision from a `Choices`. Small on purpose, and full of
what is awkward: ties, weights, constant trees, leaves that no input reaches, thresholds that are float neighbours.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from onetree.model.categories import Categories
from onetree.model.ensemble import Ensemble, Rule

KINDS = ("hard", "soft", "score", "scores")
LABELS = (
    lambda n: np.arange(n),
    lambda n: np.array(["no", "yes", "perhaps", "never", "ever"])[:n],
    lambda n: np.arange(n) * 3 - 4,
)


def _neighbours(value, n):
    """N consecutive float64 numbers."""
    numbers = [value]
    while len(numbers) < n:
        numbers.append(np.nextafter(numbers[-1], np.inf))
    return numbers


THRESHOLDS = (
    [float(i) for i in range(64)],
    [-2.5, -1.0, -0.0, 0.0, 0.5, 1.5, 2.5, 1e6],  # -0.0 and 0.0 are one level
    [*_neighbours(1.0, 4), *_neighbours(-0.1, 4)],
    [*_neighbours(-5e-324, 3), 2.2250738585072014e-308, 1e-40, 1e-20, 1e-10, 1.0],
    [-1e300, -1e38, -16777217.0, -1.0, 1.0, 16777217.0, 1e38, 1e300],
)
# Leaf scores. Sums of tenths are inexact and depend on the order; 2**53 and 2**24 swallow what is added to them.
SCORES = (
    [-1.0, 0.0, 1.0],
    [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0],
    [i / 10 for i in range(-5, 6)],
    [2.0**53, 1.0, -1.0, -(2.0**53), 0.5],
    [2.0**24, 1.0, -1.0, -(2.0**24), 2.0**-24],
    [-0.0, 0.0, 5e-324, -5e-324],
    [0.25, *_neighbours(0.25, 3)[1:], 0.25 + 2.0**-25, 0.25 - 2.0**-26],  # a softmax makes some of these a tie
)


class _Drawn:
    """Choices made by Hypothesis."""

    def __init__(self, draw):
        self._draw = draw

    def integer(self, low, high):  # both inclusive
        return self._draw(st.integers(low, high))


class _Seeded:
    """Choices made by a numpy random generator."""

    def __init__(self, rng):
        self._rng = rng

    def integer(self, low, high):  # both inclusive
        return int(self._rng.integers(low, high + 1))


class _Nodes:
    """The node arrays of an ensemble while its trees are being drawn."""

    def __init__(self):
        self.rows = []  # feature, threshold, left, right, missing_left, value

    def leaf(self, value):
        self.rows.append((-1, 0.0, -1, -1, False, value))
        return len(self.rows) - 1

    def split(self, feature, threshold, left, right, missing_left):
        self.rows.append((feature, threshold, left, right, missing_left, None))
        return len(self.rows) - 1


def _pick(choices, options):
    return options[choices.integer(0, len(options) - 1)]


def _levels(choices, n_features, max_cells, max_levels, nan):
    """Thresholds to choose from, per feature, and which features accept NaN; the grid has at most max_cells cells."""
    levels, nan_features, room = [], [], max_cells
    for _ in range(n_features):
        accepts_nan = nan and room >= 4 and choices.integer(0, 1) == 1
        pool = _pick(choices, THRESHOLDS)
        most = min(max_levels, len(pool), max(0, room - 1 - accepts_nan))
        n_levels = min(most, choices.integer(0, max_levels + 2))
        start = choices.integer(0, len(pool) - n_levels)
        levels.append(pool[start : start + n_levels])
        nan_features.append(accepts_nan)
        room //= n_levels + 1 + accepts_nan
    return levels, nan_features


def _leaf_vector(choices, kind, n_classes, scores):
    """A function that draws the vector of a leaf."""
    if kind == "hard":
        return lambda: np.eye(n_classes)[choices.integer(0, n_classes - 1)]
    if kind == "soft":
        total = _pick(choices, (2, 3, 4, 10))  # samples in a leaf: fractions that tie, exactly or only nearly

        def fractions():
            cuts = sorted(choices.integer(0, total) for _ in range(n_classes - 1))
            return np.diff([0, *cuts, total]) / total

        return fractions
    n_outputs = 1 if kind == "score" else n_classes
    return lambda: np.array([_pick(choices, scores) for _ in range(n_outputs)])


def _draw_tree(choices, nodes, levels, nan_features, max_depth, leaf_vector):
    usable = [feature for feature, thresholds in enumerate(levels) if thresholds or nan_features[feature]]

    def draw(depth):  # as deep as max_depth: small
        if depth == max_depth or not usable or choices.integer(0, 9) == 0:
            return nodes.leaf(leaf_vector())
        feature = _pick(choices, usable)
        options = [*levels[feature], np.inf] if nan_features[feature] else levels[feature]
        threshold = _pick(choices, options)
        missing_left = choices.integer(0, 1) == 1
        left, right = draw(depth + 1), draw(depth + 1)
        return nodes.split(feature, threshold, left, right, missing_left)

    return draw(0)


def _rule(choices, kind, n_trees, scores, dtype):
    if kind == "hard":
        return Rule("hard")
    if kind == "soft":
        return Rule("soft", divisor=float(n_trees))
    divisor = float(_pick(choices, (1, 1, 3, 10, n_trees)))
    if kind == "scores":
        return Rule("scores", dtype=dtype, divisor=divisor, softmax=choices.integer(0, 1) == 1)
    # A cut that a quotient of whole numbers meets, once both are rounded.
    cut = float(np.array(_pick(choices, (0.0, 0.0, 0.1, 1 / 3, _pick(choices, scores)))).astype(dtype))
    return Rule("score", dtype=dtype, divisor=divisor, cut=cut, cut_inclusive=choices.integer(0, 1) == 1)


def _assembled(nodes, roots, classes, base, rule, nan_features):
    feature, threshold, left, right, missing_left, value = zip(*nodes.rows, strict=True)
    inner = np.zeros(len(base))
    return Ensemble(
        classes=classes,
        feature_names=tuple(f"x{i}" for i in range(len(nan_features))),
        roots=np.array(roots, dtype=np.int32),
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold, dtype=np.float64),
        children_left=np.array(left, dtype=np.int32),
        children_right=np.array(right, dtype=np.int32),
        missing_left=np.array(missing_left, dtype=bool),
        value=np.array([inner if vector is None else vector for vector in value], dtype=np.float64),
        base=np.array(base, dtype=np.float64),
        rule=rule,
        nan_features=np.array(nan_features, dtype=bool),
    )


def _ensemble(choices, max_cells, max_features, max_levels, max_classes, max_trees, max_depth, kinds, nan):
    kind = _pick(choices, kinds)
    n_classes = 2 if kind == "score" else choices.integer(2, max_classes)
    if kind in ("hard", "soft") and choices.integer(0, 19) == 19:
        n_classes = 1
    n_features = choices.integer(1, max_features)
    n_trees = choices.integer(1, max_trees)
    levels, nan_features = _levels(choices, n_features, max_cells, max_levels, nan)
    dtype = _pick(choices, ("float64", "float32")) if kind in ("score", "scores") else "float64"
    scores = np.array(_pick(choices, SCORES)).astype(dtype).astype(np.float64).tolist()
    leaf_vector = _leaf_vector(choices, kind, n_classes, scores)

    nodes = _Nodes()
    depths = [min(max_depth, choices.integer(0, max_depth + 4)) for _ in range(n_trees)]
    roots = [_draw_tree(choices, nodes, levels, nan_features, depth, leaf_vector) for depth in depths]
    n_outputs = 1 if kind == "score" else n_classes
    base = [_pick(choices, scores) if kind in ("score", "scores") else 0.0 for _ in range(n_outputs)]
    classes = _pick(choices, LABELS)(n_classes)
    return _assembled(nodes, roots, classes, base, _rule(choices, kind, n_trees, scores, dtype), nan_features)


def painted(cells, n_classes):
    """An ensemble whose class in every cell is the given one: a single tree, complete, with thresholds 0, 1, 2, ..."""
    nodes = _Nodes()

    def paint(start, stop):  # both are cells, stop exclusive; as deep as there are hyperplanes
        for axis, (low, high) in enumerate(zip(start, stop, strict=True)):
            if high - low > 1:
                middle = (low + high) // 2
                left = paint(start, (*stop[:axis], middle, *stop[axis + 1 :]))
                right = paint((*start[:axis], middle, *start[axis + 1 :]), stop)
                return nodes.split(axis, float(middle - 1), left, right, False)
        return nodes.leaf(np.eye(n_classes)[cells[start]])

    root = paint((0,) * cells.ndim, cells.shape)
    nan_features = [False] * cells.ndim
    return _assembled(nodes, [root], np.arange(n_classes), np.zeros(n_classes), Rule("hard"), nan_features)


@st.composite
def ensembles(
    draw,
    max_cells=100,
    max_features=4,
    max_levels=6,
    max_classes=5,
    max_trees=6,
    max_depth=3,
    kinds=KINDS,
    nan=True,
):
    """Ensembles of every kind; with `nan`, some features accept NaN."""
    return _ensemble(_Drawn(draw), max_cells, max_features, max_levels, max_classes, max_trees, max_depth, kinds, nan)


def random_ensemble(
    rng,
    max_cells=100,
    max_features=4,
    max_levels=6,
    max_classes=5,
    max_trees=8,
    max_depth=4,
    kinds=KINDS,
    nan=True,
):
    """One such ensemble from a numpy random generator: fast, and repeatable from the seed."""
    return _ensemble(_Seeded(rng), max_cells, max_features, max_levels, max_classes, max_trees, max_depth, kinds, nan)


CODES = ([0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 8.0, 16.0], [-1e300, -0.5, 0.1, 1 / 3, 2.0**53])


def _kind_of_categories(choices, max_codes):
    """Categories that are single numbers, as some libraries have them, or what is truncated to a code, as others do."""
    n_codes = choices.integer(2, max_codes)
    if choices.integer(0, 2) == 0:
        codes = np.arange(float(n_codes))
        low = np.where(codes == 0, -1.0, np.nextafter(codes, -np.inf))
        return Categories(tuple(codes), low, np.nextafter(codes + 1, -np.inf))
    pool = _pick(choices, CODES)
    start = choices.integer(0, len(pool) - n_codes)
    names = [f"c{i}" for i in range(n_codes)] if choices.integer(0, 1) else []
    return Categories.equal(pool[start : start + n_codes], names)


def _draw_set_tree(choices, nodes, sets, kinds, levels, nan_features, max_depth, leaf_vector):
    """Like `_draw_tree`; the set of a node that has one is put into `sets`."""
    usable = [feature for feature, kind in enumerate(kinds) if kind is not None or levels[feature]]

    def draw(depth):  # as deep as max_depth: small
        if depth == max_depth or choices.integer(0, 9) == 0:
            return nodes.leaf(leaf_vector())
        feature = _pick(choices, usable)
        left, right = draw(depth + 1), draw(depth + 1)
        if kinds[feature] is None:
            return nodes.split(feature, _pick(choices, levels[feature]), left, right, choices.integer(0, 1) == 1)
        node = nodes.split(feature, 0.0, left, right, False)
        sets[node] = [choices.integer(0, 1) == 1 for _ in range(kinds[feature].n_elements)]
        return node

    return draw(0)


def _ensemble_with_categories(choices, max_features, max_codes, max_classes, max_trees, max_depth, kinds, nan):
    plain = _ensemble(choices, 8, 1, 2, max_classes, max_trees, 0, kinds, nan=False)  # rule, classes, scores
    n_features = choices.integer(1, max_features)
    which = choices.integer(0, n_features - 1)  # is categorical in any case
    categories = [
        _kind_of_categories(choices, max_codes) if feature == which or choices.integer(0, 1) else None
        for feature in range(n_features)
    ]
    levels = [_pick(choices, THRESHOLDS)[:2] if kind is None else [] for kind in categories]
    nan_features = [nan and choices.integer(0, 1) == 1 for _ in range(n_features)]
    scores = np.array(_pick(choices, SCORES)).astype(plain.rule.dtype).astype(np.float64).tolist()
    leaf_vector = _leaf_vector(choices, plain.rule.kind, plain.n_classes, scores)
    nodes, sets = _Nodes(), {}
    roots = [
        _draw_set_tree(choices, nodes, sets, categories, levels, nan_features, max_depth, leaf_vector)
        for _ in range(plain.n_trees)
    ]
    return _assembled_with_sets(nodes, roots, plain, nan_features, categories, sets)


def _assembled_with_sets(nodes, roots, plain, nan_features, categories, sets):
    feature, threshold, left, right, missing_left, value = zip(*nodes.rows, strict=True)
    subset = np.full(len(feature), -1)
    subset[list(sets)] = np.arange(len(sets))
    subsets = np.zeros((len(sets), max(kind.n_elements for kind in categories if kind is not None)), dtype=bool)
    for row, members in zip(subsets, sets.values(), strict=True):
        row[: len(members)] = members
    inner = np.zeros(plain.n_outputs)
    return Ensemble(
        classes=np.array(plain.classes.tolist()),  # no wider than needed, as they come back from a file
        feature_names=tuple(f"x{i}" for i in range(len(nan_features))),
        roots=roots,
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_left=missing_left,
        value=[inner if vector is None else vector for vector in value],
        base=plain.base,
        rule=plain.rule,
        nan_features=np.array(nan_features, dtype=bool),
        categories=categories,
        subset=subset,
        subsets=subsets,
    )


@st.composite
def ensembles_with_categories(
    draw, max_features=3, max_codes=5, max_classes=4, max_trees=4, max_depth=3, kinds=KINDS, nan=True
):
    """Ensembles with at least one categorical feature, of 2 to `max_codes` codes; sets may be empty or full."""
    return _ensemble_with_categories(
        _Drawn(draw), max_features, max_codes, max_classes, max_trees, max_depth, kinds, nan
    )


def random_ensemble_with_categories(
    rng, max_features=3, max_codes=5, max_classes=4, max_trees=6, max_depth=4, kinds=KINDS, nan=True
):
    """One such ensemble from a numpy random generator: fast, and repeatable from the seed."""
    return _ensemble_with_categories(
        _Seeded(rng), max_features, max_codes, max_classes, max_trees, max_depth, kinds, nan
    )


def telling_inputs(model, n_rows=200, seed=0):
    """Rows that mix, on each feature, the inputs at which an ensemble or a tree can change its mind."""
    rng = np.random.default_rng(seed)
    columns = []
    for feature, kind in enumerate(model.categories):
        edges = [*model.threshold[model.feature == feature]]
        if kind is not None:
            edges = [*kind.codes, *kind.low, *kind.high, kind.example(0)]
        with np.errstate(over="ignore", under="ignore"):
            pool = [*edges, *np.nextafter(edges, np.inf), *np.nextafter(edges, -np.inf), 0.0, -np.inf, np.inf]
        if model.nan_features[feature]:
            pool += [np.nan] * (len(pool) // 4)
        columns.append(rng.choice(pool, n_rows))
    return np.column_stack(columns)
