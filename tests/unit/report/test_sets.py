"""Set tests in the report and in figures: what the page holds of them, and what is drawn."""

from __future__ import annotations

import json
import re

import matplotlib as mpl
import numpy as np
import pytest

import onetree
from onetree.errors import InvalidInputError
from onetree.model.categories import Categories
from onetree.report import facts
from onetree.report.figures import plot_cells, plot_feature_use, plot_tree
from tests.cases.categorical import COLOURS, HOSTILE, WHOLE, chain_of_sets, colour_tree, random_set_tree
from tests.cases.exported import points

mpl.use("Agg")
import matplotlib.pyplot as plt

HOSTILE_KIND = Categories.equal(range(len(HOSTILE)), names=HOSTILE)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def data_of(tmp_path):
    """Write a report and give the data in it."""

    def write(tree, **options):
        onetree.write_report(tree, tmp_path / "report.html", **options)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert text.count("<script") == 2
        assert "<img" not in text
        return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])

    return write


def follow(data, x):
    """What the page does, with the lists it has."""
    nodes = data["nodes"]
    splits = [node for node, feature in enumerate(nodes["feature"]) if feature >= 0]
    cut, left, right = (dict(zip(splits, nodes[name], strict=True)) for name in ("cut", "left", "right"))
    node = 0
    while (feature := nodes["feature"][node]) >= 0:
        kind, value = data["categories"][feature], x[feature]
        if kind is None:
            level = nodes["levels"][cut[node]]
            goes_left = value <= (np.inf if level is None else level)
        else:
            inside = [float(a) < value <= float(b) for a, b in zip(kind["low"], kind["high"], strict=True)]
            element = 1 if np.isnan(value) else 2 + inside.index(True) if any(inside) else 0
            goes_left = nodes["sets"][cut[node]][element] == "1"
        node = left[node] if goes_left else right[node]
    return -1 - nodes["feature"][node]


@pytest.mark.parametrize("seed", range(3))
def test_the_embedded_lists_are_the_tree(data_of, seed):
    tree = random_set_tree(seed)
    rows = points(tree, n=500)
    data = data_of(tree)
    assert [follow(data, x) for x in rows] == tree.predict_index(rows).tolist()


def test_an_interval_without_end_is_embedded(data_of):
    assert data_of(colour_tree(0, kind=WHOLE))["categories"][0]["high"] == [0.5, 1.5, 2.5, "inf"]


def test_hostile_names_of_categories_stay_data(data_of):
    assert data_of(colour_tree(4, kind=HOSTILE_KIND))["categories"][0]["names"] == list(HOSTILE)


def test_equal_sets_count_once():
    tree = chain_of_sets((0, 1), (2,), (0, 1))
    (use,) = facts.describe_features(tree, None)
    assert (use["splits"], use["thresholds"]) == (3, 2)
    assert facts.describe_sizes(tree, None)[-1] == {
        "measure": "different thresholds and sets",
        "before": None,
        "after": 2,
    }


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_drawn_tree_names_the_categories_and_the_branch_of_missing_values():
    drawn = texts(plot_tree(colour_tree(0, 2, "missing")))
    assert {"colour in {red, blue}", "yes or missing", "no"} <= set(drawn)


def test_a_drawn_tree_abbreviates_long_sets():
    kind = Categories.equal(range(600))
    (label,) = [text for text in texts(plot_tree(colour_tree(*range(300), kind=kind))) if text.startswith("colour")]
    assert label.endswith("more}")
    assert len(label) < 50


@pytest.mark.parametrize("kind", [COLOURS, WHOLE], ids=["numbers", "intervals"])
def test_every_category_has_a_strip_in_the_class_of_its_cells(kind):
    tree = colour_tree(0, 2, "missing", kind=kind)
    ax = plot_cells(tree, tree=tree)
    elements = [2, 3, 4, 5, 0, 1]  # the categories, other, missing
    cells = np.array([[kind.example(element), age] for age in (29.0, 31.0) for element in elements])
    drawn = np.asarray(ax.collections[0].get_array())
    np.testing.assert_array_equal(drawn.ravel(), tree.predict_index(cells))
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == [kind.label(element) for element in elements]


def test_the_boxes_of_sets_fill_the_plane_and_rows_lie_in_their_strips():
    tree = colour_tree(0, 2, "missing")
    ax = plot_cells(tree, tree=tree, X=[[5.0, 20.0], [4.4, 20.0], [np.nan, 40.0]])
    area = sum(box.get_width() * box.get_height() for box in ax.patches)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    assert area == pytest.approx((x1 - x0) * (y1 - y0))
    assert ax.collections[1].get_offsets()[:, 0].tolist() == [3.0, 4.0, 5.0]


def test_a_plane_goes_through_the_most_frequent_category():
    tree = random_set_tree(0)
    X = np.zeros((10, 5))
    X[:, 1] = [0, 0, 0, 7, 7, 7, 7, 2.5, 2.5, -3]
    drawn = np.asarray(plot_cells(tree, features=(0, 3), X=X).collections[0].get_array())
    through = np.array([0.0, 7.0, 0.0, 0.0, 0.0])
    through[4] = tree.categories[4].example(0)
    again = np.asarray(plot_cells(tree, features=(0, 3), at=through, X=X).collections[0].get_array())
    np.testing.assert_array_equal(drawn, again)


def test_a_tree_of_other_categories_is_not_drawn_on_top():
    with pytest.raises(InvalidInputError, match="categories"):
        plot_cells(colour_tree(0), tree=colour_tree(0, kind=WHOLE))


def test_splits_on_sets_are_counted_by_feature_and_depth():
    assert sorted(texts(plot_feature_use(colour_tree(0, 2)))) == ["1", "1"]
