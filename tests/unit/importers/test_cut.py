"""The cut of a score is found exactly, wherever among all float64 numbers it lies."""

import math

import pytest

from onetree.importers.cut import LARGEST, last_score


@pytest.mark.parametrize("cut", [0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-300, -1e300, 0.1, math.nextafter(LARGEST, 0)])
def test_the_last_score_below_is_found_to_the_last_bit(cut):
    assert last_score(lambda score: score <= cut) == cut


def test_rounding_of_the_arithmetic_is_part_of_the_cut():
    cut = last_score(lambda score: 1.0 + score <= 1.0)
    assert cut == 2.0**-53


def test_there_is_no_cut_where_the_class_never_changes():
    assert last_score(lambda score: True) is None
    assert last_score(lambda score: False) is None
    assert last_score(lambda score: score <= -1.0, lowest=0.0) is None
