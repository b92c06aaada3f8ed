"""Real scikit-learn forests: forest, tree and exported scikit-learn tree predict the same class, also on thresholds."""

from __future__ import annotations

import pytest

from benchmarks.fidelity import CONFIGURATIONS, VOTINGS, count_mismatches


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("voting", VOTINGS)
def test_forest_tree_and_exported_tree_never_disagree(configuration, voting):
    mismatches, n_points, _ = count_mismatches(configuration, voting, n_points=10_000)
    assert n_points > 40_000
    assert set(mismatches.values()) == {0}, mismatches
