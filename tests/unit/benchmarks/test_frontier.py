"""The tables of `benchmarks.frontier`."""

from __future__ import annotations

import pytest

from benchmarks.frontier_tables import grid_search_summary, means, summary, tables

SIZES = (8, 16)


def case(mine, cart, smeared):
    seconds = ("processor_seconds", "trees_seconds", "one_seconds", "smeared_seconds")
    point = {"accuracy": mine, "agreement": mine, "balanced_accuracy": mine}
    point |= {"cart_accuracy": cart, "cart_balanced_accuracy": cart}
    return {
        "points": [point] * 2,
        "smeared": [{"accuracy": smeared, "agreement": smeared}] * 2,
        "model_accuracy": 0.97,
        "rows": 100,
        "features": 3,
        **dict.fromkeys(seconds, 0.5),
    }


CASES = {
    "a / forest / 0": case(0.9, 0.8, 0.9),
    "a / forest / 1": case(0.8, 0.8, 0.8),
    "b / forest / 0": case(0.9, 0.95, 0.8),
}


def test_splits_of_one_case_are_one_line_with_their_mean():
    assert list(means(CASES)) == ["a / forest", "b / forest"]
    assert means(CASES)["a / forest"]["accuracy"] == pytest.approx(0.85)


def test_the_summary_counts_better_level_and_worse():
    against_cart, against_smeared, *_ = summary(means(CASES), SIZES)[2:]
    assert against_cart.startswith("| 8 | accuracy | CART | +0.00 |")
    assert against_cart.endswith("| 1 | 0 | 1 |")
    assert against_smeared.endswith("| 1 | 1 | 0 |")


def test_losses_are_shown_in_bold():
    lines = tables(CASES, SIZES).splitlines()
    first, second = (line for line in lines if line.startswith(("| a / forest | 97.0", "| b / forest | 97.0")))
    assert "**" not in first
    assert second.count("**95.0**") == 2


def test_two_ways_to_tune_are_compared_by_their_means():
    found = {"a": {"quick": [0.9, 0.9], "full": [0.8, 0.9], "quick_seconds": 1.0, "full_seconds": 9.0}}
    assert "lead of quick +5.00" in grid_search_summary(found)
