"""How `benchmarks.exact_frontier` finds where proofs end; nothing here is timed."""

import pytest

from benchmarks.exact_frontier import largest


@pytest.mark.parametrize("guess", [1, 3, 8, 40])
@pytest.mark.parametrize("most", [1, 2, 7, 16])
def test_the_largest_forest_is_found_and_none_is_asked_for_twice(most, guess):
    for end in range(most + 2):
        asked = []

        def is_proven(number, end=end, asked=asked):
            asked.append(number)
            return number <= end

        assert largest(is_proven, most, guess) == min(end, most)
        assert len(set(asked)) == len(asked)
        assert 1 <= min(asked) <= max(asked) <= most
