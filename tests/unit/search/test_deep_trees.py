"""Trees far deeper than any that is trained, and axes with far more thresholds: converted or refused, within limits."""

import numpy as np
import pytest

import onetree
from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.model.ensemble import Ensemble, Rule

DEEP = 100_000


def chain(depth, n_features, leaf_class, nan_features=None, missing_left=None):
    """A tree that is one path through the features in turn, each of whose splits has a leaf on its left."""
    inner = np.arange(0, 2 * depth, 2)
    n_nodes = 2 * depth + 1
    feature, left, right = (np.full(n_nodes, -1, dtype=np.int32) for _ in range(3))
    feature[inner], left[inner], right[inner] = np.arange(depth) % n_features, inner + 1, inner + 2
    threshold, value, goes_left = np.zeros(n_nodes), np.zeros((n_nodes, 2)), np.zeros(n_nodes, dtype=bool)
    threshold[inner] = np.arange(depth)
    leaves = np.append(inner + 1, n_nodes - 1)
    value[leaves, leaf_class] = 1.0
    if missing_left is not None:
        goes_left[inner] = missing_left
    return Ensemble(
        classes=np.array([0, 1]),
        feature_names=tuple(f"x{i}" for i in range(n_features)),
        roots=[0],
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_left=goes_left,
        value=value,
        base=np.zeros(2),
        nan_features=np.zeros(n_features, dtype=bool) if nan_features is None else nan_features,
        rule=Rule("hard"),
    )


def in_turn(depth):
    return np.arange(depth + 1) % 2


@pytest.mark.parametrize("method", ["auto", "exact", "heuristic"])
def test_a_deep_tree_that_says_little_becomes_a_small_one(method):
    same = np.zeros(DEEP + 1, dtype=int)
    same[-1] = 1
    solution = onetree.born_again(chain(DEEP, 1, same), method=method, time_limit=60, memory_limit=1)
    assert (solution.status, solution.tree.depth, solution.tree.n_leaves) == ("optimal", 1, 2)


@pytest.mark.parametrize("method", ["auto", "exact", "heuristic"])
def test_on_one_feature_every_slab_is_a_leaf_and_halving_is_best(method):
    solution = onetree.born_again(chain(DEEP, 1, in_turn(DEEP)), method=method, time_limit=60, memory_limit=1)
    assert (solution.tree.depth, solution.tree.n_leaves) == (17, DEEP + 1)
    assert solution.status == "optimal"


def test_the_front_of_one_feature_is_one_tree():
    (solution,) = onetree.pareto_front(chain(3000, 1, in_turn(3000)), memory_limit=1)
    assert (solution.tree.depth, solution.tree.n_leaves) == (12, 3001)


@pytest.mark.parametrize("objective", ["depth", "leaves", "depth-leaves", "leaves-depth"])
@pytest.mark.parametrize("engine", ["interval-dp", "branch-and-bound"])
def test_the_engines_find_the_same_on_one_feature(engine, objective):
    ensemble = chain(70, 1, in_turn(70))
    searched = onetree.born_again(ensemble, engine=engine, objective=objective)
    assert searched.value == onetree.born_again(ensemble, method="heuristic", objective=objective).value


def test_a_table_of_splits_that_does_not_fit_is_not_begun():
    ensemble = chain(3000, 1, in_turn(3000))
    solution = onetree.born_again(ensemble, engine="interval-dp", memory_limit=1, verify=False)
    assert solution.tree.n_leaves == 3001  # from the line itself
    assert solution.stats["peak_bytes"] < 1e9


def test_features_in_turn_are_refused_where_their_trees_pass_the_memory():
    ensemble = chain(DEEP, 2, in_turn(DEEP))
    with pytest.raises(GridTooLargeError, match="restricted trees alone pass the memory limit"):
        onetree.born_again(ensemble, engine="interval-dp", memory_limit=0.1, time_limit=60)


def test_a_single_tree_is_its_own_answer_when_time_is_up():
    ensemble = chain(DEEP, 2, in_turn(DEEP))
    solution = onetree.born_again(ensemble, method="heuristic", memory_limit=0.5, time_limit=1e-6, verify=False)
    assert solution.tree.n_leaves <= ensemble.n_leaves


@pytest.mark.parametrize("n_features", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_paths_with_missing_values_are_the_same_tree(n_features, seed):
    """The proof, which shares nothing with the engines, is part of the conversion."""
    rng = np.random.default_rng(seed)
    depth = 24 // n_features
    ensemble = chain(
        depth,
        n_features,
        rng.integers(0, 2, depth + 1),
        nan_features=rng.random(n_features) < 0.7,
        missing_left=rng.random(depth) < 0.5,
    )
    exact = onetree.born_again(ensemble, objective="leaves")
    assert exact.status == "optimal"
    assert onetree.born_again(ensemble, objective="leaves", engine="branch-and-bound").value == exact.value
    assert onetree.verify(exact.tree, ensemble, method="cells").equivalent


def test_a_machine_without_memory_is_an_error_of_ours(monkeypatch):
    def no_memory(*_):
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr("onetree.search.solve._core.solve", no_memory)
    with pytest.raises(LimitReachedError, match="ran out of memory"):
        onetree.born_again(chain(3, 1, in_turn(3)), engine="interval-dp")
