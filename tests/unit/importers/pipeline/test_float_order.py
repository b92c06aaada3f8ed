"""Integers in the order of all float64 numbers, and the last number with a property."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onetree.importers.pipeline.float_order import LARGEST, keys, last_alike, numbers

floats = st.floats(allow_nan=False, allow_infinity=False)


@given(floats)
def test_a_key_gives_its_number_back(x):
    assert numbers(keys([x]))[0] == x


@given(floats.filter(lambda x: abs(x) < LARGEST))
def test_the_keys_of_neighbours_are_one_apart(x):
    assert keys([math.nextafter(x, math.inf)])[0] - keys([x])[0] == 1


@given(st.lists(floats, min_size=1, max_size=20))
def test_the_last_number_with_a_property_is_found_among_all_of_them(cuts):
    cut = np.array(cuts)
    low, high = keys(np.full(len(cut), -LARGEST)), keys(np.full(len(cut), LARGEST)) + 1
    found = last_alike(lambda at, pair: numbers(at) <= cut[pair], low, high)
    np.testing.assert_array_equal(numbers(found), cut)
