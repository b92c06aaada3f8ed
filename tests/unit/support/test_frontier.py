"""The frontier: trees of several sizes, what they are worth, and what is said about them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree
from onetree.errors import InvalidInputError
from onetree.support import Agreement, support_tree
from onetree.support.frontier import Difference, Score
from onetree.support.frontier.cart import encoded, right_by_leaves, tuned_carts

X, Y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = np.arange(len(X)) % 3 > 0, np.arange(len(X)) % 3 == 0


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(30, random_state=0).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def found(forest):
    return onetree.frontier(forest, X[TRAIN], Y[TRAIN], leaves=(16, 4), held_out=(X[TEST], Y[TEST]))


def test_each_tree_keeps_to_its_leaves_the_smallest_first(found):
    assert [point.max_leaves for point in found.points] == [4, 16]
    assert all(1 < point.tree.n_leaves <= point.max_leaves for point in found.points)
    assert not any(tree.exact for tree in found.trees.values())


def test_agreement_is_counted_on_the_held_out_rows(found, forest):
    for point in found.points:
        same = point.tree.predict(X[TEST]) == forest.predict(X[TEST])
        assert point.agreement == Agreement(int(same.sum()), int(TEST.sum()))


def test_accuracies_are_those_of_tree_and_model_on_the_held_out_rows(found, forest):
    assert found.model == Score.of(forest.predict(X[TEST]), Y[TEST])
    for point in found.points:
        assert point.score == Score.of(point.tree.predict(X[TEST]), Y[TEST])
        assert point.cart_leaves <= point.max_leaves
        assert point.lead.value == pytest.approx(point.score.accuracy - point.cart.accuracy)


def test_the_largest_tree_is_the_one_that_support_tree_builds(found, forest):
    alone = support_tree(forest, X[TRAIN], held_out=X[TEST], max_leaves=16)
    assert alone.tree.to_text() == found.trees[16].to_text()


def test_the_same_seed_gives_the_same_frontier(found, forest):
    again = onetree.frontier(forest, X[TRAIN], Y[TRAIN], leaves=[4, 16], held_out=(X[TEST], Y[TEST]))
    assert again.to_dict() | {"seconds": 0} == found.to_dict() | {"seconds": 0}


def test_without_classes_only_agreement_is_measured(forest):
    plain = onetree.frontier(forest, X[TRAIN], leaves=(4,), held_out=X[TEST])
    assert plain.model is None
    assert plain.points[0].cart is None
    assert "CART" not in str(plain)
    assert "nothing to compare" in plain.verdict


def test_rows_set_aside_of_x_are_said_to_be_known_to_the_model(forest):
    split = onetree.frontier(forest, X, Y, leaves=(4,))
    assert split.may_be_seen
    assert split.n_held_out == int(0.2 * len(X))
    assert split.n_rows + split.n_held_out == len(X)
    assert "the model may have been trained on" in str(split)
    assert "is unknown" in split.verdict


def test_rows_that_are_given_as_held_out_are_taken_as_unseen(found):
    assert not found.may_be_seen
    assert "may have been trained" not in str(found)


def _with_leads(found, *leads):
    points = tuple(replace(point, lead=lead) for point, lead in zip(found.points, leads, strict=True))
    return replace(found, points=points)


def test_the_verdict_says_where_cart_is_as_good(found):
    ahead, level, behind = Difference(0.02, 0.01, 0.03), Difference(0.0, -0.01, 0.01), Difference(-0.02, -0.03, -0.01)
    rows = f"{int(TEST.sum())} rows"
    assert _with_leads(found, level, ahead).verdict == (
        "The tree of the model is more accurate than CART at 16 leaves; "
        f"CART is as good at 4 leaves, as far as {rows} can show."
    )
    assert _with_leads(found, level, level).verdict == f"CART is as good at 4 and 16 leaves, as far as {rows} can show."
    assert _with_leads(found, behind, behind).verdict == "CART is more accurate at 4 and 16 leaves."


def test_the_result_is_shown_as_a_table(found):
    header, *lines = str(found).splitlines()
    assert header.split()[:3] == ["at", "most", "leaves"]
    assert lines[0].split()[0] == "4"
    assert lines[2].split()[0] == "model"
    assert found.verdict in lines
    html = found._repr_html_()
    assert html.count("<tr>") == 4
    assert repr(found).startswith("Frontier(agreement by leaves on 190 held-out rows: 4: ")


def test_all_figures_are_plain_values(found):
    figures = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [point["max_leaves"] for point in figures["points"]] == [4, 16]
    low, share, high = (figures["points"][0][name] for name in ("agreement_low", "agreement", "agreement_high"))
    assert low < share < high
    assert figures["held_out_may_be_seen"] is False


def test_the_plot_has_a_panel_for_agreement_and_one_for_accuracies(found):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure = found.plot()
    assert len(figure.axes) == 2
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == [
        "tree of the model",
        "tuned CART",
        "model",
    ]
    pyplot.close(figure)


def test_labels_may_be_words_and_values_missing_or_categories():
    rows, classes = load_wine(return_X_y=True)
    rows = rows.copy()
    rows[::5, 0] = np.nan
    rows[:, 3] = np.floor(rows[:, 3]) % 4
    words = np.array(["red", "rosé", "white"])[classes]
    model = HistGradientBoostingClassifier(max_iter=10, categorical_features=[3], random_state=0).fit(rows, words)
    mixed = onetree.frontier(model, rows[::2], words[::2], leaves=(3, 6), held_out=(rows[1::2], words[1::2]))
    assert mixed.points[1].score.accuracy > 0.7
    assert mixed.points[1].cart.accuracy > 0.7
    assert mixed.model == Score.of(model.predict(rows[1::2]), words[1::2])


def test_frames_go_by_the_names_of_their_columns(found):
    pandas = pytest.importorskip("pandas")
    names = [f"column {each}" for each in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    model = RandomForestClassifier(30, random_state=0).fit(frame[TRAIN], Y[TRAIN])
    turned = frame[names[::-1]].assign(other="text")
    again = onetree.frontier(
        model, turned[TRAIN], pandas.Series(Y[TRAIN]), leaves=(4, 16), held_out=(turned[TEST], pandas.Series(Y[TEST]))
    )
    assert again.to_dict() | {"seconds": 0} == found.to_dict() | {"seconds": 0}
    assert (again.trees[16].predict(turned) == found.trees[16].predict(X)).all()


def test_a_single_leaf_is_the_most_frequent_class(forest):
    one = onetree.frontier(forest, X[TRAIN], Y[TRAIN], leaves=(1,), held_out=(X[TEST], Y[TEST])).points[0]
    assert (one.tree.n_leaves, one.cart_leaves) == (1, 1)
    assert one.score.balanced_accuracy == one.cart.balanced_accuracy == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"leaves": ()}, "positive integers"),
        ({"leaves": (0,)}, "positive integers"),
        ({"leaves": (2.5,)}, "positive integers"),
        ({"y": Y[:5]}, "one class for each of 569 rows"),
        ({"y": Y, "held_out": X}, r"pair \(X_test, y_test\)"),
        ({"held_out": (X, Y)}, "rows alone"),
        ({"y": Y, "held_out": (X, Y[:4])}, "y_test of held_out"),
        ({"held_out": X[:0]}, "held_out has no rows"),
        ({"random_state": -1}, "random_state must be a non-negative integer"),
    ],
)
def test_requests_that_make_no_sense_are_refused(forest, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        onetree.frontier(forest, X, **arguments)


def test_too_few_rows_to_set_some_aside_are_refused(forest):
    with pytest.raises(InvalidInputError, match="too few to set some aside"):
        onetree.frontier(forest, X[:4])


def test_progress_is_told_of_trees_and_of_cart(forest):
    seen = []
    onetree.frontier(forest, X[TRAIN], Y[TRAIN], leaves=(4,), held_out=(X[TEST], Y[TEST]), progress=seen.append)
    assert seen[-1].phase == "cart"
    assert 0 < seen[-1].fraction < 1


@pytest.mark.parametrize("least", [1, 5])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_a_tree_of_fewer_leaves_is_the_beginning_of_a_larger_one(criterion, least):
    setting = {"criterion": criterion, "min_samples_leaf": least, "random_state": 3}
    rows, classes = load_wine(return_X_y=True)
    large = DecisionTreeClassifier(max_leaf_nodes=12, **setting).fit(rows[::2], classes[::2])
    n_right = right_by_leaves(large, rows[1::2], classes[1::2], 12)
    for n_leaves in range(2, 13):
        small = DecisionTreeClassifier(max_leaf_nodes=n_leaves, **setting).fit(rows[::2], classes[::2])
        assert n_right[n_leaves - 1] == (small.predict(rows[1::2]) == classes[1::2]).sum()
    assert n_right[0] == (classes[1::2] == np.bincount(classes[::2]).argmax()).sum()


def test_tuning_leaves_out_what_is_noise():
    random = np.random.default_rng(0)
    rows = random.random((600, 4))
    classes = (rows[:, 0] > 0.5) ^ (random.random(600) < 0.3)
    (cart,) = tuned_carts(rows, classes, [64], 0, lambda share: None)
    assert cart.get_n_leaves() < 16


def test_categories_are_columns_and_infinite_values_are_finite_for_cart():
    values = np.array([[0.0, np.inf], [2.0, np.nan], [5.0, -np.inf]])
    kinds = (onetree.Categories(codes=(0.0, 2.0), low=[-1, 1], high=[1, 3]), None)
    rows = encoded(values, values[:2], kinds)
    assert np.array_equal(rows[:, :2], [[1, 0], [0, 1], [0, 0]])
    assert np.isnan(rows[1, 2])
    assert np.isfinite(rows[[0, 2], 2]).all()


def test_the_interval_of_a_share_is_wilsons():
    low, high = Agreement(9, 10).interval
    assert (low, high) == (pytest.approx(0.5958, abs=1e-4), pytest.approx(0.9821, abs=1e-4))
    assert Agreement(10, 10).interval[1] == 1.0
    assert Agreement(0, 0).interval == (0.0, 1.0)


def test_the_interval_of_a_difference_covers_the_true_one():
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        kind = random.choice(4, size=200, p=[0.8, 0.1, 0.05, 0.05])  # both right, only the first, only the second
        found = Difference.of(kind <= 1, (kind == 0) | (kind == 2))
        covered += found.low <= 0.05 <= found.high
    assert 0.92 <= covered / 400 <= 0.99


def test_trees_that_are_right_on_the_same_rows_are_level():
    right = np.arange(50) % 5 > 0
    assert Difference.of(right, right).value == 0
    assert Difference.of(right, right).better is None
    assert Difference.of(np.ones(50, bool), np.zeros(50, bool)).better == "first"
    assert Difference.of(np.zeros(50, bool), np.ones(50, bool)).better == "second"
