"""Proofs of numbers: what is compared, what is said, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from onetree import InvalidInputError, verify
from onetree.model.ensemble import Rule
from onetree.model.response import Response, chained
from onetree.model.stages import Member, Stage
from onetree.verify import worst_deviation
from tests.unit.verify.test_verify import METHODS, stump_tree, stumps

methods = pytest.mark.parametrize("method", METHODS)


def regressor(*cuts, low=1.0, high=2.0, dtype="float64", **changes):
    """Stumps that add `low` up to their cut and `high` above it."""
    value = np.tile([[0.0], [low], [high]], (len(cuts), 1))
    rule = Rule("value", dtype=dtype)
    return stumps(*cuts, **({"classes": [], "value": value, "base": [0.0], "rule": rule} | changes))


def number_tree(cut, low, high, dtype=np.float64, **promise):
    value = np.array([[0.0], [low], [high]], dtype=dtype)
    return stump_tree(cut, classes=[], leaf_class=[-1, 0, 0], value=value, **({"tolerance": 0.0} | promise))


def probabilities(*cuts, **changes):
    divisor = float(len(cuts))
    response = Response((Member(2, "float64", divisor),))
    return stumps(*cuts, rule=Rule("soft", divisor=divisor), response=response, **changes)


def probability_tree(cut, low, high, **promise):
    value = np.array([[0.0, 0.0], [1 - low, low], [1 - high, high]])
    return stump_tree(cut, value=value, **({"tolerance": 0.0} | promise))


@methods
def test_equal_numbers_are_equal(method):
    verdict = verify(number_tree(1.0, 1.0, 2.0), regressor(1.0), method=method)
    assert verdict
    assert (verdict.worst, verdict.worst_input) == (0.0, None)
    assert repr(verdict).startswith("Verdict(equal, ")


@methods
def test_the_next_number_is_not_equal(method):
    beside = math.nextafter(2.0, 3.0)
    verdict = verify(number_tree(1.0, 1.0, beside), regressor(1.0), method=method)
    assert not verdict
    assert verdict.counterexample[0] > 1.0
    assert (verdict.worst, verdict.tree_value.tolist(), verdict.ensemble_value.tolist()) == (
        beside - 2,
        [beside],
        [2.0],
    )
    assert f"not equal: the tree says {beside}, the model 2.0" in repr(verdict).replace("within 0", "equal")


@methods
def test_a_deviation_of_exactly_the_tolerance_is_within_it(method):
    ensemble = regressor(1.0, 2.0, low=0.25, high=0.5)  # 0.5, 0.75, 1
    tree = number_tree(1.0, 0.5, 0.875, tolerance=0.125)
    verdict = verify(tree, ensemble, method=method)
    assert verdict
    assert verdict.worst == 0.125
    assert "within 0.125 (at most 0.125)" in repr(verdict)
    strict = replace(tree, tolerance=math.nextafter(0.125, 0.0))
    assert not verify(strict, ensemble, method=method)


@methods
def test_a_tolerance_can_be_a_share_of_the_source(method):
    ensemble = regressor(1.0, 2.0, low=1.0, high=2.0)  # 2, 3, 4
    tree = number_tree(1.0, 2.0, 3.5, tolerance=0.2, relative=True)
    verdict = verify(tree, ensemble, method=method)
    assert verdict
    assert verdict.worst == np.nextafter(0.5 / 3, 1.0) or verdict.worst == 0.5 / 3
    assert verdict.worst_input[0] == 2.0
    assert "within 20 %" in repr(verdict)
    assert not verify(replace(tree, relative=False), ensemble, method=method)


@methods
def test_numbers_are_added_as_the_library_adds(method):
    value = np.array([[0.0], [0.1], [0.1], [0.0], [0.2], [0.2], [0.0], [0.3], [0.3]])
    ensemble = regressor(1.0, 1.0, 1.0, value=value)
    assert verify(number_tree(1.0, 0.1 + 0.2 + 0.3, 0.1 + 0.2 + 0.3), ensemble, method=method)
    assert not verify(number_tree(1.0, 0.6, 0.6), ensemble, method=method)


@methods
def test_numbers_of_float32_are_compared_in_it(method):
    ensemble = regressor(1.0, low=0.1, high=0.2, dtype="float32")
    assert verify(number_tree(1.0, 0.1, 0.2, dtype=np.float32), ensemble, method=method)
    assert not verify(number_tree(1.0, 0.1, 0.2), ensemble, method=method)


@methods
def test_the_class_is_part_of_the_promise_unless_it_is_not_kept(method):
    ensemble = probabilities(1.0, 2.0)  # 0, 0.5, 1; a tie goes to the first
    tree = probability_tree(1.0, 0.0, 0.75, tolerance=0.25)
    verdict = verify(tree, ensemble, method=method)
    assert (bool(verdict), verdict.counterexample.tolist()) == (False, [2.0])
    assert (verdict.tree_class, verdict.ensemble_class) == ("high", "low")
    assert "the tree says high, the model low" in repr(verdict)
    assert verify(replace(tree, keeps_class=False), ensemble, method=method)


@methods
def test_every_column_is_compared(method):
    tree = probability_tree(1.0, 0.0, 1.0)
    value = tree.value.copy()
    value[2] = [1e-9, 1.0]
    verdict = verify(replace(tree, value=value), probabilities(1.0), method=method)
    assert not verdict
    assert "the tree says 1e-09, the model 0.0 for column 0" in repr(verdict)


@methods
def test_the_response_is_that_of_the_library(method):
    logistic = chained(Member(1), [Stage("sigmoid", (0,), (1.0,))])
    ensemble = regressor(1.0, low=-1.0, high=2.0, response=logistic)
    low, high = ensemble.numbers([[1.0], [2.0]])[:, 0].tolist()
    assert verify(number_tree(1.0, low, high), ensemble, method=method)
    for beside in (math.nextafter(high, 0.0), math.nextafter(high, 1.0)):
        assert not verify(number_tree(1.0, low, beside), ensemble, method=method)


def test_steps_that_are_flat_are_one_number_without_going_through_all_cells():
    cuts = np.arange(40.0)
    flat = chained(Member(1), [Stage("isotonic", (0,), (-1.0, 0.0, 100.0, 101.0, 0.25, 0.5, 0.5, 1.0), (), "float64")])
    value = np.tile([[0.0], [0.1], [0.2]], (40, 1))
    ensemble = regressor(*cuts, value=value, response=flat, feature=np.tile([0, -1, -1], 40))
    verdict = verify(number_tree(1.0, 0.5, 0.5), ensemble, method="search")
    assert verdict
    assert verdict.worst == 0


@methods
def test_missing_values_are_part_of_the_proof(method):
    ensemble = regressor(1.0, missing_left=[True, False, False], nan_features=[True])
    tree = number_tree(1.0, 1.0, 2.0, nan_features=[True])
    verdict = verify(tree, ensemble, method=method)
    assert np.isnan(verdict.counterexample).tolist() == [True]
    assert verify(replace(tree, tolerance=1.0), ensemble, method=method).worst == 1.0


@methods
def test_a_domain_takes_inputs_away(method):
    tree, ensemble = number_tree(1.0, 1.0, 2.5), regressor(1.0)
    assert not verify(tree, ensemble, method=method)
    inside = verify(tree, ensemble, method=method, domain={"x0": (0, 1)})
    assert inside
    assert repr(inside).startswith("Verdict(equal inside a domain")
    wide = verify(replace(tree, tolerance=0.5), ensemble, method=method, domain={"x0": (0, 7)})
    assert 1 < wide.worst_input[0] <= 7


def test_a_tree_that_promises_nothing_has_nothing_to_prove():
    with pytest.raises(InvalidInputError, match="worst_deviation"):
        verify(number_tree(1.0, 1.0, 2.0, tolerance=None), regressor(1.0))


def test_the_worst_deviation_needs_no_promise():
    found = worst_deviation(number_tree(1.0, 1.25, 2.75, tolerance=None), regressor(1.0))
    assert (found.worst, found.tree_value.tolist(), found.ensemble_value.tolist()) == (0.75, [2.75], [2.0])
    assert found.input[0] > 1
    assert repr(found) == "Deviation(at most 0.75)"
    share = worst_deviation(number_tree(1.0, 1.25, 2.75), regressor(1.0), relative=True, domain={"x0": (0, 9)})
    assert share.worst == 0.375
    assert repr(share) == "Deviation(at most 0.375 of the source's number inside a domain)"


def test_equal_numbers_have_no_worst_input():
    assert worst_deviation(number_tree(1.0, 1.0, 2.0), regressor(1.0)).input is None


def test_classes_alone_do_not_deviate():
    with pytest.raises(InvalidInputError, match="classes only"):
        worst_deviation(stump_tree(1.0), stumps(1.0))


def test_both_sides_must_have_numbers():
    with pytest.raises(InvalidInputError, match='output="probability"'):
        verify(probability_tree(1.0, 0.0, 1.0), stumps(1.0))


@pytest.mark.parametrize("tree", [stump_tree(1.0), probability_tree(1.0, 0.0, 1.0)])
def test_a_classifier_is_not_a_regressor(tree):
    with pytest.raises(InvalidInputError, match="of a classifier, but the source is a regressor"):
        verify(tree, regressor(1.0))


def test_a_regressor_is_not_a_classifier():
    with pytest.raises(InvalidInputError, match="of a regressor, but the source is a classifier"):
        verify(number_tree(1.0, 1.0, 2.0), probabilities(1.0))


def test_a_tree_with_classes_is_compared_in_class_with_a_source_that_has_more():
    assert verify(stump_tree(1.0), probabilities(1.0))
