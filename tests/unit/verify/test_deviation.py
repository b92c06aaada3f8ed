"""Deviations are those of real numbers, rounded up."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree.verify.deviation import deviation
from tests.cases.numbered import distance
from tests.tiers import examples

numbers = st.floats(-1e200, 1e200) | st.floats(-4, 4) | st.sampled_from([0.1, 0.3, 1 / 3, -0.0, 5e-324, 2.0**-1022])
near = st.tuples(numbers, st.integers(-3, 3)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1] * math.ulp(drawn[0])))


def one(leaf, number, *, relative):
    return float(deviation(np.array([leaf]), np.array([number]), relative=relative)[0])


@examples(2000)
@given(st.tuples(numbers, numbers) | near, st.booleans())
def test_it_is_the_smallest_float_that_is_not_below_the_real_one(pair, relative):
    found, true = one(*pair, relative=relative), distance(*pair, relative)
    if true is None or true > 2**900:
        assert found == math.inf
        return
    assert Fraction(found) >= true
    assert found == 0 or Fraction(math.nextafter(found, 0.0)) < true


def test_a_difference_that_rounding_hides_is_seen():
    assert 1.0 + 2.0**-60 == 1.0
    assert one(1.0, -(2.0**-60), relative=False) > 1.0


def test_types_are_compared_as_numbers():
    assert one(np.float32(0.1), 0.1, relative=False) == float(np.float32(0.1)) - 0.1


@pytest.mark.parametrize("relative", [False, True])
def test_equal_numbers_do_not_deviate(relative):
    assert one(0.0, -0.0, relative=relative) == one(math.inf, math.inf, relative=relative) == 0


@pytest.mark.parametrize("relative", [False, True])
def test_nothing_is_near_what_is_not_a_number(relative):
    assert one(1.0, math.nan, relative=relative) == one(1.0, math.inf, relative=relative) == math.inf


def test_no_share_of_zero_is_anything():
    assert one(5e-324, 0.0, relative=True) == math.inf
    assert one(0.0, 5e-324, relative=True) == 1.0
