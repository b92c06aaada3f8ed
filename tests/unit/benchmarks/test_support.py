"""The table of `benchmarks.support`."""

from __future__ import annotations

from benchmarks.support_tables import summary, table


def case(mine, cart, smeared):
    at = {"leaves": 30, "agreement": mine, "cart": cart, "smeared_cart": smeared, "seconds": 2.0}
    return {
        "32": at,
        "256": at,
        "faithful": {"wrong_rows": 0, "seconds": 1.0},
        "certified": {"disagreements": 0, "points": 10, "seconds": 1.0, "held_out": {"share": 0.5}},
    }


CASES = {"a / forest": case(0.9, 0.8, 0.9), "b / forest": case(0.9, 0.95, 0.8)}


def test_a_tie_counts_as_at_least_as_good_and_a_loss_does_not():
    assert "at least as good in 1 of 2 cases" in summary(CASES)[0]
    assert "at least as good in 2 of 2 cases" in summary(CASES)[1]


def test_losses_are_shown_in_bold():
    lines = table(CASES).splitlines()
    assert "**" not in lines[2]
    assert lines[3].count("**95.0**") == 2
