"""What may be asked of a model, and the refusal of everything else."""

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from onetree import Ensemble, FidelityError, InvalidInputError, UnsupportedModelError, load_ensemble
from onetree.model.ensemble import as_ensemble

X, Y = load_iris(return_X_y=True)
TWO = Y > 0


def forest(y=TWO):
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)


def regressor():
    return RandomForestRegressor(3, max_depth=2, random_state=0).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"output": "score"}, "unknown output"),
        ({"threshold": 1.5}, "between 0 and 1"),
        ({"threshold": float("nan")}, "between 0 and 1"),
        ({"threshold": {0: 0.2, 1: 0.3}}, "name one class"),
        ({"threshold": {7: 0.2}}, "7 is not a class"),
        ({"bands": []}, "list of probabilities"),
        ({"bands": 0.3}, "list of probabilities"),
        ({"bands": "0.3"}, "list of probabilities"),
        ({"bands": [0.2, 1.2]}, "list of probabilities"),
        ({"bands": [float("nan")]}, "list of probabilities"),
        ({"bands": [0.5, 0.2]}, "ascend"),
        ({"bands": [0.5, 0.5]}, "ascend"),
        ({"bands": [0.5], "threshold": 0.5}, "not both"),
        ({"bands": [0.5], "output": "probability"}, "leave it out"),
        ({"bands": [0.5], "output": "value"}, "for classifiers"),
        ({"output": "probability", "voting": "hard"}, "a hard vote does not have"),
        ({"bands": [0.5], "voting": "hard"}, "bands= .* hard vote"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Ensemble.from_model(forest(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.3}, r"has 3; name one, as in threshold=\{2: 0.3\}"),
        ({"bands": [0.3]}, "two classes, and this model has 3"),
        ({"threshold": {1: 0.3}, "output": "probability"}, "second of two classes only"),
    ],
)
def test_what_three_classes_do_not_allow_is_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Ensemble.from_model(forest(Y), **options)


def hard_vote():
    trees = [(name, DecisionTreeClassifier(max_depth=2)) for name in "ab"]
    return VotingClassifier(trees, voting="hard").fit(X, Y)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (forest, {"output": "value"}, "predicts no value"),
        (regressor, {"output": "class"}, "is a regressor"),
        (regressor, {"output": "probability"}, "is a regressor"),
        (hard_vote, {"output": "probability"}, "hard vote counts classes"),
        (lambda: AdaBoostRegressor(n_estimators=2).fit(X, Y), {}, "weighted median"),
        (
            lambda: TransformedTargetRegressor(RandomForestRegressor(2), func=np.log1p, inverse_func=np.expm1).fit(
                X, Y
            ),
            {},
            "a function of its own",
        ),
    ],
)
def test_what_the_model_does_not_have_is_refused_with_the_reason(model, options, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Ensemble.from_model(model(), **options)


def test_a_threshold_for_a_regressor_is_refused():
    with pytest.raises(InvalidInputError, match="for classifiers"):
        Ensemble.from_model(regressor(), threshold=0.5)


def test_a_regressor_is_read_by_itself_but_refused_where_a_class_is_needed():
    assert Ensemble.from_model(regressor()).output == "value"
    with pytest.raises(UnsupportedModelError, match="is a regressor"):
        as_ensemble(regressor())
    with pytest.raises(InvalidInputError, match="is a regressor"):
        as_ensemble(Ensemble.from_model(regressor()))


def test_probabilities_are_left_out_where_the_class_is_asked_for():
    both = Ensemble.from_model(forest(), output="probability")
    assert as_ensemble(both).response is None
    assert as_ensemble(both, output="auto") is both


def test_probabilities_that_an_ensemble_does_not_have_are_refused():
    with pytest.raises(InvalidInputError, match="nothing but the class"):
        as_ensemble(Ensemble.from_model(forest()), output="probability")


def test_values_that_a_link_makes_infinite_are_refused():
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=1, max_depth=2).fit(X, X[:, 0])
    model._baseline_prediction = np.full_like(model._baseline_prediction, 1000.0)
    with pytest.raises(UnsupportedModelError, match="infinite"):
        Ensemble.from_model(model)


def test_numbers_that_are_not_the_models_own_are_noticed():
    class Other(GradientBoostingClassifier):
        def predict_proba(self, X):
            return np.nextafter(super().predict_proba(X), 1)

    model = Other(n_estimators=2, max_depth=2).fit(X, Y)
    Ensemble.from_model(model)
    with pytest.raises(FidelityError, match="differs"):
        Ensemble.from_model(model, output="probability")


def test_a_threshold_keeps_the_probabilities_if_asked_for():
    model = forest()
    ensemble = Ensemble.from_model(model, threshold=0.3, output="probability")
    np.testing.assert_array_equal(ensemble.numbers(X), model.predict_proba(X))
    np.testing.assert_array_equal(ensemble.predict(X), model.predict_proba(X)[:, 1] >= 0.3)


def test_the_first_of_two_classes_can_be_named():
    model = forest()
    ensemble = Ensemble.from_model(model, threshold={False: 0.3})
    np.testing.assert_array_equal(ensemble.predict(X), ~(model.predict_proba(X)[:, 0] >= 0.3))


def test_bands_of_a_single_sum_are_cut_on_the_sum_itself():
    model = GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0).fit(X, TWO)
    (stage,) = Ensemble.from_model(model, bands=[0.6, 0.7]).rule.combination.stages
    assert stage.kind == "bands"


def test_bands_that_no_sum_can_reach_are_still_named():
    ensemble = Ensemble.from_model(forest(), bands=[0, 0.5, 1])
    assert ensemble.classes.tolist() == ["below 0", "0 to 0.5", "0.5 to 1", "1 and above"]
    assert "below 0" not in ensemble.predict(X)


@pytest.mark.parametrize("model", [forest, hard_vote], ids=["soft", "hard"])
def test_a_saved_ensemble_can_be_cut_if_it_has_probabilities(model, tmp_path):
    Ensemble.from_model(model()).save(tmp_path / "file.json")
    if model is hard_vote:
        with pytest.raises(UnsupportedModelError, match="do not say how they become probabilities"):
            load_ensemble(tmp_path / "file.json", bands=[0.2, 0.5])
        return
    found = load_ensemble(tmp_path / "file.json", bands=[0.2, 0.5])
    expected = Ensemble.from_model(model(), bands=[0.2, 0.5])
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_a_saved_ensemble_of_two_levels_can_be_cut(tmp_path):
    members = [("forest", forest()), ("boosted", GradientBoostingClassifier(n_estimators=2, max_depth=2))]
    model = VotingClassifier(members, voting="soft").fit(X, TWO)
    Ensemble.from_model(model, output="probability").save(tmp_path / "file.json")
    own = model.predict_proba(X)[:, 1]
    found = load_ensemble(tmp_path / "file.json", bands=[0.2, 0.7])
    np.testing.assert_array_equal(found.predict_index(X), (own >= 0.2).astype(int) + (own >= 0.7))
    found = load_ensemble(tmp_path / "file.json", threshold=0.7, output="probability")
    np.testing.assert_array_equal(found.predict(X), own >= 0.7)
    np.testing.assert_array_equal(found.numbers(X), model.predict_proba(X))
