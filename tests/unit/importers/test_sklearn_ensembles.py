"""scikit-learn's bagged, boosted and voting trees are read so that every score is the same, bit for bit."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from onetree import Ensemble, FidelityError, InvalidInputError, UnsupportedModelError, born_again, verify
from onetree.importers.self_test import FLOAT32_MAX, sample_rows

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
LABELS = np.array(["a", "bb", "c", "d", "e"])


def tree(depth=3, **options):
    return DecisionTreeClassifier(max_depth=depth, **options)


class UnweightedTree(DecisionTreeClassifier):
    """Takes no sample weights, so Bagging hands it its sample only, in which classes may be missing."""

    def fit(self, X, y):
        return super().fit(X, y)


def voters(n_members, **options):
    members = [(f"tree{i}", tree(max_features=2, random_state=i)) for i in range(n_members)]
    return VotingClassifier(members, **options)


WEIGHTS = [0.1, 0.2, 0.3, 0.7, 0.5, 0.6, 0.1, 0.8, 0.9]
MODELS = {
    "bagging": BaggingClassifier(tree(), 7, random_state=0),
    "bagging of one tree": BaggingClassifier(tree(), 1, random_state=0),
    "bagging on some columns": BaggingClassifier(tree(), 9, max_features=0.5, random_state=0),
    "bagging on repeated columns": BaggingClassifier(tree(), 9, bootstrap_features=True, random_state=0),
    "bagging without all classes": BaggingClassifier(UnweightedTree(max_depth=3), 6, max_samples=4, random_state=1),
    "adaboost of stumps": AdaBoostClassifier(tree(1), n_estimators=9, random_state=0),
    "adaboost": AdaBoostClassifier(tree(), n_estimators=12, random_state=0, learning_rate=0.7),
    "hard voting": VotingClassifier([("a", tree()), ("b", ExtraTreeClassifier(max_depth=4, random_state=0))]),
    "hard voting with weights": voters(9, weights=WEIGHTS),
    "soft voting": voters(9, voting="soft"),
    "soft voting with weights": voters(9, voting="soft", weights=WEIGHTS),
    "gradient boosting": GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0),
    "gradient boosting of one stump": GradientBoostingClassifier(n_estimators=1, max_depth=1, random_state=0),
    "gradient boosting from zero": GradientBoostingClassifier(n_estimators=5, init="zero", random_state=0),
    "gradient boosting from a constant": GradientBoostingClassifier(n_estimators=4, init=DummyClassifier()),
    "hist gradient boosting": HistGradientBoostingClassifier(max_iter=6, max_depth=3, min_samples_leaf=5),
    "hist gradient boosting of one stump": HistGradientBoostingClassifier(max_iter=1, max_leaf_nodes=2),
}
WITH_NAN = [name for name in MODELS if "adaboost" not in name and not name.startswith("gradient")]


def training_data(n_classes, gaps=False):
    X, y = make_classification(
        250, 6, n_informative=5, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=n_classes
    )
    if gaps:
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    return X, LABELS[y]


def rows_for(ensemble, model, seed):
    largest = np.inf if isinstance(model, HistGradientBoostingClassifier) else FLOAT32_MAX
    return sample_rows(ensemble, np.random.default_rng(seed), largest=largest)


def library_scores(model, X):
    if isinstance(model, AdaBoostClassifier) and len(model.classes_) == 2:
        return model.decision_function(X).reshape(len(X), 1) / 2  # exact
    if hasattr(model, "decision_function"):
        return model.decision_function(X).reshape(len(X), -1)
    return model.predict_proba(X)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_ensemble_predicts_like_the_model_on_and_beside_the_thresholds(name, n_classes, dtype):
    X, y = training_data(n_classes)
    model = MODELS[name].fit(X, y)
    ensemble = Ensemble.from_model(model)
    with np.errstate(over="ignore"):
        rows = np.concatenate([X, rows_for(ensemble, model, 7)]).astype(dtype)
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))
    assert not ensemble.nan_features.any()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("hard")])
def test_the_scores_are_those_of_the_model_to_the_last_bit(name, n_classes):
    model = MODELS[name].fit(*training_data(n_classes))
    ensemble = Ensemble.from_model(model)
    rows = rows_for(ensemble, model, 8)
    np.testing.assert_array_equal(ensemble.scores(rows), library_scores(model, rows))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", WITH_NAN)
def test_missing_values_take_the_way_of_the_model(name, n_classes):
    model = MODELS[name].fit(*training_data(n_classes, gaps=True))
    ensemble = Ensemble.from_model(model, missing="follow")
    assert ensemble.nan_features.all()
    rows = rows_for(ensemble, model, 9)
    assert np.isnan(rows).any()
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))


@pytest.mark.parametrize("name", ["bagging", "soft voting", "hist gradient boosting"])
def test_nan_is_an_input_by_itself_only_of_models_that_met_it(name):
    model = MODELS[name]
    assert Ensemble.from_model(model.fit(*training_data(3, gaps=True))).nan_features.all()
    assert not Ensemble.from_model(model.fit(*training_data(3, gaps=True)), missing="refuse").nan_features.any()
    assert not Ensemble.from_model(model.fit(*training_data(3))).nan_features.any()


@pytest.mark.parametrize("name", ["adaboost", "gradient boosting"])
def test_nan_is_no_input_of_a_model_that_refuses_it(name):
    ensemble = Ensemble.from_model(MODELS[name].fit(*training_data(2)), missing="follow")
    assert not ensemble.nan_features.any()


def test_infinite_inputs_go_where_hist_gradient_boosting_sends_them():
    model = HistGradientBoostingClassifier(max_iter=5, max_depth=3).fit(*training_data(2))
    rows = np.random.default_rng(0).choice([-np.inf, np.inf, -1e300, 1e300, 0.0], size=(300, 6))
    np.testing.assert_array_equal(Ensemble.from_model(model).predict(rows), model.predict(rows))


def test_a_split_between_minus_infinity_and_all_numbers_is_refused_for_what_it_is():
    X, y = training_data(2)
    X[y == "a", 1] = -np.inf
    model = HistGradientBoostingClassifier(max_iter=1, max_depth=1).fit(X, y)
    with pytest.raises(UnsupportedModelError, match=r"-inf from all numbers in feature 'x1'.*by -1e300") as refused:
        Ensemble.from_model(model)
    assert "damaged" not in str(refused.value)
    model.fit(np.maximum(X, -1e300), y)
    np.testing.assert_array_equal(Ensemble.from_model(model).predict(X), model.predict(X))


def test_members_that_lack_classes_were_really_there():
    model = MODELS["bagging without all classes"].fit(*training_data(5))
    assert any(len(member.classes_) < 5 for member in model.estimators_)


def test_a_tie_of_gradient_boosting_goes_to_the_second_class():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 1, 0, 1]
    model = GradientBoostingClassifier(n_estimators=1, init="zero").fit(X, y)
    assert model.decision_function(X).tolist() == [0.0] * 4
    assert Ensemble.from_model(model).predict(X).tolist() == model.predict(X).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("name", ["bagging on some columns", "bagging without all classes", "soft voting"])
def test_a_hard_vote_can_be_asked_of_trees_that_vote_softly(name):
    model = MODELS[name].fit(*training_data(3))
    ensemble = Ensemble.from_model(model, voting="hard")
    assert ensemble.rule.kind == "hard"


@pytest.mark.parametrize(
    ("name", "voting"),
    [
        ("adaboost", "hard"),
        ("gradient boosting", "soft"),
        ("hist gradient boosting", "hard"),
        ("hard voting", "soft"),
        ("hard voting with weights", "hard"),
        ("soft voting with weights", "hard"),
    ],
)
def test_a_vote_that_the_model_does_not_take_is_refused(name, voting):
    with pytest.raises(UnsupportedModelError, match='use voting="auto"'):
        Ensemble.from_model(MODELS[name].fit(*training_data(3)), voting=voting)


@pytest.mark.parametrize(
    "model",
    [BaggingClassifier(tree(), 3), AdaBoostClassifier(n_estimators=3), voters(3)],
    ids=lambda m: type(m).__name__,
)
def test_a_model_that_knows_one_class_only_is_read(model):
    model.fit(X_IRIS, np.full(len(X_IRIS), "only"))
    assert Ensemble.from_model(model).predict(X_IRIS[:2]).tolist() == ["only", "only"]


def test_names_of_the_columns_of_voting_members_cause_no_warning():
    model = voters(3).fit(X_IRIS, Y_IRIS)
    names = np.array(["length", "width", "size", "weight"], dtype=object)
    for part in (model, *model.estimators_):
        part.feature_names_in_ = names
    assert Ensemble.from_model(model).feature_names == tuple(names)
    assert all(hasattr(member, "feature_names_in_") for member in model.estimators_)


def test_a_talkative_model_is_read_in_silence(capfd):
    model = RandomForestClassifier(3, max_depth=2, verbose=0).fit(X_IRIS, Y_IRIS)
    model.verbose = 2
    Ensemble.from_model(model)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["bagging on repeated columns", "adaboost of stumps", "soft voting with weights"])
def test_the_one_tree_is_proven_equal(name):
    model = MODELS[name].fit(X_IRIS[:, :2], Y_IRIS)
    solution = born_again(model, objective="leaves", method="heuristic")
    assert verify(solution.tree, model)


def damaged(model, **attributes):
    model.fit(X_IRIS, Y_IRIS)
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BaggingClassifier(LogisticRegression(max_iter=1000), 2), "LogisticRegression is not supported"),
        (AdaBoostClassifier(RandomForestClassifier(2), n_estimators=2), "RandomForestClassifier, not a tree"),
        (voters(2, weights=[1, -1]), "weights .* non-negative finite numbers"),
        (voters(2, weights=[0, 0]), "weights .* not all 0"),
        (GradientBoostingClassifier(n_estimators=1, init=GaussianNB()), r"init=GaussianNB.*not read.*init=None"),
        (GradientBoostingClassifier(n_estimators=1, init=DummyClassifier(strategy="stratified")), "a constant dummy"),
        (
            StackingClassifier([("a", tree())], LogisticRegression(C=1e-3, max_iter=10_000), passthrough=True),
            "passthrough",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(model, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Ensemble.from_model(model.fit(np.abs(X_IRIS.round()), Y_IRIS))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (damaged(BaggingClassifier(tree(), 3), n_estimators=2), "n_estimators=2"),
        (damaged(BaggingClassifier(tree(), 1), estimators_features_=[np.array([0, 1, 2, 9])]), "columns that do not"),
        (damaged(AdaBoostClassifier(n_estimators=2), estimator_weights_=np.zeros(2)), "do not add up"),
        (damaged(GradientBoostingClassifier(n_estimators=2), estimators_=np.empty((0, 3), dtype=object)), "no trees"),
        (damaged(HistGradientBoostingClassifier(max_iter=1), _predictors=[[]]), "3 trees in each iteration"),
    ],
)
def test_a_model_that_contradicts_itself_is_refused(model, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Ensemble.from_model(model)


def test_the_self_test_notices_a_boosted_model_whose_predict_is_its_own():
    class Contrary(GradientBoostingClassifier):
        def predict(self, X):
            return np.where(X[:, 3] > 1.0, super().predict(X), self.classes_[0])

    with pytest.raises(FidelityError, match="differs from the model itself"):
        Ensemble.from_model(Contrary(n_estimators=3).fit(X_IRIS, Y_IRIS))


def test_nan_is_refused_on_prediction_where_it_is_no_input():
    ensemble = Ensemble.from_model(MODELS["adaboost"].fit(X_IRIS, Y_IRIS))
    with pytest.raises(InvalidInputError, match="NaN"):
        ensemble.predict(np.full((1, 4), np.nan))


def test_reading_a_model_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in MODELS.values():
            Ensemble.from_model(model.fit(*training_data(3)))
