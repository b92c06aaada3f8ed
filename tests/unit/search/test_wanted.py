"""What a tree is asked to say, and requests that cannot be met."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onetree import InvalidInputError, OnetreeError, Rule, born_again, pareto_front, tolerance_front
from tests.cases.score_oracle import random_numbers

REGRESSOR = next(each for each in map(random_numbers, range(50)) if each.output == "value")
CLASSIFIER = next(each for each in map(random_numbers, range(50)) if each.n_classes == 3)


@pytest.mark.parametrize("wrong", [-0.1, float("nan"), float("inf")])
@pytest.mark.parametrize("ensemble", [REGRESSOR, CLASSIFIER])
def test_a_tolerance_that_is_no_distance_is_refused(ensemble, wrong):
    with pytest.raises(InvalidInputError, match="tolerance must be finite and at least 0"):
        born_again(ensemble, output=ensemble.output, tolerance=wrong)


@pytest.mark.parametrize("wrong", ["0.1", True, [0.1], np.array([0.1]), 1j])
def test_a_tolerance_that_is_no_number_is_refused(wrong):
    with pytest.raises(InvalidInputError, match="tolerance must be a number"):
        born_again(REGRESSOR, tolerance=wrong)


@pytest.mark.parametrize("name", ["relative", "keep_class"])
@pytest.mark.parametrize("wrong", ["yes", None, 1])
def test_what_is_neither_true_nor_false_is_refused(name, wrong):
    with pytest.raises(InvalidInputError, match=f"{name} must be True or False"):
        born_again(CLASSIFIER, output="probability", tolerance=0.1, **{name: wrong})


def test_truth_values_and_numbers_of_numpy_are_taken():
    asked = {"tolerance": np.float32(0.25), "relative": np.True_, "keep_class": np.False_}
    tree = born_again(CLASSIFIER, output="probability", **asked).tree
    assert (tree.tolerance, tree.relative, tree.keeps_class) == (0.25, True, False)


def test_a_negative_zero_is_promised_as_zero():
    assert str(born_again(REGRESSOR, tolerance=-0.0).tree.tolerance) == "0.0"


def test_an_integer_beyond_all_floats_is_no_distance():
    with pytest.raises(InvalidInputError, match="finite"):
        born_again(REGRESSOR, tolerance=10**400)


def test_a_share_is_below_one():
    with pytest.raises(InvalidInputError, match="below 1"):
        born_again(REGRESSOR, tolerance=1.0, relative=True)


def test_numbers_without_a_tolerance_are_refused_with_a_way_to_choose_one():
    with pytest.raises(InvalidInputError, match="tolerance_front"):
        born_again(REGRESSOR)
    with pytest.raises(InvalidInputError, match="tolerance_front"):
        pareto_front(CLASSIFIER, output="probability")


@pytest.mark.parametrize("asked", [{"tolerance": 0.1}, {"max_leaves": 3}, {"relative": True}, {"keep_class": False}])
def test_what_is_about_numbers_is_refused_for_classes(asked):
    with pytest.raises(InvalidInputError, match='output="probability"'):
        born_again(CLASSIFIER, **asked)


def test_an_output_that_the_model_does_not_have_is_refused():
    with pytest.raises(OnetreeError, match='output="value"'):
        born_again(REGRESSOR, output="probability", tolerance=0.1)
    with pytest.raises(OnetreeError, match="regressors"):
        born_again(CLASSIFIER, output="value", tolerance=0.1)
    with pytest.raises(InvalidInputError, match="output"):
        born_again(CLASSIFIER, output="score", tolerance=0.1)


def test_votes_have_no_probability():
    leaf = CLASSIFIER.feature < 0
    votes = np.zeros(CLASSIFIER.value.shape)
    votes[leaf, 0] = 1.0
    hard = replace(CLASSIFIER, rule=Rule("hard"), value=votes, response=None)
    with pytest.raises(OnetreeError, match="probability"):
        born_again(hard, output="probability", tolerance=0.1)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"max_leaves": 0}, "positive integer"),
        ({"max_leaves": 2.5}, "positive integer"),
        ({"max_leaves": 3, "tolerance": 0.1}, "one of them"),
        ({"max_leaves": 3, "objective": "depth"}, "leaves"),
    ],
)
def test_a_number_of_leaves_that_cannot_be_asked_for_is_refused(asked, said):
    with pytest.raises(InvalidInputError, match=said):
        born_again(REGRESSOR, **asked)


def test_fewer_leaves_than_the_class_needs_are_refused_with_their_number():
    smallest = born_again(CLASSIFIER, output="class", objective="leaves").value
    assert smallest > 1
    with pytest.raises(InvalidInputError, match=f"{smallest} at least"):
        born_again(CLASSIFIER, output="probability", max_leaves=smallest - 1)


def test_classes_have_no_front_of_tolerances():
    with pytest.raises(InvalidInputError, match='output="probability"'):
        tolerance_front(CLASSIFIER, output="class")


def test_given_tolerances_and_a_number_of_leaves_exclude_each_other():
    with pytest.raises(InvalidInputError, match="max_leaves"):
        tolerance_front(REGRESSOR, tolerances=[0.1], max_leaves=4)


@pytest.mark.parametrize("wrong", [0.1, "0.1", [], [None], [0.1, "0.2"], np.array(0.1)])
def test_tolerances_that_are_no_list_of_numbers_are_refused(wrong):
    with pytest.raises(InvalidInputError, match="tolerances must be a list of numbers"):
        tolerance_front(REGRESSOR, tolerances=wrong)


def test_no_front_has_trees_without_leaves():
    with pytest.raises(InvalidInputError, match="positive integer"):
        tolerance_front(REGRESSOR, max_leaves=0)
