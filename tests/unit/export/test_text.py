"""The tree as text."""

from __future__ import annotations

import numpy as np

from tests.unit.tree.test_tree import chain, small_tree


def test_the_text_has_a_line_per_node_with_names():
    text = small_tree(feature_names=("age", "income")).to_text()
    assert text.split("\n") == ["age <= 1.5?", "  yes: income <= -2?", "    yes: red", "    no: green", "  no: blue"]


def test_the_text_says_where_missing_values_go():
    tree = small_tree(threshold=[np.inf, -2.0, 0, 0, 0], nan_features=[True, True])
    assert tree.to_text().split("\n") == [
        "x0 is known?",
        "  yes: x1 <= -2?",
        "    yes: red",
        "    no or missing: green",
        "  no: blue",
    ]


def test_thresholds_are_rounded_unless_digits_is_none():
    tree = small_tree(threshold=[0.1 + 0.2, -2.0, 0, 0, 0])
    assert tree.to_text().startswith("x0 <= 0.3?")
    assert tree.to_text(digits=None).startswith("x0 <= 0.30000000000000004?")


def test_a_name_cannot_break_the_lines():
    text = small_tree(feature_names=("a\nb", "x1"), classes=["red\r", "green", "blue"]).to_text()
    assert len(text.splitlines()) == 5


def test_deep_trees_give_short_lines():
    assert max(len(line) for line in chain(1000).to_text().split("\n")) < 120


def test_a_tree_that_is_not_exact_says_so():
    assert small_tree(exact=False).to_text().startswith("# NOT EXACT")
