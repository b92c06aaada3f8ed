"""Trees for every tolerance, and what a limit leaves of them; brute force is in tests/property/test_scores.py."""

from __future__ import annotations

import numpy as np
import pytest

from onetree import LimitReachedError, born_again, tolerance_front
from tests.cases.score_oracle import random_numbers

REGRESSOR = random_numbers(3, n_features=3, n_trees=4)


def test_the_front_goes_from_few_leaves_to_equal_numbers():
    front = tolerance_front(REGRESSOR)
    leaves = [each.tree.n_leaves for each in front]
    tolerances = [each.tree.tolerance for each in front]
    assert leaves == sorted(set(leaves))
    assert tolerances == sorted(set(tolerances), reverse=True)
    assert leaves[-1] == born_again(REGRESSOR, output=REGRESSOR.output, tolerance=0.0, objective="leaves").value


def test_given_tolerances_have_a_tree_each_in_their_order():
    given = [0.1, 0.5, 0.0]
    front = tolerance_front(REGRESSOR, tolerances=given)
    assert [each.tree.tolerance for each in front] == given
    for tolerance, each in zip(given, front, strict=True):
        found = born_again(REGRESSOR, output=REGRESSOR.output, tolerance=tolerance, objective="leaves")
        assert each.value == found.value


def test_a_largest_number_of_leaves_cuts_the_front_short():
    front = tolerance_front(REGRESSOR)
    most = front[len(front) // 2].tree.n_leaves
    short = tolerance_front(REGRESSOR, max_leaves=most)
    assert [each.value for each in short] == [each.value for each in front if each.value <= most]


def test_the_least_tolerance_of_a_size_is_that_of_the_front():
    for each in tolerance_front(REGRESSOR):
        found = born_again(REGRESSOR, output=REGRESSOR.output, max_leaves=each.value)
        assert found.tree.tolerance == each.tree.tolerance


def test_both_engines_find_the_same_front():
    fronts = [
        [(each.value, each.tree.tolerance) for each in tolerance_front(REGRESSOR, engine=engine)]
        for engine in ("interval-dp", "branch-and-bound")
    ]
    assert fronts[0] == fronts[1]


def test_no_time_at_all_is_an_error_or_a_front_that_says_so():
    try:
        front = tolerance_front(random_numbers(5, n_features=5, n_trees=9, n_levels=6, max_depth=3), time_limit=1e-6)
    except LimitReachedError:
        return
    assert not front[0].stats["complete"]


def test_a_constant_regressor_is_one_leaf_for_any_tolerance():
    constant = next(each for each in map(random_numbers, range(400)) if (each.feature < 0).all())
    front = tolerance_front(constant)
    assert [each.tree.n_leaves for each in front] == [1]
    assert front[0].tree.tolerance == pytest.approx(0.0, abs=1e-15)
    assert np.isfinite(front[0].tree.value).all()
