"""The trees of boxes under the cuts that made the boxes, as one tree that holds equal subtrees once."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.domain.domain import Domain
from onetree.model.ensemble import Ensemble
from onetree.scale.partition import Partition
from onetree.tree.leaf_values import outcomes
from onetree.tree.tree import LEAF, Tree


def joined(top: Partition, parts: Mapping[int, Tree], ensemble: Ensemble, domain: Domain | None) -> Tree:
    """Put the trees of the parts under the cuts; the ensemble is that of the domain.

    Cuts that turn out to separate nothing are left out.
    """
    numbers = {node: number for number, node in enumerate(sorted(top.cuts))}  # parents have smaller ones
    size = len(numbers)
    for node in sorted(parts):
        numbers[node] = size
        size += len(parts[node].feature)
    cuts = [top.cuts[node] for node in sorted(top.cuts)]
    pieces: list[tuple[NDArray[Any], ...]] = [
        (
            np.array([cut.feature for cut in cuts], dtype=np.int32),
            np.array([cut.threshold for cut in cuts], dtype=np.float64),
            np.array([numbers[cut.left] for cut in cuts], dtype=np.int32),
            np.array([numbers[cut.right] for cut in cuts], dtype=np.int32),
            np.full(len(cuts), LEAF, dtype=np.int32),
        )
    ]
    says = outcomes(*(parts[node] for node in sorted(parts)))
    sets: dict[bytes, int] = {}  # elements of each set test, one byte each
    for node, index in zip(sorted(parts), says.index, strict=True):
        tree = parts[node]
        known = np.array([sets.setdefault(row.tobytes(), len(sets)) for row in tree.subsets], dtype=np.float64)
        threshold = tree.threshold.copy()
        tests = tree.subset >= 0
        threshold[tests] = known[tree.subset[tests]]  # a set test has no threshold: its number takes the place
        left, right = (
            np.where(child == LEAF, LEAF, child + numbers[node]).astype(np.int32)
            for child in (tree.children_left, tree.children_right)
        )
        pieces.append((tree.feature, threshold, left, right, index))
    shared = _core.share_nodes(*map(np.concatenate, zip(*pieces, strict=True)))
    feature, threshold, leaf_class = shared.feature, shared.threshold, shared.leaf_class
    one = parts[min(parts)]  # all of them promise the same
    categorical = np.array([kind is not None for kind in ensemble.categories], dtype=bool)
    tests = (feature != LEAF) & categorical[feature]
    width = ensemble.subsets.shape[1]
    return Tree(
        feature=feature,
        threshold=np.where(tests, 0.0, threshold),
        children_left=shared.children_left,
        children_right=shared.children_right,
        leaf_class=np.where(leaf_class == LEAF, LEAF, says.leaf_class[leaf_class]),
        classes=ensemble.classes,
        feature_names=ensemble.feature_names,
        nan_features=ensemble.nan_features,
        domain=domain,
        categories=ensemble.categories,
        subset=np.where(tests, threshold, -1).astype(np.int32),
        subsets=np.array([np.frombuffer(row, dtype=bool) for row in sets]).reshape(len(sets), width),
        columns=ensemble.columns,
        value=None if says.value is None else says.value[leaf_class],
        tolerance=one.tolerance,
        relative=one.relative,
        keeps_class=one.keeps_class,
    )
