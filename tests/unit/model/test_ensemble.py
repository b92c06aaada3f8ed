"""The ensemble: its invariants are checked, and its reference prediction is the definition."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given

from onetree import Ensemble, InvalidInputError
from onetree.model.categories import Categories
from onetree.model.ensemble import Rule, as_ensemble
from tests.cases.deep import DEEP
from tests.cases.strategies import ensembles_with_categories, telling_inputs

STUMP = {
    "classes": np.array(["no", "yes"]),
    "feature_names": ("a", "b"),
    "roots": [0],
    "feature": [1, -1, -1],
    "threshold": [0.5, 0.0, 0.0],
    "children_left": [1, -1, -1],
    "children_right": [2, -1, -1],
    "missing_left": [True, False, False],
    "value": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
    "base": [0.0, 0.0],
    "rule": Rule("hard"),
    "nan_features": [False, False],
}


def stump(**changes):
    return Ensemble(**(STUMP | changes))


def chain(depth):
    """A tree that is one path: node 2i splits, node 2i + 1 is its left leaf, the last node its right leaf."""
    n_nodes = 2 * depth + 1
    inner = np.arange(0, n_nodes - 1, 2)
    feature = np.full(n_nodes, -1)
    left, right, threshold = feature.copy(), feature.copy(), np.zeros(n_nodes)
    feature[inner], left[inner], right[inner], threshold[inner] = 0, inner + 1, inner + 2, np.arange(depth)
    value = np.zeros((n_nodes, 2))
    value[feature < 0, 0] = 1.0
    value[-1] = [0.0, 1.0]
    return stump(
        feature_names=("a",),
        feature=feature,
        children_left=left,
        children_right=right,
        threshold=threshold,
        missing_left=np.zeros(n_nodes, dtype=bool),
        value=value,
        nan_features=[False],
    )


def two_leaves(first, second, rule, **changes):
    """Two trees of one leaf each: the rule alone decides."""
    shape = {"feature_names": (), "nan_features": [], "roots": [0, 1], "feature": [-1, -1], "children_left": [-1, -1]}
    shape |= {"children_right": [-1, -1], "threshold": [0.0, 0.0], "missing_left": [False, False]}
    return stump(**shape, value=[first, second], base=np.zeros(len(first)), rule=rule, **changes)


NO_INPUT = np.empty((1, 0))


def test_an_input_on_the_threshold_goes_left_and_the_next_float_goes_right():
    X = np.array([[0.0, 0.5], [0.0, np.nextafter(0.5, 1)]])
    assert stump().predict(X).tolist() == ["no", "yes"]


def test_a_float32_input_is_compared_with_the_float64_threshold():
    cut = np.nextafter(0.5, 1)
    X = np.array([[0, 0.5], [0, np.nextafter(np.float32(0.5), np.float32(1))]], dtype=np.float32)
    assert stump(threshold=[cut, 0, 0]).predict(X).tolist() == ["no", "yes"]


def test_nan_goes_where_the_node_says():
    X = [[0.0, np.nan]]
    assert stump(nan_features=[False, True]).predict(X).tolist() == ["no"]
    assert stump(nan_features=[False, True], missing_left=[False] * 3).predict(X).tolist() == ["yes"]


def test_nan_is_refused_where_it_is_no_input_and_the_message_names_the_remedy():
    with pytest.raises(InvalidInputError, match=r'column 0.*missing="follow"'):
        stump(nan_features=[False, True]).predict([[np.nan, 0.0]])


def test_an_infinite_threshold_sends_only_nan_right():
    ensemble = stump(threshold=[np.inf, 0, 0], missing_left=[False] * 3, nan_features=[True, True])
    assert ensemble.predict([[0.0, np.inf], [0.0, np.nan]]).tolist() == ["no", "yes"]


def test_a_tied_vote_goes_to_the_smaller_class_index():
    assert two_leaves([0.0, 1.0], [1.0, 0.0], Rule("hard")).predict_index(NO_INPUT).tolist() == [0]


def test_a_soft_vote_is_divided_by_its_divisor():
    ensemble = two_leaves([0.25, 0.75], [0.5, 0.5], Rule("soft", divisor=2.0))
    assert ensemble.scores(NO_INPUT).tolist() == [[0.375, 0.625]]


def test_scores_are_added_in_the_precision_of_the_rule():
    tiny = [2.0**-30, 0.0]
    assert two_leaves([1.0, 1.0], tiny, Rule("scores")).scores(NO_INPUT)[0, 0] > 1
    single = two_leaves([1.0, 1.0], tiny, Rule("scores", dtype="float32")).scores(NO_INPUT)
    assert single.dtype == np.float32
    assert single[0, 0] == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_of_one_row_are_to_the_last_bit_those_among_many(dtype):
    value = np.random.default_rng(0).normal(size=(300, 2))
    leaves = dict.fromkeys(("feature", "children_left", "children_right"), [-1] * 300)
    many_trees = stump(
        roots=np.arange(300),
        threshold=np.zeros(300),
        missing_left=[False] * 300,
        value=value,
        rule=Rule("scores", dtype=dtype),
        **leaves,
    )
    rows = np.zeros((100, 2))
    assert many_trees.scores(rows[:1]).tobytes() == many_trees.scores(rows)[:1].tobytes()


@pytest.mark.parametrize(("cut", "inclusive", "expected"), [(0.5, False, 0), (0.5, True, 1), (0.4, False, 1)])
def test_one_score_is_compared_with_the_cut(cut, inclusive, expected):
    ensemble = two_leaves([0.25], [0.25], Rule("score", cut=cut, cut_inclusive=inclusive))
    assert ensemble.predict_index(NO_INPUT).tolist() == [expected]


def test_a_hard_vote_of_a_soft_ensemble_gives_each_tree_one_vote():
    soft = two_leaves([0.9, 0.1], [0.5, 0.5], Rule("soft", divisor=2.0))
    assert soft.to_hard_vote().scores(NO_INPUT).tolist() == [[2.0, 0.0]]


def test_an_additive_score_has_no_hard_vote():
    with pytest.raises(InvalidInputError, match="no hard vote"):
        two_leaves([0.25], [0.25], Rule("score")).to_hard_vote()


def test_counts_describe_the_trees():
    ensemble = chain(3)
    assert (ensemble.n_trees, ensemble.n_features, ensemble.n_classes, ensemble.n_outputs) == (1, 1, 2, 2)
    assert ensemble.n_leaves == 4
    assert ensemble.depths.tolist() == [3]
    assert two_leaves([1.0, 0.0], [1.0, 0.0], Rule("hard")).depths.tolist() == [0, 0]


def test_a_very_deep_tree_is_no_problem():
    ensemble = chain(DEEP)
    assert ensemble.depths.tolist() == [DEEP]
    assert ensemble.predict([[-1.0], [1e6]]).tolist() == ["no", "yes"]


def test_arrays_are_read_only_and_do_not_follow_the_arrays_they_were_made_from():
    threshold = np.array([0.5, 0.0, 0.0])
    ensemble = stump(threshold=threshold)
    threshold[0] = 7.0
    assert ensemble.threshold[0] == 0.5
    for field in dataclasses.fields(ensemble):
        array = getattr(ensemble, field.name)
        if isinstance(array, np.ndarray):
            assert not array.flags.writeable, field.name
            assert array.flags.c_contiguous, field.name
    with pytest.raises(dataclasses.FrozenInstanceError):
        ensemble.rule = Rule("soft")


def test_entries_that_a_node_does_not_use_are_zero():
    ensemble = stump(threshold=[0.5, np.nan, -2.0], value=[[0.3, 0.7], [1.0, 0.0], [0.0, 1.0]])
    assert ensemble.threshold.tolist() == [0.5, 0.0, 0.0]
    assert ensemble.value[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"children_left": [3, -1, -1]}, "node 0 .* left child that does not exist"),
        ({"children_right": [-1, -1, -1]}, "node 0 .* right child that does not exist"),
        ({"children_left": [1, 2, -1]}, "node 1 .* is a leaf with a left child"),
        ({"children_left": [2, -1, -1]}, "node 2 .* more than one way"),
        ({"children_right": [0, -1, -1]}, "node 0 .* more than one way"),
        ({"feature": [2, -1, -1]}, "node 0 .* feature that does not exist"),
        ({"feature": [-2, -1, -1]}, "node 0 .* below -1"),
        ({"feature": [2**40, -1, -1]}, "does not fit into int32"),
        ({"feature": [0.5, -1, -1]}, "must hold int32"),
        (
            {"feature": [-1, -1, -1], "children_left": [-1] * 3, "children_right": [-1] * 3},
            "node 1 .* belongs to no tree",
        ),
        ({"roots": []}, "at least one tree"),
        ({"roots": [3]}, "root .* does not exist"),
        ({"roots": [0, 0]}, "node 0 .* more than one way"),
        ({"threshold": [np.nan, 0, 0]}, "node 0 .* not a number"),
        ({"threshold": [-np.inf, 0, 0]}, "node 0 .* -inf"),
        ({"threshold": [0.5, 0]}, "threshold .* shape"),
        ({"value": [[0, 0], [np.nan, 0], [0, 1]]}, "node 1 .* not finite"),
        ({"value": [[0, 0], [2.0, 0], [0, 1]]}, "hard vote each leaf gives 1.0 to one class"),
        ({"value": [[0, 0], [1, 1], [0, 1]]}, "hard vote each leaf gives 1.0 to one class"),
        ({"value": [[0, 0, 0]] * 3}, "value .* shape"),
        ({"base": [np.inf, 0]}, "base scores .* finite"),
        ({"classes": np.array(["no", "no"])}, "labels .* differ"),
        ({"classes": np.array([])}, "at least one class"),
        ({"classes": np.array([[1, 2]])}, "classes .* shape"),
        ({"classes": np.arange(3), "rule": Rule("score")}, "2 classes, not 3"),
        ({"feature_names": ("a", 1)}, "names must be strings"),
        ({"nan_features": [True]}, "nan_features .* shape"),
    ],
)
def test_a_broken_ensemble_is_refused_with_the_node_and_the_reason(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        stump(**changes)


def test_a_cycle_beside_a_tree_is_refused():
    with pytest.raises(InvalidInputError, match="lies on a cycle"):
        stump(
            feature=[-1, 0, 0, -1, -1],
            children_left=[-1, 2, 1, -1, -1],
            children_right=[-1, 3, 4, -1, -1],
            threshold=np.zeros(5),
            missing_left=np.zeros(5, dtype=bool),
            value=np.eye(2)[[0] * 5],
        )


@pytest.mark.parametrize(
    "arguments", [("maybe",), ("soft", "float16"), ("soft", "float64", 0.0), ("score", "float64", 1.0, np.nan)]
)
def test_a_rule_that_makes_no_sense_is_refused(arguments):
    with pytest.raises(InvalidInputError):
        Rule(*arguments)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([0.0, 1.0], "two dimensions"),
        ([[0.0, 1.0, 2.0]], "3 features, but the model has 2"),
        ([["a", "b"]], "must hold numbers"),
        ([[1j, 0]], "must hold numbers"),
        (np.array([[object(), 0]]), "not a number"),
    ],
)
def test_input_that_cannot_be_used_is_refused(X, message):
    with pytest.raises(InvalidInputError, match=message):
        stump().predict(X)


def test_sparse_input_is_refused_with_the_remedy():
    from scipy.sparse import csr_matrix

    with pytest.raises(InvalidInputError, match="toarray"):
        stump().predict(csr_matrix([[0.0, 1.0]]))


def test_integers_booleans_and_any_memory_order_are_input():
    assert stump().predict(np.array([[0, 0], [0, 1]])).tolist() == ["no", "yes"]
    assert stump().predict(np.array([[0, 0], [0, 1]], dtype=bool)).tolist() == ["no", "yes"]
    assert stump().predict(np.asfortranarray([[0.0, 0.0], [0.0, 1.0]])[::-1]).tolist() == ["yes", "no"]


def test_no_rows_give_no_labels_of_the_right_type():
    labels = stump().predict(np.empty((0, 2)))
    assert labels.shape == (0,)
    assert labels.dtype == STUMP["classes"].dtype


def test_an_ensemble_is_its_own_source():
    ensemble = stump()
    assert as_ensemble(ensemble) is ensemble


COLOURS = Categories.equal([1, 4])


def set_stump(members, **changes):
    """Left iff the colour, which is feature 1, is in the set over other, missing, 1 and 4."""
    return stump(**({"categories": (None, COLOURS), "subset": [0, -1, -1], "subsets": [members]} | changes))


def predicted_row_by_row(ensemble, X):
    """What the definition says, one row and one split at a time."""
    classes = []
    for x in X:
        score = ensemble.base.astype(ensemble.rule.dtype)
        for root in ensemble.roots:
            node = root
            while ensemble.feature[node] >= 0:
                feature = ensemble.feature[node]
                kind, value = ensemble.categories[feature], x[feature]
                if kind is not None:
                    inside = [low < value <= high for low, high in zip(kind.low, kind.high, strict=True)]
                    element = 1 if np.isnan(value) else 2 + inside.index(True) if any(inside) else 0
                    left = ensemble.subsets[ensemble.subset[node], element]
                else:
                    left = ensemble.missing_left[node] if np.isnan(value) else value <= ensemble.threshold[node]
                node = ensemble.children_left[node] if left else ensemble.children_right[node]
            score += ensemble.value[node].astype(ensemble.rule.dtype)
        if ensemble.rule.divisor != 1:
            score /= score.dtype.type(ensemble.rule.divisor)
        classes.append(ensemble.decide(score[np.newaxis])[0])
    return classes


@given(ensembles_with_categories())
def test_a_prediction_with_set_tests_is_the_walk_of_each_row(ensemble):
    X = telling_inputs(ensemble, n_rows=60)
    assert ensemble.predict_index(X).tolist() == predicted_row_by_row(ensemble, X)


@given(ensembles_with_categories(nan=False))
def test_set_tests_see_float32_inputs_as_the_numbers_they_are(ensemble):
    with np.errstate(over="ignore", under="ignore"):
        X = telling_inputs(ensemble, n_rows=60).astype(np.float32)
    assert ensemble.predict_index(X).tolist() == ensemble.predict_index(X.astype(np.float64)).tolist()


def test_an_input_goes_left_at_a_set_test_iff_its_element_is_in_the_set():
    ensemble = set_stump([False, True, False, True], nan_features=[False, True])
    X = [[0, 4.0], [0, np.nan], [0, 1.0], [0, 2.0], [0, -np.inf]]
    assert ensemble.predict(X).tolist() == ["no", "no", "yes", "yes", "yes"]
    assert ensemble.has_subsets


def test_nan_is_refused_on_a_categorical_feature_where_it_is_no_input():
    with pytest.raises(InvalidInputError, match="column 1"):
        set_stump([True] * 4).predict([[0.0, np.nan]])


@pytest.mark.parametrize(("members", "expected"), [([True] * 4, "no"), ([False] * 4, "yes")])
def test_a_set_that_is_full_or_empty_decides(members, expected):
    assert set_stump(members).predict([[0.0, 1.0], [0.0, 7.0]]).tolist() == [expected] * 2


def test_a_set_test_has_no_threshold_and_no_side_for_missing_values():
    ensemble = set_stump([True, False, True, False], threshold=[7.0, 0, 0])
    assert ensemble.threshold.tolist() == [0, 0, 0]
    assert not ensemble.missing_left.any()


def test_an_ensemble_without_categories_has_the_fields_too():
    assert stump().categories == (None, None)
    assert stump().subset.tolist() == [-1, -1, -1]
    assert stump().subsets.shape == (0, 0)
    assert not stump().has_subsets


def test_a_threshold_on_a_categorical_feature_is_refused():
    with pytest.raises(InvalidInputError, match="node 0 compares a categorical feature with a threshold"):
        stump(categories=(None, COLOURS))


def test_a_hard_vote_keeps_the_set_tests():
    hard = set_stump([True, False, False, True], rule=Rule("soft")).to_hard_vote()
    assert hard.predict([[0.0, 4.0], [0.0, 1.0]]).tolist() == ["no", "yes"]


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("ensemble", [stump(), set_stump([True, False, False, True])], ids=["thresholds", "sets"])
def test_arrays_are_read_only_after_a_pickle_or_a_copy(ensemble, again):
    assert ensemble.depths.tolist() == [1]  # kept on the object, which a pickle must not mind
    other = again(ensemble)
    for field in dataclasses.fields(ensemble):
        here, there = getattr(ensemble, field.name), getattr(other, field.name)
        if isinstance(here, np.ndarray):
            assert not there.flags.writeable, field.name
            assert there.tolist() == here.tolist(), field.name
        else:
            assert there == here, field.name


def test_a_pickle_from_before_there_were_categories_can_still_be_read():
    state = {name.removeprefix("children_"): value for name, value in stump().__dict__.items() if name in STUMP}
    assert {"left", "right"} < set(state)  # as the children were called then
    old = object.__new__(Ensemble)
    old.__setstate__(state)
    assert old.categories == (None, None)
    assert old.predict([[0.0, 0.0]]).tolist() == ["no"]
