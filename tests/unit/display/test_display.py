"""What notebooks show: short, escaped, and true."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree import Categories, Ensemble, Estimate, InvalidInputError, Tree, Verdict
from onetree.base.amounts import above, count, counted, duration, leaves, size
from onetree.display.tree_svg import MAX_ENDS
from tests.cases.categorical import colour_tree
from tests.cases.grown import grown_tree, shared_tree
from tests.tiers import examples
from tests.unit.tree.test_tree import chain, small_tree

X, Y = load_iris(return_X_y=True)
HOSTILE = "<script>alert('x')</script>&\"\n"


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, np.array(["a", "b", "c"])[Y])


@pytest.fixture(scope="module")
def shown(forest):
    """One of each noun that a notebook shows."""
    solution = onetree.born_again(forest, objective="leaves")
    return {
        "tree": solution.tree,
        "solution": solution,
        "feasible": replace(solution, status="feasible", lower_bound=3),
        "support": onetree.support_tree(forest, X, max_leaves=4, certify=True),
        "estimate": onetree.estimate(forest),
        "beyond": Estimate(1.5e15, (1e15, 2e15), 1e9, (1e8, 1e10), 1e15, (1e14, 1e16), False, True, 0.0, 9),
        "equal": onetree.verify(solution.tree, forest),
        "differs": onetree.verify(solution.tree, RandomForestClassifier(3, max_depth=2, random_state=1).fit(X, Y)),
        "ensemble": Ensemble.from_model(forest),
        "pruned": replace(solution.tree, exact=False),
        "one leaf": Tree([-1], [0.0], [-1], [-1], [0], ["only"], ("x0",), [False]),
        "explanation": solution.tree.explain(X[0]),
    }


NAMES = [
    "tree", "solution", "feasible", "support", "estimate", "beyond", "equal", "differs", "ensemble", "pruned",
    "one leaf", "explanation",
]  # fmt: skip


def parsed(html):
    """Read HTML that is also XML, so that nothing is left open."""
    return ET.fromstring(html)


def words(html):
    return " ".join("".join(parsed(html).itertext()).split())


@pytest.mark.parametrize("name", NAMES)
def test_what_is_shown_is_small_whole_and_needs_nothing_else(shown, name):
    html = shown[name]._repr_html_()
    parsed(html)
    assert len(html) < 20_000
    assert not re.search(r"<script|<style|<link|<img|\son\w+=|href|url\(", html)


@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_one_short_line_without_arrays(shown, name):
    text = repr(shown[name])
    assert "\n" not in text
    assert "array(" not in text
    assert len(text) < 250


@given(st.text(max_size=30), st.text(max_size=30))
@examples(60)
def test_names_and_labels_are_never_markup(name, label):
    labels = [f"{label}{kind}" for kind in "abc"]
    tree = grown_tree(8, n_features=1, feature_names=(name,), classes=labels)
    for each in (tree, tree.explain([0.5])):
        html = each._repr_html_()
        assert {element.tag.split("}")[-1] for element in parsed(html).iter()} <= {
            "div", "strong", "dl", "dt", "dd", "p", "ul", "li", "svg", "path", "rect", "text",
        }  # fmt: skip


def test_hostile_names_and_labels_are_shown_as_text(forest):
    ensemble = replace(Ensemble.from_model(forest), feature_names=(HOSTILE, "b", "c", "d"), classes=[HOSTILE, "y", "z"])
    solution = onetree.born_again(ensemble)
    for each in (ensemble, solution, solution.tree, solution.tree.explain(X[0])):
        assert "<script" not in each._repr_html_()
    verdict = Verdict(False, "cells", 3, np.array([1.0]), HOSTILE, "b")
    assert "&lt;script" in verdict._repr_html_()


def test_a_tree_of_thirty_leaves_is_drawn_whole_and_a_larger_one_to_some_depth():
    whole = words(grown_tree(MAX_ENDS, seed=1)._repr_html_())
    assert "drawn to depth" not in whole
    large = grown_tree(5_000)._repr_html_()
    assert "drawn to depth" in words(large)
    assert large.count("<rect") + words(large).count("…") <= MAX_ENDS
    assert len(large) < 30_000


@pytest.mark.parametrize("tree", [shared_tree(2_000), chain(20_000)])
def test_trees_of_any_size_are_shown(tree):
    assert len(tree._repr_html_()) < 30_000
    assert len(repr(tree)) < 200


def test_the_drawing_says_what_the_tree_asks():
    text = words(small_tree(feature_names=("age", "income"))._repr_html_())
    for part in ("age ≤ 1.5", "income ≤ -2", "red", "green", "blue", "yes", "no"):
        assert part in text


def test_plain_numbers_stand_in_what_is_shown(shown):
    assert "more than 1.5e15" in repr(shown["beyond"])
    assert repr(shown["one leaf"]) == "Tree(1 leaf, depth 0, 1 feature, 1 class)"
    assert words(shown["one leaf"]._repr_html_()).startswith("Tree: 1 leaf, depth 0")
    assert repr(shown["ensemble"]).startswith("Ensemble(3 trees, ")
    assert repr(shown["equal"]).startswith("Verdict(equal, cells: ")
    assert repr(shown["differs"]).startswith("Verdict(not equal: the tree says ")
    assert ", not exact" in repr(shown["pruned"])


def test_what_is_proven_is_shown(shown):
    assert "proven: no smaller tree" in words(shown["solution"]._repr_html_())
    assert "at least 3 is proven" in words(shown["feasible"]._repr_html_())
    assert "on held-out rows" in words(shown["support"]._repr_html_())
    assert "not exact" in words(shown["support"]._repr_html_())
    assert "lower bounds" in words(shown["beyond"]._repr_html_())


def test_a_domain_is_shown():
    tree = onetree.born_again(
        RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y), domain={0: (4, 8)}, objective="leaves"
    ).tree
    assert "exact only inside" in words(tree._repr_html_())
    assert repr(tree).endswith(", inside a domain)")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (count(0), "0"),
        (count(999_999_999), "999,999,999"),
        (count(1.5e15), "1.5e15"),
        (count(10**600), "1e600"),
        (count(float("inf")), "infinitely many"),
        (leaves(1), "1 leaf"),
        (leaves(12), "12 leaves"),
        (counted(1, "tree"), "1 tree"),
        (counted(2, "class", "classes"), "2 classes"),
        (size(999), "999 bytes"),
        (size(1.5e9), "1.5 GB"),
        (size(2e20), "200,000,000 TB"),
        (duration(0.0015), "0.0015 s"),
        (duration(90), "90 s"),
        (duration(7200), "2 h"),
        (duration(1e13), "317,000 years"),
        (above(0.125), "12.5% above"),
        (above(2.4), "3.4 times"),
        (above(136.7), "138 times"),
    ],
)
def test_amounts_are_plain(said, expected):
    assert said == expected


# One prediction in sentences.


def test_an_explanation_gives_each_feature_of_the_path_once_with_its_value():
    tree = small_tree(feature=[0, 0, -1, -1, -1], threshold=[50.0, 18.0, 0, 0, 0], feature_names=("age", "income"))
    found = tree.explain({"income": 7, "age": 34})
    assert (found.label, found.reasons) == ("green", ("age is 34: 18 < age <= 50",))
    assert str(found) == "green, because\n  age is 34: 18 < age <= 50"
    assert (list(found), len(found)) == (["age is 34: 18 < age <= 50"], 1)


@pytest.mark.parametrize("x", [[34.0, 7.0], (34, 7), np.array([34.0, 7.0]), np.array([[34.0, 7.0]]), {"b": 7, "a": 34}])
def test_an_input_may_be_values_a_mapping_or_one_row(x):
    tree = small_tree(threshold=[50.0, 5.0, 0, 0, 0], feature_names=("a", "b"))
    assert tree.explain(x).reasons == ("a is 34: a <= 50", "b is 7: b > 5")


def test_an_input_may_be_a_frame_of_one_row():
    pandas = pytest.importorskip("pandas")
    tree = small_tree(threshold=[50.0, 5.0, 0, 0, 0], feature_names=("a", "b"))
    assert tree.explain(pandas.DataFrame({"a": [34.0], "b": [7.0]})).reasons == ("a is 34: a <= 50", "b is 7: b > 5")


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": 1}, "no column for 1 of 2 features: 'b'"),
        (np.zeros((2, 2)), "one input is needed, but 2 rows"),
        ([1.0], "1 features"),
        ([np.nan, 0], "missing"),
    ],
)
def test_an_input_that_is_not_one_row_of_the_model_is_refused(x, message):
    with pytest.raises(InvalidInputError, match=message):
        small_tree(feature_names=("a", "b")).explain(x)


def test_a_tree_of_one_leaf_needs_no_reason(shown):
    assert str(shown["one leaf"].explain([1.0])) == "only, always"


def test_an_explanation_of_a_tree_that_is_not_exact_says_so():
    assert "NOT EXACT" in str(small_tree(exact=False).explain([1.0, 1.0]))


def test_missing_values_and_categories_are_said():
    kind = Categories.equal([0, 1, 2], names=("red", "green", "blue"))
    tree = colour_tree(0.0, 1.0, "missing", kind=kind)
    assert tree.explain([1.0, 0.0]).reasons[0] == "colour is green: colour in {red, green} or missing"
    assert tree.explain([2.0, 0.0]).reasons[0] == "colour is blue: colour not in {red, green}"
    assert tree.explain([7.0, 0.0]).reasons[0] == "colour is 7: colour not in {red, green}"
    assert tree.explain([np.nan, 0.0]).reasons[0] == "colour is missing: colour in {red, green} or missing"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.integers(0, 10**6))
@examples(60)
def test_the_reasons_are_true_of_the_input_and_give_the_class_of_the_tree(dtype, seed):
    rng = np.random.default_rng(seed)
    tree = grown_tree(40, n_features=3, feature_names=("a", "b", "c"), seed=seed)
    x = rng.standard_normal(3).astype(dtype)
    near = tree.threshold[tree.feature >= 0].astype(dtype)
    x[rng.integers(3)] = rng.choice(near)
    found = tree.explain(x)
    assert found.label == tree.predict(x[np.newaxis])[0]
    for reason in found:
        name, value, demand = re.fullmatch(r"(\S+) is (\S+): (.*)", reason).groups()
        python = re.sub(r"(?<![<>])=(?!=)", "==", demand)
        python = re.sub(r"-?[0-9][0-9.]*(e[-+]?[0-9]+)?", r"Decimal('\g<0>')", python)
        assert eval(python, {name: Decimal(value), "Decimal": Decimal}), reason
