"""How `benchmarks.exact_frontier` finds where proofs end; nothing here is timed."""

import pytest

from benchmarks.exact_frontier import largest


@pytest.mark.parametrize("guess", [1, 3, 8, 40])
@pytest.mark.parametrize("most", [1, 2, 7, 16])
@pytest.mark.parametrize("power", [0, 2, 5, 9])
def test_the_largest_forest_is_found_and_none_is_asked_for_twice(most, guess, power):
    for end in range(most + 2):
        asked = []

        def seconds_of(number, end=end, asked=asked):
            asked.append(number)
            return 60 * (number / (end + 1)) ** power if number <= end else None

        assert largest(seconds_of, most, guess, limit=60) == min(end, most)
        assert len(set(asked)) == len(asked)
        assert 1 <= min(asked) <= max(asked) <= most
