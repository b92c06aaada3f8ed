"""What a score admits, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onetree.errors import InvalidInputError
from onetree.model.admission import admitted, leaf_number, least_tolerance

TYPES = (np.float32, np.float64)


def scores(dtype):
    width = 32 if dtype is np.float32 else 64
    plain = st.integers(-40, 40).map(lambda n: n / 20)
    return st.one_of(plain, st.floats(allow_nan=False, allow_infinity=False, width=width)).map(dtype)


def tolerances(relative):
    largest = 0.9999999999999999 if relative else 1e308
    return st.one_of(
        st.sampled_from((0.0, 0.01, 0.05, 0.1, 0.25, 0.5)), st.floats(0.0, largest), st.floats(0.0, 1e-300)
    )


def is_within(value, score, tolerance, relative):
    allowed = Fraction(tolerance) * (abs(Fraction(float(score))) if relative else 1)
    return abs(Fraction(float(value)) - Fraction(float(score))) <= allowed


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("relative", [False, True])
@given(data=st.data())
def test_the_ends_are_within_the_tolerance_and_the_next_numbers_are_not(dtype, relative, data):
    score, tolerance = data.draw(scores(dtype)), data.draw(tolerances(relative))
    least, most = (end[0] for end in admitted(np.array([score]), tolerance, relative, dtype))
    for end, outwards in ((least, -np.inf), (most, np.inf)):
        assert dtype(end) == end
        assert is_within(end, score, tolerance, relative)
        with np.errstate(over="ignore"):
            beyond = np.nextafter(dtype(end), dtype(outwards))
        assert np.isinf(beyond) or not is_within(beyond, score, tolerance, relative)


@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_without_a_tolerance_only_the_score_itself_is_admitted(dtype, data):
    score = data.draw(scores(dtype))
    for relative in (False, True):
        least, most = admitted(np.array([score]), 0.0, relative, dtype)
        assert least[0] == most[0] == score


@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_the_number_of_a_leaf_lies_between_the_ends(dtype, data):
    low, high = sorted((data.draw(scores(dtype)), data.draw(scores(dtype))))
    number = leaf_number(np.array([low], np.float64), np.array([high], np.float64), dtype)
    assert number.dtype == dtype
    assert low <= number[0] <= high


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("relative", [False, True])
@given(data=st.data())
def test_the_least_tolerance_of_two_scores_does_and_the_number_below_it_does_not(dtype, relative, data):
    one, other = data.draw(scores(dtype)), data.draw(scores(dtype))
    if relative:  # scores of different signs have no tolerance in common
        one, other = np.copysign(one, dtype(1)), np.copysign(other, dtype(1))
        one, other = (one, other) if data.draw(st.booleans()) else (-one, -other)
    low, high = sorted((one, other))
    found = float(least_tolerance(np.array([low]), np.array([high]), relative, dtype)[0])
    assume(np.isfinite(found))

    def fits(tolerance):
        least, _ = admitted(np.array([high]), tolerance, relative, dtype)
        _, most = admitted(np.array([low]), tolerance, relative, dtype)
        return bool(least[0] <= most[0])

    assert fits(found)
    assert found == 0 or not fits(float(np.nextafter(found, 0)))


def test_a_tie_at_exactly_twice_the_tolerance_is_within_it():
    assert least_tolerance(np.array([0.25]), np.array([0.75]), False, np.float64)[0] == 0.25


def test_scores_of_different_signs_have_no_relative_tolerance_in_common():
    assert np.isinf(least_tolerance(np.array([-1.0]), np.array([1.0]), True, np.float64)[0])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_refused_with_a_way_out(wrong):
    with pytest.raises(InvalidInputError, match='output="class"'):
        admitted([0.0, wrong], 0.1, False, np.float64)
