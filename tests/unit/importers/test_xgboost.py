"""XGBoost models are read so that every margin is the same to the last bit."""

import json

import numpy as np
import pytest

from onetree import Ensemble, FidelityError, InvalidInputError, ModelFileError, born_again
from onetree.importers.self_test import sample_rows
from onetree.importers.xgboost.model import import_xgboost, parse_xgboost_json
from tests.cases.arrays import ARRAYS
from tests.cases.xgboost_models import (
    BOOSTERS,
    PARSERS,
    as_booster,
    classes,
    data,
    document,
    margins,
    model_of,
    parse,
    train,
    tree_of,
)

xgb = pytest.importorskip("xgboost")


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    ("n_classes", "objective"),
    [
        (2, "binary:logistic"),
        (2, "binary:hinge"),
        (3, "multi:softprob"),
        (3, "multi:softmax"),
        (5, "multi:softprob"),
    ],
)
@pytest.mark.parametrize(("gaps", "depth", "tree_method"), [(0.0, 6, "hist"), (0.15, 3, "hist"), (0.15, 1, "exact")])
def test_margins_and_classes_are_the_boosters_own(booster, n_classes, objective, gaps, depth, tree_method):
    options = BOOSTERS[booster] | {"objective": objective, "max_depth": depth, "tree_method": tree_method}
    model = train(n_classes, gaps, **options)
    ensemble = import_xgboost(model, missing="follow")
    X = np.concatenate([data(n_classes, gaps)[0], sample_rows(ensemble, np.random.default_rng(7))])
    for inputs in (X, X.astype(np.float32)):
        np.testing.assert_array_equal(ensemble.scores(inputs), margins(model, inputs))
        np.testing.assert_array_equal(ensemble.predict(inputs), classes(model, inputs, objective))


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_predicts_as_its_in_place_prediction_adds(booster, n_classes):
    X, y = data(n_classes, 0.1)
    options = BOOSTERS[booster] | {"base_score": 0.3} if n_classes == 2 else BOOSTERS[booster]
    model = xgb.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1, **options).fit(X, y)
    ensemble = import_xgboost(model)
    rows = sample_rows(ensemble, np.random.default_rng(8))
    margin = model.predict(rows, output_margin=True).reshape(len(rows), -1)
    np.testing.assert_array_equal(ensemble.scores(rows), margin)
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))


def test_a_random_forest_classifier_is_read():
    X, y = data(3)
    model = xgb.XGBRFClassifier(n_estimators=5, max_depth=3, n_jobs=1, random_state=0).fit(X, y)
    ensemble = Ensemble.from_model(model)
    assert ensemble.n_trees == 15
    np.testing.assert_array_equal(ensemble.predict(X), model.predict(X))


@pytest.mark.parametrize("base_score", [1e-6, 0.1, 0.3, 0.5, 0.7310586, 0.999])
def test_the_base_margin_is_exact_whatever_the_base_score(base_score):
    model = train(rounds=1, base_score=base_score)
    rows = np.zeros((1, 6))
    assert import_xgboost(model).scores(rows) == margins(model, rows)


@pytest.mark.parametrize("file_format", PARSERS)
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_file_holds_the_same_as_the_live_model(file_format, booster, n_classes, tmp_path):
    model = train(n_classes, 0.1, **BOOSTERS[booster])
    model.save_model(tmp_path / f"model.{file_format}")
    found = PARSERS[file_format]((tmp_path / f"model.{file_format}").read_bytes())
    live = import_xgboost(model)
    for name in ARRAYS:
        assert getattr(found, name).tobytes() == getattr(live, name).tobytes(), name
    assert (found.rule, found.feature_names) == (live.rule, live.feature_names)


@pytest.fixture(scope="module")
def stopped_early():
    X, y = data(2)
    model = xgb.XGBClassifier(n_estimators=60, early_stopping_rounds=2, max_depth=2, learning_rate=1.0, n_jobs=1)
    model.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    return model


def test_a_classifier_stops_at_its_best_iteration_and_a_booster_does_not(stopped_early):
    booster = stopped_early.get_booster()
    assert import_xgboost(stopped_early).n_trees == stopped_early.best_iteration + 1
    assert import_xgboost(booster).n_trees == booster.num_boosted_rounds()


def test_a_file_is_read_as_whoever_saved_it_would_predict(stopped_early, tmp_path):
    stopped_early.save_model(tmp_path / "classifier.json")
    booster = stopped_early.get_booster()
    booster.save_model(tmp_path / "booster.json")
    n_trees = [
        parse_xgboost_json((tmp_path / f"{name}.json").read_bytes()).n_trees for name in ("classifier", "booster")
    ]
    assert n_trees == [stopped_early.best_iteration + 1, booster.num_boosted_rounds()]


def test_a_best_iteration_that_does_not_exist_is_refused(stopped_early, tmp_path):
    stopped_early.save_model(tmp_path / "classifier.json")
    contents = json.loads((tmp_path / "classifier.json").read_bytes())
    contents["learner"]["attributes"]["best_iteration"] = "60"
    with pytest.raises(ModelFileError, match="'60' cannot be the best iteration"):
        parse(contents)


@pytest.mark.parametrize("tree_method", ["hist", "approx", "exact"])
def test_nan_is_an_input_if_it_was_met_in_training(tree_method):
    options = {"tree_method": tree_method, "max_depth": 4, "rounds": 10}
    assert not import_xgboost(train(2, 0.0, **options)).nan_features.any()
    assert import_xgboost(train(2, 0.1, **options)).nan_features.all()


def test_nan_can_be_followed_or_refused_whatever_the_training_met():
    assert import_xgboost(train(2, 0.0), missing="follow").nan_features.all()
    assert not import_xgboost(train(2, 0.1), missing="refuse").nan_features.any()


def test_nan_where_it_was_never_met_is_refused_with_the_remedy():
    ensemble = import_xgboost(train(2, 0.0))
    with pytest.raises(InvalidInputError, match='missing="follow"'):
        ensemble.predict(np.full((1, 6), np.nan))


def test_feature_names_and_classes_are_carried_through():
    X, y = data(3)
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    booster = xgb.train({"objective": "multi:softmax", "num_class": 3}, xgb.DMatrix(X, y, feature_names=names), 1)
    ensemble = import_xgboost(booster)
    assert ensemble.feature_names == tuple(names)
    assert ensemble.classes.tolist() == [0, 1, 2]


def test_a_tree_that_pruning_left_nodes_behind_in_is_read():
    model = train(gamma=3.0, tree_method="exact", max_depth=5)
    trees = document(model)["learner"]["gradient_booster"]["model"]["trees"]
    assert any(tree["tree_param"]["num_deleted"] != "0" for tree in trees)
    rows = data(2)[0]
    np.testing.assert_array_equal(import_xgboost(model).scores(rows), margins(model, rows))


def test_a_number_taken_for_missing_is_fine_where_it_changes_nothing():
    X, y = data(2)
    model = xgb.XGBClassifier(n_estimators=3, missing=1e9, n_jobs=1).fit(X, y)
    assert import_xgboost(model).n_trees == 3


@pytest.mark.parametrize("margin", ["0x1.7ffffep-24", "0x1.8p-24", "0x1.800002p-24", "0x1.800004p-24", "0", "-0x1p-30"])
def test_the_class_next_to_the_cut_is_the_one_of_the_float32_sigmoid(margin):
    contents = model_of([tree_of(float.fromhex(margin))])
    rows = np.zeros((1, 4))
    assert parse(contents).predict(rows) == classes(as_booster(contents), rows, "binary:logistic")


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
@pytest.mark.parametrize("ulps", range(6))
def test_near_ties_of_several_scores_go_where_the_library_sends_them(objective, ulps):
    leaves = np.float32([0.3, 0.3, -0.4])
    for _ in range(ulps):
        leaves[1] = np.nextafter(leaves[1], np.float32(1))
    contents = model_of([tree_of(leaf) for leaf in leaves], [0, 1, 2], objective, "5E-1")
    rows = np.zeros((1, 4))
    assert parse(contents).predict(rows) == classes(as_booster(contents), rows, objective)


@pytest.mark.parametrize("threshold", [0.0, -0.0, 1e-45, -1e-45, 0.1, 3.4028235e38, -3.4028235e38, 1.17549435e-38])
def test_a_threshold_separates_the_same_float64_inputs_as_in_the_library(threshold):
    contents = model_of([tree_of([threshold, -1.0, 1.0])])
    ensemble, booster = parse(contents), as_booster(contents)
    t = np.float64(np.float32(threshold))
    with np.errstate(over="ignore"):
        below = np.float64(np.nextafter(np.float32(threshold), np.float32(-np.inf)))
    points = [t, below, ensemble.threshold[0], -1e300, 1e300, -np.inf, np.inf, 0.0, -0.0]
    points += [np.nextafter(x, side) for x in (t, ensemble.threshold[0]) for side in (-np.inf, np.inf)]
    rows = np.zeros((len(points), 4))
    rows[:, 0] = points
    np.testing.assert_array_equal(ensemble.predict(rows), booster.inplace_predict(rows) > 0.5)


def test_a_chain_of_many_nodes_is_read():
    n = 20_001  # inner nodes at even places, each with a leaf before the next
    node = np.arange(n)
    inner = (node % 2 == 0) & (node < n - 1)
    contents = model_of(
        [
            tree_of(
                np.where(inner, -node, 0.5),
                left_children=np.where(inner, node + 2, -1).tolist(),
                right_children=np.where(inner, node + 1, -1).tolist(),
                parents=np.where(node == 0, 2147483647, np.where(node % 2 == 0, node - 2, node - 1)).tolist(),
                split_indices=[0] * n,
            )
        ]
    )
    assert parse(contents).depths.tolist() == [(n - 1) // 2]


def test_the_tree_made_from_a_booster_predicts_like_it():
    model = train(2, 0.1, rounds=3, max_depth=2)
    tree = born_again(model).tree
    rows = sample_rows(import_xgboost(model), np.random.default_rng(3))
    np.testing.assert_array_equal(tree.predict(rows), classes(model, rows, "binary:logistic"))


def test_margins_that_are_not_the_models_own_are_noticed(monkeypatch):
    monkeypatch.setattr("onetree.importers.xgboost.objectives._logf", lambda x: np.log(x) * np.float32(1 + 1e-6))
    with pytest.raises(FidelityError, match="margins"):
        import_xgboost(train(base_score=0.3))
