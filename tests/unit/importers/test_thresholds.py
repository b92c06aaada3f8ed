"""Comparisons in float32 as thresholds for float64 inputs, also at the ends of the numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree.importers.thresholds import canonical_thresholds, canonical_thresholds_below

LARGEST = float(np.finfo(np.float32).max)
SINGLE = st.floats(width=32, allow_nan=False, allow_infinity=False)


def rounded(x):
    with np.errstate(over="ignore", under="ignore"):
        return np.float64(np.float32(x))


@given(st.one_of(SINGLE, st.floats(allow_nan=False, allow_infinity=False)))
def test_the_threshold_is_the_last_number_that_rounds_to_at_most_what_is_compared(threshold):
    (canonical,) = canonical_thresholds(np.array([threshold])).tolist()
    assert rounded(canonical) <= threshold
    assert rounded(math.nextafter(canonical, math.inf)) > threshold


@given(SINGLE)
def test_the_threshold_below_is_the_last_number_that_rounds_to_less(threshold):
    (canonical,) = canonical_thresholds_below(np.array([threshold], dtype=np.float32)).tolist()
    assert rounded(canonical) < threshold
    assert rounded(math.nextafter(canonical, math.inf)) >= threshold


@pytest.mark.parametrize("threshold", [LARGEST, -LARGEST, 1e300, -1e300])
def test_every_finite_comparison_has_a_finite_threshold(threshold):
    assert np.isfinite(canonical_thresholds(np.array([threshold]))).all()
