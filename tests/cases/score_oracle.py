"""The right answer for trees whose leaves carry numbers, found the slow and obvious way, in exact fractions.

Shares no code with the engines, nor with what says which numbers a leaf may carry: of the package it uses only the
reference prediction of an ensemble. Every box of the raw grid is solved, and all best pairs of depth and leaves kept.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np

from onetree import Ensemble, Rule
from onetree.model.response import Response
from tests.cases.oracle import axes, points


def is_within(value, score, tolerance, relative=False):
    """Whether a number keeps a tolerance, in real arithmetic."""
    score = Fraction(float(score))
    return abs(Fraction(float(value)) - score) <= Fraction(tolerance) * (abs(score) if relative else 1)


def _holds_a_number(low, high, dtype):
    """Whether a number of the type lies between two fractions."""
    number = dtype(float(low))
    while Fraction(float(number)) >= low:
        number = np.nextafter(number, dtype(-np.inf))
    while Fraction(float(number)) < low:
        number = np.nextafter(number, dtype(np.inf))
    return Fraction(float(number)) <= high


def best_trees(ensemble, tolerance, *, relative=False, keep_class=True):
    """All pairs of depth and leaves that no tree within the tolerance beats in both, the shallowest first."""
    shape = [len(axis) for axis in axes(ensemble)]
    rows = points(ensemble)
    numbers = ensemble.numbers(rows)
    dtype = numbers.dtype.type
    scores = np.array([[Fraction(float(each)) for each in row] for row in numbers], dtype=object)
    width = np.abs(scores) * Fraction(tolerance) if relative else np.full(scores.shape, Fraction(tolerance))
    low, high = ((scores + sign * width).reshape(*shape, -1) for sign in (-1, 1))
    classes = ensemble.predict_index(rows).reshape(shape) if keep_class and ensemble.n_classes else None

    @cache
    def is_leaf(box):
        at = tuple(slice(first, last + 1) for first, last in box)
        if classes is not None and len(np.unique(classes[at])) > 1:
            return False
        lower, upper = (each[at].reshape(-1, each.shape[-1]) for each in (low, high))
        ends = [(max(lower[:, k]), min(upper[:, k])) for k in range(lower.shape[1])]
        return all(least <= most and _holds_a_number(least, most, dtype) for least, most in ends)

    @cache
    def best(box):
        if is_leaf(box):
            return ((0, 1),)
        found = set()
        for axis, (first, last) in enumerate(box):
            for cut in range(first, last):
                left = best((*box[:axis], (first, cut), *box[axis + 1 :]))
                right = best((*box[:axis], (cut + 1, last), *box[axis + 1 :]))
                found |= {(1 + max(a[0], b[0]), a[1] + b[1]) for a, b in itertools.product(left, right)}
        kept, fewest = [], np.inf
        for depth, leaves in sorted(found):
            if leaves < fewest:
                kept.append((depth, leaves))
                fewest = leaves
        return tuple(kept)

    return best(tuple((0, n - 1) for n in shape))


def random_numbers(seed, *, n_features=3, n_trees=4, n_levels=3, max_depth=2):
    """An ensemble of a few random trees that knows its numbers: a regressor, or probabilities of some classes."""
    random = np.random.default_rng(seed)
    n_classes = int(random.choice([0, 0, 2, 3]))
    n_outputs = max(1, n_classes)
    dtype = str(random.choice(["float64", "float64", "float32"]))
    n_features, n_trees = int(random.integers(1, n_features + 1)), int(random.integers(1, n_trees + 1))
    is_plain = random.random() < 0.6  # tenths and the like, so that ties at exactly twice a tolerance occur
    weights = random.choice([1.0, 0.5, 3.0, 0.7], n_trees) if random.random() < 0.4 else np.ones(n_trees)
    nodes = []

    def add(depth, weight):
        at = len(nodes)
        if depth == 0 or random.random() < 0.2:
            leaf = random.integers(0, 9, n_outputs) / 8 if is_plain else random.random(n_outputs)
            nodes.append([-1, 0.0, -1, -1, leaf * weight])
            return at
        nodes.append([int(random.integers(n_features)), float(random.integers(n_levels)), 0, 0, np.zeros(n_outputs)])
        nodes[at][2] = add(depth - 1, weight)
        nodes[at][3] = add(depth - 1, weight)
        return at

    roots = [add(max_depth, weight) for weight in weights]
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    divisor = float(random.choice([1.0, n_trees, 3.0]))
    rule = Rule("soft" if n_classes else "value", dtype=dtype, divisor=divisor)
    return Ensemble(
        classes=np.arange(n_classes),
        feature_names=tuple(f"x{j}" for j in range(n_features)),
        roots=roots,
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_left=[False] * len(nodes),
        value=np.array(value, dtype=dtype).astype(np.float64),
        base=np.zeros(n_outputs),
        rule=rule,
        nan_features=[bool(each) for each in random.random(n_features) < 0.15],
        response=Response(rule.members(n_outputs), ()),
    )


def tolerances(ensemble, seed):
    """A few tolerances, some of them exactly half of the distance of two scores, or the next smaller number."""
    random = np.random.default_rng(seed)
    numbers = ensemble.numbers(points(ensemble)).astype(np.float64)
    pair = random.choice(numbers[:, random.integers(numbers.shape[1])], 2)
    half = float(abs(pair[0] - pair[1]) / 2)
    return [0.0, half, float(np.nextafter(half, 0.0)), float(random.choice([0.01, 0.0625, 0.125, 0.3]))]
