"""Splits by categories in files: each set is read bit by bit, and what is broken or ambiguous is refused."""

import json

import numpy as np
import pytest

from onetree import ModelFileError, UnsupportedModelError
from onetree.importers.lightgbm.model import import_lightgbm, parse_lightgbm_text
from onetree.importers.xgboost.model import import_xgboost, parse_xgboost_json
from tests.cases.categorical_models import data, fitted, same


def test_a_feature_that_is_a_number_in_some_trees_is_refused():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = data(3)
    options = {"objective": "binary", "verbose": -1, "min_data_per_group": 1, "cat_smooth": 1.0}
    first = lightgbm.train(options, lightgbm.Dataset(X[:, [3]], y), 2)
    second = lightgbm.train(options, lightgbm.Dataset(X[:, [3]], y, categorical_feature=[0]), 2, init_model=first)
    with pytest.raises(UnsupportedModelError, match=r"'Column_0' is compared with thresholds.*categories"):
        import_lightgbm(second)


def test_a_number_that_xgboost_takes_for_missing_is_refused_if_its_category_goes_elsewhere():
    X, y = data(4)
    model = fitted("xgboost partition", np.where(X == 0, np.nan, X), y, missing=0.0)
    with pytest.raises(UnsupportedModelError, match=r"takes 0\.0 for a missing value"):
        import_xgboost(model)


def xgboost_document():
    return json.loads(bytes(fitted("xgboost partition", *data(3)).get_booster().save_raw("json")))


def test_a_file_of_an_xgboost_that_treats_unknown_categories_otherwise_is_refused():
    document = xgboost_document()
    document["version"] = [1, 7, 2]
    with pytest.raises(UnsupportedModelError, match=r"1\.7\.3.*save it again"):
        parse_xgboost_json(json.dumps(document).encode())


@pytest.mark.parametrize("number", [float("nan"), 0.0, 1e-45])
def test_what_xgboost_writes_as_the_threshold_of_a_split_by_categories_does_not_matter(number):
    document = xgboost_document()
    expected = parse_xgboost_json(json.dumps(document).encode())
    for tree in document["learner"]["gradient_booster"]["model"]["trees"]:
        for node in tree["categories_nodes"]:
            tree["split_conditions"][node] = number
    assert same(parse_xgboost_json(json.dumps(document).encode()), expected)


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("categories", lambda old: [-1, *old[1:]], "category that is not in"),
        ("categories", lambda old: [*old[:-1], 1 << 24], "category that is not in"),
        ("categories", lambda old: old[:-1], "does not divide"),
        ("categories", lambda old: [0.5, *old[1:]], "integers"),
        ("categories_nodes", lambda old: old[:-1], "does not name the nodes"),
        ("categories_nodes", lambda old: [*old[:-1], 99], "does not name the nodes"),
        ("categories_segments", lambda old: [1, *old[1:]], "does not go with"),
        ("categories_sizes", lambda old: [0, *old[1:]], "does not divide"),
        ("split_type", lambda old: [0] * len(old), "does not name the nodes"),
        ("split_type", lambda old: old[:-1], 'entries in "split_type"'),
    ],
)
def test_broken_categories_of_a_file_of_xgboost_are_refused_with_what_is_wrong(key, change, message):
    document = xgboost_document()
    trees = document["learner"]["gradient_booster"]["model"]["trees"]
    tree = next(tree for tree in trees if tree["categories_nodes"])
    tree[key] = change(tree[key])
    with pytest.raises(ModelFileError, match=message):
        parse_xgboost_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"offsets": [0, 2], "values": [65]}, "offsets"),
        ({"offsets": [0, 1], "values": [300]}, "bytes"),
        ({"type": 8, "values": [1]}, "unknown type"),
        ({"type": 15}, '"values"'),
    ],
)
def test_broken_names_of_a_file_of_xgboost_are_refused_with_what_is_wrong(column, message):
    document = xgboost_document()
    document["learner"]["gradient_booster"]["model"]["cats"] = {"enc": [column] * 4}
    with pytest.raises(ModelFileError, match=message):
        parse_xgboost_json(json.dumps(document).encode())


LIGHTGBM_TEXT = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=0
objective=binary sigmoid:1
feature_names=x
feature_infos=33:0:-1:2
tree_sizes={size}

{tree}end of trees

pandas_categorical:null
"""
LIGHTGBM_TREE = """Tree=0
num_leaves=3
num_cat=2
split_feature=0 0
threshold=1 0
decision_type=1 9
left_child=-1 -2
right_child=1 -3
leaf_value=1 2 -3
cat_boundaries=0 1 3
cat_threshold=5 0 2
is_linear=0
shrinkage=1


"""


def lightgbm_text(tree=LIGHTGBM_TREE):
    return LIGHTGBM_TEXT.format(size=len(tree), tree=tree)


def test_the_sets_of_a_text_of_lightgbm_are_read_bit_by_bit():
    ensemble = parse_lightgbm_text(lightgbm_text().encode())
    rows = np.array([[33.9], [0.0], [2.0], [1.0], [65.0], [np.nan]])
    assert ensemble.categories[0].codes == (0.0, 2.0, 33.0)
    assert ensemble.scores(rows).ravel().tolist() == [1.0, 2.0, 2.0, -3.0, -3.0, -3.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("num_cat=2", "num_cat=1", "announces 1 categorical"),
        ("threshold=1 0", "threshold=2 0", "set of categories does not exist"),
        ("threshold=1 0", "threshold=0.5 0", "set of categories does not exist"),
        ("threshold=1 0", "threshold=inf 0", "set of categories does not exist"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 1", "should hold 3 numbers"),
        ("cat_boundaries=0 1 3", "cat_boundaries=0 4 3", "does not divide"),
        ("cat_boundaries=0 1 3", "cat_boundaries=1 1 3", "does not divide"),
        ("cat_threshold=5 0 2", "cat_threshold=5 0", "does not divide"),
        ("cat_threshold=5 0 2", "cat_threshold=5 0 -2", "integers"),
        ("cat_threshold=5 0 2", "cat_threshold=5 0 4294967296", "32 bits"),
        ("cat_threshold=5 0 2\n", "", "cat_threshold"),
    ],
)
def test_broken_sets_of_a_text_of_lightgbm_are_refused_with_what_is_wrong(old, new, message):
    assert LIGHTGBM_TREE.count(old) == 1
    with pytest.raises(ModelFileError, match=message):
        parse_lightgbm_text(lightgbm_text(LIGHTGBM_TREE.replace(old, new)).encode())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("feature_infos=33:0:-1:2", "feature_infos=33:x", "feature_infos says '33:x'"),
        ("feature_infos=33:0:-1:2", "feature_infos=33 0", "2 entries for 1 features"),
        ("pandas_categorical:null", "pandas_categorical:[", "pandas_categorical is broken"),
        ("pandas_categorical:null", "pandas_categorical:[1]", "list of categories per column"),
    ],
)
def test_broken_lists_of_categories_of_lightgbm_are_refused_with_what_is_wrong(old, new, message):
    with pytest.raises(ModelFileError, match=message):
        parse_lightgbm_text(lightgbm_text().replace(old, new).encode())
