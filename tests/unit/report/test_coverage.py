"""Rows of data at the places of a tree, as the report counts them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.errors import InvalidInputError
from onetree.report import coverage, frontier_facts, support_facts
from onetree.report.coverage import embed_coverage
from tests.cases.categorical import random_set_tree
from tests.cases.exported import points
from tests.cases.grown import grown_tree, shared_tree


def at_places(found, n_classes):
    """Add up the rows of each class at each place, as the page does."""
    counts = np.zeros((len(found["left"]), n_classes), dtype=int)
    ends = iter(found["ends"])
    for place, (left, right) in enumerate(zip(found["left"], found["right"], strict=True)):
        if not left and not right:
            pairs = next(ends)
            counts[place, pairs[::2]] = pairs[1::2]
    for place in range(len(counts) - 1, -1, -1):
        for side in ("left", "right"):
            if found[side][place]:
                counts[place] += counts[found[side][place]]
    return counts


def rows_and_labels(tree, n=300):
    rng = np.random.default_rng(0)
    rows = rng.random((n, tree.n_features)) * (12 if tree.n_nodes < 50 else 1)
    return rows, tree.classes[rng.integers(tree.n_classes, size=n)]


@pytest.mark.parametrize("tree", [grown_tree(40), shared_tree(6), random_set_tree(1), grown_tree(1)], ids=repr)
def test_every_row_is_counted_where_the_tree_sends_it(tree):
    rows, y = rows_and_labels(tree)
    if tree.has_subsets:
        rows = points(tree, n=300)
    found = embed_coverage(tree, rows, y[: len(rows)], None)
    counts = at_places(found, tree.n_classes)
    paths = {0: 0}  # place -> node
    for place in range(len(counts)):
        for side, children in (("left", tree.children_left), ("right", tree.children_right)):
            if found[side][place]:
                paths[found[side][place]] = int(children[paths[place]])
    ends = [place for place in paths if not found["left"][place] and not found["right"][place]]
    by_leaf = np.zeros(tree.n_nodes, dtype=int)
    for place in ends:
        by_leaf[paths[place]] += counts[place].sum()
    np.testing.assert_array_equal(by_leaf, np.bincount(tree.apply(rows), minlength=tree.n_nodes))
    assert counts[0].tolist() == [int(np.count_nonzero(y[: len(rows)] == label)) for label in tree.classes]


def test_a_histogram_counts_all_rows_of_its_place():
    tree = grown_tree(40)
    rows, y = rows_and_labels(tree)
    found = embed_coverage(tree, rows, y, None)
    counts = at_places(found, tree.n_classes)
    assert len(found["spreads"]) > 3
    for place, n_bins, n_left, _, _, spread in found["spreads"]:
        bins = np.reshape(spread, (n_bins, tree.n_classes))
        assert bins.sum(axis=0).tolist() == counts[place].tolist()
        left = found["left"][place]
        assert bins[:n_left].sum() == (counts[left].sum() if left else 0)


@given(st.lists(st.floats(width=32) | st.integers(-3, 3).map(float), min_size=1, max_size=60), st.floats(-5, 5))
def test_bins_lie_on_the_side_to_which_their_rows_go(values, cut):
    x = np.array(values, dtype=np.float64)
    left = x <= cut
    n_bins, n_left, bins = coverage._binned(x, left, cut)
    assert ((bins >= 0) & (bins < n_bins)).all()
    np.testing.assert_array_equal(bins < n_left, left)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=80), st.sets(st.integers(0, 40)))
def test_bins_of_categories_lie_on_the_side_to_which_their_rows_go(elements, members):
    values = np.array(elements)
    left = np.isin(values, list(members))
    n_bins, n_left, bins = coverage._ranked(values, left)
    assert n_bins <= coverage.N_BINS
    np.testing.assert_array_equal(bins < n_left, left)


def test_the_columns_of_a_frame_go_by_name(tmp_path):
    pandas = pytest.importorskip("pandas")
    tree = grown_tree(12)
    rows, y = rows_and_labels(tree)
    frame = pandas.DataFrame(rows, columns=list(tree.feature_names))
    pages = [tmp_path / "array.html", tmp_path / "frame.html"]
    onetree.write_report(tree, pages[0], X=rows, y=y)
    shuffled = frame[frame.columns[::-1]].assign(extra="text")
    onetree.write_report(tree, pages[1], X=shuffled, y=pandas.Series(y, index=shuffled.index[::-1]))
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_of_too_many_places_the_deepest_are_not_counted(monkeypatch):
    tree = grown_tree(260)
    rows, y = rows_and_labels(tree)
    monkeypatch.setattr(coverage, "MAX_PLACES", 30)
    found = embed_coverage(tree, rows, y, None)
    assert len(found["left"]) <= 30
    assert at_places(found, tree.n_classes)[0].sum() == len(rows)


def test_without_labels_rows_count_by_the_class_of_the_model_and_else_of_the_tree():
    tree = grown_tree(12)
    rows, _ = rows_and_labels(tree)
    found = embed_coverage(tree, rows, None, None)
    assert found["of"] == "tree"
    expected = np.bincount(tree.predict_index(rows), minlength=3)
    assert at_places(found, 3)[0].tolist() == expected.tolist()
    other = onetree.Ensemble.from_model(grown_tree(12, seed=1).to_sklearn())
    found = embed_coverage(tree, rows, None, other)
    assert found["of"] == "model"
    assert at_places(found, 3)[0].tolist() == np.bincount(other.predict_index(rows), minlength=3).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": ["class 0"]}, "without X"),
        ({"X": np.zeros((2, 6)), "y": ["class 0"]}, "one label for each of the 2 rows"),
        ({"X": np.zeros((1, 6)), "y": ["class 7"]}, "'class 7', which is not a class"),
    ],
)
def test_labels_that_do_not_fit_are_refused(tmp_path, options, message):
    with pytest.raises(InvalidInputError, match=message):
        onetree.write_report(grown_tree(12), tmp_path / "report.html", **options)


@pytest.mark.parametrize("labelled", [True, False])
def test_a_frontier_is_told_in_words_and_numbers(labelled):
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    frontier = onetree.frontier(forest, X, y if labelled else None, leaves=(2, 4))
    told = frontier_facts.describe_frontier(frontier)
    assert (told["header"], told["lines"]) == frontier.table()
    assert [point["agreement"] for point in told["points"]] == [point.agreement.share for point in frontier.points]
    assert (told["model"] is not None) == labelled
    assert (frontier.verdict in told["notes"]) == labelled


def test_a_support_tree_tells_its_agreement_and_nothing_about_a_gap():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    found = onetree.support_tree(forest, X, max_leaves=5, certify=True)
    told = support_facts.describe_support(found)
    assert [row["inputs"] for row in told["measured"]] == ["held-out rows", "reference rows", "random points"]
    assert [row["n_inputs"] for row in told["measured"]] == [
        each.n_inputs for each in (found.held_out, found.reference, found.box)
    ]
    assert all(row["proven"] for row in told["measured"])
    proof = support_facts.describe_proof(found)
    assert (proof["state"], "times" in proof["text"]) == ("support", False)
