"""scikit-learn trees and forests are read so that every prediction is the same, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import AdaBoostRegressor, ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from onetree import Ensemble, FidelityError, InvalidInputError, UnsupportedModelError
from onetree.importers.self_test import sample_rows
from onetree.importers.thresholds import canonical_thresholds

MODELS = [
    DecisionTreeClassifier(max_depth=4, random_state=0),
    ExtraTreeClassifier(max_depth=4, random_state=0),
    RandomForestClassifier(7, max_depth=3, random_state=0),
    RandomForestClassifier(4, random_state=0, class_weight="balanced", criterion="entropy"),
    ExtraTreesClassifier(6, max_depth=4, random_state=0, bootstrap=True),
]
X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def hard_vote(forest, X):
    votes = np.array([tree.predict(X) for tree in forest.estimators_]).astype(int)
    counts = np.apply_along_axis(np.bincount, 0, votes, minlength=len(forest.classes_))
    return forest.classes_[counts.argmax(axis=0)]


def with_gaps(X, rate=0.2):
    return np.where(np.random.default_rng(1).random(X.shape) < rate, np.nan, X)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_soft_vote_predicts_like_the_model_on_and_beside_the_thresholds(model, dtype):
    model.fit(X_IRIS, Y_IRIS)
    ensemble = Ensemble.from_model(model)
    X = np.concatenate([X_IRIS, sample_rows(ensemble, np.random.default_rng(7))]).astype(dtype)
    assert ensemble.rule.kind == "soft"
    np.testing.assert_array_equal(ensemble.predict(X), model.predict(X))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_scores_are_the_probabilities_to_the_last_bit(model):
    model.fit(X_IRIS, Y_IRIS)
    ensemble = Ensemble.from_model(model)
    X = sample_rows(ensemble, np.random.default_rng(8))
    np.testing.assert_array_equal(ensemble.scores(X), model.predict_proba(X))


def test_a_hard_vote_counts_each_trees_own_class():
    forest = RandomForestClassifier(8, max_depth=2, random_state=3).fit(X_IRIS, Y_IRIS)
    ensemble = Ensemble.from_model(forest, voting="hard")
    X = sample_rows(ensemble, np.random.default_rng(9))
    assert ensemble.rule.kind == "hard"
    np.testing.assert_array_equal(ensemble.predict(X), hard_vote(forest, X))
    assert (ensemble.predict(X) != forest.predict(X)).any(), "this forest should tell the two rules apart"


def test_a_single_tree_is_the_same_function_under_both_rules():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X_IRIS, Y_IRIS)
    soft, hard = Ensemble.from_model(tree), Ensemble.from_model(tree, voting="hard")
    X = sample_rows(soft, np.random.default_rng(2))
    np.testing.assert_array_equal(soft.predict(X), hard.predict(X))


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], [True, False], [-1.0, 2.0, 7.0], [10, 20, 30], np.array(["x", "yy", "z"], dtype=object)]
)
def test_class_labels_keep_their_type(labels):
    y = np.asarray(labels)[Y_IRIS % len(labels)]
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X_IRIS, y)
    predicted = Ensemble.from_model(forest).predict(X_IRIS)
    np.testing.assert_array_equal(predicted, forest.predict(X_IRIS))
    assert predicted.dtype == forest.predict(X_IRIS).dtype


def test_a_model_that_knows_one_class_only_is_read():
    forest = RandomForestClassifier(2, random_state=0).fit(X_IRIS, np.full(len(X_IRIS), "only"))
    assert Ensemble.from_model(forest).predict(X_IRIS[:2]).tolist() == ["only", "only"]


def test_feature_names_are_carried_and_cause_no_warning():
    class Frame:  # what scikit-learn asks of a data frame with column names
        columns = ("length", "width", "size", "weight")
        shape = X_IRIS.shape

        def __array__(self, dtype=None, copy=None):
            return np.array(X_IRIS, dtype=dtype)

        def __len__(self):
            return len(X_IRIS)

    tree = DecisionTreeClassifier(max_depth=2).fit(X_IRIS, Y_IRIS)
    assert Ensemble.from_model(tree).feature_names == ("x0", "x1", "x2", "x3")
    tree.feature_names_in_ = np.array(Frame.columns, dtype=object)
    assert Ensemble.from_model(tree).feature_names == Frame.columns
    assert hasattr(tree, "feature_names_in_")


def test_the_number_of_jobs_of_the_model_does_not_matter_and_stays():
    forest = RandomForestClassifier(5, max_depth=3, random_state=0, n_jobs=2).fit(X_IRIS, Y_IRIS)
    Ensemble.from_model(forest)
    assert forest.n_jobs == 2


@given(st.floats(width=64, allow_nan=False, allow_infinity=False), st.floats(width=64, allow_nan=False))
def test_the_canonical_threshold_divides_float64_inputs_as_scikit_learn_does(threshold, x):
    canonical = float(canonical_thresholds(np.array([threshold]))[0])
    with np.errstate(over="ignore"):
        candidates = np.array(
            [x, threshold, canonical, np.nextafter(canonical, np.inf), np.nextafter(canonical, -np.inf)]
        )
        single = candidates.astype(np.float32)
    accepted = np.isfinite(single)  # scikit-learn refuses the others
    expected = single[accepted].astype(np.float64) <= threshold
    np.testing.assert_array_equal(candidates[accepted] <= canonical, expected)


@pytest.mark.parametrize(
    "threshold", [0.0, -0.0, 1e-300, -1e-300, 1e-46, 3.4e38, -3.4e38, 1e300, -1e300, 1.0, 2.0**24 + 1]
)
def test_the_canonical_threshold_of_an_extreme_value_is_a_threshold(threshold):
    canonical = canonical_thresholds(np.array([threshold]))
    assert np.isfinite(canonical).all()


def test_thresholds_that_no_input_can_tell_apart_become_one():
    beside = np.nextafter(0.3, 1)
    assert len(np.unique(canonical_thresholds(np.array([0.3, beside])))) == 1


def test_an_infinite_threshold_stays_infinite():
    assert canonical_thresholds(np.array([np.inf])).tolist() == [np.inf]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_nan_is_an_input_of_models_that_met_nan_in_training(model):
    X = with_gaps(X_IRIS)
    model.fit(X, Y_IRIS)
    ensemble = Ensemble.from_model(model)
    allows_nan = not isinstance(model, ExtraTreeClassifier) or ensemble.nan_features.all()
    assert allows_nan
    rows = sample_rows(ensemble, np.random.default_rng(4))
    assert np.isnan(rows).any()
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))


def test_nan_is_no_input_of_models_that_never_met_it_unless_asked_for():
    X, y = load_breast_cancer(return_X_y=True)
    for model in (RandomForestClassifier(10, random_state=0), ExtraTreesClassifier(10, random_state=0)):
        model.fit(X, y)
        assert not Ensemble.from_model(model).nan_features.any()
        following = Ensemble.from_model(model, missing="follow")
        assert following.nan_features.all()
        rows = with_gaps(X)
        np.testing.assert_array_equal(following.predict(rows), model.predict(rows))


def test_nan_can_be_refused_although_the_model_met_it():
    tree = DecisionTreeClassifier(random_state=0).fit(with_gaps(X_IRIS), Y_IRIS)
    with pytest.raises(InvalidInputError, match="NaN"):
        Ensemble.from_model(tree, missing="refuse").predict(with_gaps(X_IRIS))


def test_only_missing_values_going_right_is_an_infinite_threshold():
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    tree = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    ensemble = Ensemble.from_model(tree)
    assert ensemble.threshold[0] == np.inf
    assert ensemble.predict([[5.0], [np.nan]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RandomForestClassifier(), "not fitted; call fit"),
        (DecisionTreeClassifier(), "not fitted; call fit"),
        (RandomForestClassifier, "is a class, not a fitted model"),
        (AdaBoostRegressor(n_estimators=2).fit(X_IRIS, Y_IRIS), "weighted median"),
        (DecisionTreeRegressor().fit(X_IRIS, np.column_stack([Y_IRIS, Y_IRIS])), "2 outputs"),
        (RandomForestRegressor(2), "not fitted; call fit"),
        (DecisionTreeClassifier().fit(X_IRIS, np.column_stack([Y_IRIS, Y_IRIS])), "2 outputs"),
        (RandomForestClassifier(2).fit(X_IRIS, np.column_stack([Y_IRIS, Y_IRIS])), "2 outputs"),
        (LogisticRegression(max_iter=1000).fit(X_IRIS, Y_IRIS), "LogisticRegression is not supported"),
        ("forest.pkl", "cannot read a model of type builtins.str"),
        (None, "cannot read a model of type builtins.NoneType"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(model, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Ensemble.from_model(model)


def test_a_member_that_is_no_tree_is_refused():
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X_IRIS, Y_IRIS)
    forest.estimators_[1] = LogisticRegression()
    with pytest.raises(UnsupportedModelError, match=r"member 1 .* LogisticRegression, not a tree"):
        Ensemble.from_model(forest)


def test_a_member_of_another_shape_is_refused():
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X_IRIS, Y_IRIS)
    forest.estimators_[1] = DecisionTreeClassifier(max_depth=2).fit(X_IRIS[:, :2], Y_IRIS)
    with pytest.raises(UnsupportedModelError, match=r"tree 1 .* 2 features"):
        Ensemble.from_model(forest)


def test_a_forest_without_trees_is_refused():
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X_IRIS, Y_IRIS)
    forest.estimators_ = []
    with pytest.raises(UnsupportedModelError, match="no trees"):
        Ensemble.from_model(forest)


@pytest.mark.parametrize("options", [{"voting": "majority"}, {"missing": "drop"}])
def test_unknown_options_are_refused(options):
    with pytest.raises(InvalidInputError, match="use one of"):
        Ensemble.from_model(MODELS[0], **options)


def test_the_self_test_notices_a_model_whose_predict_is_not_scikit_learns():
    class Contrary(RandomForestClassifier):
        def predict(self, X):
            return np.where(X[:, 3] > 1.0, super().predict(X), self.classes_[0])

    forest = Contrary(5, max_depth=3, random_state=0).fit(X_IRIS, Y_IRIS)
    with pytest.raises(FidelityError, match="differs from the model itself"):
        Ensemble.from_model(forest)


def test_the_self_test_notices_thresholds_that_were_not_made_canonical(monkeypatch):
    X, y = make_classification(300, random_state=0)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    monkeypatch.setattr("onetree.importers.sklearn.nodes.canonical_thresholds", lambda threshold: threshold)
    with pytest.raises(FidelityError):
        Ensemble.from_model(forest)


def test_the_self_test_notices_missing_values_sent_the_wrong_way(monkeypatch):
    X = with_gaps(X_IRIS)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y_IRIS)
    from onetree.importers.sklearn import nodes, reading

    def turned(tree, value, columns=None):
        read = nodes.nodes_of(tree, value, columns)
        return replace(read, missing_left=~read.missing_left)

    monkeypatch.setattr(reading, "nodes_of", turned)
    with pytest.raises(FidelityError):
        Ensemble.from_model(forest)
