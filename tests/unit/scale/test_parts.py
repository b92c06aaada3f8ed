"""One tree in parts: as equal to its ensemble as any other, whoever computes the parts."""

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.domain.domain import Domain
from onetree.scale.partition import partition
from onetree.scale.parts import born_again_in_parts
from onetree.search.solve import OBJECTIVES
from tests.cases.fingerprints import ARRAYS, fingerprint
from tests.cases.oracle import points
from tests.cases.strategies import ensembles, painted
from tests.tiers import examples


@pytest.fixture(autouse=True)
def small_boxes_are_cut(monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 1)


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    return onetree.Ensemble.from_model(RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, y))


def same(first, second):
    return fingerprint(first) == fingerprint(second)


@examples(60)
@given(ensembles(), st.integers(1, 9), st.sampled_from(OBJECTIVES))
def test_the_tree_predicts_like_its_ensemble_in_every_cell(ensemble, n_parts, objective):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("onetree.scale.partition.FEW_CELLS", 1)
        solution = born_again_in_parts(ensemble, n_parts=n_parts, objective=objective)
    X = points(ensemble)
    np.testing.assert_array_equal(solution.tree.predict(X), ensemble.predict(X))
    assert onetree.verify(solution.tree, ensemble)


@examples(40)
@given(ensembles(max_cells=60), st.integers(2, 9), st.sampled_from(OBJECTIVES))
def test_what_is_said_of_its_size_is_true(ensemble, n_parts, objective):
    best = onetree.born_again(ensemble, objective=objective).value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("onetree.scale.partition.FEW_CELLS", 1)
        solution = born_again_in_parts(ensemble, n_parts=n_parts, objective=objective)
    assert solution.lower_bound <= best <= solution.value
    assert (solution.status == "optimal") <= (solution.value == best)


@examples(60)
@given(ensembles(), st.integers(2, 9))
def test_every_input_belongs_to_exactly_one_box(ensemble, n_parts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("onetree.scale.partition.FEW_CELLS", 1)
        top = partition(ensemble, None, n_parts, 0)
    X = points(ensemble)
    assert len(top.boxes) <= n_parts
    assert (np.sum([box.domain.contains(X) for box in top.boxes.values()], axis=0) == 1).all()


def test_the_tree_does_not_depend_on_the_number_of_jobs(forest):
    trees = [born_again_in_parts(forest, n_parts=6, n_jobs=n_jobs).tree for n_jobs in (1, 2)]
    with joblib.parallel_config(backend="threading", n_jobs=4):
        trees.append(born_again_in_parts(forest, n_parts=6).tree)
    assert same(trees[0], trees[1])
    assert same(trees[0], trees[2])


def test_a_domain_is_kept(forest):
    domain = {0: (10.0, 20.0), 3: {400.0, 500.0, 900.0}, 7: "integer"}
    solution = born_again_in_parts(forest, n_parts=6, domain=domain)
    assert solution.tree.domain == Domain.from_dict(domain, forest.feature_names)
    assert onetree.verify(solution.tree, forest)


def test_a_missing_value_outside_the_domain_is_refused():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [np.nan, 3.0], [3.0, np.nan], [4.0, 4.0]])
    takes_nan = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, [0, 1, 0, 1, 0, 1])
    ensemble = onetree.Ensemble.from_model(takes_nan)
    domain = {0: (0.0, 10.0)}
    tree = born_again_in_parts(ensemble, n_parts=3, domain=domain).tree
    assert ensemble.nan_features.tolist() == [True, True]
    assert tree.nan_features.tolist() == onetree.born_again(ensemble, domain=domain).tree.nan_features.tolist()
    with pytest.raises(onetree.InvalidInputError, match="NaN"):
        tree.predict([[np.nan, 1.0]])


def test_a_small_space_is_one_part_and_solved_exactly(forest, monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 10**8)
    solution = born_again_in_parts(forest, objective="leaves")
    assert solution.stats["parts"] == 1
    assert same(solution.tree, onetree.born_again(forest, objective="leaves", method="heuristic").tree)


def test_a_cut_that_separates_nothing_is_left_out():
    split_for_nothing = painted(np.zeros((3, 3), dtype=int), n_classes=2)
    solution = born_again_in_parts(split_for_nothing, n_parts=4)
    assert solution.stats["parts"] == 4
    assert solution.tree.n_nodes == 1


def test_equal_subtrees_of_two_parts_are_held_once(forest):
    tree = born_again_in_parts(forest, n_parts=16, objective="leaves").tree
    rows = set(zip(*(getattr(tree, name).tolist() for name in ARRAYS), strict=True))
    assert len(rows) == tree.n_nodes


def test_the_error_of_a_part_is_raised(forest):
    with pytest.raises(onetree.LimitReachedError):
        born_again_in_parts(forest, n_parts=2, memory_limit=1e-9)


def test_progress_counts_the_parts(forest):
    reports = []
    born_again_in_parts(forest, n_parts=4, progress=reports.append)
    assert [(report.phase, report.done, report.fraction) for report in reports] == [
        ("parts", part, part / 4) for part in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize("wrong", [{"n_parts": 0}, {"n_parts": 2.5}, {"objective": "size"}, {"random_state": -1}])
def test_an_argument_without_meaning_is_refused(wrong, forest):
    with pytest.raises(onetree.InvalidInputError, match=next(iter(wrong))):
        born_again_in_parts(forest, **wrong)
