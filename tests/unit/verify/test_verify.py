"""Proofs: all methods agree with each other, with the truth, and give inputs that show the difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree import Ensemble, InvalidInputError, LimitReachedError, Tree, verify
from onetree.model.ensemble import Rule
from onetree.verify import cells, milp
from tests.cases.strategies import ensembles, random_ensemble

METHODS = ("search", "cells", "milp")


def stumps(*cuts, kind="hard", **changes):
    """One stump per cut on one feature, class 1 above the cut."""
    n = len(cuts)
    node = np.arange(3 * n).reshape(n, 3)
    arrays = {
        "classes": ["low", "high"],
        "feature_names": ("x0",),
        "roots": node[:, 0],
        "feature": np.tile([0, -1, -1], n),
        "threshold": np.ravel([[cut, 0.0, 0.0] for cut in cuts]),
        "children_left": np.where(np.arange(3 * n) % 3 == 0, np.arange(3 * n) + 1, -1),
        "children_right": np.where(np.arange(3 * n) % 3 == 0, np.arange(3 * n) + 2, -1),
        "missing_left": [False] * (3 * n),
        "value": np.tile([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], (n, 1)),
        "base": [0.0, 0.0],
        "rule": Rule(kind),
        "nan_features": [False],
    }
    return Ensemble(**(arrays | changes))


def stump_tree(cut, **changes):
    arrays = {
        "feature": [0, -1, -1],
        "threshold": [cut, 0.0, 0.0],
        "children_left": [1, -1, -1],
        "children_right": [2, -1, -1],
        "leaf_class": [-1, 0, 1],
        "classes": ["low", "high"],
        "feature_names": ("x0",),
        "nan_features": [False],
    }
    return Tree(**(arrays | changes))


def slab_tree(ensemble):
    """A faithful tree, found the slow way: split the widest feature in the middle until a box has one class."""
    levels = [
        np.append(np.unique(cuts[np.isfinite(cuts)]), [np.inf] if nan and cuts.size else [])
        for nan, cuts in (
            (ensemble.nan_features[j], ensemble.threshold[ensemble.feature == j]) for j in range(ensemble.n_features)
        )
    ]
    values = [np.append(cells.axis(axis), [np.nan] if axis.size and axis[-1] == np.inf else []) for axis in levels]
    nodes = []

    def build(low, high):
        at = len(nodes)
        nodes.append(None)
        box = [values[j][low[j] : high[j] + 1] for j in range(len(values))]
        classes = ensemble.predict_index(np.stack(np.meshgrid(*box), axis=-1).reshape(-1, len(values)))
        if (classes == classes[0]).all():
            nodes[at] = (-1, 0.0, -1, -1, classes[0])
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
    return Tree(*arrays, ensemble.classes, ensemble.feature_names, ensemble.nan_features)


def shows_the_difference(verdict, tree, ensemble):
    x = verdict.counterexample[np.newaxis]
    tree_class, ensemble_class = tree.predict(x)[0], ensemble.predict(x)[0]
    return tree_class != ensemble_class and (tree_class, ensemble_class) == (verdict.tree_class, verdict.ensemble_class)


@given(ensembles(max_cells=150), st.sampled_from(METHODS))
def test_a_faithful_tree_is_proven(ensemble, method):
    assert verify(slab_tree(ensemble), ensemble, method=method)


@given(ensembles(max_cells=60), st.integers(0, 2**32 - 1))
def test_all_proofs_agree_on_damaged_trees_and_show_the_difference(ensemble, seed):
    rng, tree = np.random.default_rng(seed), slab_tree(ensemble)
    inner = np.flatnonzero(tree.feature >= 0)
    if inner.size and rng.integers(2):
        threshold, at = tree.threshold.copy(), rng.choice(inner)
        threshold[at] = rng.choice([*threshold[inner], 0.0, np.nextafter(min(threshold[at], 1e300), np.inf)])
        damaged = replace(tree, threshold=threshold)
    else:
        leaf_class, at = tree.leaf_class.copy(), rng.choice(np.flatnonzero(tree.leaf_class >= 0))
        leaf_class[at] = (leaf_class[at] + 1) % tree.n_classes
        damaged = replace(tree, leaf_class=leaf_class)
    verdicts = [verify(damaged, ensemble, method=method) for method in METHODS]
    assert len({bool(verdict) for verdict in verdicts}) == 1
    assert all(verdict or shows_the_difference(verdict, damaged, ensemble) for verdict in verdicts)


@pytest.mark.parametrize("method", METHODS)
def test_a_threshold_one_rounding_step_off_is_found(method):
    ensemble = stumps(1.0)
    assert verify(stump_tree(1.0), ensemble, method=method)
    for cut in (np.nextafter(1.0, 2), np.nextafter(1.0, 0)):
        verdict = verify(stump_tree(cut), ensemble, method=method)
        assert not verdict
        assert shows_the_difference(verdict, stump_tree(cut), ensemble)


@pytest.mark.parametrize("method", METHODS)
def test_a_tie_goes_to_the_first_class(method):
    ensemble = stumps(1.0, 2.0)  # one vote each between the cuts
    assert verify(stump_tree(2.0), ensemble, method=method)
    assert verify(stump_tree(1.0), ensemble, method=method).counterexample.tolist() == [2.0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("inclusive", [False, True])
def test_a_score_on_the_cut_is_decided_as_the_rule_says(method, inclusive):
    value = np.tile([[0.0], [-0.1], [0.1]], (2, 1))
    rule = Rule("score", cut_inclusive=inclusive)
    ensemble = stumps(1.0, 2.0, value=value, base=[0.0], rule=rule)  # the scores -0.2, 0, 0.2
    assert verify(stump_tree(1.0 if inclusive else 2.0), ensemble, method=method)
    assert not verify(stump_tree(2.0 if inclusive else 1.0), ensemble, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_sums_are_rounded_as_the_library_rounds_them(method):
    # 0.1 + 0.2 + 0.3 is above 0.6 in this order, and equal to it in the reverse: only the library's order decides.
    steps = np.array([0.1, 0.2, 0.3])
    value = np.concatenate([[[0.0, 0.0], [0.6 if i == 0 else 0.0, 0.0], [0.0, step]] for i, step in enumerate(steps)])
    for order in ([0, 1, 2], [2, 1, 0]):
        ensemble = stumps(1.0, 1.0, 1.0, kind="scores", value=value, base=[0.0, 0.0])
        ensemble = replace(ensemble, roots=ensemble.roots[order], base=np.array([0.6, 0.0]))
        above = ensemble.predict_index(np.array([[2.0]]))[0]
        assert above == (order == [0, 1, 2])
        tree = stump_tree(1.0, leaf_class=[-1, 0, above])
        assert verify(tree, ensemble, method=method)
        assert not verify(replace(tree, leaf_class=np.array([-1, 0, 1 - above])), ensemble, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_missing_values_are_part_of_the_proof(method):
    ensemble = stumps(1.0, missing_left=[True, False, False], nan_features=[True])
    tree = stump_tree(1.0, nan_features=[True])
    verdict = verify(tree, ensemble, method=method)
    assert np.isnan(verdict.counterexample).tolist() == [True]
    assert shows_the_difference(verdict, tree, ensemble)
    assert verify(tree, replace(ensemble, missing_left=[False] * 3), method=method)


@pytest.mark.parametrize("method", METHODS)
def test_inputs_that_the_source_refuses_are_not_part_of_the_proof(method):
    assert verify(stump_tree(1.0, nan_features=[True]), stumps(1.0, missing_left=[True, False, False]), method=method)


def test_a_tree_that_refuses_what_the_source_takes_is_refused():
    with pytest.raises(InvalidInputError, match=r"'x0'.*missing=\"refuse\""):
        verify(stump_tree(1.0), stumps(1.0, nan_features=[True]))


@pytest.mark.parametrize("method", METHODS)
def test_labels_are_compared_not_their_places(method):
    swapped = stump_tree(1.0, classes=["high", "low"], leaf_class=[-1, 1, 0])
    assert verify(swapped, stumps(1.0), method=method)
    for labels in (["low", "High"], [0, 1]):
        assert not verify(stump_tree(1.0, classes=labels), stumps(1.0), method=method)
    assert not verify(stump_tree(1.0, classes=[0, 1]), stumps(1.0, classes=[False, True]), method=method)


@pytest.mark.parametrize("method", METHODS)
def test_leaves_that_no_input_reaches_may_say_anything(method):
    tree = Tree(  # x0 <= 1, then x0 <= 2, whose right side is empty
        [0, 0, -1, -1, -1], [1.0, 2.0, 0, 0, 0], [1, 2, -1, -1, -1], [4, 3, -1, -1, -1], [-1, -1, 0, 1, 1],
        ["low", "high"], ("x0",), [False],
    )  # fmt: skip
    assert verify(tree, stumps(1.0), method=method)


def test_every_cell_is_counted():
    assert verify(stump_tree(2.0), stumps(1.0, 2.0)).n_checked == 3
    assert verify(stump_tree(2.0), stumps(1.0, 2.0), method="milp").n_checked == 2
    assert verify(stump_tree(2.0), stumps(1.0, 2.0), method="search").n_checked == 2


def test_auto_takes_cells_while_they_are_few_and_then_the_search():
    assert verify(stump_tree(2.0), stumps(1.0, 2.0)).method == "cells"
    assert verify(stump_tree(2.0), stumps(1.0, 2.0), max_cells=2).method == "search"
    features = {"feature_names": tuple("abcdefg"), "nan_features": [False] * 7}
    wide = stumps(*np.tile(np.arange(6.0), 7), **features)  # 7**7 cells
    wide = replace(wide, feature=np.where(wide.feature < 0, -1, np.arange(42).repeat(3) // 6))
    assert verify(stump_tree(2.0, **features), wide).method == "search"


def test_too_many_cells_are_refused_with_another_method_named():
    with pytest.raises(InvalidInputError, match=r'3 cells, over max_cells=2.*method="search"'):
        verify(stump_tree(2.0), stumps(1.0, 2.0), method="cells", max_cells=2)


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(InvalidInputError, match="auto, search, cells, milp"):
        verify(stump_tree(1.0), stumps(1.0), method="guess")


def test_a_tree_for_other_features_is_refused():
    tree = stump_tree(1.0, feature_names=("x0", "x1"), nan_features=[False, False])
    with pytest.raises(InvalidInputError, match="2 features, but the source has 1"):
        verify(tree, stumps(1.0))


def test_a_fitted_model_is_a_source():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(x, x[:, 0] * x[:, 1] > 0.1 * x[:, 2])
    tree = onetree.born_again(forest, verify=False).tree
    assert all(verify(tree, forest, method=method) for method in METHODS)


def test_the_program_falls_back_to_cells_where_near_ties_abound(monkeypatch):
    monkeypatch.setattr(milp, "_MAX_NEAR_TIES", 1)
    rng = np.random.default_rng(0)
    for _ in range(60):
        ensemble = random_ensemble(rng, max_cells=100, kinds=("soft", "score", "scores"))
        tree = slab_tree(ensemble)
        assert verify(tree, ensemble, method="milp")


@pytest.mark.parametrize("method", METHODS)
def test_progress_ends_at_the_total(method):
    steps = []
    verify(stump_tree(2.0), stumps(1.0, 2.0), method=method, progress=steps.append)
    assert (steps[-1].phase, steps[-1].fraction) == ("proof", 1.0)


def test_a_hundred_features_can_be_enumerated():
    ensemble = stumps(1.0, feature_names=tuple(f"x{i}" for i in range(100)), nan_features=[False] * 100)
    tree = stump_tree(1.0, feature_names=ensemble.feature_names, nan_features=[False] * 100)
    assert verify(tree, ensemble, method="cells").n_checked == 2


def long_search():
    """A tree of one leaf whose proof takes seconds: in no cell do 59 of 60 random trees agree on the second class."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 8))
    forest = RandomForestClassifier(60, max_depth=8, max_features=1, random_state=0).fit(x, rng.integers(0, 2, 400))
    ensemble = Ensemble.from_model(forest, voting="hard")
    ensemble = replace(ensemble, base=np.array([56.0, 0.0]), rule=Rule("scores"))
    return Tree([-1], [0.0], [-1], [-1], [0], ensemble.classes, ensemble.feature_names, [False] * 8), ensemble


@pytest.mark.parametrize("method", METHODS)
def test_a_time_limit_ends_the_proof(method, monkeypatch):
    monkeypatch.setattr(cells, "_CHUNK_VALUES", 1)
    tree, ensemble = long_search() if method == "search" else (stump_tree(2.0), stumps(1.0, 2.0))
    with pytest.raises(LimitReachedError, match="time_limit"):
        verify(tree, ensemble, method=method, time_limit=1e-6)


def test_an_exception_in_the_callback_ends_the_search():
    def stop(step):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        verify(*long_search(), method="search", progress=stop, time_limit=60)


@pytest.mark.parametrize("method", METHODS)
def test_a_time_limit_must_be_positive(method):
    with pytest.raises(InvalidInputError, match="time_limit must be positive"):
        verify(stump_tree(1.0), stumps(1.0), method=method, time_limit=0)


def test_subtrees_that_several_paths_share_are_proven_on_each():
    ensemble = stumps(1.0, feature_names=("x0", "x1"), nan_features=[False] * 2)
    arrays = [[1, 0, -1, -1], [5.0, 1.0, 0, 0], [1, 2, -1, -1], [1, 3, -1, -1]]
    shared = Tree(*arrays, [-1, -1, 0, 1], ["low", "high"], ("x0", "x1"), [False] * 2)
    verdict = verify(shared, ensemble, method="search")
    assert verdict
    assert verdict.n_checked == 4
    assert not verify(replace(shared, leaf_class=[-1, -1, 1, 1]), ensemble, method="search")


def test_the_search_refuses_more_classes_than_it_can_count():
    labels = np.arange(2**16 + 1)
    value = np.zeros((3, len(labels)))
    value[1, 0] = value[2, 1] = 1.0
    ensemble = stumps(1.0, classes=labels, value=value, base=np.zeros(len(labels)))
    tree = stump_tree(1.0, classes=labels)
    with pytest.raises(InvalidInputError, match=r'65537 classes.*method="milp"'):
        verify(tree, ensemble, method="search")
    assert verify(tree, ensemble, method="milp")
