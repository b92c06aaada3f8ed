"""Printed rules of models of every library, followed as text, give what the library predicts."""

from __future__ import annotations

import pytest

from campaigns import printed_rules


@pytest.mark.parametrize("kind", printed_rules.KINDS)
@pytest.mark.parametrize("family", printed_rules.FAMILIES)
def test_the_printed_rules_give_what_the_library_predicts(family, kind):
    for library in ("catboost", "lightgbm", "xgboost"):
        if library in family:
            pytest.importorskip(library)
    found = printed_rules.compare(family, kind, seed=7, n_points=2000)
    assert {what: wrong for what, (wrong, _) in found.items()} == dict.fromkeys(found, 0)
