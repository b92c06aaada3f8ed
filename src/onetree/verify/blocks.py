"""Features that a proof looks at together: a categorical feature, or a group of which only some combinations occur.

Of each such block one input is kept for everything that tree and ensemble can distinguish there. Set tests need not be
the same on both sides, nor do the categories.

Shares no code with `onetree.lowering.axes`, whose results it is there to prove.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.domain.values import Values
from onetree.model.categories import OTHER
from onetree.model.ensemble import Ensemble
from onetree.tree.tree import Tree
from onetree.verify.inside import one_per_slab

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """Some features, and what they can be together.

    Parameters
    ----------
    features : tuple of int
    inputs : float64 array of shape (n_inputs, n_features)
        At least one; every input of the domain goes the way of one of these at every node of tree and ensemble.
    """

    features: tuple[int, ...]
    inputs: Floats


def blocks_of(tree: Tree, ensemble: Ensemble, domain: Domain | None) -> tuple[Block, ...]:
    """Return the blocks of a tree and an ensemble inside a domain; no feature is in two of them."""
    groups = () if domain is None else domain.groups
    blocks = [
        Block(group.features, _distinct(tree, ensemble, group.features, group.allowed.astype(np.float64)))
        for group in groups
    ]
    grouped = {feature for group in groups for feature in group.features}
    for feature, kinds in enumerate(zip(ensemble.categories, tree.categories, strict=True)):
        if feature in grouped or kinds == (None, None):
            continue
        values = None if domain is None else domain.values[feature]
        if values is None:
            values = Values(missing=bool(ensemble.nan_features[feature]))
        inputs = _all_inputs(tree, ensemble, feature, values)[:, np.newaxis]
        blocks.append(Block((feature,), _distinct(tree, ensemble, (feature,), inputs)))
    return tuple(blocks)


def outcomes(side: Tree | Ensemble, feature: int, x: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], Bools]:
    """Return the nodes that test a feature, the number of the test of each, and which inputs each test sends left."""
    nodes = np.flatnonzero(side.feature == feature)
    kind = side.categories[feature]
    if kind is not None:
        rows, which = np.unique(side.subset[nodes], return_inverse=True)
        return nodes, which.ravel(), side.subsets[rows][:, kind.element(x)]
    missing_left = side.missing_left[nodes] if isinstance(side, Ensemble) else np.zeros(len(nodes), dtype=bool)
    tests, which = np.unique(np.stack([side.threshold[nodes], missing_left]), axis=1, return_inverse=True)
    threshold, missing = tests[0][:, np.newaxis], tests[1][:, np.newaxis] > 0
    return nodes, which.ravel(), np.where(np.isnan(x), missing, x <= threshold)


def _all_inputs(tree: Tree, ensemble: Ensemble, feature: int, values: Values) -> Floats:
    """Return an input of everything that a categorical feature can be; those that are pleasant to read come first."""
    plain, levels = [-math.inf, math.inf], [side.threshold[side.feature == feature] for side in (ensemble, tree)]
    for kind in (tree.categories[feature], ensemble.categories[feature]):
        if kind is not None:
            plain = [*kind.codes, kind.example(OTHER), *plain]
            levels += [kind.low, kind.high]
    cuts = np.unique(np.concatenate(levels))
    known = np.array(plain)
    known = known[values.contain(known)]
    missing = [math.nan] if values.missing else []
    return np.concatenate([known, one_per_slab(values, cuts[np.isfinite(cuts)]), missing])


def _distinct(tree: Tree, ensemble: Ensemble, features: tuple[int, ...], inputs: Floats) -> Floats:
    """Keep one of the inputs that no test of either side distinguishes."""
    columns = [np.zeros((1, len(inputs)), dtype=bool)]
    for column, feature in enumerate(features):
        columns += [outcomes(side, feature, inputs[:, column])[2] for side in (ensemble, tree)]
    _, first = np.unique(np.packbits(np.concatenate(columns).T, axis=1), axis=0, return_index=True)
    return inputs[np.sort(first)]
