"""Any bytes at all, and sound files with anything in them: read as a model, or refused with one of two errors."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from campaigns.mutation_kinds import DAMAGES
from campaigns.mutation_seeds import sound_files
from campaigns.mutations import examine
from tests.tiers import examples

# How a file begins, and what tells the reader which kind it is.
BEGINNINGS = (
    b"",
    b"DATASET_NAME: d\n",
    b"tree\nversion=v4\n",
    b"PK\x03\x04",
    b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{",
    b'{"learner": ',
    b'{"oblivious_trees": ',
    b'{"format": "onetree-ensemble", "version": 2, ',
)
CUTS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), st.binary(max_size=12)), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def sound():
    for library in ("xgboost", "lightgbm", "catboost", "skops"):
        pytest.importorskip(library)
    return {kind: sound_files(kind) for kind in DAMAGES}


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(beginning=st.sampled_from(BEGINNINGS), rest=st.binary(max_size=200))
def test_any_bytes_are_a_model_or_refused(beginning, rest, tmp_path):
    (tmp_path / "file").write_bytes(beginning + rest)
    assert examine("a model", tmp_path / "file")[0] in ("refused", "accepted")


@pytest.mark.parametrize("kind", DAMAGES)
@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(which=st.integers(0, 9), cuts=CUTS)
def test_a_file_with_any_bytes_in_it_is_a_sound_model_or_refused(kind, which, cuts, sound, tmp_path):
    content = bytearray(sound[kind][which % len(sound[kind])])
    for where, length, instead in cuts:
        at = int(where * len(content))
        content[at : at + length] = instead
    (tmp_path / "file").write_bytes(content)
    assert examine(kind, tmp_path / "file")[0] in ("refused", "accepted")
