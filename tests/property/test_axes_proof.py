"""Features that depend on each other: what is proven of their trees, and what is not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import Tree, born_again, verify
from onetree.model.categories import FIRST, MISSING, OTHER, Categories
from tests.cases import oracle
from tests.cases.set_cases import set_cases, stumps
from tests.tiers import examples

PROOFS = ("cells", "search", "milp")
methods = pytest.mark.parametrize("method", PROOFS)


@methods
@examples(40)
@given(set_cases())
def test_a_faithful_tree_is_proven(method, case):
    ensemble, domain = case
    tree = born_again(ensemble, domain=domain, engine="interval-dp", verify=False).tree
    verdict = verify(tree, ensemble, method=method)
    assert verdict
    assert verdict.method == method


@methods
@examples(60)
@given(set_cases(), st.integers(0, 2**32 - 1))
def test_planted_errors_are_found_and_the_counterexample_is_an_input_of_the_domain(method, case, seed):
    ensemble, domain = case
    tree = born_again(ensemble, domain=domain, engine="interval-dp", verify=False).tree
    broken = damaged(tree, np.random.default_rng(seed))
    X = oracle.inputs_inside(ensemble, domain, broken)
    differ = broken.predict_index(X) != ensemble.predict_index(X)
    verdict = verify(broken, ensemble, domain=domain, method=method)
    assert bool(verdict) == (not differ.any())
    if not verdict:
        point = verdict.counterexample[np.newaxis]
        assert domain.contains(point)[0]
        assert verdict.tree_class == broken.predict(point)[0]
        assert verdict.ensemble_class == ensemble.predict(point)[0]
        assert verdict.tree_class != verdict.ensemble_class


def damaged(tree, rng):
    """Another class in a leaf, another set, or another feature: one of them."""
    leaf, inner = rng.choice(np.flatnonzero(tree.feature < 0)), np.flatnonzero(tree.feature >= 0)
    tested = np.flatnonzero(tree.subset >= 0)
    how = rng.integers(3)
    if how == 0 and tested.size:
        subsets, row = tree.subsets.copy(), tree.subset[rng.choice(tested)]
        width = tree.categories[tree.feature[tested[tree.subset[tested] == row][0]]].n_elements
        subsets[row, rng.integers(width)] ^= True
        return replace(tree, subsets=subsets)
    if how == 1 and inner.size:
        left, right, node = tree.children_left.copy(), tree.children_right.copy(), rng.choice(inner)
        left[node], right[node] = right[node], left[node]
        return replace(tree, children_left=left, children_right=right)
    leaf_class = tree.leaf_class.copy()
    leaf_class[leaf] = (leaf_class[leaf] + 1) % tree.n_classes
    return replace(tree, leaf_class=leaf_class)


KIND = Categories.equal([1.0, 2.0, 4.0])


def foreign_tree(feature, threshold, left, right, leaf_class, ensemble, **changes):
    return Tree(feature, threshold, left, right, leaf_class, ensemble.classes, ensemble.feature_names,
                ensemble.nan_features, **changes)  # fmt: skip


@methods
def test_a_tree_with_thresholds_is_compared_with_an_ensemble_with_sets(method):
    ensemble = stumps((0, {FIRST, FIRST + 1}), categories={0: KIND})
    nodes = ([0, -1, -1], [3.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1])
    tree = foreign_tree(*nodes, ensemble)
    assert verify(tree, ensemble, domain={0: {1.0, 2.0, 4.0}}, method=method)
    verdict = verify(tree, ensemble, method=method)  # 1.5 is no category, and goes right
    assert not verdict
    assert KIND.element(verdict.counterexample).tolist() == [OTHER]


@methods
def test_a_tree_may_have_other_categories_than_its_ensemble(method):
    ensemble = stumps((0, {FIRST, FIRST + 1}), categories={0: KIND})
    finer = Categories((0.5, 1.0, 2.0), [0.0, 0.75, 1.5], [0.75, 1.5, 2.5])
    tests = {"categories": (finer,), "subset": [0, -1, -1], "subsets": [[False, False, False, True, True]]}
    nodes = ([0, -1, -1], [0.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1])
    tree = foreign_tree(*nodes, ensemble, **tests)
    assert verify(tree, ensemble, domain={0: "integer"}, method=method)
    assert not verify(tree, ensemble, domain={0: (0.0, 1.25)}, method=method)


@methods
def test_missing_values_of_a_categorical_feature_are_proven_too(method):
    ensemble = stumps((0, {FIRST, MISSING}), categories={0: KIND}, nan={0})
    nodes = ([0, -1, -1], [0.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1])
    tests = {"categories": (KIND,), "subset": [0, -1, -1], "subsets": [[False, False, True, False, False]]}
    tree = foreign_tree(*nodes, ensemble, **tests)
    verdict = verify(tree, ensemble, method=method)
    assert math.isnan(verdict.counterexample[0])
    assert verify(tree, ensemble, domain={0: "0:9"}, method=method)


def test_only_cells_that_inputs_reach_are_compared():
    ensemble = stumps((0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5))
    tree = born_again(ensemble, domain={(0, 1, 2): "one-hot", 3: "binary"}, engine="interval-dp", verify=False).tree
    verdict = verify(tree, ensemble, method="cells")
    assert (bool(verdict), verdict.n_checked) == (True, 6)


def test_cells_are_counted_as_they_are_reached():
    ensemble = stumps(*((feature, 0.5) for feature in range(40)))
    chains = {tuple(range(start, start + 10)): "implies" for start in range(0, 40, 10)}
    leaf = foreign_tree([-1], [0.0], [-1], [-1], [0], ensemble)
    verdict = verify(leaf, ensemble, domain=chains, max_cells=11**4)  # not 2 ** 40
    assert (verdict.method, bool(verdict)) == ("cells", False)
