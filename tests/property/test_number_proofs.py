"""Laws for the proofs of numbers: all three methods agree with brute force in fractions, and notice mutated trees."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import born_again, verify
from onetree.verify import worst_deviation
from onetree.verify.milp_numbers import NumberBounds
from tests.cases.numbered import (
    KINDS,
    MUTATIONS,
    joint_points,
    mutated,
    numbered,
    numbered_tree,
    with_response,
    worst_distance,
)
from tests.cases.oracle import inputs_inside, points
from tests.cases.set_cases import set_cases
from tests.tiers import at_length, examples, share

METHODS = ("search", "cells", "milp")
TOLERANCES = (0.0, 0.0, 0.01, 0.05, 0.125, 0.2, 0.3)


def random_pair(rng, kind, max_cells=40):
    """An ensemble and a tree that is within its tolerance."""
    ensemble = numbered(rng, kind, max_cells=max_cells)
    relative, keeps_class = bool(rng.integers(4) == 0), not ensemble.n_classes or bool(rng.integers(2))
    tree = numbered_tree(ensemble, float(rng.choice(TOLERANCES)), relative=relative, keeps_class=keeps_class)
    return tree, ensemble


def is_rounded_up(found, true):
    return Fraction(found) >= true and (found == 0 or Fraction(math.nextafter(found, 0.0)) < true)


def is_kept(tree, ensemble, rows):
    worst = worst_distance(tree, ensemble, rows, tree.relative)
    if worst is None or worst > Fraction(tree.tolerance):
        return False
    has_class = tree.n_classes and tree.keeps_class
    return not has_class or bool((tree.predict_index(rows) == ensemble.predict_index(rows)).all())


@pytest.mark.parametrize("kind", KINDS)
def test_the_worst_deviation_is_that_of_brute_force(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(share(100, least=12)):
        tree, ensemble = random_pair(rng, kind)
        rows = joint_points(ensemble, tree)
        true = worst_distance(tree, ensemble, rows, tree.relative)
        for method in ("search", "cells"):
            verdict = verify(tree, ensemble, method=method)
            assert verdict
            assert is_rounded_up(verdict.worst, true)
            if verdict.worst:
                row = verdict.worst_input[np.newaxis]
                assert is_rounded_up(verdict.worst, worst_distance(tree, ensemble, row, tree.relative))
                assert verdict.tree_value.tolist() == tree.numbers(row)[0].tolist()
                assert verdict.ensemble_value.tolist() == ensemble.numbers(row)[0].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_proves_the_same(kind):
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(share(20, least=2)):
        tree, ensemble = random_pair(rng, kind, max_cells=24)
        verdict = verify(tree, ensemble, method="milp")
        assert verdict
        assert verdict.worst <= verify(tree, ensemble, method="cells").worst


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutated_trees_are_noticed_wherever_brute_force_notices_them(mutation):
    rng = np.random.default_rng(MUTATIONS.index(mutation))
    n_caught, n_wanted = 0, at_length(200, least=40)
    while n_caught < n_wanted:
        tree, ensemble = random_pair(rng, rng.choice(KINDS), max_cells=24)
        other = mutated(rng, tree, ensemble, mutation)
        rows = joint_points(ensemble, other)
        is_right = is_kept(other, ensemble, rows)
        n_caught += not is_right
        for method in METHODS if n_caught % 8 == 0 or share(8) == 8 else METHODS[:2]:
            verdict = verify(other, ensemble, method=method)
            assert verdict.equivalent == is_right
            if not is_right:
                assert not is_kept(other, ensemble, verdict.counterexample[np.newaxis])


@pytest.mark.parametrize("kind", KINDS)
def test_a_proof_that_does_not_look_for_the_worst_says_the_same(kind):
    rng = np.random.default_rng(200 + KINDS.index(kind))
    for _ in range(share(60, least=8)):
        tree, ensemble = random_pair(rng, kind)
        other = mutated(rng, tree, ensemble, rng.choice(MUTATIONS))
        for each in (tree, other):
            verdict = verify(each, ensemble, method="search", find_worst=False)
            assert verdict.equivalent == verify(each, ensemble, method="cells").equivalent
            assert verdict.worst is None or not verdict


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_sums_hold_the_numbers(kind):
    rng = np.random.default_rng(300 + KINDS.index(kind))
    for _ in range(share(60, least=8)):
        ensemble = numbered(rng, kind)
        scores = ensemble.scores(points(ensemble)).astype(np.float64) * ensemble.response.divisors()
        low, high = NumberBounds(ensemble).numbers(scores.min(axis=0)[np.newaxis], scores.max(axis=0)[np.newaxis])
        numbers = ensemble.numbers(points(ensemble))
        finite = np.isfinite(numbers).all(axis=1)
        assert ((low <= numbers[finite]) & (numbers[finite] <= high)).all()


@examples(60)
@given(set_cases(), st.sampled_from(METHODS), st.booleans(), st.integers(0, 2**32))
def test_domains_categories_and_groups_are_kept_to(case, method, relative, seed):
    ensemble, domain = case
    kind = {"soft": "fractions", "score": "logistic", "scores": "softmax"}.get(ensemble.rule.kind)
    if kind is None:
        return
    split = born_again(ensemble, domain=domain, verify=False).tree
    ensemble = with_response(ensemble, kind, np.random.default_rng(seed))
    rows = inputs_inside(ensemble, domain, split)
    leaves, numbers = split.apply(rows), ensemble.numbers(rows)
    value = np.zeros((split.n_nodes, ensemble.n_classes), dtype=numbers.dtype)
    for leaf in np.unique(leaves):
        value[leaf] = numbers[leaves == leaf].astype(np.float64).mean(axis=0)
    tree = replace(split, value=value, tolerance=0.0)
    true = worst_distance(tree, ensemble, rows, relative)
    if true is None:
        return
    found = worst_deviation(tree, ensemble, relative=relative)
    assert is_rounded_up(found.worst, true)
    if found.input is not None:
        assert domain.contains(found.input[np.newaxis]).all()
    if relative and found.worst >= 1:
        return
    assert verify(replace(tree, tolerance=found.worst, relative=relative), ensemble, method=method)
    if found.worst:
        strict = replace(tree, tolerance=math.nextafter(found.worst, 0.0), relative=relative)
        verdict = verify(strict, ensemble, method=method)
        assert not verdict
        point = verdict.counterexample[np.newaxis]
        assert domain.contains(point).all()
        assert worst_distance(strict, ensemble, point, relative) > Fraction(strict.tolerance)
