"""Numbers of a stack: the last bit depends on how many rows are predicted at once, in the library itself."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression

from onetree import InvalidInputError, born_again, born_again_in_parts, tolerance_front, verify


@pytest.fixture(scope="module")
def stack():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 3)).astype(np.float64)
    members = [(name, RandomForestClassifier(2, max_depth=2, random_state=seed)) for seed, name in enumerate("ab")]
    return StackingClassifier(members, final_estimator=LogisticRegression(), cv=2).fit(X, X.sum(axis=1) > 4)


def test_equal_numbers_are_not_promised(stack):
    with pytest.raises(InvalidInputError, match=r"how many rows.*1e-12"):
        born_again(stack, output="probability", tolerance=0)


@pytest.mark.parametrize("tolerance", [1e-12, 0.05])
def test_near_ones_are_proven(stack, tolerance):
    tree = born_again(stack, output="probability", tolerance=tolerance).tree
    assert verify(tree, stack, method="search").worst <= tolerance


def test_every_step_of_the_front_is_proven_and_the_exact_one_is_left_out(stack):
    front = tolerance_front(stack, output="probability")
    tolerances = [each.tree.tolerance for each in front]
    assert len(front) > 3
    assert tolerances == sorted(tolerances, reverse=True)
    assert tolerances[-1] > 2e-12
    assert front[-1].value < born_again(stack, output="probability", tolerance=1e-12, objective="leaves").value
    assert all(verify(each.tree, stack, method=method) for each in front for method in ("search", "cells"))


def test_a_step_of_the_front_has_the_fewest_leaves_and_the_least_tolerance(stack):
    for step in tolerance_front(stack, output="probability", max_leaves=8):
        asked = {"output": "probability", "objective": "leaves", "method": "exact"}
        assert born_again(stack, tolerance=step.tree.tolerance, **asked).value == step.value
        assert born_again(stack, tolerance=step.tree.tolerance - 2e-12, **asked).value > step.value
        nearest = born_again(stack, output="probability", objective="leaves", max_leaves=step.value).tree
        assert nearest.tolerance == pytest.approx(step.tree.tolerance, abs=1e-15)


def test_a_front_of_nothing_but_the_exact_step_has_it():
    X = np.zeros((20, 1))
    members = [("a", RandomForestClassifier(1, random_state=0))]
    constant = StackingClassifier(members, final_estimator=LogisticRegression(), cv=2).fit(X, [0, 1] * 10)
    front = tolerance_front(constant, output="probability")
    assert [(each.value, each.tree.tolerance) for each in front] == [(1, pytest.approx(1e-12))]


@pytest.mark.parametrize("tolerance", [0.0, 1e-16])
def test_the_front_refuses_a_tolerance_that_is_below_the_last_bits(stack, tolerance):
    with pytest.raises(InvalidInputError, match=r"how many rows.*1e-12"):
        tolerance_front(stack, output="probability", tolerances=[0.1, tolerance])


def test_as_many_leaves_as_the_exact_tree_has_are_within_the_last_bits(stack):
    exact = born_again(stack, output="probability", tolerance=1e-12, objective="leaves")
    found = born_again(stack, output="probability", objective="leaves", max_leaves=exact.value)
    assert found.tree.tolerance <= 2e-12


@pytest.mark.parametrize("method", ["exact", "heuristic"])
def test_a_tree_promises_the_tolerance_that_was_asked_for(stack, method):
    assert born_again(stack, output="probability", tolerance=0.05, method=method).tree.tolerance == 0.05


def test_a_stack_is_found_in_parts(stack, monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 1)
    tree = born_again_in_parts(stack, output="probability", tolerance=0.05, n_parts=4).tree
    assert tree.tolerance == 0.05
    assert verify(tree, stack)
