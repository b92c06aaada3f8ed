"""Reports and figures of trees whose leaves have numbers."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from onetree import InvalidInputError
from onetree.export.shades import SCALE, outcome_colours, text_colour
from onetree.model.ensemble import Ensemble, Rule
from onetree.report.figures import plot_cells, plot_tolerance_front, plot_tree
from onetree.report.leaf_groups import N_BANDS, leaf_groups
from onetree.search.solution import Solution
from onetree.tree.leaf_values import outcomes
from tests.cases import exported
from tests.cases.valued import as_probability, as_regression
from tests.unit.report.test_report import written  # noqa: F401
from tests.unit.tree.test_tree import small_tree


@pytest.fixture(autouse=True)
def figures_closed():
    mpl.use("agg")
    yield
    plt.close("all")


def regression(values=(1.0, 2.0, 6.0), **promise):
    tree = as_regression(small_tree(), **promise)
    return replace(tree, value=np.array([[0.0], [0.0], *([value] for value in values)]))


def source(values=(1.0, 2.25, 6.0)):
    """One tree that says nearly what `regression` says."""
    tree = regression()
    return Ensemble(
        classes=[],
        feature_names=tree.feature_names,
        roots=[0],
        feature=tree.feature,
        threshold=tree.threshold,
        children_left=tree.children_left,
        children_right=tree.children_right,
        missing_left=np.zeros(5, dtype=bool),
        value=[[0.0], [0.0], *([value] for value in values)],
        base=[0.0],
        rule=Rule("value"),
        nan_features=[False, False],
    )


ROWS = np.array([[1.0, -3.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])


def test_a_report_says_that_values_are_within_the_tolerance(written):  # noqa: F811
    _, _, data = written(regression(tolerance=0.5), source=source(), X=ROWS, y=[1.0, 2.0, 5.0, 7.0])
    assert data["equality"]["state"] == "within"
    assert "within 0.5 of the model's, the largest difference being 0.25, for every possible input" in (
        data["equality"]["text"].replace("0.25 for", "0.25, for")
    )
    assert data["agreement"] == {"rows": 4, "mean": "0.0625", "most": "0.25"}
    assert data["accuracy"] == {"rows": 4, "errors": {"tree": "0.5", "model": "0.5625"}}


def test_a_report_says_that_equal_values_are_equal(written):  # noqa: F811
    _, _, data = written(regression(tolerance=0), source=source((1.0, 2.0, 6.0)))
    assert data["equality"]["state"] == "equal"
    assert "the value is the same" in data["equality"]["text"]


def test_a_report_shows_where_a_value_is_too_far_off(written):  # noqa: F811
    _, _, data = written(regression(tolerance=0.1), source=source())
    assert data["equality"]["state"] == "differs"
    assert "the tree says 2.0, the model 2.25" in data["equality"]["text"]
    assert data["equality"]["counterexample"] is not None


@pytest.mark.parametrize("y", [[1.0], ["a", "b", "c", "d"], [1.0, 2.0, 3.0, np.nan]])
def test_true_values_that_are_no_numbers_are_refused(written, y):  # noqa: F811
    with pytest.raises(InvalidInputError, match="y must"):
        written(regression(), X=ROWS, y=y)


def test_the_leaves_of_a_page_say_their_numbers(written):  # noqa: F811
    _, _, data = written(as_probability(small_tree()), X=ROWS)
    said = data["nodes"]["said"]
    assert len(said["of"]) == 3
    assert [words.split(" (")[0] for words in said["words"]] == ["red", "green", "blue"]
    assert data["classes"] == ["red", "green", "blue"]
    assert data["coverage"]["of"] == "tree"


def test_a_class_tree_has_no_word_of_numbers_in_its_page(written):  # noqa: F811
    _, _, data = written(small_tree(), X=ROWS)
    assert (data["nodes"]["said"], data["colours"], data["tolerance_front"], data["output"]) == (
        None,
        None,
        None,
        "class",
    )


def test_few_values_are_groups_of_their_own():
    groups = leaf_groups(regression())
    assert groups.labels == ["1", "2", "6"]
    assert groups.of_node.tolist() == [-1, -1, 0, 1, 2]
    assert groups.colours[0] == SCALE[0]
    assert groups.colours[-1] == SCALE[-1]


@pytest.mark.parametrize("seed", range(5))
def test_many_values_are_bands_that_hold_them(seed):
    tree = exported.random_tree(seed)
    tree = replace(as_regression(tree), value=np.random.default_rng(seed).normal(size=(tree.n_nodes, 1)))
    groups = leaf_groups(tree)
    assert len(groups.labels) <= N_BANDS
    leaf = tree.feature < 0
    for node in np.flatnonzero(leaf).tolist():
        low, high = map(float, groups.labels[groups.of_node[node]].split(" to "))
        assert low - 1e-3 <= tree.value[node, 0] <= high + 1e-3


def test_values_as_far_apart_as_floats_can_be_have_bands():
    tree = replace(regression(), value=[[0], [0], [-1.7e308], [0.0], [1.7e308]])
    assert len(leaf_groups(tree).labels) == 3
    assert outcome_colours(tree, outcomes(tree), SCALE) == [SCALE[0], SCALE[2], SCALE[4]]


def test_text_is_readable_on_every_colour_of_the_scale():
    assert {text_colour(colour) for colour in SCALE} == {"#000000"}


def test_a_less_probable_class_is_paler():
    tree = small_tree(value=[[0] * 3, [0] * 3, [0.9, 0.1, 0], [0.1, 0.5, 0.4], [0, 0, 1]], tolerance=0.0)
    colours = outcome_colours(tree, outcomes(tree), ["#000000", "#000000", "#000000"])
    assert int(colours[1][1:3], 16) > int(colours[0][1:3], 16) > int(colours[2][1:3], 16) == 0


def test_a_drawn_tree_names_the_class_and_its_probability():
    texts = [text.get_text() for text in plot_tree(as_probability(small_tree())).texts]
    assert {text.split(": ")[0] for text in texts if "0." in text} == {"red", "green", "blue"}


def test_a_drawn_regression_tree_names_the_values():
    assert {"1", "2", "6"} <= {text.get_text() for text in plot_tree(regression()).texts}


@pytest.mark.parametrize("y", [None, [1.0, 2.0, 3.0, 4.0]])
def test_a_plane_of_values_has_a_scale(y):
    axes = plot_cells(regression(), X=ROWS, y=y)
    assert axes.figure.axes[-1].get_ylabel() == "value"
    assert set(np.unique(axes.collections[0].get_array())) == {1.0, 2.0, 6.0}


def front():
    trees = [regression(tolerance=tolerance) for tolerance in (0.0, 0.1, 0.5)]
    found = [("optimal", 3, 3), ("optimal", 3, 3), ("feasible", 3, 2)]
    return [Solution(tree, "leaves", *each) for tree, each in zip(trees, found, strict=True)]


def test_a_front_is_drawn_as_steps_with_what_is_proven():
    axes = plot_tolerance_front(front())
    assert axes.lines[0].get_drawstyle() == "steps-post"
    assert axes.lines[0].get_xdata().tolist() == [0.0, 0.1, 0.5]
    assert len(axes.collections) == 4  # three dots, and a line down to the bound of the last


def test_several_fronts_share_axes():
    axes = plot_tolerance_front(front(), label="one")
    plot_tolerance_front(front(), ax=axes, label="two")
    assert axes.lines[0].get_color() != axes.lines[-1].get_color()


def test_a_report_has_the_front(written):  # noqa: F811
    _, _, data = written(regression(), tolerance_front=front())
    lines = data["tolerance_front"]["lines"]
    assert lines[0] == ["0", "3", "2", "proven"]
    assert lines[2] == ["0.5", "3", "2", "at least 2 are needed"]


@pytest.mark.parametrize("given", [[], [Solution(regression(tolerance=None), "leaves", "optimal", 3, 3)]])
def test_what_is_no_front_is_refused(given):
    with pytest.raises(InvalidInputError, match="give what tolerance_front found"):
        plot_tolerance_front(given)
