"""The tree as scikit-learn's own."""

from __future__ import annotations

import pickle

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree
from sklearn.utils.validation import check_is_fitted

import onetree
from onetree import InvalidInputError
from tests.unit.tree.test_tree import chain, random_tree, small_tree

mpl.use("Agg")

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def tree(forest):
    return onetree.born_again(forest, objective="leaves").tree


def around_thresholds(tree, rng, n_rows):
    """Inputs on the thresholds and one float64 or float32 step beside them."""
    x = np.empty((n_rows, tree.n_features))
    for feature in range(tree.n_features):
        cuts = np.append(tree.threshold[tree.feature == feature], 0.0)
        near = [cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), np.float32(cuts)]
        near += [np.nextafter(np.float32(cuts), np.float32(side)) for side in (np.inf, -np.inf)]
        x[:, feature] = rng.choice(np.concatenate(near), n_rows)
    return x


def test_it_is_a_real_fitted_tree(tree):
    model = tree.to_sklearn()
    assert type(model) is DecisionTreeClassifier
    check_is_fitted(model)
    assert (model.get_depth(), model.get_n_leaves()) == (tree.depth, tree.n_leaves)
    assert (model.n_features_in_, model.n_outputs_, model.n_classes_) == (4, 1, 3)


def test_it_predicts_like_tree_and_forest_also_on_thresholds(forest, tree):
    x = around_thresholds(tree, np.random.default_rng(0), 20_000)
    expected = forest.predict(x)
    assert np.array_equal(tree.predict(x), expected)
    for model in (tree.to_sklearn(), tree.to_sklearn(X), tree.to_sklearn(X, Y)):
        assert np.array_equal(model.predict(x), expected)
        assert np.array_equal(model.predict(x.astype(np.float32)), tree.predict(x.astype(np.float32)))


def test_thresholds_between_float32_values_are_exact_on_float32_inputs():
    tree = small_tree(threshold=[0.1, 1 / 3, 0, 0, 0])
    x = around_thresholds(tree, np.random.default_rng(0), 2000).astype(np.float32)
    assert np.array_equal(tree.to_sklearn().predict(x), tree.predict(x))


def test_it_counts_like_scikit_learn_itself():
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, Y)
    tree = onetree.Tree(
        np.maximum(model.tree_.feature, -1),
        model.tree_.threshold,
        model.tree_.children_left,
        model.tree_.children_right,
        np.where(model.tree_.feature < 0, model.tree_.value[:, 0].argmax(axis=1), -1),
        model.classes_,
        tuple(f"x{i}" for i in range(4)),
        [False] * 4,
    )
    again = tree.to_sklearn(X, Y)
    assert np.array_equal(again.tree_.n_node_samples, model.tree_.n_node_samples)
    assert np.array_equal(again.tree_.weighted_n_node_samples, model.tree_.weighted_n_node_samples)
    np.testing.assert_allclose(again.tree_.value, model.tree_.value, rtol=1e-12)
    np.testing.assert_allclose(again.tree_.impurity, model.tree_.impurity, atol=1e-12)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)


def test_with_data_alone_the_predictions_are_counted(tree):
    model = tree.to_sklearn(X)
    assert np.array_equal(model.tree_.n_node_samples, np.asarray(model.decision_path(X).sum(axis=0)).ravel())
    np.testing.assert_allclose(model.tree_.value[0, 0], np.bincount(tree.predict_index(X)) / len(X))


def test_labels_never_change_a_prediction(tree):
    wrong = (Y + 1) % 3
    model = tree.to_sklearn(X, wrong)
    assert np.array_equal(model.predict(X), tree.predict(X))
    np.testing.assert_allclose(model.tree_.value[0, 0], np.bincount(wrong) / len(X))


def test_without_data_every_leaf_counts_once():
    model = small_tree().to_sklearn()
    assert model.tree_.n_node_samples.tolist() == [3, 2, 1, 1, 1]
    np.testing.assert_allclose(model.tree_.value[:2, 0], [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0]])


def test_missing_values_go_right():
    tree = small_tree(threshold=[np.inf, -2.0, 0, 0, 0], nan_features=[True, True])
    x = [[np.nan, 0.0], [0.0, np.nan], [3e38, -3.0], [np.nan, np.nan]]
    assert tree.to_sklearn(x).predict(x).tolist() == tree.predict(x).tolist() == ["blue", "green", "red", "blue"]


def test_names_of_the_source_are_kept_and_invented_ones_are_not():
    assert not hasattr(small_tree().to_sklearn(), "feature_names_in_")
    assert small_tree(feature_names=("age", "income")).to_sklearn().feature_names_in_.tolist() == ["age", "income"]


def test_scikit_learns_own_tools_work_on_it(tree):
    for model in (tree.to_sklearn(), tree.to_sklearn(X, Y)):
        assert len(plot_tree(model)) >= tree.n_nodes
        assert "class: 2" in export_text(model, max_depth=tree.depth)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.apply(X), tree.apply(X))
        assert again.predict_proba(X).argmax(axis=1).tolist() == tree.predict_index(X).tolist()
    mpl.pyplot.close("all")


def test_a_single_leaf_of_a_single_class():
    model = onetree.Tree([-1], [0.0], [-1], [-1], [0], ["only"], ("x0",), [False]).to_sklearn()
    assert model.predict([[1.0]]).tolist() == ["only"]


def test_random_trees_predict_the_same():
    rng = np.random.default_rng(0)
    for _ in range(20):
        tree = random_tree(rng, n_splits=15, n_features=3)
        x = rng.integers(-1, 6, size=(200, 3)).astype(float)
        assert np.array_equal(tree.to_sklearn(x[:50]).predict(x), tree.predict(x))


def test_deep_trees_are_exported():
    tree = chain(20_000)
    x = np.array([[5.0], [19_999.0], [1e6]])
    assert tree.to_sklearn(x).predict(x).tolist() == tree.predict(x).tolist()


@pytest.mark.parametrize("y", [[0, 1], [[0], [1], [2]], [0, 1, 7], ["a", "b", "c"], [[], {}, None]])
def test_labels_that_do_not_fit_are_refused(y, tree):
    labels = np.array(y, dtype=object) if y[0] == [] else y
    with pytest.raises(InvalidInputError, match="y "):
        tree.to_sklearn(X[:3], labels)


def test_a_tree_that_is_not_exact_says_so():
    assert small_tree(exact=False).to_sklearn().onetree_exact_ is False
