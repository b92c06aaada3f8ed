"""Trees that were changed a little are noticed by each of the three proofs, with an input that shows it."""

from dataclasses import replace

import numpy as np
import pytest

from onetree import born_again, verify
from tests.cases.strategies import KINDS, random_ensemble, random_ensemble_with_categories
from tests.tiers import is_full

METHODS = ("cells", "search", "milp")
MUTATIONS = ("leaf", "threshold", "children", "feature")


def mutated(rng, tree, mutation):
    """The tree with one of its nodes changed, or None if there is nothing of the kind to change."""
    inner, leaves = np.flatnonzero(tree.feature >= 0), np.flatnonzero(tree.feature < 0)
    if mutation == "leaf":
        leaf_class = tree.leaf_class.copy()
        leaf_class[rng.choice(leaves)] += 1
        return replace(tree, leaf_class=np.where(leaf_class < 0, -1, leaf_class % tree.n_classes))
    ordered = inner[tree.subset[inner] < 0] if len(tree.subset) else inner
    if not len(ordered):
        return None
    node = rng.choice(ordered)
    if mutation == "threshold":
        threshold = tree.threshold.copy()
        threshold[node] = np.nextafter(threshold[node], -np.inf)
        return replace(tree, threshold=threshold)
    if mutation == "children":
        left, right = tree.children_left.copy(), tree.children_right.copy()
        left[node], right[node] = right[node], left[node]
        return replace(tree, children_left=left, children_right=right)
    numeric = [j for j in range(tree.n_features) if not tree.categories or tree.categories[j] is None]
    feature = tree.feature.copy()
    feature[node] = rng.choice(numeric)
    return replace(tree, feature=feature)


def one_case(rng, kind, with_categories):
    make = random_ensemble_with_categories if with_categories else random_ensemble
    limits = {} if with_categories else {"max_cells": 100}
    return make(rng, max_trees=4, max_depth=3, kinds=(kind,), **limits)


@pytest.mark.parametrize("with_categories", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_mutated_tree_is_noticed_by_each_of_the_three_proofs(kind, with_categories):
    rng = np.random.default_rng(100 + KINDS.index(kind) + 10 * with_categories)
    n_wanted = 75 if is_full() else 10  # of each kind of ensemble: 600 in all
    n_caught = 0
    while n_caught < n_wanted:
        ensemble = one_case(rng, kind, with_categories)
        tree = born_again(ensemble, verify=False).tree
        other = mutated(rng, tree, rng.choice(MUTATIONS))
        if other is None or ensemble.n_classes < 2:
            continue
        verdicts = [verify(other, ensemble, method=method) for method in METHODS]
        assert len({verdict.equivalent for verdict in verdicts}) == 1
        for verdict in verdicts:
            if not verdict:
                point = verdict.counterexample[np.newaxis]
                assert other.predict(point)[0] == verdict.tree_class != verdict.ensemble_class
                assert ensemble.predict(point)[0] == verdict.ensemble_class
        n_caught += not verdicts[0]
