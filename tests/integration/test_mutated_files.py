"""Damaged model files of every format: refused, or read as a sound model; never a crash, a hang or another error."""

from __future__ import annotations

import pytest

from campaigns.mutation_kinds import DAMAGES
from campaigns.mutations import FAILURES, campaign

pytestmark = pytest.mark.slow

N_FILES = 60


@pytest.fixture(scope="module")
def outcome():
    for library in ("xgboost", "lightgbm", "catboost", "skops"):
        pytest.importorskip(library)
    return campaign(tuple(DAMAGES), N_FILES, with_library=False, seed=1)


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_refused_or_is_a_sound_model(kind, outcome):
    counts, failures = outcome
    assert not [(name, what) for name, what, _ in failures if name.startswith(kind)]
    assert counts[kind]["files"] == counts[kind]["refused"] + counts[kind]["accepted"] == N_FILES
    assert not any(counts[kind][failure] for failure in FAILURES)


@pytest.mark.parametrize("kind", DAMAGES)
def test_most_damage_is_noticed_and_some_leaves_the_file_a_model(kind, outcome):
    counts, _ = outcome
    assert counts[kind]["refused"] > N_FILES // 3
    assert counts[kind]["accepted"] > 0
