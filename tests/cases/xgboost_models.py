"""Models and files of XGBoost for the tests of their importer."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification

from onetree.importers.xgboost.model import parse_xgboost_json, parse_xgboost_ubj

xgb = pytest.importorskip("xgboost")

PARSERS = {"json": parse_xgboost_json, "ubj": parse_xgboost_ubj}
BOOSTERS = {
    "gbtree": {},
    "dart": {"booster": "dart", "rate_drop": 0.4, "one_drop": 1},
    "forest": {"num_parallel_tree": 3, "subsample": 0.7},
}


def data(n_classes, gaps=0.0):
    if n_classes == 2:
        X, y = load_breast_cancer(return_X_y=True)
        X = X[:, 20:26]
    elif n_classes == 3:
        X, y = load_iris(return_X_y=True)
    else:
        X, y = make_classification(
            300, 6, n_informative=5, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=0
        )
    return np.where(np.random.default_rng(0).random(X.shape) < gaps, np.nan, X), y


def train(n_classes=2, gaps=0.0, rounds=4, **options):
    X, y = data(n_classes, gaps)
    options = {"max_depth": 3, "nthread": 1, "seed": 0} | options
    if n_classes > 2:
        options = {"objective": "multi:softprob", "num_class": n_classes} | options
    else:
        options = {"objective": "binary:logistic"} | options
    return xgb.train(options, xgb.DMatrix(X, y), rounds)


def margins(booster, X):
    return booster.predict(xgb.DMatrix(X), output_margin=True).reshape(len(X), -1)


def classes(booster, X, objective):
    predicted = booster.predict(xgb.DMatrix(X))
    if objective == "multi:softprob":
        return predicted.argmax(axis=1)
    return predicted if objective == "multi:softmax" else predicted > 0.5


def document(booster):
    return json.loads(bytes(booster.save_raw("json")))


def parse(contents):
    return parse_xgboost_json(json.dumps(contents).encode())


def as_booster(contents):
    return xgb.Booster(model_file=bytearray(json.dumps(contents).encode()))


def tree_of(number, feature=0, left=-1, right=-1, **changes):
    """Return a tree as in a file: one leaf, or a split with two leaves."""
    number = [float(x) for x in np.atleast_1d(np.array(number, dtype=np.float32))]
    n_nodes = len(number)
    tree = {
        "base_weights": number,
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": [0] * n_nodes,
        "id": 0,
        "left_children": [1, -1, -1][:n_nodes] if n_nodes == 3 else [-1],
        "loss_changes": [0.0] * n_nodes,
        "parents": [2147483647, 0, 0][:n_nodes],
        "right_children": [2, -1, -1][:n_nodes] if n_nodes == 3 else [-1],
        "split_conditions": number,
        "split_indices": [feature] + [0] * (n_nodes - 1),
        "split_type": [0] * n_nodes,
        "sum_hessian": [1.0] * n_nodes,
        "tree_param": {"num_deleted": "0", "num_feature": "4", "num_nodes": str(n_nodes), "size_leaf_vector": "1"},
    }
    return tree | changes


def model_of(trees, groups=None, objective="binary:logistic", base="[5E-1]"):
    """Return a model as in a file, with these trees."""
    groups = [0] * len(trees) if groups is None else groups
    n_groups = max(groups) + 1
    contents = document(train(3 if n_groups > 1 else 2, rounds=1))
    learner = contents["learner"]
    learner["objective"]["name"] = objective
    learner["learner_model_param"] |= {"base_score": base, "num_feature": "4"}
    learner["gradient_booster"]["model"] |= {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": [0, len(trees)],
        "tree_info": groups,
        "trees": [tree | {"id": i} for i, tree in enumerate(trees)],
    }
    return contents
