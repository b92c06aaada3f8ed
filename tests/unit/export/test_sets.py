"""Set tests in every export: words, conditions, limits. That the code is right on 100,000 inputs: test_exports_run."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import InvalidInputError
from onetree.export import onnx as export_onnx
from onetree.export import sklearn as export_sklearn
from onetree.export.rules import leaf_conditions
from onetree.export.steps import Steps, steps_of, thresholds_only, written_out
from onetree.model.categories import Categories
from tests.cases import exported
from tests.cases.categorical import COLOURS, HOSTILE, WHOLE, chain_of_sets, colour_tree, random_set_tree

HOSTILE_KIND = Categories.equal(range(len(HOSTILE)), names=HOSTILE)
MANY = Categories.equal(range(600))


def rules(tree, **options):
    return [line for line in tree.to_rules(**options).split("\n") if not line.startswith("#")]


def first_line(*members, **options):
    return colour_tree(*members, **options).to_text().split("\n")[0]


# Words.


def test_the_text_names_the_categories_and_says_where_missing_values_go():
    assert colour_tree(0, 2, "missing").to_text().split("\n") == [
        "colour in {red, blue}?",
        "  yes or missing: age <= 30?",
        "    yes: yes",
        "    no: maybe",
        "  no: no",
    ]
    assert "  no or missing: no" in colour_tree(0, 2).to_text()
    assert "missing" not in colour_tree(0, 2, takes_nan=False).to_text()


@pytest.mark.parametrize(
    ("members", "asks"),
    [
        ((0, 2), "in {red, blue}"),
        ((0, 1, 5, "other"), "not in {blue}"),
        (("other",), "in {other}"),
        ((0, 1, 2, 5), "not in {other}"),
        (("missing",), "is missing"),
        ((0, 1, 2, 5, "other"), "is known"),
        ((), "in {}"),
    ],
)
def test_a_set_is_said_by_what_is_shorter(members, asks):
    assert first_line(*members) == f"colour {asks}?"


def test_categories_without_names_are_said_by_their_codes():
    kind = Categories.equal([-4, 1, 2.5])
    assert first_line(-4, 2.5, kind=kind) == "colour in {-4, 2.5}?"


def test_intervals_without_a_gap_between_them_are_said_as_one():
    low, high = [20.0, 30.0, 40.0, 60.0], [30.0, 40.0, 50.0, np.inf]
    names = ("20 < x <= 30", "30 < x <= 40", "40 < x <= 50", "60 < x")
    kind = Categories((30.0, 40.0, 50.0, 61.0), np.array(low), np.array(high), names)
    assert first_line(30, 40, kind=kind) == "colour in {20 < x <= 40}?"
    assert first_line(30, 50, kind=kind) == "colour in {20 < x <= 30, 40 < x <= 50}?"
    assert first_line(40, 50, 61, kind=kind) == "colour in {30 < x <= 50, 60 < x}?"
    named = Categories(kind.codes, kind.low, kind.high, ("young", *names[1:]))
    assert first_line(30, 40, kind=named) == "colour in {young, 30 < x <= 40}?"


def test_a_rule_has_one_set_per_feature_however_often_it_is_asked():
    tree = chain_of_sets((0, 1, "missing"), (1, 2, "other"), (2, 5))
    assert rules(tree) == [
        "IF (colour in {red, green} or missing) THEN class 0",
        "IF colour not in {red, green, grey} THEN class 1",
        "IF colour in {grey} THEN class 2",
    ]


def test_the_other_side_of_a_set_is_not_in_it():
    assert rules(colour_tree(0, 2))[-1] == "IF (colour not in {red, blue} or missing) THEN no"


def test_conditions_on_sets_are_there_for_programs_too():
    found = dict(leaf_conditions(colour_tree(0, 2, "missing")))
    assert (found[4][0].elements, found[4][0].missing) == ({0, 3, 5}, False)
    assert (found[2][0].elements, found[2][0].missing) == ({2, 4}, True)


def test_text_and_rules_list_long_sets_in_full_and_a_drawing_does_not():
    tree = colour_tree(*range(0, 600, 2), kind=MANY)
    assert "598" in tree.to_text()
    assert "598" in tree.to_rules()
    label = re.search(r'0 \[label="([^"]*)"', tree.to_dot())[1]
    assert label.endswith("more}")
    assert len(label) < 80
    assert "598" in tree.to_dot(digits=None)


def test_the_graph_says_where_missing_values_go():
    assert re.findall(r'label="((?:yes|no) or missing)"', colour_tree(0, "missing").to_dot()) == ["yes or missing"]
    assert re.findall(r'label="((?:yes|no) or missing)"', colour_tree(0).to_dot()) == ["no or missing"]


# Names from files.


def hostile(*codes):
    return colour_tree(*codes, "missing", kind=HOSTILE_KIND)


@pytest.mark.parametrize("code", range(len(HOSTILE)))
def test_the_name_of_a_category_cannot_break_the_lines(code):
    assert len(hostile(code).to_text().splitlines()) == 5
    assert len(hostile(code).to_rules().splitlines()) == 4


@pytest.mark.parametrize("code", range(len(HOSTILE)))
def test_the_name_of_a_category_stays_inside_its_string_of_the_graph(code):
    inside = re.findall(r'^  0 \[label="([^"]*)"\];$', hostile(code).to_dot(), re.MULTILINE)
    assert len(inside) == 1
    assert not set('\\<>"') & set(inside[0])


def test_the_name_of_a_category_stays_a_comment_of_the_code(tmp_path):
    tree = hostile(*range(len(HOSTILE)))
    rows = np.array([[0.0, 20.0], [7.0, 40.0], [8.0, 20.0], [np.nan, 20.0]])
    index = tree.predict_index(rows).tolist()
    assert exported.run_python(tree, rows) == index
    assert exported.run_sqlite(tree, rows) == tree.predict(rows).tolist()
    if shutil.which("cc"):
        assert tree.to_code("c").isascii()
        assert exported.run_c(tree, rows, tmp_path).tolist() == index


def test_names_of_categories_are_in_the_metadata_of_onnx():
    pytest.importorskip("onnx")
    properties = {entry.key: json.loads(entry.value) for entry in hostile(0).to_onnx().metadata_props}
    assert properties["categories"] == [{"codes": list(range(len(HOSTILE))), "names": list(HOSTILE)}, None]


# Steps along the number line.


def test_intervals_that_touch_are_one_run():
    assert steps_of(colour_tree(0, 1, 2, kind=WHOLE), 0) == Steps((-1.0, 2.5), False, False)
    assert steps_of(colour_tree(0, 1, 7, kind=WHOLE), 0) == Steps((-1.0, 1.5, 6.5), False, False)


def test_categories_that_go_with_all_other_numbers_need_no_cut():
    assert steps_of(colour_tree(1, 2, 5, "other", "missing"), 0).cuts == (-5e-324, 0.0)
    assert steps_of(colour_tree(0, 1, 2, 5, "other"), 0) == Steps((), True, False)


def test_intervals_that_are_nothing_in_float32_are_left_out():
    kind = Categories.equal([0.1, 0.5])
    assert steps_of(colour_tree(0.1, kind=kind), 0, np.float32).cuts == ()
    assert len(steps_of(colour_tree(0.5, kind=kind), 0, np.float32).cuts) == 2


def test_a_category_that_begins_at_minus_infinity_is_refused():
    kind = Categories((0.0,), [-np.inf], [0.5])
    with pytest.raises(InvalidInputError, match="begins at -inf"):
        colour_tree(0, kind=kind).to_code("python")


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_thresholds_alone_are_the_same_function(seed, n_splits):
    tree = random_set_tree(seed, n_splits=n_splits)
    rows = exported.points(tree, n=300, seed=seed)
    for plain in (thresholds_only(tree), written_out(tree, 10**6)):
        assert not plain.has_subsets
        assert np.array_equal(plain.predict_index(rows), tree.predict_index(rows))


def test_subtrees_below_a_set_test_are_shared():
    tree = colour_tree(*range(0, 600, 2), kind=MANY)
    assert thresholds_only(tree).n_nodes == 2 * 300 + 4  # both ends of each number, the split on age, three leaves


def test_what_a_path_has_decided_is_not_compared_again():
    """Each region of the first test knows its side of all others."""
    tree = chain_of_sets(*[(0, 2)] * 30)
    assert written_out(tree, 10**6).n_nodes < 20


# Code.


@pytest.mark.parametrize("language", ["python", "c", "sql"])
def test_a_set_too_long_to_be_read_becomes_a_table_and_one_too_long_for_a_condition_is_refused(language):
    long, too_long = colour_tree(*range(0, 100, 2), kind=MANY), colour_tree(*range(0, 600, 2), kind=MANY)
    assert long.to_code(language) == long.to_code(language, style="table") != long.to_code(language, style="nested")
    with pytest.raises(InvalidInputError, match=r'300 intervals.*use style="table"'):
        too_long.to_code(language, style="nested")


LONG = Categories(tuple(range(250)), np.arange(250) - 0.25, np.arange(250) + 0.25)


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize("other", [(), ("other", "missing"), ("other",), ("missing",)])
def test_the_longest_condition_runs_at_the_greatest_depth(engine, other):
    pytest.importorskip("duckdb")
    kept = [tuple(code for code in range(250) if code != 20 * i) for i in range(12)]
    tree = chain_of_sets(*[(*(set(range(250)) - set(members)), *other) for members in kept], kind=LONG)
    assert tree.depth == 12
    rows = np.array([*np.arange(-1, 252, 0.25), np.nan, np.inf]).reshape(-1, 1)
    run = exported.run_sqlite if engine == "sqlite" else exported.run_duckdb
    assert run(tree, rows, style="nested") == tree.predict(rows).tolist()


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_long_condition_of_intervals_runs_at_the_greatest_depth(engine):
    pytest.importorskip("duckdb")
    tree = chain_of_sets(*[tuple(range(i % 2, 250 - 2 * i)) for i in range(12)], kind=LONG)
    rows = np.array([*np.arange(-1, 252, 0.25), np.nan, np.inf]).reshape(-1, 1)
    run = exported.run_sqlite if engine == "sqlite" else exported.run_duckdb
    assert run(tree, rows, style="nested") == tree.predict(rows).tolist()


@pytest.mark.compiler
def test_c_takes_the_longest_condition(tmp_path):
    tree = colour_tree(*range(250), kind=LONG)
    rows = np.array([[x, 20.0] for x in (*np.arange(-1, 252, 0.25), np.nan)])
    assert np.array_equal(exported.run_c(tree, rows, tmp_path, style="nested"), tree.predict_index(rows))


@pytest.mark.parametrize("style", ["nested", "table"])
def test_missing_values_are_refused_where_the_tree_refuses_them(style):
    module = {}
    exec(colour_tree(0, 2, takes_nan=False).to_code("python", style=style), module)
    assert module["predict"]([2, 20]) == "yes"
    with pytest.raises(ValueError, match="'colour' is missing"):
        module["predict"]([np.nan, 20])


# Formats of trees.


def test_onnx_shares_what_is_below_long_sets(monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(export_onnx, "_MAX_SET_NODES", 10)
    tree = colour_tree(0, 2, 5)
    assert "Loop" in [node.op_type for node in tree.to_onnx().graph.node]
    with pytest.raises(InvalidInputError, match="set tests in 10 nodes"):
        tree.to_onnx(style="nested")


def test_scikit_learn_gives_the_class_of_the_tree():
    for seed in range(5):
        tree = random_set_tree(seed)
        rows = exported.points(tree, np.float32, n=5_000)
        rows = rows[~(np.abs(rows) > 1e30).any(axis=1)]  # scikit-learn takes no infinities, and adds all up to see it
        model = tree.to_sklearn(rows[:100])
        assert np.array_equal(model.predict(rows), tree.predict(rows))


def test_scikit_learn_refuses_sets_that_take_too_many_nodes(monkeypatch):
    monkeypatch.setattr(export_sklearn, "_MAX_SET_NODES", 10)
    assert colour_tree(0).to_sklearn().get_n_leaves() > 3
    with pytest.raises(InvalidInputError, match="more than 10 nodes"):
        colour_tree(0, 2, 5).to_sklearn()


def test_the_names_of_colours_are_only_words():
    """The same codes without names give the same code but for the comments."""
    named, plain = colour_tree(0, 2), colour_tree(0, 2, kind=Categories.equal(COLOURS.codes))
    strip = re.compile(r"#.*|--.*|/\*.*?\*/")
    for language in ("python", "c", "sql"):
        assert strip.sub("", named.to_code(language)) == strip.sub("", plain.to_code(language))
