"""A model with more classes than a byte counts goes all the way: search, proofs, trees for the data, files, exports."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from onetree import Ensemble, born_again, estimate, load_ensemble, load_tree, support_tree, verify

N_CLASSES = 300


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).random((3000, 2)).astype(np.float32)
    return X, (X[:, 0] * N_CLASSES).astype(int)


@pytest.fixture(scope="module")
def model(rows):
    return RandomForestClassifier(2, max_depth=9, max_features=None, random_state=0).fit(*rows)


@pytest.fixture(scope="module")
def solution(model):
    return born_again(model, objective="leaves", method="heuristic")


def test_the_tree_predicts_like_the_model(model, rows, solution):
    assert len(model.classes_) == N_CLASSES
    np.testing.assert_array_equal(solution.tree.predict(rows[0]), model.predict(rows[0]))


@pytest.mark.parametrize("method", ["cells", "search", "milp"])
def test_each_proof_confirms_it(method, model, solution):
    assert verify(solution.tree, model, method=method)


@pytest.mark.parametrize("method", ["cells", "search", "milp"])
def test_each_proof_finds_a_leaf_of_another_class(method, model, solution):
    tree = solution.tree
    changed = tree.leaf_class.copy()
    leaf = int(np.flatnonzero(tree.feature < 0)[-1])
    changed[leaf] = (changed[leaf] + 256) % N_CLASSES  # the same byte, if it were one
    verdict = verify(replace(tree, leaf_class=changed), model, method=method)
    assert not verdict
    assert verdict.ensemble_class == model.predict(verdict.counterexample[np.newaxis].astype(np.float32))[0]


def test_what_is_small_is_solved_exactly(rows):
    X, y = rows
    few = RandomForestClassifier(2, max_depth=4, random_state=0).fit(X, y)
    solution = born_again(few, objective="leaves", method="exact")
    assert solution.status == "optimal"
    np.testing.assert_array_equal(solution.tree.predict(X), few.predict(X))


def test_an_estimate_and_a_tree_for_the_data_are_had(model, rows):
    assert estimate(model, budget=0.5).leaves >= 1
    tree = support_tree(model, rows[0][:500], fidelity=1.0).tree
    np.testing.assert_array_equal(tree.predict(rows[0][:500]), model.predict(rows[0][:500]))


def test_files_and_code_keep_every_class(model, rows, solution, tmp_path):
    ensemble = Ensemble.from_model(model)
    ensemble.save(tmp_path / "model.json")
    solution.tree.save(tmp_path / "tree.json")
    expected = model.predict(rows[0])
    np.testing.assert_array_equal(load_ensemble(tmp_path / "model.json").predict(rows[0]), expected)
    np.testing.assert_array_equal(load_tree(tmp_path / "tree.json").predict(rows[0]), expected)
    np.testing.assert_array_equal(solution.tree.to_sklearn().predict(rows[0]), expected)
