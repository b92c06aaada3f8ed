"""Laws for rules of two levels: every engine, every proof and every file treats them as it does all others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import born_again, estimate, verify
from onetree.importers.json import parse_json, write_json
from onetree.lowering.native_predict import NativePredictor
from onetree.model.combined_bounds import CombinedBounds, clear_winners
from onetree.search.solve import ENGINES, OBJECTIVES
from tests.cases.combined import SHAPES, combined_ensembles, random_combined
from tests.cases.oracle import brute_force, points
from tests.property.test_mutated_trees import METHODS, MUTATIONS, mutated
from tests.tiers import examples, share

shapes = pytest.mark.parametrize("shape", SHAPES)


@pytest.mark.parametrize("engine", ENGINES)
@examples(200)
@given(combined_ensembles(), st.sampled_from(OBJECTIVES))
def test_no_smaller_tree_exists(engine, ensemble, objective):
    assert born_again(ensemble, objective=objective, engine=engine).value == brute_force(ensemble, objective)


@examples(100)
@given(combined_ensembles(max_cells=200))
def test_the_heuristic_predicts_like_its_ensemble_in_every_cell(ensemble):
    tree = born_again(ensemble, method="heuristic", verify=False).tree
    X = points(ensemble)
    np.testing.assert_array_equal(tree.predict(X), ensemble.predict(X))


@shapes
def test_three_proofs_accept_the_tree_and_notice_a_mutated_one(shape):
    rng = np.random.default_rng(SHAPES.index(shape))
    n_caught = 0
    while n_caught < share(30, least=2):
        ensemble = random_combined(rng, shape, max_trees=4, max_depth=3)
        tree = born_again(ensemble, verify=False).tree
        assert all(verify(tree, ensemble, method=method) for method in METHODS)
        other = mutated(rng, tree, rng.choice(MUTATIONS))
        if other is None:
            continue
        verdicts = [verify(other, ensemble, method=method) for method in METHODS]
        assert len({verdict.equivalent for verdict in verdicts}) == 1
        n_caught += not verdicts[0].equivalent
        for verdict in verdicts:
            if verdict.counterexample is not None:
                x = verdict.counterexample[np.newaxis]
                assert other.predict(x)[0] != ensemble.predict(x)[0]


@examples(100)
@given(combined_ensembles())
def test_bounds_of_a_point_hold_the_point_and_name_its_class(ensemble):
    sums = ensemble.scores(points(ensemble))
    low, high = CombinedBounds(ensemble).at(sums)
    combination = ensemble.rule.combination
    final = combination.final(sums).astype(np.float64)
    held = final if combination.cut is None else np.insert(final, 0, combination.cut, axis=1)
    if combination.stages[-1].kind != "votes":  # there ties are broken
        assert np.all((low <= held) & (held <= high))
    clear = clear_winners(low, high)
    assert np.all((clear < 0) | (clear == ensemble.decide(sums)))


@examples(50)
@given(combined_ensembles())
def test_a_file_holds_the_rule(tmp_path_factory, ensemble):
    path = tmp_path_factory.mktemp("combined") / "ensemble.json"
    write_json(ensemble, path)
    again = parse_json(path.read_bytes())
    assert again.rule == ensemble.rule
    X = points(ensemble)
    np.testing.assert_array_equal(again.predict(X), ensemble.predict(X))


@examples(50)
@given(combined_ensembles())
def test_the_estimate_and_the_labels_of_rows_know_the_rule(ensemble):
    X = points(ensemble)
    np.testing.assert_array_equal(NativePredictor(ensemble).classes(X), ensemble.predict_index(X))
    assert estimate(ensemble, objective="leaves").leaves >= 1
