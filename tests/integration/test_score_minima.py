"""Proven minima of trees with probabilities on the paper's data, against those of a plain prototype."""

import pytest

from benchmarks import scores


@pytest.mark.slow
def test_the_minima_of_a_prototype_are_met(paper_data, capsys):
    sklearn = pytest.importorskip("sklearn")
    if sklearn.__version__ != "1.9.1":
        pytest.skip("other versions train other models")
    names = ["HTRU2", "COMPAS-ProPublica", "Pima-Diabetes"]
    assert scores.main(["--paper-data", str(paper_data), "--data-sets", *names]) == 0
    assert "0 differ" in capsys.readouterr().out
