"""Thresholds as decimals: the shortest that are true."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onetree import InvalidInputError
from onetree.export.words.decimals import printed_cuts
from onetree.importers.thresholds import canonical_thresholds, canonical_thresholds_below

ZERO_BAND = float(np.float32(1e-35))  # LightGBM's thresholds at zero
finite = st.floats(allow_nan=False, allow_infinity=False)
float32 = st.floats(allow_nan=False, allow_infinity=False, width=32)
short = st.builds(lambda digits, places: digits / 10**places, st.integers(-99_999, 99_999), st.integers(0, 5))
thresholds = st.one_of(
    finite,
    short,
    st.builds(lambda t: float(canonical_thresholds(np.array([t]))[0]), st.one_of(short, float32)),
    st.builds(
        lambda t: float(canonical_thresholds_below(np.array([t], dtype=np.float32))[0]), st.one_of(short, float32)
    ),
).filter(math.isfinite)


def said(threshold, digits=6):
    cut = printed_cuts([threshold], digits)[threshold]
    return f"{cut.left} {cut.number}"


def holds(cut, x):
    """Read a condition as decimal arithmetic, of any precision."""
    return Fraction(x) <= Fraction(cut.number) if cut.inclusive else Fraction(x) < Fraction(cut.number)


def decimals_beside(x, digits):
    """Return decimals of up to so many digits around a number, in an exact way of their own."""
    size = math.floor(math.log10(abs(x))) if x else 0
    step = Fraction(10) ** (size - digits + 1)
    at = math.floor(Fraction(x) / step)
    return [(at + k) * step for k in range(-3, 4) if abs(at + k) <= 10**digits]


def float32_beside(x):
    """Return the exact values of float32 numbers around a number."""
    with np.errstate(over="ignore"):
        ladder = [np.float32(x)] * 2
        for _ in range(3):
            ladder = [
                np.nextafter(ladder[0], np.float32(-np.inf)),
                *ladder,
                np.nextafter(ladder[-1], np.float32(np.inf)),
            ]
    return [Fraction(float(number)) for number in ladder if np.isfinite(number)]


def as_float(x):
    """Round a number as Python reads it; past the largest float64 is infinity."""
    try:
        return x.numerator / x.denominator
    except OverflowError:
        return math.inf if x > 0 else -math.inf


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        (canonical_thresholds_below(np.float32(50)), "< 50"),  # XGBoost
        (canonical_thresholds_below(np.float32(0)), "< 0"),
        (canonical_thresholds(np.float64(4.5)), "<= 4.5"),  # scikit-learn
        (canonical_thresholds(np.float64((1.9 + 3.0) / 2)), "< 2.45"),  # float32(2.45) is above that
        (canonical_thresholds(np.float32(0.7)), "<= 0.7"),
        (canonical_thresholds(np.float32(0.8)), "<= 0.80000004"),  # float32(0.8) = 0.80000001192... goes left
        (math.nextafter(16.81, math.inf), "<= 16.81"),  # LightGBM
        (16.81, "<= 16.81"),
        (0.0, "<= 0"),
        (-0.0, "<= 0"),
        (math.nextafter(0.0, -math.inf), "< 0"),
        (ZERO_BAND, "< 1.00000002e-35"),
        (1e15 + 0.5, "<= 1000000000000000"),
        (1e300, "<= 1e+300"),
        (12345678.5, "<= 12345678"),
    ],
)
def test_a_threshold_is_said_in_the_operator_and_the_digits_that_it_needs(threshold, text):
    assert said(float(threshold)) == text


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        (canonical_thresholds(np.float32(0.8)), "<= 0.8"),
        (canonical_thresholds_below(np.float32(12.87)), "< 12.87"),
        (ZERO_BAND, "<= 0"),
        (math.nextafter(-ZERO_BAND, -math.inf), "< 0"),
        (16.80345, "<= 16.803"),
    ],
)
def test_fewer_than_six_digits_leave_float32_numbers_out(threshold, text):
    assert said(float(threshold), digits=5) == text


@given(thresholds, st.integers(6, 15))
@example(0.3, 6)
@example(math.nextafter(0.3, 1), 15)
def test_every_float32_number_is_read_right(threshold, digits):
    cut = printed_cuts([threshold], digits)[threshold]
    for x in float32_beside(threshold):
        assert holds(cut, x) == (x <= threshold)


@given(thresholds, st.integers(1, 15))
@example(0.3, 6)
@example(math.nextafter(0.3, 0), 6)
@example(-1e-30, 3)
def test_every_decimal_of_so_many_digits_is_read_right(threshold, digits):
    if 0 < abs(threshold) < 1e-29:
        return
    cut = printed_cuts([threshold], digits)[threshold]
    for x in decimals_beside(threshold, digits):
        assert holds(cut, x) == (as_float(x) <= threshold)


@given(thresholds.filter(lambda t: abs(t) < 2**53), st.integers(1, 15))
def test_every_integer_is_read_right(threshold, digits):
    cut = printed_cuts([threshold], digits)[threshold]
    for x in range(math.floor(threshold) - 2, math.floor(threshold) + 4):
        assert holds(cut, x) == (float(x) <= threshold)


@given(thresholds, st.integers(1, 15))
def test_the_number_itself_goes_where_the_condition_says(threshold, digits):
    cut = printed_cuts([threshold], digits)[threshold]
    assert (float(cut.number) <= threshold) == cut.inclusive


@given(thresholds)
def test_all_digits_are_right_for_every_float64_number(threshold):
    cut = printed_cuts([threshold], None)[threshold]
    assert cut.inclusive
    assert float(cut.number) == threshold


@example([9e15, 2.0**53])  # every integer is a float64 up to here
@example([-(2.0**53), -9e15])
@given(st.lists(st.one_of(thresholds, st.integers(1, 2**40).map(lambda k: 1 + k * 2.0**-52)), min_size=2, max_size=8))
def test_thresholds_that_differ_are_said_differently_and_in_order(values):
    found = printed_cuts(values, 3)
    ordered = sorted(set(values))
    keys = [(Fraction(found[value].number), found[value].inclusive) for value in ordered]
    assert all(lower < upper for lower, upper in pairwise(keys))


@given(thresholds.filter(lambda t: 1e-29 < abs(t) < 2**53), st.integers(1, 15))
def test_no_shorter_number_would_do(threshold, digits):
    number = Decimal(printed_cuts([threshold], digits)[threshold].number).normalize()
    known = [*decimals_beside(threshold, digits), math.floor(threshold), math.floor(threshold) + 1]
    known = [(Fraction(x), as_float(Fraction(x)) <= threshold) for x in known]
    if digits >= 6:
        known += [(x, x <= threshold) for x in float32_beside(threshold)]
    low, high = max(x for x, left in known if left), min(x for x, left in known if not left)
    for length in range(1, len(number.as_tuple().digits)):
        for shorter in decimals_beside(threshold, length):
            assert not low <= shorter <= high


@pytest.mark.parametrize("digits", [0, -1])
def test_digits_must_be_positive(digits):
    with pytest.raises(InvalidInputError, match="positive integer"):
        printed_cuts([1.0], digits)
