"""The tree as a DOT graph, read back by Graphviz itself where that is installed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.cases.deep import DEEP
from tests.unit.tree.test_shared_subtrees import ladder
from tests.unit.tree.test_tree import chain, small_tree

HOSTILE = [
    'a" ]; evil [label="x',
    "<b>&lt;</b>",
    "\\",
    "\\N\\G",
    "C:\\new\\",
    "a\nb",
    "&quot;",
    "<img src=x onerror=y>",
]


def node_labels(dot):
    return dict(re.findall(r'^  (\d+) \[label="([^"]*)"', dot, re.MULTILINE))


def test_every_node_and_edge_is_there():
    dot = small_tree(feature_names=("age", "income")).to_dot()
    labels = node_labels(dot)
    assert labels == {"0": "age ≤ 1.5", "1": "income ≤ -2", "2": "red", "3": "green", "4": "blue"}
    assert re.findall(r"(\d) -> (\d)", dot) == [("0", "1"), ("0", "4"), ("1", "2"), ("1", "3")]


def test_the_graph_says_where_missing_values_go():
    dot = small_tree(threshold=[np.inf, -2.0, 0, 0, 0], nan_features=[True, True]).to_dot()
    assert node_labels(dot)["0"] == "x0 is known"
    assert re.findall(r'label="(no[^"]*)"', dot) == ["no", "no or missing"]


def test_a_shared_subtree_is_drawn_once():
    assert len(node_labels(ladder(60).to_dot())) == 121


def test_a_deep_tree_is_no_deep_text():
    assert max(len(line) for line in chain(DEEP).to_dot().split("\n")) < 100


def test_a_tree_that_is_not_exact_says_so():
    assert small_tree(exact=False).to_dot().split("\n")[1].startswith("// NOT EXACT")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_stays_inside_its_string(name):
    dot = small_tree(feature_names=(name, "x1"), classes=[name, "green", "blue"]).to_dot()
    inside = [text for line in dot.splitlines()[4:9] for text in re.findall(r'label="([^"]*)"', line)]
    assert len(inside) == 5
    assert not any(character in text for text in inside for character in '\\<>"\n')


@pytest.mark.filterwarnings("ignore")  # of the system's fonts
@pytest.mark.parametrize("name", HOSTILE)
def test_graphviz_shows_a_name_as_it_is(name):
    pygraphviz = pytest.importorskip("pygraphviz")
    from html import unescape

    dot = small_tree(feature_names=(name, "x1"), classes=[name, "green", "blue"]).to_dot()
    svg = pygraphviz.AGraph(string=dot).draw(format="svg", prog="dot").decode()
    texts = {unescape(text).replace("\xa0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)}
    shown = name if name.isprintable() else ascii(name)
    assert {shown, f"{shown} ≤ 1.5"} <= texts
    assert svg.count('class="node"') == 5
