"""Trees whose leaves carry numbers, made of any tree with classes: regression trees and probability trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

# What a float can be that a decimal, a parser or a division could get wrong.
AWKWARD = [0.1 + 0.2, 5e-324, -0.0, 1e300, -1.7976931348623157e308, 1 / 3, 2**53 + 2.0, 1e22, 123456.789, -1e-310]


def as_regression(tree, dtype=np.float64, seed=0, **promise):
    """The same splits with a number in each leaf, the first of them awkward."""
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore", under="ignore"):
        few = np.array(AWKWARD).astype(dtype)
    value = np.resize(few[np.isfinite(few)], (tree.n_nodes, 1))
    value[2 * len(few) :] = rng.normal(size=(len(value[2 * len(few) :]), 1)).astype(dtype)
    rng.shuffle(value)
    return replace(
        tree,
        classes=np.zeros(0),
        leaf_class=np.where(tree.leaf_class < 0, -1, 0),
        value=value,
        shares=None,
        **({"tolerance": 0.05} | promise),
    )


def as_probability(tree, dtype=np.float64, seed=0, **promise):
    """The same splits and classes with probabilities, the largest of them that of the leaf's class."""
    rng = np.random.default_rng(seed)
    raw = rng.random((tree.n_nodes, tree.n_classes))
    raw[np.arange(tree.n_nodes), tree.leaf_class] += 1.0
    value = (raw / raw.sum(axis=1, keepdims=True)).astype(dtype)
    return replace(tree, value=value, shares=None, **({"tolerance": 0.05} | promise))


def same(tree, other):
    """Whether two trees are equal in every bit of what their leaves say, and in what they promise."""
    return (
        tree.value.dtype == other.value.dtype
        and tree.value.tobytes() == other.value.tobytes()
        and tree.leaf_class.tobytes() == other.leaf_class.tobytes()
        and (tree.tolerance, tree.relative, tree.keeps_class, tree.output)
        == (other.tolerance, other.relative, other.keeps_class, other.output)
    )
