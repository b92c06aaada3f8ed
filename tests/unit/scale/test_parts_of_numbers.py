"""One tree of numbers in parts: as near to its model as any other, whoever computes the parts."""

from fractions import Fraction

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)

import onetree
from onetree.export.json import to_json
from onetree.scale.parts import born_again_in_parts
from onetree.search.solve import OBJECTIVES
from tests.cases.numbered import KINDS, joint_points, numbered, worst_distance
from tests.tiers import examples

PROBABILITIES = {"output": "probability", "tolerance": 0.1}


@pytest.fixture(autouse=True)
def small_boxes_are_cut(monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 1)


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    return RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def regressor():
    X, y = load_diabetes(return_X_y=True)
    return GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0).fit(X, y)


def same(tree, other):
    return to_json(tree) == to_json(other)


def asked_of(ensemble, tolerance, *, relative=False, keep_class=True):
    keeps = keep_class or ensemble.output == "value"
    return {"output": ensemble.output, "tolerance": tolerance, "relative": relative, "keep_class": keeps}


def in_parts(ensemble, n_parts, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("onetree.scale.partition.FEW_CELLS", 1)
        return born_again_in_parts(ensemble, n_parts=n_parts, **options)


@examples(60)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(KINDS),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.03, 0.2]),
    st.booleans(),
    st.booleans(),
)
def test_the_numbers_keep_the_tolerance_in_every_cell(seed, kind, n_parts, tolerance, relative, keep_class):
    ensemble = numbered(np.random.default_rng(seed), kind)
    asked = asked_of(ensemble, tolerance, relative=relative, keep_class=keep_class)
    tree = in_parts(ensemble, n_parts, **asked).tree
    rows = joint_points(ensemble, tree)
    assert worst_distance(tree, ensemble, rows, relative) <= Fraction(tolerance)
    if ensemble.n_classes and asked["keep_class"]:
        np.testing.assert_array_equal(tree.predict(rows), ensemble.predict(rows))
    keeps_class = asked["keep_class"] or ensemble.n_classes == 1  # a single class is kept in any case
    assert (tree.tolerance, tree.relative, tree.keeps_class) == (tolerance, relative, keeps_class)
    assert onetree.verify(tree, ensemble)


@examples(40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.integers(2, 9), st.sampled_from(OBJECTIVES))
def test_what_is_said_of_its_size_is_true(seed, kind, n_parts, objective):
    ensemble = numbered(np.random.default_rng(seed), kind)
    asked = {**asked_of(ensemble, 0.1), "objective": objective}
    best = onetree.born_again(ensemble, method="exact", **asked).value
    solution = in_parts(ensemble, n_parts, **asked)
    assert solution.lower_bound <= best <= solution.value
    assert (solution.status == "optimal") <= (solution.value == best)


def test_numbers_far_apart_are_a_bound_for_the_whole(forest):
    options = {"objective": "leaves", **PROBABILITIES}
    bound = born_again_in_parts(forest, n_parts=6, **options).lower_bound
    assert 10 < bound <= onetree.born_again(forest, method="exact", **options).value


@pytest.mark.parametrize("of", ["probabilities", "values"])
def test_the_tree_does_not_depend_on_the_number_of_jobs(of, forest, regressor):
    model, asked = (forest, PROBABILITIES) if of == "probabilities" else (regressor, {"tolerance": 10.0})
    trees = [born_again_in_parts(model, n_parts=6, n_jobs=n_jobs, **asked).tree for n_jobs in (1, 2)]
    with joblib.parallel_config(backend="threading", n_jobs=4):
        trees.append(born_again_in_parts(model, n_parts=6, **asked).tree)
    assert same(trees[0], trees[1])
    assert same(trees[0], trees[2])


def test_a_tolerance_of_zero_is_equal_to_the_last_bit(regressor):
    X, _ = load_diabetes(return_X_y=True)
    solution = born_again_in_parts(regressor, n_parts=6, tolerance=0)
    assert solution.stats["parts"] == 6
    np.testing.assert_array_equal(solution.tree.predict(X), regressor.predict(X))


def test_probabilities_are_near_those_of_the_library(forest):
    X, _ = load_breast_cancer(return_X_y=True)
    tree = born_again_in_parts(forest, n_parts=6, **PROBABILITIES).tree
    assert np.abs(tree.predict_proba(X) - forest.predict_proba(X)).max() <= 0.1
    np.testing.assert_array_equal(tree.predict(X), forest.predict(X))


def test_a_domain_is_kept(regressor):
    domain = {0: (-0.05, 0.05), 2: {-0.02, 0.0, 0.03}}
    solution = born_again_in_parts(regressor, n_parts=6, tolerance=5.0, domain=domain)
    assert solution.tree.domain == onetree.Domain.from_dict(domain, solution.tree.feature_names)
    assert onetree.verify(solution.tree, regressor)


def test_categories_stay_whole():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 400), rng.normal(size=(400, 2))])
    y = np.where(np.isin(X[:, 0], [1, 3]), X[:, 1], -X[:, 2])
    model = HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=5, categorical_features=[0]).fit(X, y)
    tree = born_again_in_parts(model, n_parts=5, tolerance=0.05).tree
    assert np.abs(tree.predict(X) - model.predict(X)).max() <= 0.05
    assert onetree.verify(tree, model)


def test_a_small_space_is_one_part(regressor, monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 10**8)
    options = {"objective": "leaves", "tolerance": 10.0}
    solution = born_again_in_parts(regressor, **options)
    assert solution.stats["parts"] == 1
    assert same(solution.tree, onetree.born_again(regressor, method="heuristic", **options).tree)


@pytest.mark.parametrize("cuts", [{"bands": [0.2, 0.6]}, {"threshold": 0.3}, {"threshold": {0: 0.4}}])
def test_cuts_of_the_probability_make_the_classes(cuts, forest):
    X, _ = load_breast_cancer(return_X_y=True)
    solution = born_again_in_parts(forest, n_parts=4, **cuts)
    expected = onetree.Ensemble.from_model(forest, output="class", **cuts)
    np.testing.assert_array_equal(solution.tree.predict(X), expected.predict(X))
    assert onetree.verify(solution.tree, expected)


def test_of_an_ensemble_with_probabilities_the_class_alone_is_found_unless_they_are_asked_for(forest):
    ensemble = onetree.Ensemble.from_model(forest, output="probability")
    tree = born_again_in_parts(ensemble, n_parts=4).tree
    assert tree.value is None
    assert same(tree, born_again_in_parts(forest, n_parts=4).tree)


def test_the_exact_step_is_within_the_tolerance(regressor):
    solution = born_again_in_parts(regressor, method="auto", objective="leaves", tolerance=20.0)
    assert solution.status == "optimal"
    assert solution.value == onetree.born_again(regressor, objective="leaves", tolerance=20.0, method="exact").value
    assert solution.tree.tolerance == 20.0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "needs a tolerance"),
        ({"tolerance": -1.0}, "tolerance must be"),
        ({"tolerance": 1.0, "keep_class": False}, "a regressor has none"),
        ({"tolerance": 1.0, "output": "probability"}, "regressor"),
    ],
)
def test_what_a_regressor_cannot_be_asked_for_is_refused(wrong, said, regressor):
    with pytest.raises(onetree.OnetreeError, match=said):
        born_again_in_parts(regressor, **wrong)


def test_a_tolerance_is_refused_for_classes(forest):
    with pytest.raises(onetree.InvalidInputError, match='output="probability"'):
        born_again_in_parts(forest, tolerance=0.1)
