"""Cells whose class only the order of addition decides: counted by the proof and shown by the command."""

import json

import numpy as np
import pytest

import onetree
from onetree import Ensemble
from onetree.cli import main
from onetree.model.ensemble import Rule
from onetree.model.rounding import count_order_fragile

# Where both stumps go right, 0.1 + 0.2 is a rounding away from 0.3.
NEAR_TIE = [[0.0, 0.0], [0.9, 0.0], [0.1, 0.3], [0.0, 0.0], [0.9, 0.0], [0.2, 0.0]]
FAR = [[0.0, 0.0], [0.9, 0.0], [0.1, 0.5], [0.0, 0.0], [0.9, 0.0], [0.2, 0.0]]
EXACT_TIE = [[0.0, 0.0], [0.5, 0.5], [0.25, 0.5], [0.0, 0.0], [0.5, 0.5], [0.25, 0.0]]


def two_stumps(value, *, rule=None):
    value = np.array(value)
    return Ensemble(
        classes=[0, 1],
        feature_names=("x0", "x1"),
        roots=[0, 3],
        feature=[0, -1, -1, 1, -1, -1],
        threshold=[1.0, 0, 0, 2.0, 0, 0],
        children_left=[1, -1, -1, 4, -1, -1],
        children_right=[2, -1, -1, 5, -1, -1],
        missing_left=[False] * 6,
        value=value,
        base=[0.0] * value.shape[1],
        rule=rule or Rule("scores"),
        nan_features=[False, False],
    )


@pytest.mark.parametrize("method", ["cells", "search"])
@pytest.mark.parametrize(("value", "n_fragile"), [(NEAR_TIE, 1), (FAR, 0), (EXACT_TIE, 0)])
def test_a_proof_counts_the_cells_that_the_order_of_adding_decides(value, n_fragile, method):
    ensemble = two_stumps(value)
    tree = onetree.born_again(ensemble).tree
    assert onetree.verify(tree, ensemble, method=method).n_fragile == n_fragile


def test_a_proof_that_cannot_count_them_says_so():
    one_score = two_stumps([[0.0], [-0.3], [0.3], [0.0], [0.2], [-0.2]], rule=Rule("score"))
    tree = onetree.born_again(one_score).tree
    assert onetree.verify(tree, one_score, method="search").n_fragile is None
    ensemble = two_stumps(NEAR_TIE)
    assert onetree.verify(onetree.born_again(ensemble).tree, ensemble, method="milp").n_fragile is None


def test_probabilities_that_a_softmax_makes_equal_are_near_to_a_tie():
    scores = [[0.0, 0.0], [1.0, 1.0 + 2e-16], [5.0, 0.0], [0.0, 0.0], [0.1, 0.1], [0.1, 0.1]]
    ensemble = two_stumps(scores, rule=Rule("scores", softmax=True))
    assert count_order_fragile(ensemble, np.zeros((1, 2))) == 1


@pytest.mark.parametrize(("value", "text"), [(NEAR_TIE, "the order of addition may decide: 1;"), (FAR, "in any cell")])
def test_the_command_shows_how_many(value, text, tmp_path, capsys):
    ensemble = two_stumps(value)
    ensemble.save(tmp_path / "model.json")
    onetree.born_again(ensemble).tree.save(tmp_path / "tree.json")
    words = ["verify", str(tmp_path / "model.json"), str(tmp_path / "tree.json")]
    assert main(words) == 0
    assert text in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fragile"] == (1 if value is NEAR_TIE else 0)
