"""XGBoost's trees with a vector in each leaf, and classifiers that take a number for missing."""

import copy
import json

import numpy as np
import pytest

from onetree import ModelFileError, UnsupportedModelError, born_again
from onetree.importers.self_test import sample_rows
from onetree.importers.xgboost.model import import_xgboost, parse_xgboost_json, parse_xgboost_ubj
from tests.cases.xgboost_models import classes, data, document, margins, train

xgb = pytest.importorskip("xgboost")

VECTORS = {"multi_strategy": "multi_output_tree", "tree_method": "hist"}


def vectors(n_classes=3, gaps=0.1, **options):
    return train(n_classes, gaps, **VECTORS, **options)


def older(contents):
    """Return the file as versions before 3.2 write it: a vector for each node, and a number that is none."""
    contents = copy.deepcopy(contents)
    for tree in contents["learner"]["gradient_booster"]["model"]["trees"]:
        if "leaf_weights" not in tree:
            return contents
        n_scores = int(tree["tree_param"]["size_leaf_vector"])
        weights = np.reshape(tree.pop("leaf_weights"), (-1, n_scores))
        rows = np.zeros((len(tree["left_children"]), n_scores))
        for node, left in enumerate(tree["left_children"]):
            if left < 0:
                rows[node] = weights[tree["right_children"][node]]
                tree["right_children"][node] = -1
                tree["split_conditions"][node] = float("nan")
        tree["base_weights"] = rows.ravel().tolist()
        del tree["loss_changes"], tree["sum_hessian"]
    return contents


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
@pytest.mark.parametrize("options", [{}, {"num_parallel_tree": 2, "subsample": 0.5}, {"max_leaves": 4}])
def test_margins_and_classes_are_the_boosters_own(objective, options):
    model = vectors(4, objective=objective, **options)
    ensemble = import_xgboost(model, missing="follow")
    rows = sample_rows(ensemble, np.random.default_rng(7))
    np.testing.assert_array_equal(ensemble.scores(rows), margins(model, rows))
    np.testing.assert_array_equal(ensemble.predict(rows), classes(model, rows, objective))


def test_files_in_both_layouts_say_the_same():
    model = vectors()
    live = import_xgboost(model)
    contents = document(model)
    found = [
        parse_xgboost_json(json.dumps(contents).encode()),
        parse_xgboost_json(json.dumps(older(contents)).encode()),
        parse_xgboost_ubj(bytes(model.save_raw("ubj"))),
    ]
    for ensemble in found:
        np.testing.assert_array_equal(ensemble.value, live.value)
        np.testing.assert_array_equal(ensemble.threshold, live.threshold)
        np.testing.assert_array_equal(ensemble.children_right, live.children_right)


def test_a_classifier_with_vectors_becomes_a_proven_tree():
    X, y = data(3)
    model = xgb.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1, **VECTORS).fit(X, y)
    solution = born_again(model)
    np.testing.assert_array_equal(solution.tree.predict(X), model.predict(X))
    assert solution.status == "optimal"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("leaf_weights", [0.5], "3 numbers for each leaf"),
        ("left_children", [-1], "nodes without children"),
        ("size_leaf_vector", "2", "2 scores in each leaf, but the model has 3"),
    ],
)
def test_broken_vectors_are_refused_with_what_is_wrong(key, value, message):
    contents = document(vectors())
    tree = contents["learner"]["gradient_booster"]["model"]["trees"][0]
    if "leaf_weights" not in tree:
        pytest.skip("an older layout")
    (tree["tree_param"] if key == "size_leaf_vector" else tree)[key] = value
    with pytest.raises(ModelFileError, match=message):
        parse_xgboost_json(json.dumps(contents).encode())


def with_marker(marker, n_classes=2, **options):
    X, y = data(n_classes, 0.25)
    X = np.where(np.isnan(X), marker, X)
    model = xgb.XGBClassifier(n_estimators=4, max_depth=3, missing=marker, n_jobs=1, **options)
    return model.fit(X, y), X


@pytest.mark.parametrize("marker", [-999.0, 0.0, 0.1, 1.5, 1e9])
@pytest.mark.parametrize("options", [{}, VECTORS])
def test_a_number_taken_for_missing_goes_where_nan_goes_and_its_neighbours_do_not(marker, options):
    model, _ = with_marker(marker, 3 if options else 2, **options)
    ensemble = import_xgboost(model, missing="follow")
    rng, rows = np.random.default_rng(1), sample_rows(ensemble, np.random.default_rng(2))
    single = np.float32(marker)
    near = [marker, single, np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf)), np.nan]
    near += [np.nextafter(marker, np.inf), np.nextafter(marker, -np.inf), -0.0]
    rows = np.where(rng.random(rows.shape) < 0.4, rng.choice(near, rows.shape), rows)
    margin = model.predict(rows, output_margin=True).reshape(len(rows), -1)
    np.testing.assert_array_equal(ensemble.scores(rows), margin)
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))


def test_the_tree_of_a_number_taken_for_missing_is_proven():
    model, X = with_marker(-999.0, n_classes=2)
    solution = born_again(model, time_limit=5)
    np.testing.assert_array_equal(solution.tree.predict(X), model.predict(X))


def test_an_infinite_number_taken_for_missing_is_refused_with_the_way_out():
    X, y = data(2, 0.25)
    model = xgb.XGBClassifier(n_estimators=4, missing=np.inf, n_jobs=1).fit(np.where(np.isnan(X), np.inf, X), y)
    with pytest.raises(UnsupportedModelError, match=r"takes inf for a missing value.*get_booster"):
        import_xgboost(model)
