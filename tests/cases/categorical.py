"""Trees with set tests, made by hand or at random, and the inputs to try them on."""

from __future__ import annotations

import numpy as np

from onetree import Tree
from onetree.model.categories import FIRST, MISSING, OTHER, Categories
from tests.cases import exported

HOSTILE = (
    'a" ]; evil [label="x',
    "*/ ??/ /*",
    "b\nIF x THEN red",
    "C:\\new\\",
    "</script><img src=x onerror=y>",
    "'; DROP TABLE inputs; --",
    '"""',
    "größe, {x}",
)
"""Names of categories that would like to be something else."""

COLOURS = Categories.equal([0, 1, 2, 5], names=("red", "green", "blue", "grey"))
WHOLE = Categories((0.0, 1.0, 2.0, 7.0), [-1.0, 0.5, 1.5, 6.5], [0.5, 1.5, 2.5, np.inf])
"""Intervals: the first three touch, the last is everything above."""


def subset(kind, *elements):
    """The members of a set by code, with "other" and "missing" for the rest."""
    members = np.zeros(kind.n_elements, dtype=bool)
    number = {"other": OTHER, "missing": MISSING} | {code: FIRST + i for i, code in enumerate(kind.codes)}
    members[[number[element] for element in elements]] = True
    return members


def colour_tree(*members, kind=COLOURS, takes_nan=True, **changes):
    """A split on colour; where it holds, a split on age. The classes are yes, maybe and no, from left to right."""
    given = {
        "feature": [0, 1, -1, -1, -1],
        "threshold": [0.0, 30.0, 0, 0, 0],
        "children_left": [1, 2, -1, -1, -1],
        "children_right": [4, 3, -1, -1, -1],
        "leaf_class": [-1, -1, 0, 1, 2],
        "classes": ["yes", "maybe", "no"],
        "feature_names": ("colour", "age"),
        "nan_features": [takes_nan, False],
        "categories": (kind, None),
        "subset": [0, -1, -1, -1, -1],
        "subsets": [subset(kind, *members)],
    }
    return Tree(**(given | changes))


def chain_of_sets(*sets, kind=COLOURS, takes_nan=True, **changes):
    """A path of set tests on one feature: what is in a set ends there, in a class of its own."""
    n = len(sets)
    inner = np.arange(n)
    feature, left, right, leaf_class, test = (np.full(2 * n + 1, -1) for _ in range(5))
    feature[2 * inner], left[2 * inner], right[2 * inner], test[2 * inner] = 0, 2 * inner + 1, 2 * inner + 2, inner
    leaf_class[2 * inner + 1], leaf_class[-1] = inner, n
    given = {
        "classes": [f"class {i}" for i in range(n + 1)],
        "feature_names": ("colour",),
        "nan_features": [takes_nan],
        "categories": (kind,),
        "subset": test,
        "subsets": [subset(kind, *members) for members in sets],
    }
    return Tree(feature, np.zeros(2 * n + 1), left, right, leaf_class, **(given | changes))


def deep_chain_of_sets(depth):
    """A path of set tests that goes on where a number is grey or missing."""
    n, inner = 2 * depth + 1, np.arange(depth)
    feature, left, right, leaf_class, test = (np.full(n, -1) for _ in range(5))
    feature[2 * inner], left[2 * inner], right[2 * inner], test[2 * inner] = 0, 2 * inner + 1, 2 * inner + 2, inner % 3
    leaf_class[2 * inner + 1], leaf_class[-1] = inner % 2, 1
    tests = {"subset": test, "subsets": [subset(COLOURS, 0), subset(COLOURS, 1), subset(COLOURS, 2, "other")]}
    return Tree(
        feature, np.zeros(n), left, right, leaf_class, [0, 1], ("colour",), [True], categories=(COLOURS,), **tests
    )


def random_set_tree(seed, n_splits=40, names=(), **changes):
    """A tree of random shape: two features of thresholds, three of sets; every other one takes missing values."""
    rng = np.random.default_rng(seed)
    plain = exported.random_tree(seed, n_splits=n_splits, n_features=5, nan_features=[True, False] * 2 + [True])
    codes = [-3.0, 0.0, 1.0, 2.0, 2.5, 7.0, 1e6, 123456789.0]
    kinds = (
        None,
        Categories.equal(codes, names=names),
        Categories(
            (0.0, 1.0, 2.0, 3.0, 9.0),
            [-1.0, 0.999999970197, 2 - 2**-24, 2.9999998807, 8],
            [0.9999999, 1.5, 2.9, 3.5, 9],
        ),
        None,
        Categories.equal([-1e300, -5e-324, 1e-310, 0.1, 1 / 3, 2.0**53, 1e300]),
    )
    width = max(kind.n_elements for kind in kinds if kind is not None)
    is_set = np.isin(plain.feature, [1, 2, 4])
    test = np.where(is_set, np.cumsum(is_set) - 1, -1)
    subsets = rng.random((int(is_set.sum()), width)) < rng.choice([0.2, 0.5, 0.8], size=(int(is_set.sum()), 1))
    for row, feature in zip(subsets, plain.feature[is_set], strict=True):
        row[kinds[feature].n_elements :] = False
    given = {name: getattr(plain, name) for name in ("feature", "children_left", "children_right", "leaf_class")}
    given |= {"classes": plain.classes, "feature_names": plain.feature_names, "nan_features": plain.nan_features}
    threshold = np.where(is_set, 0.0, plain.threshold)
    return Tree(**(given | {"threshold": threshold, "categories": kinds, "subset": test, "subsets": subsets} | changes))
