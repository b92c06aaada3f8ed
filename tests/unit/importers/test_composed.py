"""Models of models: read as they predict, reduced to one level where that is enough, refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
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
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from onetree import Ensemble, InvalidInputError, UnsupportedModelError, born_again, load_ensemble, verify
from onetree.importers.self_test import quick_scores, sample_rows

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(200, 3)), 2)
TWO = (X[:, 0] + X[:, 1] > 0.2).astype(int)
THREE = TWO + (X[:, 2] > 0.4)


def forest(seed=0):
    return RandomForestClassifier(2, max_depth=2, random_state=seed)


def gradient(seed=0):
    return GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=seed)


def hist(seed=0):
    return HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3, random_state=seed)


def ada(seed=0):
    return AdaBoostClassifier(n_estimators=3, random_state=seed)


def xgboost(seed=0):
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=2, max_depth=2, random_state=seed, n_jobs=1)


def lightgbm(seed=0):
    module = pytest.importorskip("lightgbm")
    return module.LGBMClassifier(n_estimators=2, num_leaves=4, verbose=-1, random_state=seed, n_jobs=1)


FAMILIES = [forest, gradient, hist, ada, xgboost, lightgbm]


def named(*models):
    return [(f"m{i}", model) for i, model in enumerate(models)]


def rows(ensemble):
    return sample_rows(ensemble, np.random.default_rng(7))


def assert_same_probabilities(model, ensemble):
    points = rows(ensemble)
    own = ensemble.rule.combination.final(quick_scores(ensemble, points))
    np.testing.assert_array_equal(own, model.predict_proba(points))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("weights", [None, [1, 2.5, 1, 0.3]])
def test_a_soft_vote_of_four_libraries_has_its_probabilities_to_the_last_bit(y, weights):
    members = named(forest(), xgboost(), lightgbm(), hist())
    model = VotingClassifier(members, voting="soft", weights=weights).fit(X, y)
    assert_same_probabilities(model, Ensemble.from_model(model))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("weights", [None, [1, 1.5, 1]])
def test_a_hard_vote_predicts_like_the_library(y, weights):
    model = VotingClassifier(named(forest(), gradient(), ada()), voting="hard", weights=weights).fit(X, y)
    ensemble = Ensemble.from_model(model)
    np.testing.assert_array_equal(ensemble.predict(rows(ensemble)), model.predict(rows(ensemble)))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_calibrated_model_has_its_probabilities_to_the_last_bit(family, method, y):
    model = CalibratedClassifierCV(family(), method=method, cv=2).fit(X, y)
    assert_same_probabilities(model, Ensemble.from_model(model))


def test_temperature_scaling_has_its_probabilities_to_the_last_bit():
    try:
        models = [CalibratedClassifierCV(f(), method="temperature", cv=2).fit(X, THREE) for f in (forest, gradient)]
    except ValueError:
        pytest.skip("this scikit-learn has no temperature scaling")
    for model in models:
        assert_same_probabilities(model, Ensemble.from_model(model))


@pytest.mark.parametrize("family", [forest, gradient, xgboost, lightgbm], ids=lambda family: family.__name__)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_one_calibrated_binary_model_is_a_score_and_a_cut(family, method):
    model = CalibratedClassifierCV(family(), method=method, cv=2, ensemble=False).fit(X, TWO)
    assert Ensemble.from_model(model).rule.kind == "score"


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, np.float64(0.7), 1.0])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_threshold_is_what_the_probability_is_compared_with(family, threshold):
    model = family().fit(X, TWO)
    ensemble = Ensemble.from_model(model, threshold=threshold)
    points = rows(ensemble)
    expected = model.classes_[(model.predict_proba(points)[:, 1] >= threshold).astype(int)]
    np.testing.assert_array_equal(ensemble.predict(points), expected)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_thresholded_models_predict_like_the_library(pos_label):
    selection = pytest.importorskip("sklearn.model_selection")
    for inner in (forest(), gradient(), VotingClassifier(named(forest(), hist()), voting="soft")):
        model = selection.FixedThresholdClassifier(inner, threshold=0.35, pos_label=pos_label).fit(X, TWO)
        ensemble = Ensemble.from_model(model)
        np.testing.assert_array_equal(ensemble.predict(rows(ensemble)), model.predict(rows(ensemble)))
    model = selection.TunedThresholdClassifierCV(forest(), cv=2).fit(X, TWO)
    ensemble = Ensemble.from_model(model)
    np.testing.assert_array_equal(ensemble.predict(rows(ensemble)), model.predict(rows(ensemble)))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_stacks_and_one_against_the_rest_predict_like_the_library(y):
    stack = StackingClassifier(named(forest(), gradient()), LogisticRegression(), cv=2, stack_method="predict_proba")
    for model in (stack.fit(X, y), OneVsRestClassifier(forest()).fit(X, y), OneVsRestClassifier(hist()).fit(X, y)):
        ensemble = Ensemble.from_model(model)
        np.testing.assert_array_equal(ensemble.predict(rows(ensemble)), model.predict(rows(ensemble)))


def test_a_bag_of_models_that_see_some_columns_has_its_probabilities():
    model = BaggingClassifier(gradient(), n_estimators=3, max_features=2, random_state=0).fit(X, THREE)
    assert_same_probabilities(model, Ensemble.from_model(model))


def test_members_behind_pipelines_are_read_on_their_raw_columns():
    model = VotingClassifier(named(make_pipeline(StandardScaler(), forest()), gradient()), voting="soft").fit(X, TWO)
    tree = born_again(model).tree
    np.testing.assert_array_equal(tree.predict(X), model.predict(X))


def test_a_vote_of_pipelines_over_texts_is_read_on_the_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"zone": RNG.choice(["north", "south", "west"], len(X)), "age": X[:, 0]})
    y = ((frame["zone"] == "west") | (frame["age"] > 0.5)).astype(int)

    def encoded(model):
        steps = [("zone", OneHotEncoder(handle_unknown="ignore"), ["zone"]), ("age", StandardScaler(), ["age"])]
        return make_pipeline(ColumnTransformer(steps), model)

    model = VotingClassifier(named(encoded(forest()), encoded(gradient())), voting="soft").fit(frame, y)
    tree = born_again(model).tree
    other = frame.assign(zone=np.where(X[:, 1] > 1, "mars", frame["zone"]))
    assert tree.feature_names == ("zone", "age")
    for rows_ in (frame, other):
        np.testing.assert_array_equal(tree.predict(rows_), model.predict(rows_))


def test_the_tree_of_a_frame_goes_by_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = VotingClassifier(named(forest(), hist()), voting="soft").fit(frame, TWO)
    tree = born_again(model).tree
    np.testing.assert_array_equal(tree.predict(frame[["c", "a", "b"]]), model.predict(frame))


def test_born_again_takes_a_threshold_for_models_ensembles_and_files(tmp_path):
    model = forest().fit(X, TWO)
    Ensemble.from_model(model).save(tmp_path / "forest.json")
    expected = (model.predict_proba(X)[:, 1] >= 0.3).astype(int)
    for source in (model, Ensemble.from_model(model), tmp_path / "forest.json"):
        np.testing.assert_array_equal(born_again(source, threshold=0.3).tree.predict(X), expected)


def test_files_of_boosted_models_take_a_threshold(tmp_path):
    for model, path, save in (
        (xgboost().fit(X, TWO), tmp_path / "model.ubj", lambda model, path: model.save_model(path)),
        (lightgbm().fit(X, TWO), tmp_path / "model.txt", lambda model, path: model.booster_.save_model(path)),
    ):
        save(model, path)
        ensemble = load_ensemble(path, threshold=0.4)
        points = rows(ensemble)
        np.testing.assert_array_equal(ensemble.predict(points), model.predict_proba(points)[:, 1] >= 0.4)


@pytest.mark.parametrize("threshold", [-0.1, 1.5, "0.3", True, np.nan])
def test_a_threshold_must_be_a_probability(threshold):
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        Ensemble.from_model(forest().fit(X, TWO), threshold=threshold)


def test_a_threshold_needs_two_classes():
    with pytest.raises(InvalidInputError, match="two classes"):
        Ensemble.from_model(forest().fit(X, THREE), threshold=0.3)


def test_what_cannot_be_read_is_refused_with_a_reason():
    with pytest.raises(UnsupportedModelError, match="passthrough"):
        Ensemble.from_model(StackingClassifier(named(forest()), cv=2, passthrough=True).fit(X, TWO))
    with pytest.raises(UnsupportedModelError, match="LogisticRegression"):
        Ensemble.from_model(StackingClassifier(named(forest()), DecisionTreeClassifier(), cv=2).fit(X, TWO))
    with pytest.raises(UnsupportedModelError, match="not supported"):
        Ensemble.from_model(VotingClassifier(named(forest(), LogisticRegression()), voting="soft").fit(X, TWO))
    with pytest.raises(UnsupportedModelError, match="not fitted"):
        Ensemble.from_model(CalibratedClassifierCV(forest()))


@pytest.mark.parametrize("y", [TWO, THREE, THREE + 3 * (X[:, 0] > 0)], ids=["two", "three", "six"])
@pytest.mark.parametrize("family", [*FAMILIES, DecisionTreeClassifier], ids=lambda family: family.__name__)
def test_one_against_the_rest_has_its_probabilities_to_the_last_bit(family, y):
    model = OneVsRestClassifier(family()).fit(X, y)
    ensemble = Ensemble.from_model(model, output="probability")
    points = rows(ensemble)
    own = model.predict_proba(points)
    np.testing.assert_array_equal(ensemble.numbers(points), own)
    assert ensemble.numbers(points).dtype == own.dtype
    np.testing.assert_array_equal(ensemble.predict(points), model.predict(points))


def test_an_input_that_belongs_to_no_class_has_probabilities_of_zero():
    rare = np.where(np.abs(X[:, 0]) < 0.02, 2, TWO)
    model = OneVsRestClassifier(DecisionTreeClassifier(max_depth=9, random_state=0)).fit(X, rare)
    ensemble = Ensemble.from_model(model, output="probability")
    points = RNG.normal(size=(2000, 3))
    own = model.predict_proba(points)
    assert (own.sum(axis=1) == 0).any()
    np.testing.assert_array_equal(ensemble.numbers(points), own)


@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_a_tree_has_the_probabilities_of_one_against_the_rest(tolerance):
    model = OneVsRestClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, THREE)
    trees = [
        born_again(model, output="probability", tolerance=tolerance, engine=engine).tree
        for engine in ("interval-dp", "branch-and-bound")
    ]
    assert trees[0].n_leaves == trees[1].n_leaves
    for tree in trees:
        assert np.abs(tree.predict_proba(X) - model.predict_proba(X)).max() <= tolerance
        assert all(verify(tree, model, method=method) for method in ("search", "cells", "milp"))


def lightgbm_one_vs_all():
    return lightgbm().set_params(objective="multiclassova")


def lightgbm_forest():
    return lightgbm().set_params(boosting_type="rf", bagging_freq=1, bagging_fraction=0.6)


@pytest.mark.parametrize("family", [lightgbm_one_vs_all, lightgbm_forest], ids=lambda family: family.__name__)
def test_every_kind_of_lightgbm_is_read_inside_other_models(family):
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    models = [
        VotingClassifier(named(family(), tree), voting="soft"),
        VotingClassifier(named(family(), tree, forest()), voting="hard"),
        CalibratedClassifierCV(family(), cv=2),
        BaggingClassifier(family(), 2, random_state=0),
    ]
    for model in models:
        model.fit(X, THREE)
        ensemble = Ensemble.from_model(model)
        np.testing.assert_array_equal(ensemble.predict(rows(ensemble)), model.predict(rows(ensemble)))
    model = family().fit(X, THREE)
    ensemble = Ensemble.from_model(model, threshold={2: 0.4})
    expected = np.where(model.predict_proba(rows(ensemble))[:, 2] >= 0.4, "2", "not 2")
    np.testing.assert_array_equal(ensemble.predict(rows(ensemble)), expected)


def test_a_model_whose_own_predict_fails_is_refused():
    catboost = pytest.importorskip("catboost").CatBoostClassifier(iterations=2, depth=2, verbose=0)
    catboost.set_params(allow_writing_files=False)  # its predict returns a column, which a vote cannot count
    model = VotingClassifier(named(catboost, forest(), forest(1)), voting="hard").fit(X, THREE)
    try:
        model.predict(X)
    except ValueError:
        with pytest.raises(UnsupportedModelError, match="cannot predict"):
            Ensemble.from_model(model)
