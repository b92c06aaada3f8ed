"""The figures show what is there: every leaf, every cell in its class, every split, and what was left out."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

from onetree import BornAgainTreeClassifier, Ensemble, Tree, born_again
from onetree.errors import InvalidInputError, MissingDependencyError
from onetree.export.shades import text_colour
from onetree.report import drawing, tree_layout
from onetree.report.figures import plot_cells, plot_feature_use, plot_runs, plot_sizes, plot_tree

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_hex

X, Y = load_iris(return_X_y=True)
PETALS = X[:, 2:]
NAMES = load_iris().target_names[Y]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def petals():
    return Ensemble.from_model(RandomForestClassifier(10, max_depth=3, random_state=0).fit(PETALS, NAMES))


@pytest.fixture(scope="module")
def petal_tree(petals):
    return born_again(petals, objective="leaves").tree


@pytest.fixture(scope="module")
def with_nan():
    gaps = PETALS.copy()
    gaps[np.random.default_rng(0).random(gaps.shape) < 0.15] = np.nan
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(gaps, NAMES)
    return Ensemble.from_model(model, missing="follow")


@pytest.fixture(scope="module")
def large():
    data = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(4, max_depth=3, random_state=0).fit(*data)
    solution = born_again(model, method="heuristic")
    assert solution.tree.n_leaves > 200
    return solution


def chain(n):
    """A tree of depth n with n + 1 leaves."""
    node = np.arange(n)
    return Tree(
        [0] * n + [-1] * (n + 1),
        [*range(n)] + [0] * (n + 1),
        [*(n + node), *[-1] * (n + 1)],
        [*(node[:-1] + 1), 2 * n, *[-1] * (n + 1)],
        [-1] * n + [i % 2 for i in range(n + 1)],
        ["a", "b"],
        ("x0",),
        [False],
    )


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_every_leaf_and_every_split_of_a_small_tree_is_drawn(petal_tree):
    drawn = texts(plot_tree(petal_tree))
    assert sum(label in set(NAMES) for label in drawn) == petal_tree.n_leaves
    assert sum("≤" in label or "<" in label for label in drawn) == petal_tree.n_leaves - 1
    assert sum(label == "yes" for label in drawn) == petal_tree.n_leaves - 1
    assert not any("drawn to depth" in label for label in drawn)


def test_labels_of_the_tree_do_not_overlap(petal_tree):
    ax = plot_tree(petal_tree)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    page = ax.figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    # Answers stand on the line to a label, and their boxes have room for letters with tails: only widths can collide.
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            width = min(one.x1, other.x1) - max(one.x0, other.x0)
            height = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert width <= 1 or height <= 3


def test_a_large_tree_is_cut_off_and_says_so(large):
    drawn = texts(plot_tree(large))
    (note,) = [label for label in drawn if label.startswith("drawn to depth")]
    assert f"of {large.tree.depth}" in note
    assert f"of {large.tree.n_leaves:,} leaves" in note
    ends = [label for label in drawn if label.startswith("…") or label in ("0", "1")]
    assert len(ends) <= tree_layout.READABLE
    below = sum(int(label.split()[1].replace(",", "")) for label in ends if label.startswith("…"))
    assert below + sum(label in ("0", "1") for label in ends) == large.tree.n_leaves


def test_a_depth_that_is_asked_for_is_kept(petal_tree):
    drawn = texts(plot_tree(petal_tree, max_depth=1))
    assert sum("≤" in label or "<" in label for label in drawn) == 1


def test_a_very_deep_tree_is_drawn():
    drawn = texts(plot_tree(chain(100_000)))
    assert "drawn to depth 15 of 100000: 15 of 100,001 leaves" in drawn


def test_more_branches_than_a_picture_holds_are_refused():
    with pytest.raises(InvalidInputError, match="choose a smaller max_depth"):
        plot_tree(chain(3000), max_depth=2000)


def test_a_single_leaf_is_drawn():
    leaf = Tree([-1], [0], [-1], [-1], [0], ["only"], ("x0",), [False])
    assert texts(plot_tree(leaf)) == ["only"]
    assert "single leaf" in texts(plot_feature_use(leaf))[0]


def test_missing_values_have_their_branch_named(with_nan):
    tree = born_again(with_nan).tree
    drawn = texts(plot_tree(tree))
    assert "no or missing" in drawn
    assert np.isinf(tree.threshold).any() == any("is known" in label for label in drawn)


def test_an_axes_that_is_given_is_drawn_into(petal_tree):
    _, ax = plt.subplots(figsize=(3, 2))
    assert plot_tree(petal_tree, ax=ax) is ax
    assert plot_cells(petal_tree, ax=ax) is ax
    assert plot_runs({"a": [1.0, 2.0]}, ax=ax) is ax
    assert plot_feature_use(petal_tree, ax=ax) is ax


def test_a_solution_and_a_classifier_are_drawn_like_their_tree(petals):
    solution = born_again(petals)
    classifier = BornAgainTreeClassifier(RandomForestClassifier(3, max_depth=2, random_state=0)).fit(PETALS, NAMES)
    assert texts(plot_tree(solution)) == texts(plot_tree(solution.tree))
    assert texts(plot_tree(classifier)) == texts(plot_tree(classifier.tree_))


def test_something_else_than_a_tree_is_refused():
    with pytest.raises(InvalidInputError, match="not list"):
        plot_tree([1, 2])


@pytest.mark.parametrize("name", ["$x^2$", "$unbalanced", "_hidden", "two\nlines", "<b>bold</b>", "x" * 200])
def test_names_are_nothing_but_text(name):
    tree = Tree(
        [0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], [name, "other"], (name, "b"), [False] * 2
    )
    axes = [
        plot_tree(tree),
        plot_cells(tree, X=[[0.0, 1.0]]),
        plot_feature_use(tree),
        plot_runs({name: {name: [1.0], "b": [2]}}),
    ]
    for ax in axes:
        ax.figure.canvas.draw()
    plot_sizes(
        Ensemble.from_model(RandomForestClassifier(2, random_state=0).fit(PETALS, Y)), {name: tree}
    ).canvas.draw()
    expected = drawing.shown(name)
    assert len(expected) <= 32
    assert axes[1].get_xlabel() == expected
    assert axes[1].get_legend().get_texts()[0].get_text() == expected
    assert axes[3].get_xticklabels()[0].get_text() == expected


def test_every_cell_has_the_colour_of_its_class(petals):
    ax = plot_cells(petals)
    (mesh,) = ax.collections
    corners = mesh.get_coordinates()
    middle = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    expected = petals.predict_index(middle.reshape(-1, 2))
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).ravel(), expected)
    n_levels = [len(np.unique(petals.threshold[petals.feature == feature])) for feature in (0, 1)]
    assert mesh.get_array().shape == (n_levels[1] + 1, n_levels[0] + 1)


def test_the_boxes_of_the_leaves_fill_the_plane(petals, petal_tree):
    ax = plot_cells(petals, tree=petal_tree)
    assert len(ax.patches) == petal_tree.n_leaves
    area = sum(box.get_width() * box.get_height() for box in ax.patches)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    assert area == pytest.approx((x1 - x0) * (y1 - y0))


def test_missing_values_have_a_strip_of_their_own(with_nan):
    tree = born_again(with_nan).tree
    ax = plot_cells(with_nan, tree=tree, X=[[np.nan, 1.0], [2.0, np.nan]])
    classes = np.asarray(ax.collections[0].get_array())
    assert classes[-1, -1] == with_nan.predict_index([[np.nan, np.nan]])[0]
    assert ax.get_xticklabels()[-1].get_text() == ax.get_yticklabels()[-1].get_text() == "missing"
    area = sum(box.get_width() * box.get_height() for box in ax.patches)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    assert area == pytest.approx((x1 - x0) * (y1 - y0))
    points = ax.collections[1].get_offsets()
    assert np.isfinite(points).all()
    assert points[0, 0] > ax.collections[0].get_coordinates()[0, -2, 0]


def test_a_plane_through_more_features_is_laid_where_it_is_asked_for():
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, NAMES)
    tree = born_again(model).tree
    at = X[77]
    ax = plot_cells(tree, tree=tree, features=(2, 3), at=at)
    mesh = ax.collections[0]
    corners = mesh.get_coordinates()
    middle = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    inputs = np.tile(at, (middle.shape[0] * middle.shape[1], 1))
    inputs[:, 2:] = middle.reshape(-1, 2)
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).ravel(), tree.predict_index(inputs))
    assert 0 < len(ax.patches) <= tree.n_leaves


def test_a_plane_that_is_not_determined_is_refused(petals):
    model = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, NAMES)
    with pytest.raises(InvalidInputError, match="at="):
        plot_cells(model)
    with pytest.raises(InvalidInputError, match="no feature 'colour'"):
        plot_cells(petals, features=("colour", "x0"))
    with pytest.raises(InvalidInputError, match="two different"):
        plot_cells(petals, features=(1, 1))
    with pytest.raises(InvalidInputError, match="low < high"):
        plot_cells(petals, limits=((1, 0), (0, 1)))
    with pytest.raises(InvalidInputError, match="does not know"):
        plot_cells(petals, X=PETALS, y=["tulip"] * len(PETALS))


def test_splits_are_counted_by_feature_and_depth(petal_tree):
    ax = plot_feature_use(petal_tree)
    fields = {(round(text.get_position()[0]), round(text.get_position()[1])): int(text.get_text()) for text in ax.texts}
    assert sum(fields.values()) == petal_tree.n_leaves - 1
    root = [label.get_text() for label in ax.get_yticklabels()].index(petal_tree.feature_names[petal_tree.feature[0]])
    assert fields[(0, root)] == 1


def test_splits_on_shared_subtrees_count_for_every_path(large):
    ax = plot_feature_use(large, max_features=30, max_depth=large.tree.depth)
    shares = ax.images[0].get_array()
    np.testing.assert_allclose(np.asarray(shares.sum(axis=0)), 1.0)
    n_splits = sum(int(text.get_text()) for text in ax.texts)
    assert n_splits == large.tree.n_leaves - 1


def test_features_and_depths_that_are_left_out_are_named(large):
    ax = plot_feature_use(large, max_features=3, max_depth=4)
    assert "less used features" in ax.get_xlabel()
    assert f"depths 5 to {large.tree.depth}" in ax.get_xlabel()
    assert len(ax.get_yticks()) == 3


def test_sizes_of_forest_and_trees_stand_side_by_side(petals, petal_tree):
    figure = plot_sizes(petals, {"leaves": petal_tree, "depth": born_again(petals, objective="depth")})
    left, right = figure.axes
    assert [bar.get_width() for bar in left.patches][:2] == [petals.n_leaves, petal_tree.n_leaves]
    assert [label.get_text() for label in left.get_yticklabels()] == ["10 trees", "leaves", "depth"]
    assert petal_tree.depth in [bar.get_width() for bar in right.patches]
    assert f"3 the deepest, {petals.depths.sum()} together" in texts(right)


def test_sizes_that_differ_much_have_a_logarithmic_axis(large):
    data = load_breast_cancer(return_X_y=True)
    small = RandomForestClassifier(1, max_depth=1, random_state=0).fit(*data)
    assert plot_sizes(small, large).axes[0].get_xscale() == "log"


def test_runs_have_a_box_for_each_series_and_a_dot_for_each_value():
    runs = {"one": {"D": [1.0, 2.0, 3.0], "L": [4.0, 5.0]}, "two": {"D": [2.0], "L": []}}
    ax = plot_runs(runs, label="seconds", logarithmic=True)
    dots = np.concatenate([np.asarray(each.get_offsets())[:, 1] for each in ax.collections])
    assert sorted(dots.tolist()) == [1.0, 2.0, 2.0, 3.0, 4.0, 5.0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["D", "L"]
    assert (ax.get_yscale(), ax.get_ylabel()) == ("log", "seconds")


def test_runs_of_nothing_and_logarithms_of_zero_are_refused():
    with pytest.raises(InvalidInputError, match="at least one"):
        plot_runs({})
    with pytest.raises(InvalidInputError, match="above zero"):
        plot_runs({"a": [0.0, 1.0]}, logarithmic=True)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_text_stands_out_from_what_is_behind_it(style, petal_tree):
    with plt.style.context(style):
        ax = plot_tree(petal_tree)
        page = to_hex(ax.figure.get_facecolor())
        for text in ax.texts:
            box = text.get_bbox_patch()
            behind = page if box is None else to_hex(box.get_facecolor())
            assert contrast(to_hex(text.get_color()), behind) > 4.5


def contrast(one, other):
    """As the guidelines for accessible web pages define it."""
    light = []
    for colour in (one, other):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(light) + 0.05) / (min(light) + 0.05)


def test_many_classes_have_a_colour_each():
    colours = drawing.class_colours(40)
    assert len(set(colours)) == 40
    assert all(contrast(text_colour(colour), colour) > 4.5 for colour in colours)


def test_matplotlib_is_imported_only_for_drawing():
    code = "import sys, onetree.report.figures; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_way_to_get_it_is_named(monkeypatch, petal_tree):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'onetree\[plot\]'"):
        plot_tree(petal_tree)


def test_the_figures_of_the_documentation_can_be_drawn(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["figures.py", str(tmp_path)])
    runpy.run_path(str(repository / "examples" / "figures.py"), run_name="__main__")
    page = (repository / "docs" / "figures.md").read_text(encoding="utf-8")
    assert {f"images/{path.name}" for path in tmp_path.iterdir()} == set(re.findall(r"\((images/[^)]+)\)", page))
