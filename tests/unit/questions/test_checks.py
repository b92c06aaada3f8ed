"""Checks of every input and of rows, against every cell; every witness is confirmed by the model."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from tests.cases.questions import CASES, cells_near, distances, tries
from tests.unit.questions.test_counterfactual import allowed, random_question


def random_cells(rng, sets):
    """An ensemble, a domain, an input of every cell, and the features of groups."""
    while True:
        ensemble, domain, known, _, _ = random_question(rng, sets)
        X = cells_near(ensemble, known, np.zeros(ensemble.n_features))
        if X is not None and len(X):
            return ensemble, domain, X, [set(group.features) for group in known.groups]


def alike_but(X, features):
    """For each row the number of its kind: rows of one kind differ only in these features."""
    rest = np.delete(X, sorted(features), axis=1)
    rest = np.concatenate([np.nan_to_num(rest, nan=7.25e9, posinf=8e307, neginf=-8e307), np.isnan(rest)], axis=1)
    return np.unique(rest, axis=0, return_inverse=True)[1].ravel()


def whole_groups(features, groups):
    """Some features, with all those that belong to a group with one of them."""
    found = set(features)
    for group in groups:
        if group & found:
            found |= group
    return found


def same_elsewhere(one, other, features):
    rest = [each for each in range(len(one)) if each not in features]
    return np.array_equal(one[rest], other[rest], equal_nan=True)


@pytest.mark.parametrize("sets", CASES)
def test_features_are_irrelevant_iff_no_cells_say_otherwise(sets):
    rng, answers = np.random.default_rng(40 + sets), []
    for _ in range(tries(2000, 40)):
        ensemble, domain, X, groups = random_cells(rng, sets)
        features = whole_groups([int(rng.integers(ensemble.n_features))], groups)
        classes, kinds = ensemble.predict_index(X), alike_but(X, features)
        lowest, highest = np.full(len(X), 999), np.full(len(X), -1)
        np.minimum.at(lowest, kinds, classes)
        np.maximum.at(highest, kinds, classes)
        check = onetree.check_irrelevant(ensemble, features, domain=domain)
        assert check.holds == (lowest[kinds] == highest[kinds]).all()
        answers.append(check.holds)
        if not check.holds:
            one, other = check.witness
            assert same_elsewhere(one, other, features)
            assert tuple(ensemble.predict(np.stack([one, other]))) == check.witness_classes
            assert check.witness_classes[0] != check.witness_classes[1]
            assert domain is None or domain.contains(np.stack([one, other])).all()
        rows = rng.choice(len(X), size=min(len(X), 3), replace=False)
        by_row = onetree.check_fair(ensemble, features, X=X[rows], domain=domain)
        assert by_row.rows.tolist() == (lowest[kinds] == highest[kinds])[rows].tolist()
    assert answers.count(True) > len(answers) / 10
    assert answers.count(False) > len(answers) / 10


@pytest.mark.parametrize("sets", CASES)
@pytest.mark.parametrize("increasing", [True, False])
def test_a_model_is_monotone_iff_no_cells_say_otherwise(sets, increasing):
    rng, answers = np.random.default_rng(50 + sets), []
    for _ in range(tries(1000, 30)):
        ensemble, domain, X, groups = random_cells(rng, sets)
        at = int(rng.integers(ensemble.n_features))
        if ensemble.categories[at] is not None or any(at in group for group in groups):
            continue
        known = X[~np.isnan(X[:, at])]
        classes, kinds = ensemble.predict_index(known), alike_but(known, {at})
        order = np.lexsort([known[:, at], kinds])
        steps = np.diff(classes[order])[np.diff(kinds[order]) == 0]
        check = onetree.check_monotone(ensemble, at, increasing=increasing, domain=domain)
        assert check.holds == (steps >= 0 if increasing else steps <= 0).all()
        answers.append(check.holds)
        if not check.holds:
            one, other = check.witness
            assert same_elsewhere(one, other, {at})
            assert one[at] < other[at]
            classes_there = ensemble.predict_index(np.stack([one, other]))
            assert classes_there[0] > classes_there[1] if increasing else classes_there[0] < classes_there[1]
        if len(known):
            by_row = onetree.check_monotone(ensemble, at, increasing=increasing, X=known[:4], domain=domain)
            for row, kind, own, holds in zip(known[:4], kinds, classes, by_row.rows, strict=False):
                others = kinds == kind
                above, below = others & (known[:, at] > row[at]), others & (known[:, at] < row[at])
                sign = 1 if increasing else -1
                broken = (sign * classes[above] < sign * own).any() or (sign * classes[below] > sign * own).any()
                assert holds == (not broken)
    assert answers.count(True) > len(answers) / 10
    assert answers.count(False) > len(answers) / 20


@pytest.mark.parametrize("sets", CASES)
def test_models_are_equal_iff_no_cell_says_otherwise(sets):
    rng, answers = np.random.default_rng(60 + sets), []
    for _ in range(tries(2000, 50)):
        ensemble, domain, X, _ = random_cells(rng, sets)
        value, leaves = ensemble.value.copy(), np.flatnonzero(ensemble.feature < 0)
        exchanged = rng.choice(leaves, size=min(2, len(leaves)), replace=False)
        value[exchanged] = value[exchanged[::-1]]
        other = replace(ensemble, value=value)
        found = onetree.difference(ensemble, other, domain=domain, X=X)
        differ = ensemble.predict(X) != other.predict(X)
        assert found.differ == differ.any()
        assert found.share == differ.mean()
        answers.append(found.differ)
        if found:
            classes = ensemble.predict(found.point[np.newaxis])[0], other.predict(found.point[np.newaxis])[0]
            assert classes == found.classes
            assert classes[0] != classes[1]
            assert domain is None or domain.contains(found.point[np.newaxis])[0]
    assert answers.count(True) > len(answers) / 10
    assert answers.count(False) > len(answers) / 10


def test_a_class_is_reachable_iff_some_cell_has_it():
    rng, answers = np.random.default_rng(70), []
    for number in range(tries(2000, 50)):
        ensemble, domain, X, _ = random_cells(rng, CASES[number % 3])
        label = ensemble.classes[rng.integers(ensemble.n_classes)]
        check = onetree.check_reachable(ensemble, label, domain=domain)
        assert check.holds == (ensemble.predict(X) == label).any()
        answers.append(check.holds)
        if check:
            assert ensemble.predict(check.witness[0][np.newaxis])[0] == label
            assert domain is None or domain.contains(check.witness[0][np.newaxis])[0]
    assert {True, False} == set(answers)


@pytest.mark.parametrize("sets", CASES)
def test_a_row_is_stable_iff_no_cell_within_the_radius_has_another_class(sets):
    rng, answers = np.random.default_rng(75 + sets), []
    for _ in range(tries(1000, 40)):
        ensemble, domain, known, row, options = random_question(rng, sets)
        X = cells_near(ensemble, known, row)
        if X is None:
            continue
        own = ensemble.predict(row[np.newaxis])[0]
        # Nobody becomes missing, or a category that the model does not know, by moving a little.
        fixed = {"fixed": (), "increasing": (), "decreasing": ()}
        other = X[(ensemble.predict(X) != own) & allowed(ensemble, known, row, X, fixed)]
        least, most = distances(ensemble, row, other, options["norm"], options["costs"])
        for radius in (float(rng.integers(0, 5)), float(rng.choice(most)) if most.size else 0.0):
            if not np.isfinite(radius) or ((least <= radius * (1 + 1e-12)) != (most <= radius)).any():
                continue  # rounding to float32 could decide
            check = onetree.check_stable(
                ensemble, row[np.newaxis], radius, norm=options["norm"], costs=options["costs"], domain=domain
            )
            assert check.holds == (not (most <= radius).any())
            answers.append(check.holds)
    assert answers.count(True) > len(answers) / 10
    assert answers.count(False) > len(answers) / 20


@pytest.fixture(scope="module")
def breast():
    X, y = load_breast_cancer(return_X_y=True)
    return X, RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)


def test_rows_are_stable_up_to_the_nearest_other_class(breast):
    X, forest = breast
    distances = np.array([onetree.counterfactual(forest, row, norm="linf", data=X).distance for row in X[:20]])
    radius = float(np.median(distances))
    check = onetree.check_stable(forest, X[:20], radius, data=X)
    assert check.rows.tolist() == (distances > radius).tolist()
    assert check.holds is False
    one, other = forest.predict(np.stack(check.witness))
    assert (one, other) == check.witness_classes
    assert "holds for" in str(check)


def test_what_is_not_decided_at_a_limit_says_so(breast):
    X, forest = breast
    large = RandomForestClassifier(40, max_depth=6, random_state=0).fit(X, forest.predict(X))
    assert onetree.check_stable(forest, X[:2], 1e9, work_limit=1).holds is None
    twin = RandomForestClassifier(40, max_depth=6, random_state=0).fit(X, forest.predict(X))
    found = onetree.difference(large, twin, work_limit=50)
    assert found.differ is None
    assert "not decided" in repr(found)


def test_rows_are_decided_side_by_side_as_one_by_one(breast):
    X, forest = breast
    told = []
    alone = onetree.check_stable(forest, X[:30], 0.2, data=X)
    beside = onetree.check_stable(forest, X[:30], 0.2, data=X, n_jobs=2, progress=told.append)
    assert beside.rows.tolist() == alone.rows.tolist()
    assert beside.decided == 1
    assert told[-1].fraction == 1
    assert str(beside) == str(alone)


def test_the_share_of_decided_rows_is_said(breast):
    X, forest = breast
    check = onetree.check_stable(forest, X[:40], 1.0, data=X, work_limit=2)
    assert 0 < check.decided < 1
    assert "not decided for" in str(check)


def test_a_tree_equals_its_model():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    tree = onetree.born_again(forest, domain={0: (5, 6)}).tree
    assert onetree.difference(forest, tree).differ is False
    assert onetree.difference(forest, tree, domain={}).differ is not None


def test_a_feature_of_a_group_is_not_asked_for_alone():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    with pytest.raises(onetree.InvalidInputError, match="belongs to a group"):
        onetree.check_irrelevant(forest, 2, domain={(2, 3): "one-hot"})
    with pytest.raises(onetree.InvalidInputError, match="belongs to a group"):
        onetree.check_monotone(forest, 2, domain={(2, 3): "one-hot"})


def test_models_on_other_features_are_not_compared():
    X, y = load_iris(return_X_y=True)
    one, other = (RandomForestClassifier(2, max_depth=2, random_state=0).fit(X[:, :n], y) for n in (4, 3))
    with pytest.raises(onetree.InvalidInputError, match="different features"):
        onetree.difference(one, other)
