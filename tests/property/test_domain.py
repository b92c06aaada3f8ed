"""Domains: the restricted ensemble and its tree, on the points that matter."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import Domain, born_again, pareto_front, verify
from onetree.base.limits import OBJECTIVES
from onetree.domain.values import Values
from tests.cases import oracle
from tests.cases.domains import restricted
from tests.cases.strategies import ensembles, random_ensemble
from tests.tiers import examples

LARGEST = np.finfo(np.float64).max


def numbers_near(ensemble, feature):
    """Numbers on and next to the thresholds of a feature, and the whole numbers around them."""
    cuts = np.unique(ensemble.threshold[ensemble.feature == feature])
    cuts = cuts[np.isfinite(cuts)]
    whole = np.floor(cuts)
    steps = [np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), whole, whole + 1, np.nextafter(whole, np.inf)]
    return np.unique(np.concatenate([cuts, *steps, [-1.0, 0.0, 1.0, 2.0]])).tolist()


@st.composite
def values_near(draw, numbers, takes_nan):
    missing = takes_nan and draw(st.booleans())
    kind = draw(st.sampled_from(["range", "integer", "integer", "set", "nothing"]))
    if kind == "nothing" and missing:
        return Values(choices=(), missing=True)
    if kind == "set":
        return Values(choices=tuple(draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=4))), missing=missing)
    ends = draw(st.tuples(st.sampled_from(numbers), st.sampled_from(numbers)))
    low = -math.inf if draw(st.booleans()) else min(ends)
    high = math.inf if draw(st.booleans()) else max(ends)
    whole = kind == "integer" and math.floor(min(high, LARGEST)) >= low
    return Values(low, high, integer=whole, missing=missing)


@st.composite
def cases(draw, max_cells):
    """An ensemble and a domain whose ends and values lie where its thresholds are."""
    ensemble = draw(ensembles(max_cells=max_cells))
    # With several thresholds between two whole numbers.
    ensemble = replace(ensemble, threshold=ensemble.threshold * draw(st.sampled_from([1.0, 0.25])))
    values = []
    for feature, takes_nan in enumerate(ensemble.nan_features.tolist()):
        free = draw(st.integers(0, 3)) == 0
        values.append(None if free else draw(values_near(numbers_near(ensemble, feature), takes_nan)))
    return ensemble, Domain(tuple(values))


def is_value(x, values):
    """Whether a value belongs to the domain of a feature: the plain meaning, apart from the code under test."""
    if math.isnan(x):
        return values.missing
    if values.choices is not None:
        return x in values.choices
    return values.low <= x <= values.high and (not values.integer or (math.isfinite(x) and x == math.floor(x)))


def axes_inside(ensemble, domain):
    """Points of every feature: its thresholds, their neighbours, the ends; those that belong to the domain."""
    axes = []
    for feature, values in enumerate(domain.values):
        numbers = {*numbers_near(ensemble, feature), -LARGEST, LARGEST}
        if values is None:
            axes.append([*sorted(numbers), *([math.nan] if ensemble.nan_features[feature] else [])])
            continue
        ends = values.choices or tuple(end for end in (values.low, values.high) if math.isfinite(end))
        axes.append([x for x in [*sorted({*numbers, *ends}), math.nan] if is_value(x, values)])
    return axes


def points_inside(ensemble, domain, n_most=3000):
    axes = axes_inside(ensemble, domain)
    if math.prod(map(len, axes)) <= n_most:
        return np.array(list(itertools.product(*axes)))
    rng = np.random.default_rng(0)
    return np.column_stack([rng.choice(axis, n_most) for axis in axes])


def cells_inside(ensemble, domain):
    """The class of every cell that the domain reaches, an array with one axis per feature; for the oracle."""
    axes = []
    for feature, axis in enumerate(axes_inside(ensemble, domain)):
        cuts = np.unique(ensemble.threshold[ensemble.feature == feature])
        slab = {len(cuts) + 1 if math.isnan(x) else int(np.searchsorted(cuts, x)): x for x in axis}
        axes.append([slab[at] for at in sorted(slab)])
    rows = np.array(list(itertools.product(*axes)), dtype=np.float64)
    return ensemble.predict_index(rows).reshape([len(axis) for axis in axes])


@given(cases(max_cells=300))
@examples(300)
def test_the_restricted_ensemble_predicts_like_the_whole_one_inside_the_domain(case):
    ensemble, domain = case
    rows = points_inside(ensemble, domain)
    assert (restricted(ensemble, domain).predict_index(rows) == ensemble.predict_index(rows)).all()


@given(cases(max_cells=300))
def test_restricting_again_changes_nothing(case):
    ensemble, domain = case
    once = restricted(ensemble, domain)
    again = restricted(once, domain)
    assert again.threshold.tolist() == once.threshold.tolist()
    assert again.children_left.tolist() == once.children_left.tolist()


@given(cases(max_cells=100), st.sampled_from(OBJECTIVES))
def test_the_tree_predicts_like_the_ensemble_inside_the_domain(case, objective):
    ensemble, domain = case
    tree = born_again(ensemble, objective=objective, domain=domain).tree
    rows = points_inside(ensemble, domain)
    assert (tree.predict_index(rows) == ensemble.predict_index(rows)).all()


@given(cases(max_cells=60))
@examples(200)
def test_no_smaller_tree_exists_inside_the_domain(case):
    ensemble, domain = case
    front = oracle.pareto(cells_inside(ensemble, domain))
    for objective in OBJECTIVES:
        assert born_again(ensemble, objective=objective, domain=domain).value == oracle.value_of(front, objective)
    assert [solution.value for solution in pareto_front(ensemble, domain=domain)] == front


@pytest.mark.parametrize("seed", range(100))
def test_no_smaller_tree_exists_in_domains_that_merge_thresholds(seed):
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, max_cells=60)
    ensemble = replace(ensemble, threshold=ensemble.threshold * rng.choice([0.25, 1.0]))
    values = []
    for feature, missing in enumerate((ensemble.nan_features & (rng.random(ensemble.n_features) < 0.5)).tolist()):
        low, high = np.sort(rng.choice(numbers_near(ensemble, feature), 2)).tolist()
        choices = [Values(integer=True, missing=missing), Values(low, high, missing=missing)]
        choices += [Values(choices=(low, high, 0.0, 1.0), missing=missing), None]
        values.append(choices[rng.choice(4, p=[0.5, 0.2, 0.2, 0.1])])
    domain = Domain(tuple(values))
    front = oracle.pareto(cells_inside(ensemble, domain))
    assert born_again(ensemble, objective="leaves", domain=domain).value == oracle.value_of(front, "leaves")


@given(cases(max_cells=100), st.sampled_from(["depth", "leaves"]))
def test_a_domain_never_makes_the_tree_larger(case, objective):
    ensemble, domain = case
    inside = born_again(ensemble, objective=objective, domain=domain)
    assert inside.value <= born_again(ensemble, objective=objective).value


@given(cases(max_cells=60), st.sampled_from(["cells", "search", "milp"]))
@examples(50)
def test_a_tree_that_is_right_everywhere_is_right_inside(case, method):
    ensemble, domain = case
    assert verify(born_again(ensemble).tree, ensemble, domain=domain, method=method)


@given(cases(max_cells=60), st.sampled_from(["cells", "search", "milp"]), st.sampled_from([0, -1]))
def test_a_verdict_is_about_the_points_of_the_domain(case, method, which):
    ensemble, domain = case
    tree = born_again(ensemble, objective="leaves", domain=domain, verify=False).tree
    leaf_class, leaf = tree.leaf_class.copy(), tree.leaves()[which]
    leaf_class[leaf] = (leaf_class[leaf] + 1) % ensemble.n_classes
    broken = replace(tree, leaf_class=leaf_class)
    rows = points_inside(ensemble, domain)
    differ = broken.predict_index(rows) != ensemble.predict_index(rows)
    verdict = verify(broken, ensemble, method=method)
    assert bool(verdict) == (not differ.any())
    if not verdict:
        point = verdict.counterexample
        assert all(values is None or is_value(x, values) for x, values in zip(point, domain.values, strict=True))
        assert verdict.tree_class == broken.predict(point[np.newaxis])[0]
        assert verdict.ensemble_class == ensemble.predict(point[np.newaxis])[0]
        assert verdict.tree_class != verdict.ensemble_class
