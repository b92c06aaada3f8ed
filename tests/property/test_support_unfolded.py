"""Trees that follow the data of models with categorical features."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onetree.support import support_tree
from onetree.support.unfolded import Unfolding
from tests.cases.strategies import ensembles, ensembles_with_categories, telling_inputs
from tests.tiers import examples

seeds = st.integers(0, 2**32 - 1)


@examples(100)
@given(ensembles_with_categories(), seeds)
def test_the_unfolded_ensemble_gives_the_same_classes(ensemble, seed):
    unfolding, rows = Unfolding.of(ensemble), telling_inputs(ensemble, 100, seed)
    assert not unfolding.ensemble.has_subsets
    assert np.array_equal(unfolding.ensemble.predict_index(unfolding.rows(rows)), ensemble.predict_index(rows))


@examples(20)
@given(ensembles())
def test_an_ensemble_of_thresholds_is_left_alone(ensemble):
    unfolding, rows = Unfolding.of(ensemble), telling_inputs(ensemble, 5)
    assert unfolding.ensemble is ensemble
    assert unfolding.rows(rows) is rows


@examples(30)
@given(ensembles_with_categories(), seeds, st.integers(1, 40))
def test_a_faithful_tree_is_right_on_every_row(ensemble, seed, n_rows):
    rows = telling_inputs(ensemble, n_rows, seed)
    tree = support_tree(ensemble, rows, fidelity=1.0).tree
    assert (tree.predict_index(rows) == ensemble.predict_index(rows)).all()
    assert not tree.exact


@examples(30)
@given(ensembles_with_categories(), seeds, st.integers(1, 5))
def test_set_tests_are_those_of_the_ensemble(ensemble, seed, max_leaves):
    tree = support_tree(ensemble, telling_inputs(ensemble, 30, seed), max_leaves=max_leaves).tree
    assert tree.n_leaves <= max_leaves
    own = {(f, tuple(ensemble.subsets[s])) for f, s in zip(ensemble.feature, ensemble.subset, strict=True) if s >= 0}
    used = {(f, tuple(tree.subsets[s])) for f, s in zip(tree.feature, tree.subset, strict=True) if s >= 0}
    assert used <= own


@examples(30)
@given(ensembles_with_categories(), seeds, st.integers(1, 30))
def test_every_input_in_a_core_has_the_class_of_its_leaf(ensemble, seed, n_rows):
    solution = support_tree(ensemble, telling_inputs(ensemble, n_rows, seed), max_leaves=5, certify=True)
    inputs = telling_inputs(ensemble, 500, seed + 1)
    inside = solution.cores.contain(solution.tree, inputs)
    same = solution.tree.predict_index(inputs) == ensemble.predict_index(inputs)
    assert same[inside].all()


@examples(15)
@given(ensembles_with_categories(), seeds, st.integers(1, 12))
def test_the_optimum_is_no_larger_than_what_was_grown(ensemble, seed, n_rows):
    rows = telling_inputs(ensemble, n_rows, seed)
    grown = support_tree(ensemble, rows, fidelity=1.0)
    best = support_tree(ensemble, rows, fidelity=1.0, optimal="leaves")
    assert best.value == best.lower_bound <= grown.tree.n_leaves
    assert (best.tree.predict_index(rows) == ensemble.predict_index(rows)).all()
