"""What separates an input from another class, against every cell."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.model.categories import OTHER
from tests.cases.questions import CASES, cells_near, tries
from tests.unit.questions.test_counterfactual import random_question
from tests.unit.questions.test_reason import agreement, inside


def check(rng, sets, size):
    """Contrast a random input with all classes; return the states of the contrasts, or None without brute force."""
    ensemble, domain, known, row, _ = random_question(rng, sets)
    X = cells_near(ensemble, known, row)
    if X is None:
        return None
    reason = onetree.explain(ensemble, row, size=size, domain=domain, contrast=True)
    names = list(ensemble.feature_names)
    classes, same = ensemble.predict(X), agreement(ensemble, row, X)
    usual = np.ones(len(X), dtype=bool)  # no category that nobody knows
    for feature, kind in enumerate(ensemble.categories):
        if kind is not None and known.values[feature] is None:
            usual &= same[:, feature] | (kind.element(X[:, feature]) != OTHER)
    for each in reason.contrasts:
        there = classes == each.label
        kept = [names.index(name) for name in each.features]
        assert each.reason_status == size
        assert not (there & same[:, kept].all(axis=1)).any(), "the class is not ruled out"
        for left_out in kept:
            rest = [other for other in kept if other != left_out]
            assert (there & same[:, rest].all(axis=1)).any(), "a feature is not needed"
        fits = np.ones(len(X), dtype=bool)
        for feature in kept:
            fits &= inside(ensemble, feature, X[:, feature], each.bounds[names[feature]])
        assert not (there & fits).any(), "the class is not ruled out within the bounds"
        n_changes = (~same).sum(axis=1)[there & usual]
        if not n_changes.size:
            assert (each.status, each.point, each.changes) == ("none", None, {})
            continue
        assert each.status == "optimal"
        assert len(each.changes) == n_changes.min(), "fewer changes would do"
        assert ensemble.predict(each.point[np.newaxis])[0] == each.label
        assert known.contains(each.point[np.newaxis])[0]
    return [each.status for each in reason.contrasts]


@pytest.mark.parametrize("size", ["minimal", "smallest"])
@pytest.mark.parametrize("sets", CASES)
def test_a_contrast_rules_the_class_out_and_needs_no_change_too_many(sets, size):
    rng = np.random.default_rng(50 + sets)
    found = [check(rng, sets, size) for _ in range(tries(500, 40))]
    states = [state for each in found if each is not None for state in each]
    assert states.count("optimal") > len(states) / 3
    assert states.count("none") > 0


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return X, RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)


def test_a_contrast_reads_as_sentences(flowers):
    X, forest = flowers
    said = str(onetree.explain(forest, X[0], contrast=[1, 2]))
    assert "\nNot 1, whatever the other features are, because\n" in said
    assert "\nIt would be 2, if\n" in said


def test_a_class_that_no_input_has_is_never_reached(flowers):
    X, forest = flowers
    domain = {2: (0, 1.9), 3: (0, 0.3)}
    (contrast,) = onetree.explain(forest, X[0], contrast=2, domain=domain).contrasts
    assert onetree.check_reachable(forest, 2, domain=domain).holds is False
    assert contrast.status == "none"
    assert str(contrast) == "Never 2: no input has this class."


def test_at_a_limit_a_contrast_says_so(flowers):
    X, forest = flowers
    (contrast,) = onetree.explain(forest, X[0], contrast=2, work_limit=1).contrasts
    assert "limit" in (contrast.status, contrast.reason_status)
    assert "limit" in str(contrast) or "fewer changes may do" in str(contrast)


def test_only_other_classes_can_be_contrasted(flowers):
    X, forest = flowers
    with pytest.raises(onetree.InvalidInputError, match="of the class 0 itself"):
        onetree.explain(forest, X[0], contrast=0)
    with pytest.raises(onetree.InvalidInputError, match="not a class"):
        onetree.explain(forest, X[0], contrast="rose")


def test_a_tree_is_asked_inside_its_own_domain(flowers):
    X, forest = flowers
    domain = {2: (0, 1.9), 3: (0, 0.3)}
    tree = onetree.born_again(forest, domain=domain).tree
    assert onetree.explain(tree, X[0], contrast=2).contrasts[0].status == "none"
    with pytest.raises(onetree.InvalidInputError, match="does not belong to the domain"):
        onetree.counterfactual(tree, X[100])
