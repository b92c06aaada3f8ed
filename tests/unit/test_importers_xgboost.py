"""XGBoost models are read so that every margin is the same to the last bit, and broken files are refused."""

import copy
import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification

from onetree import Ensemble, FidelityError, InvalidInputError, ModelFileError, UnsupportedModelError, born_again
from onetree.importers.self_test import sample_rows
from onetree.importers.xgboost import import_xgboost, parse_xgboost_json, parse_xgboost_ubj

xgb = pytest.importorskip("xgboost")

ARRAYS = ("roots", "feature", "threshold", "left", "right", "missing_left", "value", "base", "nan_features", "classes")
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


def test_a_number_taken_for_missing_is_refused_with_the_way_out():
    X, y = data(2, 0.2)
    model = xgb.XGBClassifier(n_estimators=5, missing=-999.0, n_jobs=1).fit(np.nan_to_num(X, nan=-999.0), y)
    with pytest.raises(UnsupportedModelError, match=r"takes -999\.0 for a missing value.*get_booster"):
        import_xgboost(model)
    assert import_xgboost(model.get_booster()).nan_features.all()


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
    monkeypatch.setattr("onetree.importers.xgboost._logf", lambda x: np.log(x) * np.float32(1 + 1e-6))
    with pytest.raises(FidelityError, match="margins"):
        import_xgboost(train(base_score=0.3))


class NotToBeRead:
    """Models of XGBoost that have no exact tree, or nothing to make one of."""

    @staticmethod
    def number():
        return train(objective="reg:squarederror")

    @staticmethod
    def raw():
        return train(objective="binary:logitraw")

    @staticmethod
    def ranks():
        X, y = data(2)
        groups = xgb.DMatrix(X, y, qid=np.zeros(len(y), dtype=int))
        return xgb.train({"objective": "rank:pairwise"}, groups, 1)

    @staticmethod
    def regressor():
        return xgb.XGBRegressor(n_estimators=1).fit(*data(2))

    @staticmethod
    def linear():
        return xgb.train({"booster": "gblinear", "objective": "binary:logistic"}, xgb.DMatrix(*data(2)), 1)

    @staticmethod
    def own_objective():
        def objective(y, predicted):
            return predicted - y, np.ones_like(predicted)

        return xgb.XGBClassifier(n_estimators=1, objective=objective).fit(*data(2))

    @staticmethod
    def labels():
        X, y = data(2)
        return xgb.XGBClassifier(n_estimators=1).fit(X, np.column_stack([y, 1 - y]))

    @staticmethod
    def vectors():
        return train(3, multi_strategy="multi_output_tree", tree_method="hist")

    @staticmethod
    def two_probabilities():
        return xgb.XGBClassifier(n_estimators=1, objective="multi:softprob", num_class=2).fit(*data(2))

    @staticmethod
    def no_trees():
        return train(rounds=0)

    @staticmethod
    def untrained():
        return xgb.Booster()

    @staticmethod
    def unfitted():
        return xgb.XGBClassifier()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("number", "'reg:squarederror' .* train a classifier"),
        ("raw", "binary:logitraw .* train with binary:logistic"),
        ("ranks", "'rank:pairwise' .* train a classifier"),
        ("regressor", "XGBRegressor is not a classifier"),
        ("linear", 'linear .* booster="gbtree"'),
        ("own_objective", "objective of your own.*get_booster"),
        ("labels", "2 targets at once; train one model per target"),
        ("vectors", "vector in each leaf.*one_output_per_tree"),
        ("two_probabilities", "two classes and the objective multi:softprob"),
        ("no_trees", "no trees"),
        ("untrained", "not trained"),
        ("unfitted", "not fitted"),
    ],
)
def test_a_model_that_cannot_be_read_is_refused_with_the_reason(kind, message):
    with pytest.raises(UnsupportedModelError, match=message):
        import_xgboost(getattr(NotToBeRead, kind)())


def test_a_file_of_a_version_that_adds_otherwise_is_refused():
    contents = document(train())
    contents["version"] = [1, 2, 1]
    with pytest.raises(UnsupportedModelError, match=r"XGBoost 1\.2\.1.*save it again"):
        parse(contents)


def test_a_file_of_before_iterations_were_written_is_read():
    contents = document(train(3, num_parallel_tree=2))
    expected = parse(contents)
    del contents["learner"]["gradient_booster"]["model"]["iteration_indptr"]
    contents["version"] = [1, 6, 0]
    np.testing.assert_array_equal(parse(contents).value, expected.value)


LEARNER, MODEL = ("learner",), ("learner", "gradient_booster", "model")
TREE, PARAM = (*MODEL, "trees", 1), ("learner", "learner_model_param")


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("version",), [3, 2], "three parts"),
        (("version",), ["3", 2, 0], '"version" must be a list of whole numbers'),
        (LEARNER, [], 'entry "learner"'),
        ((*LEARNER, "gradient_booster"), None, 'entry "gradient_booster"'),
        ((*LEARNER, "gradient_booster", "name"), "gbforest", "unknown kind 'gbforest'"),
        ((*LEARNER, "gradient_booster", "name"), "dart", 'entry "gbtree"'),
        ((*LEARNER, "objective"), {}, 'entry "name"'),
        ((*LEARNER, "feature_names"), ["a"], "1 names for 4 features"),
        ((*LEARNER, "feature_names"), [1, 2, 3, 4], "list of texts"),
        ((*LEARNER, "attributes"), {"a": 1}, "holds texts"),
        ((*PARAM, "num_class"), "2", '"tree_info"'),
        ((*PARAM, "num_class"), "0", '"tree_info"'),
        ((*PARAM, "num_class"), 3, "whole number in quotes"),
        ((*PARAM, "num_feature"), "0", "outside 1"),
        ((*PARAM, "num_feature"), "9999999", "outside 1"),
        ((*PARAM, "num_feature"), "2", "feature that does not exist"),
        ((*PARAM, "base_score"), "[0.5,0.5]", "3 of them in a list"),
        ((*PARAM, "base_score"), "nan", '"base_score" must be a number'),
        ((*PARAM, "base_score"), "1e999", "not finite"),
        ((*MODEL, "gbtree_model_param", "num_trees"), "13", "the file holds 12 trees"),
        ((*MODEL, "tree_info", 0), 3, "one of 3 scores"),
        ((*MODEL, "tree_info"), [0], "each of the 12 trees"),
        ((*MODEL, "iteration_indptr"), [0, 3, 6, 9], "number of trees, 12"),
        ((*MODEL, "iteration_indptr"), [0, 9, 3, 12], "must rise"),
        ((*MODEL, "weight_drop"), [1.0], "1 weights for 12 trees"),
        ((*MODEL, "trees", 0), None, 'tree 0 should have an entry "tree_param"'),
        ((*MODEL, "weights"), [1.0], "unknown entry 'weights'"),
        ((*TREE, "split_tipe"), [], "tree 1 has an unknown entry 'split_tipe'"),
        ((*TREE, "id"), 0, "tree 1 says that it is tree 0"),
        ((*TREE, "sum_hessian"), [], '0 entries in "sum_hessian"'),
        ((*TREE, "tree_param", "num_nodes"), "4", "tree 1 has 4 nodes, but"),
        ((*TREE, "tree_param", "num_deleted"), "1", "but 1 deleted ones"),
        ((*TREE, "left_children", 0), 0, "is the root"),
        ((*TREE, "left_children", 0), 999, "child does not exist"),
        ((*TREE, "left_children", 0), -5, "child does not exist"),
        ((*TREE, "left_children", 0), -1, "child does not exist"),
        ((*TREE, "left_children", 0), 2, "child twice"),
        ((*TREE, "left_children", 0), 1.0, "whole numbers"),
        ((*TREE, "left_children", 0), 10**30, "too large"),
        ((*TREE, "parents", 1), 2, "but not its parent"),
        ((*TREE, "default_left", 0), 2, "must hold 0 and 1"),
        ((*TREE, "split_indices", 0), 4, "feature that does not exist"),
        ((*TREE, "split_conditions", 0), float("nan"), "not finite"),
        ((*TREE, "split_conditions", 0), 1e39, "not finite"),
        ((*TREE, "split_conditions", 0), 10**400, "too large"),
        ((*TREE, "split_conditions", 0), "1", "list of numbers"),
        ((*TREE, "split_conditions", 0), 1 + 2.0**-24, "halfway"),
        ((*TREE, "split_conditions"), [], '0 entries in "split_conditions"'),
    ],
)
def test_a_broken_file_is_refused_with_the_reason(path, to, message):
    contents = document(train(3))
    inner = contents
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    with pytest.raises(ModelFileError, match=message):
        parse(contents)


def test_a_cycle_is_refused():
    contents = model_of(
        [
            tree_of(
                [0.0] * 5,
                left_children=[-1, 2, 3, -1, -1],
                right_children=[-1, 4, 1, -1, -1],
                parents=[2147483647, 2, 1, 2, 1],
                split_indices=[0] * 5,
            )
        ]
    )
    with pytest.raises(ModelFileError, match="cycle"):
        parse(contents)


@pytest.mark.parametrize("base", ["0", "1.5E0", "-1E-1"])
def test_a_base_score_that_is_no_probability_is_refused(base):
    contents = model_of([tree_of(0.5)], base=base)
    contents["version"] = [2, 0, 0]
    with pytest.raises(ModelFileError, match="base score of the logistic objective"):
        parse(contents)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        b"{}",
        b'{"version":[3,2,0]}',
        b'{"a":' * 100_000,
        b'{"a":1,"a":1}',
        b"1" * 5000,
    ],
)
def test_what_is_no_model_is_refused(content):
    with pytest.raises(ModelFileError):
        parse_xgboost_json(content)


def mutated(content, rng):
    """Return the content with bytes flipped, removed or doubled, or digits replaced, or the end cut off."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place, kind = int(rng.integers(len(changed))), rng.integers(5)
        if kind == 0:
            changed[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del changed[place : place + int(rng.integers(1, 9))]
        elif kind == 2:
            changed[place:place] = changed[place : place + int(rng.integers(1, 9))]
        elif kind == 3:
            digits = [i for i in range(place, min(place + 200, len(changed))) if chr(changed[i]) in "0123456789"]
            if digits:
                changed[digits[0]] = ord("0") + int(rng.integers(10))
        else:
            del changed[max(place, len(changed) // 2) :]
        if not changed:
            break
    return bytes(changed)


@pytest.mark.parametrize("file_format", PARSERS)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_mutated_file_is_refused_or_has_the_same_structure(file_format, booster):
    content = bytes(train(3, 0.1, rounds=2, **BOOSTERS[booster]).save_raw(file_format))
    parser = PARSERS[file_format]
    original, rng, n_refused = parser(content), np.random.default_rng(0), 0
    for _ in range(200):
        try:
            found = parser(mutated(content, rng))
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
        else:
            for name in ("roots", "left", "right", "classes"):
                np.testing.assert_array_equal(getattr(found, name), getattr(original, name))
    assert n_refused > 50


def test_a_parsed_document_is_not_changed_by_reading():
    contents = document(train())
    before = copy.deepcopy(contents)
    parse(contents)
    assert contents == before
