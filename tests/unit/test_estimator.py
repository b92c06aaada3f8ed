"""The classifier: the same predictions as the ensemble inside, at home in scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from onetree import BornAgainTreeClassifier, Ensemble, Solution, Tree, born_again
from onetree.errors import InvalidInputError, TooLargeError, UnsupportedModelError
from onetree.importers.self_test import sample_rows
from onetree.tree.leaf_probabilities import LeafShares, leaf_numbers
from tests.cases.estimates import estimate_by_trees

X, Y = load_iris(return_X_y=True)
NAMES = load_iris().target_names[Y]
FRAME = load_iris(as_frame=True).data


def forest(**options):
    return RandomForestClassifier(5, max_depth=3, random_state=0, **options)


def adversarial(model):
    return sample_rows(Ensemble.from_model(model), np.random.default_rng(1))


def with_gaps():
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return gaps


@pytest.fixture(scope="module")
def fitted():
    return BornAgainTreeClassifier(forest()).fit(X, NAMES)


@pytest.mark.parametrize(
    "ensemble",
    [None, forest(), ExtraTreesClassifier(4, max_depth=2, random_state=0), DecisionTreeClassifier(random_state=0)],
)
def test_predictions_are_those_of_the_ensemble_also_on_its_thresholds(ensemble):
    found = BornAgainTreeClassifier(ensemble, random_state=0).fit(X, NAMES)
    inputs = np.concatenate([X, adversarial(found.estimator_)])
    np.testing.assert_array_equal(found.predict(inputs), found.estimator_.predict(inputs))


def test_what_was_learnt_is_there(fitted):
    assert isinstance(fitted.tree_, Tree)
    assert isinstance(fitted.solution_, Solution)
    assert fitted.solution_.tree is fitted.tree_
    assert fitted.classes_.tolist() == sorted(set(NAMES))
    assert fitted.n_features_in_ == 4
    assert (fitted.get_depth(), fitted.get_n_leaves()) == (fitted.tree_.depth, fitted.tree_.n_leaves)


def test_the_tree_is_the_one_that_born_again_gives(fitted):
    expected = born_again(forest().fit(X, NAMES))
    assert fitted.solution_.value == expected.value
    assert fitted.tree_.to_text() == expected.tree.to_text()


def test_it_says_why_an_input_gets_its_class(fitted):
    reason = fitted.explain(X[0], contrast=True)
    assert reason.x_class == fitted.predict(X[:1])[0]
    assert {each.label for each in reason.contrasts} == set(fitted.classes_) - {reason.x_class}
    for each in reason.contrasts:
        assert fitted.predict([each.point])[0] == each.label


def test_options_reach_the_search():
    found = BornAgainTreeClassifier(forest(), objective="leaves", engine="branch-and-bound", n_jobs=2).fit(X, Y)
    assert found.solution_.objective == "leaves"
    assert "branch" in found.solution_.stats["engine"]


def test_the_ensemble_that_was_given_stays_unfitted():
    given = forest()
    BornAgainTreeClassifier(given).fit(X, Y)
    assert not hasattr(given, "estimators_")


def test_a_frozen_ensemble_is_not_fitted_again():
    fitted_before = forest().fit(X[::2], NAMES[::2])
    found = BornAgainTreeClassifier(FrozenEstimator(fitted_before)).fit(X, NAMES)
    assert found.estimator_.estimator is fitted_before
    np.testing.assert_array_equal(
        found.predict(adversarial(fitted_before)), fitted_before.predict(adversarial(fitted_before))
    )


def test_a_frozen_ensemble_refuses_other_columns():
    frozen = FrozenEstimator(forest().fit(FRAME, Y))
    with pytest.raises(InvalidInputError, match="same columns in the same order"):
        BornAgainTreeClassifier(frozen).fit(FRAME[FRAME.columns[::-1]], Y)
    with pytest.raises(InvalidInputError, match="trained on 4"):
        BornAgainTreeClassifier(frozen).fit(X[:, :2], Y)


def test_a_frozen_ensemble_refuses_labels_it_never_met():
    frozen = FrozenEstimator(forest().fit(X, NAMES))
    with pytest.raises(InvalidInputError, match="'tulip'"):
        BornAgainTreeClassifier(frozen).fit(X, np.where(NAMES == "setosa", "tulip", NAMES))


def test_names_of_columns_are_kept():
    found = BornAgainTreeClassifier(forest()).fit(FRAME, NAMES)
    assert found.feature_names_in_.tolist() == FRAME.columns.tolist()
    assert found.tree_.feature_names == tuple(FRAME.columns)
    np.testing.assert_array_equal(found.predict(FRAME), found.estimator_.predict(FRAME))


def test_missing_values_in_training_are_inputs_of_the_tree():
    gaps = with_gaps()
    found = BornAgainTreeClassifier(forest()).fit(gaps, Y)
    assert found.tree_.nan_features.all()
    inputs = sample_rows(Ensemble.from_model(found.estimator_, missing="follow"), np.random.default_rng(1))
    assert np.isnan(inputs).any()
    np.testing.assert_array_equal(found.predict(inputs), found.estimator_.predict(inputs))


def test_missing_values_are_refused_where_the_ensemble_met_none(fitted):
    with pytest.raises(InvalidInputError, match='missing="follow"'):
        fitted.predict(with_gaps())


def test_missing_values_are_refused_in_training_if_asked_for():
    with pytest.raises(ValueError, match="contains NaN"):
        BornAgainTreeClassifier(forest(), missing="refuse").fit(with_gaps(), Y)


def test_hard_votes_are_those_of_the_trees_one_by_one():
    found = BornAgainTreeClassifier(forest(), voting="hard").fit(X, Y)
    votes = np.array([tree.predict(X).astype(int) for tree in found.estimator_.estimators_])
    expected = [np.bincount(column, minlength=3).argmax() for column in votes.T]
    np.testing.assert_array_equal(found.predict(X), expected)


def test_probabilities_are_shares_of_the_training_rows_in_the_leaf(fitted):
    leaves, shares = fitted.apply(X), fitted.predict_proba(X)
    agreeing = 0
    for leaf in np.unique(leaves):
        inside = leaves == leaf
        expected = [(NAMES[inside] == label).mean() for label in fitted.classes_]
        if fitted.classes_[np.argmax(expected)] == fitted.predict(X[inside][:1])[0]:
            agreeing += 1
            np.testing.assert_allclose(shares[inside], np.tile(expected, (inside.sum(), 1)))
    assert agreeing > 3


def test_probabilities_of_a_leaf_without_rows_are_all_for_its_class(fitted):
    inputs = adversarial(fitted.estimator_)
    empty = ~np.isin(fitted.apply(inputs), fitted.apply(X))
    assert empty.any()
    expected = (fitted.predict(inputs[empty])[:, np.newaxis] == fitted.classes_).astype(float)
    np.testing.assert_array_equal(fitted.predict_proba(inputs[empty]), expected)


def test_the_most_probable_class_is_the_predicted_one_even_if_the_rows_say_otherwise():
    noisy = np.random.default_rng(0).permutation(NAMES)
    found = BornAgainTreeClassifier(FrozenEstimator(forest().fit(X, NAMES))).fit(X, noisy)
    shares = found.predict_proba(X)
    np.testing.assert_array_equal(found.classes_[shares.argmax(axis=1)], found.predict(X))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_logarithms_are_those_of_the_probabilities(fitted):
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(fitted.predict_log_proba(X), np.log(fitted.predict_proba(X)))


def test_leaves_are_numbered_like_the_boxes_of_the_tree(fitted):
    lower, upper = fitted.tree_.boxes()
    leaf = fitted.apply(X)
    assert ((lower[leaf] < X) & (upper[leaf] >= X)).all()


def test_paths_that_share_a_leaf_have_shares_of_their_own():
    # Both sides of the root lead to the same two leaves, so four paths end in two nodes.
    tree = Tree(
        [0, 1, -1, -1],
        [0.5, 0.5, 0, 0],
        [1, 2, -1, -1],
        [1, 3, -1, -1],
        [-1, -1, 0, 1],
        ["a", "b"],
        ("u", "v"),
        [False] * 2,
    )
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    assert leaf_numbers(tree, rows).tolist() == [0, 1, 2, 3, 2]
    shares = LeafShares.of(tree, rows, np.array([0, 1, 0, 1, 1]), np.array([1.0, 1.0, 3.0, 0.0, 1.0]))
    np.testing.assert_allclose(shares.at(tree, rows)[:, 0], [1.0, 0.0, 0.75, 0.0, 0.75])
    assert shares.leaves.tolist() == [0, 1, 2]


def test_more_leaves_than_64_bits_can_count_are_still_told_apart():
    n = 70
    tree = Tree(
        [*range(n), -1], [0.5] * n + [0], [*range(1, n + 1), -1], [*range(1, n + 1), -1], [-1] * n + [0], ["a"],
        tuple(map(str, range(n))), [False] * n,
    )  # fmt: skip
    rows = np.vstack([np.zeros(n), np.ones(n)])
    assert leaf_numbers(tree, rows).tolist() == [0, 2**70 - 1]
    found = LeafShares.of(tree, rows, np.zeros(2, dtype=np.intp), np.ones(2))
    np.testing.assert_array_equal(found.at(tree, rows), [[1.0], [1.0]])


def test_weights_are_counted_in_the_probabilities():
    weight = np.where(NAMES == "virginica", 5.0, 1.0)
    found = BornAgainTreeClassifier(FrozenEstimator(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, NAMES)))
    found.fit(X, NAMES, sample_weight=weight)
    right = found.predict_proba(X[-1:])[0]
    assert sorted(right.round(3).tolist()) == [0.0, 0.5, 0.5]  # 250 against 50, but the leaf says versicolor


def test_weights_reach_the_ensemble():
    weight = np.where(NAMES == "setosa", 0.0, 1.0)
    found = BornAgainTreeClassifier(forest()).fit(X, NAMES, sample_weight=weight)
    assert "setosa" not in found.predict(X)


def test_weights_are_refused_by_an_ensemble_without_them():
    with pytest.raises(InvalidInputError, match="takes no sample_weight"):
        BornAgainTreeClassifier(KNeighborsClassifier()).fit(X, Y, sample_weight=np.ones(len(X)))


def test_weights_are_routed_on_request():
    with sklearn.config_context(enable_metadata_routing=True):
        inner = forest().set_fit_request(sample_weight=True)
        routed = BornAgainTreeClassifier(inner).set_fit_request(sample_weight=True)
        weight = np.where(NAMES == "setosa", 0.0, 1.0)
        found = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), routed).fit(
            X, NAMES, sample_weight=weight
        )
        assert "setosa" not in found.predict(X)


def test_a_seed_makes_the_ensemble_repeatable_unless_it_has_its_own():
    unseeded = RandomForestClassifier(3, max_depth=2)
    found = [BornAgainTreeClassifier(unseeded, random_state=7).fit(X, Y).estimator_ for _ in range(2)]
    assert found[0].random_state == found[1].random_state == 7
    assert BornAgainTreeClassifier(forest(), random_state=7).fit(X, Y).estimator_.random_state == 0
    assert unseeded.random_state is None


def test_works_in_a_pipeline_and_in_cross_validation():
    scores = cross_val_score(make_pipeline(StandardScaler(), BornAgainTreeClassifier(random_state=0)), X, NAMES, cv=3)
    assert scores.mean() > 0.85


def test_parameters_of_the_ensemble_can_be_searched():
    search = GridSearchCV(
        BornAgainTreeClassifier(forest()), {"estimator__max_depth": [1, 2], "objective": ["depth", "leaves"]}, cv=2
    ).fit(X, Y)
    assert search.best_estimator_.estimator_.max_depth == search.best_params_["estimator__max_depth"]


def test_a_pickle_predicts_the_same(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


def test_a_clone_is_unfitted_and_has_the_same_parameters(fitted):
    again = clone(fitted)
    assert not hasattr(again, "tree_")
    assert again.get_params().keys() == fitted.get_params().keys()
    assert again.estimator.max_depth == 3


def test_shows_itself_with_the_ensemble_inside(fitted):
    page = fitted._repr_html_()
    assert "BornAgainTreeClassifier" in page
    assert "RandomForestClassifier" in page


def test_a_pipeline_inside_is_refused_with_the_way_out():
    with pytest.raises(UnsupportedModelError, match=r"make_pipeline\(\.\.\., BornAgainTreeClassifier"):
        BornAgainTreeClassifier(make_pipeline(StandardScaler(), forest())).fit(X, Y)


def test_a_model_that_is_no_ensemble_of_trees_is_refused():
    with pytest.raises(UnsupportedModelError, match="KNeighborsClassifier"):
        BornAgainTreeClassifier(KNeighborsClassifier()).fit(X, Y)


def test_a_forest_whose_tree_is_out_of_reach_is_refused_before_the_work(monkeypatch):
    monkeypatch.setattr("onetree.search.advice.estimated", estimate_by_trees)  # what is proposed is tested elsewhere
    data = load_breast_cancer(return_X_y=True)
    with pytest.raises(TooLargeError, match="support_tree") as caught:
        BornAgainTreeClassifier(RandomForestClassifier(30, random_state=0)).fit(*data)
    assert caught.value.estimate.leaves > 1e6


def test_a_nullable_data_frame_is_read_as_numbers():
    found = BornAgainTreeClassifier(forest()).fit(FRAME.astype("Float64"), pd.Series(NAMES, dtype="string"))
    np.testing.assert_array_equal(found.predict(FRAME), found.estimator_.predict(FRAME))


def test_importing_the_package_leaves_scikit_learn_alone():
    code = "import sys, onetree; assert 'sklearn' not in sys.modules; onetree.BornAgainTreeClassifier()"
    subprocess.run([sys.executable, "-c", code], check=True)
