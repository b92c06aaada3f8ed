"""Trees with numbers by the search from the top and by the heuristic, on cases that brute force cannot have.

Two exact engines share no search code, so that they agree says something; the heuristic keeps the tolerance everywhere,
is never better than they are, and is the same for any number of threads.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier

from onetree import Ensemble, _core, born_again, estimate, verify
from onetree.lowering.axes import axes_of
from onetree.lowering.choices import objective_of
from onetree.search.apart import n_apart
from onetree.search.scoring import Scoring
from tests.cases.numbered import KINDS, numbered, with_response
from tests.cases.strategies import random_ensemble_with_categories

OBJECTIVES = ("depth", "leaves", "depth-leaves", "leaves-depth")
ENGINES = (_core.Engine.INTERVAL_DP, _core.Engine.BRANCH_AND_BOUND, _core.Engine.COMBINED)
FEW, MANY = range(40), range(40, 240)
NO_LIMIT = (0.0, 0, 0.0)


def random_case(seed, max_cells=400):
    """Axes in order, and what is asked of the numbers: a tolerance at which some scores tie."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    if seed % 4 == 3:  # an axis without an order
        source = {"fractions": "soft", "softmax": "scores"}.get(kind, "score")
        plain = random_ensemble_with_categories(rng, max_features=3, kinds=(source,))
        kind = kind if kind in ("value", "link", "fractions", "logistic", "softmax") else "value"
        ensemble = with_response(plain, kind, rng)
    else:
        ensemble = numbered(rng, kind, max_cells=max_cells)
    axes = axes_of(ensemble)
    sums = _core.distinct_sums(axes.ensemble, 0.0, 0.0, None)
    numbers = np.unique(ensemble.response.numbers(sums).astype(np.float64))
    halves = np.abs(rng.choice(numbers, 8) - rng.choice(numbers, 8)) / 2
    tolerance = float(rng.choice([0.0, *halves]))
    return ensemble, axes, Scoring.of(ensemble, tolerance, keep_class=seed % 3 > 0)


def exact(axes, scoring, objective, engine):
    found = _core.solve_scores(
        axes.ensemble, scoring.n_columns, scoring.admit, objective_of(objective), engine, *NO_LIMIT, 1, None
    )
    return found, found.solutions[0]


def by_regions(axes, scoring, objective, max_boxes, n_threads=1):
    found = _core.score_heuristic(
        axes.ensemble, scoring, objective_of(objective), max_boxes, 0, *NO_LIMIT, n_threads, None
    )
    return found, found.solutions[0]


def value(found, objective):
    return tuple(getattr(found, measure) for measure in objective.split("-"))


def check_engines(axes, scoring, ensemble):
    for objective in OBJECTIVES:
        values = set()
        for engine in ENGINES:
            outcome, found = exact(axes, scoring, objective, engine)
            assert found.optimal
            values.add(value(found, objective))
            tree = scoring.tree(axes, found.tree, outcome)
            assert (tree.depth, tree.n_leaves) == (found.depth, found.leaves)
            assert verify(tree, ensemble, method="search").equivalent
        assert len(values) == 1, (objective, values)


@pytest.mark.parametrize("seed", FEW)
def test_engines_agree_on_scores(seed):
    ensemble, axes, scoring = random_case(seed)
    check_engines(axes, scoring, ensemble)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_engines_agree_on_more_scores(seed):
    ensemble, axes, scoring = random_case(seed, max_cells=1500)
    check_engines(axes, scoring, ensemble)


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("keep_class", [True, False])
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_engines_agree_on_probabilities_of_iris(name, keep_class, tolerance):
    X, y = load_iris(return_X_y=True)
    model = {
        "forest": RandomForestClassifier(5, max_depth=2, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=2, max_depth=2, learning_rate=0.5, random_state=0),
    }[name].fit(X, y)
    ensemble = Ensemble.from_model(model, output="probability")
    check_engines(axes_of(ensemble), Scoring.of(ensemble, tolerance, keep_class=keep_class), ensemble)


@pytest.mark.parametrize("seed", FEW)
@pytest.mark.parametrize("max_boxes", [1e-9, 20.0, 1e4])
def test_the_heuristic_keeps_the_tolerance_and_is_no_better_than_the_optimum(seed, max_boxes):
    ensemble, axes, scoring = random_case(seed)
    for objective in ("leaves", "depth-leaves"):
        outcome, found = by_regions(axes, scoring, objective, max_boxes)
        tree = scoring.tree(axes, found.tree, outcome)
        assert verify(tree, ensemble, method="search").equivalent
        assert (tree.depth, tree.n_leaves) == (found.depth, found.leaves)
        best = value(exact(axes, scoring, objective, ENGINES[0])[1], objective)
        assert value(found, objective) >= best
        assert not found.optimal or value(found, objective) == best
        bounds = (found.depth_bound, found.leaves_bound)
        assert bounds <= (found.depth, found.leaves)


@pytest.mark.parametrize("seed", range(12))
def test_the_heuristic_is_the_same_for_any_number_of_threads(seed):
    _, axes, scoring = random_case(seed)
    trees = [by_regions(axes, scoring, "leaves", 20.0, n_threads) for n_threads in (1, 3)]
    for name in ("feature", "threshold", "children_left", "children_right", "leaf_class"):
        assert np.array_equal(*(getattr(found.tree, name) for _, found in trees))
    for name in ("leaf_least", "leaf_most"):
        assert np.array_equal(*(getattr(outcome, name) for outcome, _ in trees))


@pytest.mark.parametrize("method", ["auto", "heuristic"])
def test_a_regressor_whose_grid_cannot_be_listed_has_a_tree_within_the_tolerance(method):
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=30, max_depth=3, random_state=0).fit(X, y)
    found = born_again(model, tolerance=60.0, objective="leaves", method=method, work_limit=3000)
    assert found.tree.n_leaves > 1
    assert np.abs(found.tree.predict(X) - model.predict(X)).max() <= 60.0


def test_the_estimate_of_a_small_grid_is_its_number_of_leaves():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    asked = {"objective": "leaves", "output": "probability", "tolerance": 0.1}
    guess = estimate(model, **asked)
    assert guess.exact
    assert guess.leaves == born_again(model, **asked).value


def test_a_larger_tolerance_is_estimated_to_need_fewer_leaves():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=30, max_depth=3, random_state=0).fit(X, y)
    assert estimate(model, tolerance=100.0).leaves < estimate(model, tolerance=60.0).leaves


@pytest.mark.parametrize("seed", range(60))
def test_inputs_that_exclude_each_other_are_no_more_than_the_fewest_leaves(seed):
    _, axes, scoring = random_case(seed, max_cells=100)
    outcome, found = exact(axes, scoring, "leaves", ENGINES[0])
    tree = scoring.tree(axes, found.tree, outcome)
    assert 1 <= n_apart(axes, scoring, tree, seed) <= found.leaves


def test_inputs_that_exclude_each_other_prove_a_small_tree_optimal():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=5, max_depth=1, random_state=0).fit(X, y)
    found = born_again(model, tolerance=5.0, objective="leaves")
    ensemble = Ensemble.from_model(model, output="value")
    assert n_apart(axes_of(ensemble), Scoring.of(ensemble, 5.0), found.tree, 0) == found.value > 2
