"""The tree as IF-THEN rules."""

from __future__ import annotations

import numpy as np
import pytest

from onetree import InvalidInputError, Tree
from onetree.export.rules import Condition, leaf_conditions
from tests.cases.deep import DEEP
from tests.unit.tree.test_shared_subtrees import ladder
from tests.unit.tree.test_tree import chain, small_tree


def rules(tree, **options):
    return [line for line in tree.to_rules(**options).split("\n") if not line.startswith("#")]


def test_a_rule_names_features_and_class():
    assert rules(small_tree(feature_names=("age", "income"))) == [
        "IF age <= 1.5 AND income <= -2 THEN red",
        "IF age <= 1.5 AND income > -2 THEN green",
        "IF age > 1.5 THEN blue",
    ]


def test_a_rule_has_one_interval_per_feature_however_deep_the_tree():
    assert rules(chain(DEEP))[10_000] == "IF 9999 < x0 <= 10000 THEN 0"


def test_conditions_of_a_path_are_merged():
    tree = small_tree(feature=[0, 0, -1, -1, -1], threshold=[5.0, 2.0, 0, 0, 0])
    assert rules(tree) == ["IF x0 <= 2 THEN red", "IF 2 < x0 <= 5 THEN green", "IF x0 > 5 THEN blue"]


def test_a_path_that_contradicts_itself_gives_no_rule():
    tree = small_tree(feature=[0, 0, -1, -1, -1], threshold=[2.0, 5.0, 0, 0, 0])
    assert rules(tree) == ["IF x0 <= 2 THEN red", "IF x0 > 2 THEN blue"]


def test_a_rule_says_what_is_true_of_missing_values():
    tree = small_tree(threshold=[np.inf, -2.0, 0, 0, 0], nan_features=[True, True])
    assert rules(tree) == [
        "IF x0 is known AND x1 <= -2 THEN red",
        "IF x0 is known AND (x1 > -2 or missing) THEN green",
        "IF x0 is missing THEN blue",
    ]


def test_a_value_above_a_threshold_can_be_known_and_no_more():
    tree = small_tree(feature=[0, 0, -1, -1, -1], threshold=[np.inf, 2.0, 0, 0, 0], nan_features=[True, False])
    assert rules(tree) == ["IF x0 <= 2 THEN red", "IF x0 > 2 THEN green", "IF x0 is missing THEN blue"]


def test_being_known_is_no_condition_where_nothing_is_missing():
    tree = small_tree(threshold=[np.inf, -2.0, 0, 0, 0])
    assert rules(tree) == ["IF x1 <= -2 THEN red", "IF x1 > -2 THEN green"]


def test_a_single_leaf_is_a_rule_without_conditions():
    assert rules(Tree([-1], [0.0], [-1], [-1], [0], ["only"], ("x0",), [False])) == ["always: only"]


def test_thresholds_get_the_digits_that_tell_them_apart():
    close = [1.00000001, 1.0, 0, 0, 0]
    tree = small_tree(feature=[0, 0, -1, -1, -1], threshold=close)
    assert rules(tree)[1] == "IF 1 < x0 <= 1.00000001 THEN green"


@pytest.mark.parametrize(("digits", "text"), [(2, "0.3"), (None, "0.30000000000000004")])
def test_digits_round_the_thresholds(digits, text):
    assert rules(small_tree(threshold=[0.1 + 0.2, -2.0, 0, 0, 0]), digits=digits)[-1] == f"IF x0 > {text} THEN blue"


def test_a_name_cannot_add_a_rule():
    text = small_tree(feature_names=("a\nIF x THEN red", "b"), classes=["r\r", "g\x85", "b"]).to_rules()
    assert len(text.splitlines()) == 4


def test_a_tree_that_is_not_exact_says_so():
    assert "NOT EXACT" in small_tree(exact=False).to_rules()
    assert "NOT EXACT" not in small_tree().to_rules()


def test_more_rules_than_anyone_can_write_are_refused():
    with pytest.raises(InvalidInputError, match="e18 leaves"):
        ladder(60).to_rules()


def test_more_lines_than_anyone_can_write_are_refused():
    with pytest.raises(InvalidInputError, match="e602 leaves"):
        ladder(2000).to_text()


def test_conditions_are_there_for_programs_too():
    found = dict(leaf_conditions(small_tree()))
    assert found[4] == [Condition(0, 1.5, np.inf, False, lower_node=0)]
    assert found[3] == [
        Condition(0, -np.inf, 1.5, False, upper_node=0),
        Condition(1, -2.0, np.inf, False, lower_node=1),
    ]
