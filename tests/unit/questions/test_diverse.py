"""Several answers, and sums of distances, against every cell."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from tests.cases.questions import CASES, cells_near, distances, tries
from tests.unit.questions.test_counterfactual import allowed, random_question

SUMS = [{"l1": 1.0, "l0": 0.5}, {"l0": 1.0, "linf": 2.0}, {"l1": 0.25, "linf": 1.0}, {"l1": 1, "l0": 1, "linf": 1}]


def away(ensemble, row, X, norm, options):
    """The least and most that inputs cost under one distance or a sum."""
    parts = {norm: 1.0} if isinstance(norm, str) else norm
    both = [distances(ensemble, row, X, name, options["costs"], options["missing_cost"]) for name in parts]
    weighted = [(weight * low, weight * high) for weight, (low, high) in zip(parts.values(), both, strict=True)]
    return sum(low for low, _ in weighted), sum(high for _, high in weighted)


def changed(ensemble, row, X):
    """Which features each input changes."""
    found = np.zeros(X.shape, dtype=bool)
    for feature, x in enumerate(row.tolist()):
        column, kind = X[:, feature], ensemble.categories[feature]
        found[:, feature] = ~np.isnan(column) if math.isnan(x) else column != x
        if kind is not None:
            found[:, feature] = kind.element(column) != kind.element(x)
    return found


def check(rng, sets, norm, diverse, n):
    """Ask a random question; return the number of answers, or None if it is too large for brute force."""
    ensemble, domain, known, row, options = random_question(rng, sets)
    X = cells_near(ensemble, known, row)
    if X is None:
        return None
    options |= {"norm": norm or options["norm"]}
    own = ensemble.predict(row[np.newaxis])[0]
    first = onetree.counterfactual(ensemble, row, domain=domain, n=n, diverse=diverse, **options)
    answers = [first, *first.alternatives] if first else []
    classes = ensemble.predict(X)
    wanted = classes == options["target"] if "target" in options else classes != own
    wanted &= allowed(ensemble, known, row, X, options)
    X = X[wanted]
    changes = changed(ensemble, row, X)
    least, most = away(ensemble, row, X, options["norm"], options)
    left = np.isfinite(most)
    for answer in answers:
        assert answer.status == "optimal"
        assert left.any()
        shortest = most[left].min()
        assert least[left].min() * (1 - 1e-12) <= answer.distance <= shortest * (1 + 1e-12)
        assert answer.lower_bound == answer.distance
        own_changes = changed(ensemble, row, answer.point[np.newaxis])[0]
        assert set(answer.changes) == {ensemble.feature_names[each] for each in np.flatnonzero(own_changes)}
        assert ensemble.predict(answer.point[np.newaxis])[0] == answer.point_class
        if diverse == "disjoint":
            left &= ~changes[:, own_changes].any(axis=1) if own_changes.any() else False
        else:
            left &= ~changes[:, own_changes].all(axis=1)
    if len(answers) < n:
        assert first.rest == "none"
        assert not left.any()
    else:
        assert first.rest == ("more" if answers[-1].changes else "none")
    return len(answers)


@pytest.mark.parametrize("diverse", ["features", "disjoint"])
@pytest.mark.parametrize("sets", CASES)
def test_each_answer_is_the_nearest_that_is_not_like_one_before_it(sets, diverse):
    rng = np.random.default_rng(70 + sets)
    answers = [check(rng, sets, None, diverse, 4) for _ in range(tries(500, 50))]
    assert sum(each is not None and each > 1 for each in answers) > len(answers) / 20
    assert answers.count(0) > len(answers) / 20


@pytest.mark.parametrize("norm", SUMS, ids=lambda norm: "+".join(norm))
@pytest.mark.parametrize("sets", CASES)
def test_a_sum_of_distances_is_the_least_of_all_cells(sets, norm):
    rng = np.random.default_rng(80 + sets)
    answers = [check(rng, sets, norm, "features", 1) for _ in range(tries(300, 30))]
    assert answers.count(1) > len(answers) / 4


def test_the_library_confirms_all_answers_and_they_differ():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    found = onetree.counterfactual(forest, X[0], n=4, data=X, norm={"l1": 1, "l0": 0.5})
    answers = [found, *found.alternatives]
    assert len(answers) == 4
    assert found.rest == "more"
    assert forest.predict([each.point for each in answers]).tolist() == [each.point_class for each in answers]
    assert [each.distance for each in answers] == sorted(each.distance for each in answers)
    for number, each in enumerate(answers):
        assert not any(set(before.changes) <= set(each.changes) for before in answers[:number])
    assert str(found).count("\nor\n") == 3
    assert found.norm == "l1 + 0.5 l0"


@pytest.mark.parametrize("work_limit", [1, 60, 400])
@pytest.mark.parametrize("norm", ["l1", {"l1": 1, "linf": 1}], ids=["l1", "sum"])
def test_at_a_limit_what_was_found_is_kept_with_a_bound_that_holds(norm, work_limit):
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    proven = onetree.counterfactual(forest, X[0], n=3, data=X, norm=norm)
    found = onetree.counterfactual(forest, X[0], n=3, data=X, norm=norm, work_limit=work_limit)
    best = [proven, *proven.alternatives]
    for number, each in enumerate([found, *found.alternatives]):
        assert each.lower_bound <= best[number].distance * (1 + 1e-12)
        assert each.point is None or each.distance >= each.lower_bound
    assert found.rest == "limit" or len(found.alternatives) == 2
    assert work_limit > 1 or (found.status == "limit" and "limit" in str(found) + found.rest)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": {}}, "a sum such as"),
        ({"norm": {"l2": 1}}, "unknown norm"),
        ({"norm": {"l1": 0}}, "must be positive"),
        ({"norm": {"l1": math.inf}}, "must be positive"),
        ({"n": 0}, "positive integer"),
        ({"n": 2, "diverse": "distance"}, "unknown diverse"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
    with pytest.raises(onetree.InvalidInputError, match=message):
        onetree.counterfactual(forest, X[0], **options)


def test_nothing_else_is_offered_where_nothing_has_to_change():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
    found = onetree.counterfactual(forest, X[0], target=0, n=3)
    assert found.distance == 0
    assert (found.alternatives, found.rest) == ((), "none")
