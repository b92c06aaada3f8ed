"""The tree: its arrays, its predictions, its boxes."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import InvalidInputError, Tree, UnsupportedModelError, prune
from onetree.tree.leaf_probabilities import leaf_numbers
from tests.cases.categorical import COLOURS, chain_of_sets, colour_tree, random_set_tree
from tests.cases.deep import DEEP
from tests.cases.strategies import telling_inputs

CLASSES = ["red", "green", "blue"]


def small_tree(**changes):
    """X0 <= 1.5, then x1 <= -2: red, green, blue."""
    arrays = {
        "feature": [0, 1, -1, -1, -1],
        "threshold": [1.5, -2.0, 0.0, 0.0, 0.0],
        "children_left": [1, 2, -1, -1, -1],
        "children_right": [4, 3, -1, -1, -1],
        "leaf_class": [-1, -1, 0, 1, 2],
        "classes": CLASSES,
        "feature_names": ("x0", "x1"),
        "nan_features": [False, False],
    }
    return Tree(**(arrays | changes))


def chain(n_splits, classes=(0, 1)):
    """X0 <= 0, else x0 <= 1, and so on: as deep as it has splits."""
    inner = np.arange(n_splits)
    n_nodes = 2 * n_splits + 1
    arrays = {name: np.full(n_nodes, -1) for name in ("feature", "children_left", "children_right", "leaf_class")}
    threshold = np.zeros(n_nodes)
    arrays["feature"][2 * inner] = 0
    threshold[2 * inner] = inner
    arrays["children_left"][2 * inner] = 2 * inner + 1
    arrays["children_right"][2 * inner] = 2 * inner + 2
    arrays["leaf_class"][2 * inner + 1] = inner % 2
    arrays["leaf_class"][-1] = 0
    return Tree(**arrays, threshold=threshold, classes=classes, feature_names=("x0",), nan_features=[False])


def test_a_tree_knows_its_size():
    tree = small_tree()
    assert (tree.depth, tree.n_leaves, tree.n_nodes, tree.n_features, tree.n_classes) == (2, 3, 5, 2, 3)


def test_a_single_leaf_is_a_tree():
    tree = Tree([-1], [0.0], [-1], [-1], [0], ["only"], ("x0",), [False])
    assert (tree.depth, tree.n_leaves) == (0, 1)
    assert tree.predict([[1.0], [2.0]]).tolist() == ["only", "only"]


def test_an_input_on_a_threshold_goes_left():
    x = [[1.5, -2.0], [1.5, np.nextafter(-2.0, 0)], [np.nextafter(1.5, 2), -2.0]]
    assert small_tree().predict(x).tolist() == ["red", "green", "blue"]


def test_infinities_are_inputs():
    assert small_tree().predict([[-np.inf, -np.inf], [-np.inf, np.inf], [np.inf, 0]]).tolist() == CLASSES


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint8, bool, object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_numeric_type_and_layout_gives_the_same_leaves(dtype, order):
    x = np.array([[0, 1], [1, 0], [1, 1]])
    expected = [3, 3, 3]
    assert small_tree().apply(np.array(x, dtype=dtype, order=order)).tolist() == expected


def test_rows_that_are_not_adjacent_in_memory_are_read_as_they_look():
    wide = np.random.default_rng(0).normal(size=(50, 8))
    assert np.array_equal(small_tree().apply(wide[::3, 2:6:2]), small_tree().apply(wide[::3, 2:6:2].copy()))
    swapped = wide[:, :2].astype(">f8")
    assert np.array_equal(small_tree().apply(swapped), small_tree().apply(wide[:, :2]))


def test_read_only_rows_are_read():
    x = np.zeros((2, 2))
    x.flags.writeable = False
    assert small_tree().predict_index(x).tolist() == [1, 1]


def test_no_rows_give_no_predictions():
    assert small_tree().predict(np.empty((0, 2))).shape == (0,)


@pytest.mark.parametrize("x", [[1.0, 2.0], 3.0, [[[1.0, 2.0]]]])
def test_inputs_must_have_two_dimensions(x):
    with pytest.raises(InvalidInputError, match="two dimensions"):
        small_tree().predict(x)


def test_a_wrong_number_of_features_is_refused():
    with pytest.raises(InvalidInputError, match=r"3 features.*2"):
        small_tree().predict(np.zeros((4, 3)))


@pytest.mark.parametrize("x", [[["a", "b"]], [[1 + 2j, 0]], [[None, "b"]]])
def test_what_is_not_a_number_is_refused(x):
    with pytest.raises(InvalidInputError, match="number"):
        small_tree().predict(x)


def test_missing_values_are_refused_where_the_source_does_not_take_them():
    with pytest.raises(InvalidInputError, match=r'column 1.*missing="follow"'):
        small_tree(nan_features=[True, False]).predict([[0.0, 0.0], [0.0, np.nan]])


def test_missing_values_go_right():
    tree = small_tree(nan_features=[True, True])
    assert tree.predict([[np.nan, 0.0], [0.0, np.nan]]).tolist() == ["blue", "green"]


def test_a_threshold_of_infinity_splits_off_the_missing_values():
    tree = small_tree(threshold=[np.inf, -2.0, 0, 0, 0], nan_features=[True, False])
    assert tree.predict([[np.inf, 0.0], [np.nan, 0.0]]).tolist() == ["green", "blue"]


def test_boxes_are_open_below_and_closed_above():
    lower, upper = small_tree().boxes()
    inf = np.inf
    assert lower.tolist() == [[-inf, -inf], [-inf, -2.0], [1.5, -inf]]
    assert upper.tolist() == [[1.5, -2.0], [1.5, inf], [inf, inf]]


def test_boxes_say_where_missing_values_are():
    _, upper = small_tree(nan_features=[True, False]).boxes()
    assert np.isnan(upper).tolist() == [[False, False], [False, False], [True, False]]


@given(st.integers(0, 2**32 - 1))
def test_every_input_lies_in_the_box_of_its_leaf(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_splits=12, n_features=3)
    x = rng.integers(-1, 6, size=(40, 3)).astype(float)
    lower, upper = tree.boxes()
    place = {leaf: i for i, leaf in enumerate(tree.leaves().tolist())}
    at = [place[leaf] for leaf in tree.apply(x).tolist()]
    assert ((lower[at] < x) & (x <= upper[at])).all()


def random_tree(rng, n_splits, n_features, n_classes=3):
    """A tree grown by splitting random leaves, renumbered so that children come after parents."""
    children, cuts = {0: None}, {}
    for _ in range(n_splits):
        leaf = rng.choice([node for node, below in children.items() if below is None])
        children[leaf] = (len(children), len(children) + 1)
        children |= {len(children): None, len(children) + 1: None}
        cuts[leaf] = int(rng.integers(n_features)), float(rng.integers(5))
    below = [children[node] or (-1, -1) for node in range(len(children))]
    return Tree(
        [cuts.get(node, (-1, 0.0))[0] for node in range(len(children))],
        [cuts.get(node, (-1, 0.0))[1] for node in range(len(children))],
        [left for left, _ in below],
        [right for _, right in below],
        [int(rng.integers(n_classes)) if children[node] is None else -1 for node in range(len(children))],
        np.arange(n_classes),
        tuple(f"x{i}" for i in range(n_features)),
        [False] * n_features,
    )


def test_subtrees_may_be_shared():
    tree = small_tree(
        feature=[0, 1, -1, -1],
        threshold=[1.5, -2.0, 0, 0],
        children_left=[1, 2, -1, -1],
        children_right=[2, 3, -1, -1],
        leaf_class=[-1, -1, 0, 1],
    )
    assert (tree.depth, tree.n_leaves, tree.leaves().tolist()) == (2, 3, [2, 3, 2])
    assert tree.predict([[9.0, 0.0], [0.0, -3.0], [0.0, 0.0]]).tolist() == ["red", "red", "green"]
    assert tree.boxes()[0].shape == (3, 2)


def test_a_very_deep_tree_works():
    tree = chain(DEEP)
    assert (tree.depth, tree.n_leaves) == (DEEP, DEEP + 1)
    assert tree.predict([[0.0], [DEEP - 1.0], [1e9]]).tolist() == [0, 1, 0]
    lower, upper = tree.boxes()
    assert (lower[-1, 0], upper[0, 0]) == (DEEP - 1.0, 0.0)
    assert tree.to_text().count("\n") == tree.n_nodes - 1
    assert tree.to_sklearn().get_n_leaves() == tree.n_leaves


def test_arrays_cannot_be_changed():
    tree = small_tree()
    with pytest.raises(ValueError, match="read-only"):
        tree.threshold[0] = 3.0
    with pytest.raises(AttributeError):
        tree.exact = False


def test_the_tree_keeps_its_own_copy_of_the_arrays():
    threshold = np.array([1.5, -2.0, 0.0, 0.0, 0.0])
    tree = small_tree(threshold=threshold)
    threshold[0] = 100.0
    assert tree.threshold[0] == 1.5


def test_a_tree_can_be_pickled():
    tree = pickle.loads(pickle.dumps(small_tree()))
    assert tree.predict([[0.0, 0.0]]).tolist() == ["green"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature": [0, 2, -1, -1, -1]}, r"node 1 .*feature index outside 0\.\.1"),
        ({"feature": [0, -2, -1, -1, -1]}, "node 1 .*feature index"),
        ({"children_left": [5, 2, -1, -1, -1]}, "node 0 .*left child"),
        ({"children_right": [4, 0, -1, -1, -1]}, "node 1 .*right child"),  # a cycle
        ({"children_right": [4, 1, -1, -1, -1]}, "node 1 .*right child"),  # its own child
        ({"children_left": [1, -1, -1, -1, -1]}, "node 1 .*left child"),
        ({"children_left": [1, 2, 4, -1, -1]}, "node 2 .*child although it is a leaf"),
        ({"children_right": [3, 3, -1, -1, -1]}, "node 4 .*cannot be reached"),
        ({"threshold": [np.nan, 0, 0, 0, 0]}, "node 0 .*NaN or -inf"),
        ({"threshold": [-np.inf, 0, 0, 0, 0]}, "node 0 .*NaN or -inf"),
        ({"leaf_class": [-1, -1, 0, 1, 3]}, r"node 4 .*class index outside 0\.\.2"),
        ({"leaf_class": [-1, -1, 0, -1, 2]}, "node 3 .*class index"),
        ({"leaf_class": [-1, 0, 0, 1, 2]}, "node 1 .*although it is not a leaf"),
        ({"threshold": [1.5, -2.0]}, "threshold has 2 entries for 5 nodes"),
        ({"nan_features": [False]}, "nan_features has 1 entries for 2 features"),
        ({"classes": []}, "at least one class"),
        ({"feature": [[0]]}, "1-d"),
        ({"children_left": [2**32 + 1, 2, -1, -1, -1]}, "do not fit"),
        ({"feature": [0.5, 1, -1, -1, -1]}, "do not fit"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        small_tree(**changes)


def test_no_nodes_are_no_tree():
    with pytest.raises(InvalidInputError, match="at least one node"):
        Tree([], [], [], [], [], [0], ("x0",), [False])


def leaf_of_row(tree, x):
    """The leaf that the definition leads to, and its number from left to right."""
    below, node, number = tree.leaves_below(), 0, 0
    while tree.feature[node] >= 0:
        feature = tree.feature[node]
        kind, value = tree.categories[feature], x[feature]
        if kind is not None:
            inside = [low < value <= high for low, high in zip(kind.low, kind.high, strict=True)]
            element = 1 if np.isnan(value) else 2 + inside.index(True) if any(inside) else 0
            left = tree.subsets[tree.subset[node], element]
        else:
            left = value <= tree.threshold[node]
        number += 0 if left else below[tree.children_left[node]]
        node = tree.children_left[node] if left else tree.children_right[node]
    return int(node), number


@pytest.mark.parametrize("seed", range(5))
def test_rows_find_their_way_through_set_tests(seed):
    tree = random_set_tree(seed)
    X = telling_inputs(tree, seed=seed)
    nodes, numbers = zip(*(leaf_of_row(tree, x) for x in X), strict=True)
    assert tree.apply(X).tolist() == list(nodes)
    assert leaf_numbers(tree, X).tolist() == list(numbers)


def test_a_tree_goes_left_at_a_set_test_iff_the_element_is_in_the_set():
    tree = colour_tree(1.0, "missing")
    X = [[1.0, 30.0], [np.nan, 31.0], [0.0, 30.0], [1.5, 30.0]]
    assert tree.predict(X).tolist() == ["yes", "maybe", "no", "no"]
    assert tree.has_subsets
    assert not small_tree().has_subsets


def test_a_tree_refuses_nan_on_a_categorical_feature_where_it_is_no_input():
    with pytest.raises(InvalidInputError, match="column 0"):
        colour_tree(1.0, takes_nan=False).predict([[np.nan, 0.0]])


@pytest.mark.parametrize(("members", "expected"), [((), "no"), ((0.0, 1.0, 2.0, 5.0, "other", "missing"), "yes")])
def test_a_tree_may_have_a_set_that_is_empty_or_full(members, expected):
    assert colour_tree(*members).predict([[5.0, 0.0], [np.nan, 0.0], [-3.0, 0.0]]).tolist() == [expected] * 3


def test_a_tree_of_set_tests_knows_its_size():
    tree = chain_of_sets((0.0,), (1.0, "other"), (2.0,))
    assert (tree.depth, tree.n_leaves) == (3, 4)
    assert tree.leaves().tolist() == [1, 3, 5, 6]
    assert repr(tree) == "Tree(4 leaves, depth 3, 1 feature, 4 classes)"


def test_shares_of_given_rows_are_the_probabilities_of_a_tree():
    tree = small_tree()
    rows = [[1.0, -3.0], [1.0, -3.0], [1.0, 0.0], [2.0, 0.0], [1.0, -3.0], [1.0, -3.0]]
    found = tree.with_shares(rows, ["red", "red", "green", "red", "red", "blue"])
    np.testing.assert_allclose(found.predict_proba([[0.0, -9.0]]), [[0.75, 0, 0.25]])  # red, green, blue
    np.testing.assert_allclose(found.predict_proba([[1.0, 5.0]]), [[0, 1, 0]])
    # Where the rows say red, the tree still says blue, as often as red.
    np.testing.assert_allclose(found.predict_proba([[7.0, 0.0]]), [[0.5, 0, 0.5]], atol=1e-8)
    np.testing.assert_array_equal(found.classes[found.predict_proba(rows).argmax(axis=1)], found.predict(rows))


def test_weights_count_in_shares_and_a_row_of_weight_zero_does_not():
    rows, labels = [[1.0, -3.0], [1.0, -3.0], [1.0, 0.0]], ["red", "green", "red"]
    found = small_tree().with_shares(rows, labels, sample_weight=[3, 1, 0])
    np.testing.assert_allclose(found.predict_proba(rows[:1]), [[0.75, 0.25, 0]])
    np.testing.assert_allclose(found.predict_proba(rows[2:]), [[0, 1, 0]])


def test_probabilities_without_shares_are_refused_with_the_way_to_get_them():
    with pytest.raises(InvalidInputError, match=r"with_shares\(X, y\)"):
        small_tree().predict_proba([[0.0, 0.0]])


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["red"], {}, "one label for each of the 2 rows"),
        (["red", "pink"], {}, "'pink', but the model only knows"),
        (["red", "red"], {"sample_weight": [1, -1]}, "non-negative"),
        (["red", "red"], {"sample_weight": [1]}, "2 finite"),
    ],
)
def test_rows_that_cannot_be_counted_are_refused(y, options, message):
    with pytest.raises(InvalidInputError, match=message):
        small_tree().with_shares([[0.0, 0.0], [1.0, 1.0]], y, **options)


def test_shares_survive_a_pickle_and_not_pruning():
    rows = [[1.0, -3.0], [1.0, 0.0], [1.0, 0.0]]
    tree = small_tree().with_shares(rows, ["red", "green", "red"])
    again = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(again.predict_proba(rows), tree.predict_proba(rows))
    assert prune(tree, rows).shares is None


def test_a_set_test_at_a_great_depth_is_reached():
    tree = chain_of_sets(*[("missing",)] * DEEP)
    assert tree.apply([[0.0], [np.nan]]).tolist() == [2 * DEEP, 1]


def test_a_tree_of_one_leaf_may_have_categorical_features():
    tree = Tree([-1], [0.0], [-1], [-1], [0], ["only"], ("x0",), [True], categories=(COLOURS,))
    assert tree.predict([[1.0], [np.nan]]).tolist() == ["only", "only"]


def test_the_leaves_of_set_tests_are_no_boxes():
    with pytest.raises(UnsupportedModelError, match="not boxes"):
        colour_tree(1.0).boxes()


def test_a_set_test_of_a_tree_has_no_threshold():
    assert colour_tree(1.0, threshold=[7.0, 30.0, 0, 0, 0]).threshold.tolist() == [0.0, 30.0, 0, 0, 0]


def test_a_tree_with_a_threshold_on_a_categorical_feature_is_refused():
    with pytest.raises(InvalidInputError, match="node 0 compares a categorical feature with a threshold"):
        small_tree(categories=(COLOURS, None))


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("tree", [small_tree(), colour_tree(1.0, "other")], ids=["thresholds", "sets"])
def test_the_arrays_of_a_tree_are_read_only_after_a_pickle_or_a_copy(tree, again):
    assert tree.n_leaves == 3  # kept on the object, which a pickle must not mind
    other = again(tree)
    for field in dataclasses.fields(tree):
        here, there = getattr(tree, field.name), getattr(other, field.name)
        if isinstance(here, np.ndarray):
            assert not there.flags.writeable, field.name
            assert there.tolist() == here.tolist(), field.name
        else:
            assert there == here, field.name


def test_a_pickle_of_a_tree_from_before_there_were_categories_can_still_be_read():
    added = ("categories", "subset", "subsets")
    old = object.__new__(Tree)
    old.__setstate__({name: value for name, value in small_tree().__dict__.items() if name not in added})
    assert old.categories == (None, None)
    assert old.predict([[0.0, 0.0]]).tolist() == ["green"]
