"""A tree whose equal subtrees are held once behaves like the tree in which they are written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import export_text

from onetree import Ensemble, Tree, born_again, load_tree, verify
from onetree.errors import InvalidInputError
from onetree.export import sklearn as export

X, Y = load_breast_cancer(return_X_y=True)


def ladder(n):
    """n levels of one split each, both of whose sides lead to the same two nodes below: 2**n leaves, 2 n + 1 nodes."""
    inner = 2 * n - 1  # the root, then two on each level
    feature = [0] + [level for level in range(1, n) for _ in range(2)] + [-1, -1]
    left, right = [], []
    for node in range(inner):
        below = 2 * ((node + 1) // 2) + 1
        swap = node > 0 and node % 2 == 0
        left.append(below + swap)
        right.append(below + 1 - swap)
    threshold = [0.5] * inner + [0.0, 0.0]
    leaf_class = [-1] * inner + [0, 1]
    names = tuple(f"x{i}" for i in range(n))
    return Tree(feature, threshold, [*left, -1, -1], [*right, -1, -1], leaf_class, ["even", "odd"], names, [False] * n)


@pytest.fixture(scope="module")
def forest():
    return Ensemble.from_model(RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y), voting="hard")


@pytest.fixture(scope="module")
def shared(forest):
    tree = born_again(forest, objective="leaves", method="heuristic").tree
    assert tree.n_nodes < 2 * tree.n_leaves - 1
    return tree


def test_parity_of_sixty_bits_is_one_small_tree():
    tree = ladder(60)
    assert (tree.n_leaves, tree.n_nodes, tree.depth) == (2**60, 121, 60)
    bits = np.random.default_rng(0).integers(0, 2, size=(500, 60))
    assert (tree.predict(bits) == np.where(bits.sum(axis=1) % 2, "odd", "even")).all()


def test_prediction_is_that_of_the_forest(forest, shared):
    rng = np.random.default_rng(0)
    inputs = np.concatenate([X, rng.permuted(X, axis=0)])
    np.testing.assert_array_equal(shared.predict(inputs), forest.predict(inputs))


def test_a_saved_tree_still_shares(shared, tmp_path):
    shared.save(tmp_path / "tree.json")
    loaded = load_tree(tmp_path / "tree.json")
    for name in ("feature", "threshold", "children_left", "children_right", "leaf_class"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(shared, name))


def test_scikit_learn_gets_every_subtree_written_out(shared):
    model = shared.to_sklearn(X, Y)
    native = model.tree_
    assert (native.node_count, native.n_leaves) == (2 * shared.n_leaves - 1, shared.n_leaves)
    assert (native.max_depth, model.get_n_leaves()) == (shared.depth, shared.n_leaves)
    children = np.concatenate([native.children_left, native.children_right])
    assert sorted(children[children >= 0].tolist()) == list(range(1, native.node_count))  # one parent for each
    assert native.n_node_samples[0] == len(X)
    inner = native.children_left >= 0
    below = native.n_node_samples[native.children_left[inner]] + native.n_node_samples[native.children_right[inner]]
    np.testing.assert_array_equal(native.n_node_samples[inner], below)
    inputs = np.random.default_rng(1).permuted(X, axis=0)
    np.testing.assert_array_equal(model.predict(inputs), shared.predict(inputs))


def test_small_ones_look_the_same_in_text():
    tree = ladder(3)
    assert tree.to_text().count("even") == tree.to_text().count("odd") == 4
    assert export_text(tree.to_sklearn()).count("class: even") == 4
    np.testing.assert_array_equal(tree.to_sklearn().tree_.n_node_samples[:3], [8, 4, 4])


def test_too_many_leaves_for_scikit_learn_are_refused():
    with pytest.raises(InvalidInputError, match="scikit-learn"):
        ladder(60).to_sklearn()


def test_a_tree_without_shared_subtrees_is_taken_as_it_is():
    tree = ladder(1)
    assert export._unfolded(tree) is tree


@pytest.mark.parametrize("method", ["auto", "search"])
def test_the_proof_follows_shared_subtrees(forest, shared, method):
    verdict = verify(shared, forest, method=method)
    assert verdict
    assert verdict.n_checked >= 1


def test_the_proof_finds_a_wrong_leaf_that_is_shared(forest, shared):
    leaf_class = shared.leaf_class.copy()
    leaf = np.flatnonzero(leaf_class >= 0)[0]
    leaf_class[leaf] = 1 - leaf_class[leaf]
    verdict = verify(replace(shared, leaf_class=leaf_class), forest, method="search")
    assert not verdict
    point = verdict.counterexample[np.newaxis]
    assert replace(shared, leaf_class=leaf_class).predict(point) != forest.predict(point)


def test_leaves_and_boxes_are_those_of_the_paths(shared):
    lower, upper = shared.boxes()
    assert len(lower) == len(upper) == len(shared.leaves()) == shared.n_leaves
