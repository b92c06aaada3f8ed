"""Models and files of XGBoost that are refused, with the reason, and what a damaged file may become."""

import copy

import numpy as np
import pytest

from onetree import ModelFileError, UnsupportedModelError
from onetree.importers.xgboost.model import import_xgboost, parse_xgboost_json
from tests.cases.xgboost_models import BOOSTERS, PARSERS, data, document, model_of, parse, train, tree_of

xgb = pytest.importorskip("xgboost")


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
        ("number", "is a regressor"),
        ("raw", "binary:logitraw .* train with binary:logistic"),
        ("ranks", "'rank:pairwise' .* train a classifier"),
        ("regressor", "XGBRegressor is a regressor"),
        ("linear", 'linear .* booster="gbtree"'),
        ("own_objective", "custom objective.*get_booster"),
        ("labels", "2 targets at once; train one model per target"),
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
        (("version",), ["3", 2, 0], '"version" must be a list of integers'),
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
        ((*PARAM, "num_class"), 3, "integer in quotes"),
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
        ((*TREE, "left_children", 0), 1.0, "integers"),
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
            for name in ("roots", "children_left", "children_right", "classes"):
                np.testing.assert_array_equal(getattr(found, name), getattr(original, name))
    assert n_refused > 50


def test_a_parsed_document_is_not_changed_by_reading():
    contents = document(train())
    before = copy.deepcopy(contents)
    parse(contents)
    assert contents == before
