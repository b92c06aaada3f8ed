"""The special cases that the paper builds in its proofs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onetree import born_again
from onetree.model.ensemble import Ensemble, Rule
from onetree.search.solve import OBJECTIVES
from tests.tiers import examples


def hard_vote(trees, n_features):
    """A vote of equal weights among trees with classes 0 and 1.

    A tree is its class, or (feature, threshold, left tree, right tree).
    """
    rows, roots = [], []

    def add(tree):
        if isinstance(tree, int):
            rows.append((-1, 0.0, -1, -1, np.eye(2)[tree]))
        else:
            feature, threshold, left, right = tree
            rows.append((feature, threshold, add(left), add(right), np.zeros(2)))
        return len(rows) - 1

    roots = [add(tree) for tree in trees]
    feature, threshold, left, right, value = zip(*rows, strict=True)
    return Ensemble(
        classes=np.array([False, True]),
        feature_names=tuple(f"x{i}" for i in range(n_features)),
        roots=np.array(roots, dtype=np.int32),
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold, dtype=np.float64),
        children_left=np.array(left, dtype=np.int32),
        children_right=np.array(right, dtype=np.int32),
        missing_left=np.zeros(len(rows), dtype=bool),
        value=np.array(value),
        base=np.zeros(2),
        rule=Rule("hard"),
        nan_features=np.zeros(n_features, dtype=bool),
    )


@pytest.mark.parametrize("d", range(1, 10))
def test_the_bound_on_the_depth_is_tight(d):
    """Theorem 2: d stumps and d - 1 constant trees, class 0 only where every stump says so."""
    ensemble = hard_vote([(i, 0.0, 0, 1) for i in range(d)] + [1] * (d - 1), n_features=d)
    assert sum(ensemble.depths) == d
    expected = {"depth": d, "leaves": d + 1, "depth-leaves": (d, d + 1), "leaves-depth": (d + 1, d)}
    for objective in OBJECTIVES:
        assert born_again(ensemble, objective=objective).value == expected[objective]


def clause_tree(literals):
    """Complete tree over the variables of a clause; 1 except where every literal is false.

    A literal is (variable, sign); a variable is true above its threshold.
    """

    def build(rest, satisfied):
        if not rest:
            return int(satisfied)
        (variable, sign), *rest = rest
        return (variable, 0.5, build(rest, satisfied or not sign), build(rest, satisfied or sign))

    return build(list(literals), satisfied=False)


def satisfiable(formula, n_variables):
    return any(
        all(any(values[variable] == sign for variable, sign in clause) for clause in formula)
        for values in itertools.product([False, True], repeat=n_variables)
    )


@st.composite
def formulas(draw, n_variables):
    """Clauses of three different variables each."""
    variables = st.permutations(range(n_variables)).map(lambda order: sorted(order[:3]))
    signs = st.tuples(*[st.booleans()] * 3)
    clause = st.builds(lambda v, s: tuple(zip(v, s, strict=True)), variables, signs)
    return draw(st.lists(clause, min_size=1, max_size=30))


EVERY_CLAUSE = [tuple(enumerate(signs)) for signs in itertools.product([False, True], repeat=3)]


@examples(60)
@given(formulas(n_variables=4), st.sampled_from(OBJECTIVES))
@example(EVERY_CLAUSE, "depth")
@example(EVERY_CLAUSE[:-1], "leaves")
def test_the_tree_is_the_constant_false_exactly_if_the_formula_is_unsatisfiable(formula, objective):
    """Theorem 1: one tree per clause, outvoted by constant trees unless all clauses agree."""
    trees = [clause_tree(clause) for clause in formula] + [0] * (len(formula) - 1)
    tree = born_again(hard_vote(trees, n_features=4), objective=objective).tree
    constant_false = tree.n_leaves == 1 and not tree.predict(np.zeros((1, 4)))[0]
    assert constant_false == (not satisfiable(formula, n_variables=4))


def test_random_formulas_of_six_variables_are_decided():
    rng = np.random.default_rng(0)
    outcomes = set()
    for n_clauses in (5, 20, 30, 40, 60, 60):
        formula = [
            tuple(zip(rng.permutation(6)[:3].tolist(), (rng.random(3) < 0.5).tolist(), strict=True))
            for _ in range(n_clauses)
        ]
        trees = [clause_tree(clause) for clause in formula] + [0] * (n_clauses - 1)
        tree = born_again(hard_vote(trees, n_features=6), objective="leaves").tree
        outcomes.add(satisfiable(formula, n_variables=6))
        assert (tree.n_leaves > 1) == satisfiable(formula, n_variables=6)
    assert outcomes == {False, True}
