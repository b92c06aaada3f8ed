"""Random ensembles on features that depend on each other, with the domain that says how: groups and categories.

From one description like `tests.cases.strategies`, for Hypothesis and from a seed. Few different tests, so that the
grid of all of them, each an axis of its own, is small enough for the oracle.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from onetree.domain.domain import Domain
from onetree.domain.groups import Declaration, join
from onetree.domain.values import Values
from onetree.errors import InvalidInputError
from onetree.model.categories import Categories
from onetree.model.ensemble import Ensemble, Rule
from tests.cases.strategies import KINDS, SCORES, _Drawn, _ensemble, _leaf_vector, _Nodes, _pick, _Seeded

LEVELS = ([0.5], [0.25, 0.5], [0.0], [0.5, 2.0])  # of features that are 0 or 1: all of a list say the same, or nothing


class _Features:
    """What the features are, and which splits there are on each."""

    def __init__(self):
        self.kinds, self.levels, self.sets, self.nan, self.values = [], [], [], [], []

    def add(self, kind=None, levels=(), sets=(), nan=False, values=None):
        for name, entry in zip(
            ("kinds", "levels", "sets", "nan", "values"), (kind, levels, sets, nan, values), strict=True
        ):
            getattr(self, name).append(entry)


def _categorical(choices, features, max_sets):
    n_codes = choices.integer(1, 5)
    if choices.integer(0, 1):
        codes = np.arange(float(n_codes))
        low = np.where(codes == 0, -1.0, np.nextafter(codes, -np.inf))  # what is truncated to the code
        kind = Categories(tuple(codes), low, np.nextafter(codes + 1, -np.inf))
    else:
        kind = Categories.equal(_pick(choices, ([0.0, 1.0, 2.0, 3.0, 4.0], [-1.5, 1.0, 4.0, 7.0, 1e6]))[:n_codes])
    nan = choices.integer(0, 1) == 1
    sets = [[choices.integer(0, 1) == 1 for _ in range(kind.n_elements)] for _ in range(choices.integer(1, max_sets))]
    missing = nan and choices.integer(0, 1) == 1
    options = (
        None,
        None,
        Values(choices=tuple(kind.codes), missing=missing),
        Values(choices=(0.0, 1.0, 7.0), missing=missing),
        Values(integer=True, missing=missing),
        Values(kind.codes[-1] - 1.0, 1e7, missing=missing),
    )
    features.add(kind=kind, sets=sets, nan=nan, values=_pick(choices, options))


def _declarations(choices, binary):
    found = []
    for _ in range(choices.integer(0, 3) if len(binary) >= 2 else 0):
        rest = list(binary)
        chosen = tuple(rest.pop(choices.integer(0, len(rest) - 1)) for _ in range(choices.integer(2, len(binary))))
        word = _pick(choices, ("one-hot", "at most one", "implies", "table"))
        if word == "table":
            rows = {choices.integer(0, 2 ** len(chosen) - 1) for _ in range(choices.integer(1, 5))}
            word = ",".join(f"{row:0{len(chosen)}b}" for row in rows)
        found.append(Declaration(chosen, word))
    return found


def _domain(features, declarations):
    try:
        return Domain(tuple(features.values), groups=join(declarations))
    except InvalidInputError:  # they contradict each other
        return _domain(features, declarations[:-1])


def _grown(choices, nodes, features, sets, max_depth, leaf_vector):
    usable = [feature for feature, kind in enumerate(features.kinds) if kind is not None or features.levels[feature]]

    def grow(depth):  # as deep as max_depth: small
        if depth == max_depth or choices.integer(0, 9) == 0:
            return nodes.leaf(leaf_vector())
        feature = _pick(choices, usable)
        left, right = grow(depth + 1), grow(depth + 1)
        if features.kinds[feature] is None:
            missing_left = choices.integer(0, 1) == 1
            return nodes.split(feature, _pick(choices, features.levels[feature]), left, right, missing_left)
        node = nodes.split(feature, 0.0, left, right, False)
        sets[node] = _pick(choices, features.sets[feature])
        return node

    return grow(0)


def _case(choices, max_trees, max_depth, missing):
    plain = _ensemble(choices, 8, 1, 2, 4, max_trees, 0, KINDS, nan=False)  # rule, classes, number of trees
    features = _Features()
    n_binary = min(4, choices.integer(0, 6))
    for _ in range(n_binary):
        features.add(levels=_pick(choices, LEVELS))
    for number in range(choices.integer(0 if n_binary else 1, 2)):
        _categorical(choices, features, max_sets=min(4, 7 - n_binary) if number == 0 else 2)
    if choices.integer(0, 1):
        features.add(levels=_pick(choices, ([0.5], [-1.0, 3.0])), nan=missing and choices.integer(0, 1) == 1)
    domain = _domain(features, _declarations(choices, list(range(n_binary))))

    scores = np.array(_pick(choices, SCORES)).astype(plain.rule.dtype).astype(np.float64).tolist()
    leaf_vector = _leaf_vector(choices, plain.rule.kind, plain.n_classes, scores)
    nodes, sets = _Nodes(), {}
    roots = [_grown(choices, nodes, features, sets, max_depth, leaf_vector) for _ in range(plain.n_trees)]
    ensemble = _assembled(nodes, roots, plain.classes, plain.base, plain.rule, features.nan, features.kinds, sets)
    return ensemble, domain


def _assembled(nodes, roots, classes, base, rule, nan_features, kinds, sets):
    feature, threshold, left, right, missing_left, value = (list(column) for column in zip(*nodes.rows, strict=True))
    subset = np.full(len(feature), -1)
    subset[list(sets)] = np.arange(len(sets))
    width = max((kind.n_elements for kind in kinds if kind is not None), default=0)
    subsets = np.zeros((len(sets), width), dtype=bool)
    for row, members in zip(subsets, sets.values(), strict=True):
        row[: len(members)] = members
    return Ensemble(
        classes=classes,
        feature_names=tuple(f"x{i}" for i in range(len(kinds))),
        roots=roots,
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_left=missing_left,
        value=[np.zeros(len(base)) if vector is None else vector for vector in value],
        base=base,
        rule=rule,
        nan_features=nan_features,
        categories=tuple(kinds),
        subset=subset,
        subsets=subsets,
    )


@st.composite
def set_cases(draw, max_trees=4, max_depth=3, missing=True):
    """An ensemble and a domain; without `missing`, ordinary features are never NaN."""
    return _case(_Drawn(draw), max_trees, max_depth, missing)


def random_set_case(rng, max_trees=5, max_depth=3, missing=True):
    """One such case from a numpy random generator."""
    return _case(_Seeded(rng), max_trees, max_depth, missing)


def set_forest(rng):
    """An ensemble with a set test of its own at most nodes, more of them than values; the scores are random numbers."""
    kinds = [Categories.equal(range(int(rng.integers(3, 6)))) for _ in range(rng.integers(1, 3))]
    kinds += [None] * int(rng.integers(0, 2))
    nodes, sets, max_depth = _Nodes(), {}, int(rng.integers(2, 4))

    def grow(depth):  # as deep as max_depth: small
        if depth == max_depth:
            return nodes.leaf(rng.normal(size=1))
        feature = int(rng.integers(len(kinds)))
        left, right = grow(depth + 1), grow(depth + 1)
        node = nodes.split(feature, float(rng.integers(4)) if kinds[feature] is None else 0.0, left, right, False)
        if kinds[feature] is not None:
            sets[node] = rng.random(kinds[feature].n_elements) < 0.5
        return node

    roots = [grow(0) for _ in range(rng.integers(2, 6))]
    return _assembled(nodes, roots, [0, 1], [0.0], Rule("score"), [False] * len(kinds), kinds, sets)


def sets_alone(rng, n_features=5, n_values=5, n_trees=10, n_sets=4):
    """Trees of depth 2 with a few sets of values to ask for on each feature: no axis of the grid has an order."""
    kinds = [Categories.equal(range(n_values))] * n_features
    choices = rng.random((n_features, n_sets, kinds[0].n_elements)) < 0.5
    nodes, sets = _Nodes(), {}

    def grow(depth):
        if depth == 2:
            return nodes.leaf(rng.normal(size=1))
        feature = int(rng.integers(n_features))
        node = nodes.split(feature, 0.0, grow(depth + 1), grow(depth + 1), False)
        sets[node] = choices[feature, rng.integers(n_sets)]
        return node

    roots = [grow(0) for _ in range(n_trees)]
    return _assembled(nodes, roots, [0, 1], [0.0], Rule("score"), [True] * n_features, kinds, sets)


def stumps(*splits, n_features=None, categories=(), nan=()):
    """One vote of each split for class 1 on its right: (feature, threshold), or (feature, elements that go left)."""
    n = len(splits)
    features = [feature for feature, _ in splits]
    kinds = dict(categories)
    n_features = n_features or max(features) + 1
    width = max((kind.n_elements for kind in kinds.values()), default=0)
    subset, subsets, threshold = np.full(3 * n, -1), [], np.zeros(3 * n)
    for at, (_, test) in enumerate(splits):
        if isinstance(test, float):
            threshold[3 * at] = test
        else:
            subset[3 * at] = len(subsets)
            subsets.append([element in test for element in range(width)])
    root = 3 * np.arange(n)
    feature, left, right, value = np.full(3 * n, -1), np.full(3 * n, -1), np.full(3 * n, -1), np.zeros((3 * n, 2))
    feature[root], left[root], right[root] = features, root + 1, root + 2
    value[root + 1, 0] = value[root + 2, 1] = 1.0
    return Ensemble(
        classes=[0, 1],
        feature_names=tuple(f"x{j}" for j in range(n_features)),
        roots=root,
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_left=np.zeros(3 * n, dtype=bool),
        value=value,
        base=[0.0, 0.0],
        rule=Rule("hard"),
        nan_features=[j in nan for j in range(n_features)],
        categories=tuple(kinds.get(j) for j in range(n_features)) if kinds else (),
        subset=subset,
        subsets=np.array(subsets, dtype=bool).reshape(len(subsets), width),
    )
