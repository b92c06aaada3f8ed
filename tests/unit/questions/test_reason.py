"""Sufficient reasons, against every cell and every set of features."""

import itertools
import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.questions.hitting import smallest_hitting_set
from tests.cases.categorical import colour_tree
from tests.cases.questions import CASES, cells_near, tries
from tests.unit.questions.test_counterfactual import random_question


def agreement(ensemble, row, X):
    """Which cells are like the row, on each feature."""
    columns = []
    for feature, x in enumerate(row.tolist()):
        column, kind = X[:, feature], ensemble.categories[feature]
        same = np.isnan(column) if math.isnan(x) else column == x
        columns.append(same if kind is None else kind.element(column) == kind.element(x))
    return np.stack(columns, axis=1)


def inside(ensemble, feature, column, bounds):
    """Which values of a feature meet the bounds of a reason."""
    kind = ensemble.categories[feature]
    if len(bounds) == 2 and kind is None:
        low, high = bounds
        return (low < column) & (column <= high)
    numbers = np.array([math.nan if each is None else each for each in bounds], dtype=float)
    if kind is not None:
        return np.isin(kind.element(column), kind.element(numbers))
    return np.isin(column, numbers) | (np.isnan(column) & np.isnan(numbers).any())


def check(rng, sets, size):
    """Explain a random input; return the length of the reason, or None if it is too large for brute force."""
    ensemble, domain, known, row, _ = random_question(rng, sets)
    X = cells_near(ensemble, known, row)
    if X is None:
        return None
    reason = onetree.explain(ensemble, row, size=size, domain=domain)
    names = list(ensemble.feature_names)
    kept = [names.index(name) for name in reason.features]
    other = ensemble.predict(X) != reason.x_class
    same = agreement(ensemble, row, X)
    assert reason.status == size
    assert not (other & same[:, kept].all(axis=1)).any(), "the class is not fixed"
    for left_out in kept:
        rest = [each for each in kept if each != left_out]
        assert (other & same[:, rest].all(axis=1)).any(), "a feature is not needed"
    if size == "smallest":
        for fewer in itertools.combinations(range(ensemble.n_features), max(len(kept) - 1, 0)):
            assert not kept or (other & same[:, list(fewer)].all(axis=1)).any(), "there is a smaller reason"
    fits = np.ones(len(X), dtype=bool)
    for feature in kept:
        fits &= inside(ensemble, feature, X[:, feature], reason.bounds[names[feature]])
    assert not (other & fits).any(), "the class is not fixed within the bounds"
    return len(kept)


@pytest.mark.parametrize("size", ["minimal", "smallest"])
@pytest.mark.parametrize("sets", CASES)
def test_a_reason_fixes_the_class_in_every_cell_and_has_no_feature_too_many(sets, size):
    rng = np.random.default_rng(30 + sets)
    lengths = [check(rng, sets, size) for _ in range(tries(1000, 50))]
    assert lengths.count(1) > len(lengths) / 20
    assert lengths.count(2) > len(lengths) / 20


def test_bounds_are_as_wide_as_the_proof_goes():
    rng, n_ends = np.random.default_rng(5), 0
    for _ in range(tries(300, 30)):
        ensemble, domain, known, row, _ = random_question(rng, sets=False)
        X = cells_near(ensemble, known, row)
        if X is None:
            continue
        reason = onetree.explain(ensemble, row, domain=domain)
        other = ensemble.predict(X) != reason.x_class
        places = {name: at for at, name in enumerate(ensemble.feature_names)}
        fits = {name: inside(ensemble, places[name], X[:, places[name]], reason.bounds[name]) for name in reason.bounds}
        for name in reason.features:
            if len(reason.bounds[name]) != 2:
                continue
            column, (low, high) = X[:, places[name]], reason.bounds[name]
            rest = np.all([each for key, each in fits.items() if key != name] or [fits[name] | True], axis=0)
            for beyond in (column[column > high].min(initial=math.inf), column[column <= low].max(initial=-math.inf)):
                if math.isfinite(beyond):
                    assert (other & rest & (column == beyond)).any()
                    n_ends += 1
    assert n_ends > 20


def test_the_radius_is_the_distance_of_the_nearest_other_class():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    reason = onetree.explain(forest, X[0], radius=True, data=X)
    nearest = onetree.counterfactual(forest, X[0], norm="linf", data=X)
    assert reason.radius == nearest.distance > 0
    assert f"less than {reason.radius:.6g}" in str(reason)


def test_a_reason_at_a_limit_still_holds_for_the_library():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    reason = onetree.explain(forest, X[0], work_limit=25)
    assert reason.status == "limit"
    rows = X.copy()
    for feature, name in enumerate(onetree.Ensemble.from_model(forest).feature_names):
        if name in reason.features:
            rows[:, feature] = X[0, feature]
    assert set(forest.predict(rows)) == {reason.x_class}


def test_a_constant_model_needs_no_reason():
    X = np.zeros((4, 2))
    forest = RandomForestClassifier(2, random_state=0).fit(X, [1, 1, 1, 1])
    reason = onetree.explain(forest, X[0])
    assert len(reason) == 0
    assert str(reason) == "1, always"


def test_an_infinite_value_is_an_input_like_any_other():
    tree = colour_tree(0, 2, "missing")
    for age in (-math.inf, math.inf):
        assert onetree.explain(tree, [5.0, age]).features == ("colour",)
    assert set(onetree.explain(tree, [0.0, -math.inf]).features) == {"colour", "age"}


def test_the_hitting_set_is_the_smallest():
    rng = np.random.default_rng(0)
    for _ in range(200):
        sets = [
            frozenset(rng.choice(6, size=rng.integers(1, 4), replace=False).tolist()) for _ in range(rng.integers(0, 6))
        ]
        found = smallest_hitting_set(sets)
        assert all(found & each for each in sets)
        for fewer in itertools.combinations(range(6), max(len(found) - 1, 0)):
            assert not found or not all(set(fewer) & each for each in sets)
