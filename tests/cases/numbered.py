"""Random ensembles that return numbers, and trees within a tolerance of them, found the slow and obvious way.

Shares no code with the engines or the proofs: of the package it uses only `Ensemble.numbers`; deviations are fractions.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np

from onetree import Tree
from onetree.model.ensemble import Rule
from onetree.model.response import Response, chained
from onetree.model.stages import Member, Stage
from tests.cases.combined import random_combined
from tests.cases.strategies import random_ensemble

SHAPES = ("average", "mean", "softmax", "calibrated", "temperature", "rest")
KINDS = ("value", "link", "fractions", "logistic", "softmax", *SHAPES)


def numbered(rng, kind, max_cells=60, **limits):
    """An ensemble of the kind with a response."""
    if kind in SHAPES:
        made = random_combined(rng, kind, max_cells=max_cells, **limits)
        combination = made.rule.combination
        return replace(made, response=Response(combination.members, combination.stages))
    source = {"fractions": "soft", "softmax": "scores"}.get(kind, "score")
    return with_response(random_ensemble(rng, max_cells=max_cells, kinds=(source,), **limits), kind, rng)


def with_response(plain, kind, rng):
    """The ensemble, of a rule of one level, with numbers of the kind."""
    rule = plain.rule
    member = Member(plain.n_outputs, rule.dtype, rule.divisor)
    if kind == "fractions":
        return replace(plain, response=Response((member,)))
    if kind == "softmax":
        return replace(plain, response=chained(member, [Stage("softmax", (0,))]))
    if kind == "logistic":
        is_single = rule.dtype == "float32"
        link = Stage("xgboost-sigmoid", (0,)) if is_single and rng.integers(2) else Stage("sigmoid", (0,), (1.0,))
        return replace(plain, response=chained(member, [link, Stage("pair", (0,))]))
    stages = []
    if kind == "link":
        largest = np.abs(plain.base).max() + np.abs(plain.value).max() * plain.n_trees
        names = ("sigmoid", "exp", "numpy-exp", "numpy-expm1") if largest < 80 else ("sigmoid",)
        name = names[rng.integers(len(names))]
        stages = [Stage(name, (0,), (0.5,) if name == "sigmoid" else ())]
    value = Rule("value", dtype=rule.dtype, divisor=rule.divisor)
    return replace(plain, classes=[], rule=value, response=chained(member, stages))


def joint_points(ensemble, *trees):
    """An input from every cell that the thresholds of all of them cut out."""
    axes = []
    for feature in range(ensemble.n_features):
        cuts = np.unique(np.concatenate([each.threshold[each.feature == feature] for each in (ensemble, *trees)]))
        cuts = cuts[np.isfinite(cuts)]
        above = np.nextafter(cuts[-1:], np.inf) if cuts.size else np.zeros(1)
        axes.append([*cuts, *above, *([np.nan] if ensemble.nan_features[feature] else [])])
    return np.array(list(itertools.product(*axes)), dtype=np.float64)


def distance(leaf, number, relative):
    """How far two numbers are apart, or the share of the second, as a fraction; None if that is without bound."""
    if not np.isfinite(number):
        return None
    apart = abs(Fraction(float(leaf)) - Fraction(float(number)))
    if not relative or apart == 0:
        return apart
    return apart / abs(Fraction(float(number))) if number else None


def worst_distance(tree, ensemble, rows, relative):
    """The largest distance in any of the rows, as a fraction; None if that is without bound."""
    pairs = {
        pair
        for own, numbers in zip(tree.numbers(rows).tolist(), ensemble.numbers(rows).tolist(), strict=True)
        for pair in zip(own, numbers, strict=True)
    }
    found = [distance(*pair, relative) for pair in pairs]
    return None if None in found else max(found)


def numbered_tree(ensemble, tolerance, *, relative=False, keeps_class=True):
    """A tree within the tolerance: halve the widest feature until the middle of a box will do for all of its cells."""
    levels = []
    for j in range(ensemble.n_features):
        cuts = np.unique(ensemble.threshold[ensemble.feature == j])
        levels.append([*cuts[np.isfinite(cuts)], *([np.inf] if ensemble.nan_features[j] else [])])
    values = [joint_axis(axis) for axis in levels]
    has_classes = ensemble.n_classes > 0
    nodes, numbers = [], []

    def leaf_of(rows):
        found = ensemble.numbers(rows)
        classes = ensemble.predict_index(rows) if has_classes else np.zeros(len(rows), dtype=int)
        if keeps_class and (classes != classes[0]).any():
            return None
        low, high = found.min(axis=0).astype(float), found.max(axis=0).astype(float)
        with np.errstate(all="ignore"):
            middle = np.where(low == high, low, 2 * low * high / (low + high) if relative else low + (high - low) / 2)
        middle = np.nan_to_num(middle, posinf=0.0, neginf=0.0).astype(found.dtype)
        pairs = {(float(m), float(x)) for row in np.unique(found, axis=0) for m, x in zip(middle, row, strict=True)}
        apart = [distance(*pair, relative) for pair in pairs]
        fits = None not in apart and max(apart) <= Fraction(tolerance)
        return (middle, classes[0] if keeps_class or not has_classes else int(np.argmax(middle))) if fits else None

    def build(low, high):
        at = len(nodes)
        nodes.append(None)
        numbers.append(np.zeros(max(1, ensemble.n_classes)))
        box = [values[j][low[j] : high[j] + 1] for j in range(len(values))]
        made = leaf_of(np.array(list(itertools.product(*box)), dtype=np.float64))
        if made is not None:
            numbers[at], label = made
            nodes[at] = (-1, 0.0, -1, -1, label)
            return at
        feature = int(np.argmax(np.subtract(high, low)))
        middle = (low[feature] + high[feature]) // 2
        left_high, right_low = list(high), list(low)
        left_high[feature], right_low[feature] = middle, middle + 1
        left, right = build(low, left_high), build(right_low, high)
        nodes[at] = (feature, levels[feature][middle], left, right, -1)
        return at

    build([0] * len(levels), [len(axis) for axis in levels])
    arrays = [np.array(column) for column in zip(*nodes, strict=True)]
    promise = {"tolerance": tolerance, "relative": relative, "keeps_class": keeps_class}
    value = np.array(numbers).astype(ensemble.response.dtype)
    names = ensemble.feature_names
    return Tree(*arrays, ensemble.classes, names, ensemble.nan_features, value=value, **promise)


MUTATIONS = ("number", "threshold", "leaves")


def mutated(rng, tree, ensemble, mutation):
    """The tree with a number next to those that the tolerance allows, another threshold, or two leaves exchanged."""
    leaves, inner = np.flatnonzero(tree.feature < 0), np.flatnonzero(tree.feature >= 0)
    value, threshold, leaf_class = tree.value.copy(), tree.threshold.copy(), tree.leaf_class.copy()
    if mutation == "number":
        rows, at, column = joint_points(ensemble, tree), rng.choice(leaves), rng.integers(value.shape[1])
        numbers = ensemble.numbers(rows[tree.apply(rows) == at])[:, column]
        if numbers.size:
            value[at, column] = _just_beyond(numbers.min(), tree.tolerance, tree.relative)
    elif mutation == "threshold" and inner.size:
        at = rng.choice(inner)
        beside = np.nextafter(min(threshold[at], 1e300), np.inf)
        threshold[at] = rng.choice([*threshold[inner], 0.0, beside])
    elif leaves.size > 1:
        pair = rng.choice(leaves, 2, replace=False)
        value[pair], leaf_class[pair] = value[pair[::-1]], leaf_class[pair[::-1]]
    return replace(tree, value=value, threshold=threshold, leaf_class=leaf_class)


def _just_beyond(number, tolerance, relative):
    """The smallest number of its type that is above another one by more than the tolerance."""
    up, down = (number.dtype.type(end) for end in (np.inf, -np.inf))

    def is_beyond(leaf):
        apart = distance(leaf, number, relative)
        return apart is None or apart > Fraction(tolerance)

    leaf = number.dtype.type(float(number) + (tolerance * abs(float(number)) if relative else tolerance))
    while not is_beyond(leaf):
        leaf = np.nextafter(leaf, up)
    while np.nextafter(leaf, down) > number and is_beyond(np.nextafter(leaf, down)):
        leaf = np.nextafter(leaf, down)
    return leaf


def joint_axis(cuts):
    """A value below, at and between cuts, NaN last where the last cut is infinite."""
    numbers = [cut for cut in cuts if np.isfinite(cut)]
    above = np.nextafter(numbers[-1], np.inf) if numbers else 0.0
    return [*numbers, above, *([np.nan] if len(cuts) and np.isinf(cuts[-1]) else [])]
