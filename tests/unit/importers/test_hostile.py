"""Files with damage where no prediction would show it, and files made to take long."""

import json
import re

import numpy as np
import pytest

from onetree import ModelFileError
from onetree.importers.ba_text import parse_ba_text

BA_TEXT = """DATASET_NAME: d
ENSEMBLE: RF
NB_TREES: 1
NB_FEATURES: 1
NB_CLASSES: 2
MAX_TREE_DEPTH: 1
Format: node

[TREE 0]
NB_NODES: 3
0 IN 1 2 0 THRESHOLD 0 -1
1 LN -1 -1 -1 -1 1 0
2 LN -1 -1 -1 -1 1 1

"""


def data():
    X = np.random.default_rng(0).normal(size=(100, 2))
    return X, (X[:, 0] > X[:, 1]).astype(int)


@pytest.mark.parametrize("end", ["x", ".x", "e", ".5.5"])
def test_a_million_digits_that_are_no_number_are_refused(end):
    with pytest.raises(ModelFileError, match="the threshold must be a finite number"):
        parse_ba_text(BA_TEXT.replace("THRESHOLD", "1" * 1_000_000 + end).encode())


@pytest.fixture(scope="module")
def xgboost_document():
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 2}, xgboost.DMatrix(*data()), 2)
    return bytes(booster.save_raw("json"))


@pytest.mark.parametrize("key", ["base_weights", "loss_changes", "sum_hessian"])
def test_xgboost_statistics_must_be_numbers(key, xgboost_document):
    from onetree.importers.xgboost.model import parse_xgboost_json

    document = json.loads(xgboost_document)
    document["learner"]["gradient_booster"]["model"]["trees"][1][key][0] = "1"
    with pytest.raises(ModelFileError, match=f'"{key}" of tree 1 must be a list of numbers'):
        parse_xgboost_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("feature_types",), {"x0": "float"}, '"feature_types" must be a list of texts'),
        (("learner_model_param", "boost_from_average"), "yes", '"boost_from_average" must be an integer'),
    ],
)
def test_xgboost_parameters_must_be_what_xgboost_writes(path, value, message, xgboost_document):
    from onetree.importers.xgboost.model import parse_xgboost_json

    document = json.loads(xgboost_document)
    place = document["learner"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ModelFileError, match=message):
        parse_xgboost_json(json.dumps(document).encode())


@pytest.mark.parametrize("key", ["split_gain", "internal_value", "internal_weight", "internal_count", "leaf_count"])
@pytest.mark.parametrize("damage", [" 1_0", " x", " 1.0 1.0 1.0"])
def test_lightgbm_statistics_must_be_as_many_numbers_as_nodes(key, damage):
    lightgbm = pytest.importorskip("lightgbm")
    from onetree.importers.lightgbm.model import parse_lightgbm_text

    booster = lightgbm.train({"objective": "binary", "verbose": -1, "num_leaves": 3}, lightgbm.Dataset(*data()), 1)
    text = booster.model_to_string()
    damaged = re.sub(rf"^({key}=.*) [^ \n]+$", rf"\1{damage}", text, flags=re.MULTILINE)
    assert damaged != text
    grown = int(re.search(r"tree_sizes=(\d+)", text)[1]) + len(damaged) - len(text)
    damaged = re.sub(r"tree_sizes=\d+", f"tree_sizes={grown}", damaged)
    with pytest.raises(ModelFileError, match=f"{key} of tree 0 should hold"):
        parse_lightgbm_text(damaged.encode())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"scale_and_bias":', '"scale_and_bias":[1,[0]],"scale_and_bias":', "an entry occurs twice"),
        ('"scale_and_bias":', '"note":1e999,"scale_and_bias":', "numbers must be finite"),
        ('"scale_and_bias":', f'"note":{"9" * 400},"scale_and_bias":', "numbers must be finite"),
    ],
)
def test_catboost_documents_that_catboost_would_not_read_to_the_end_are_refused(old, new, message, tmp_path):
    catboost = pytest.importorskip("catboost")
    from onetree.importers.catboost.model import parse_catboost_json

    model = catboost.CatBoostClassifier(iterations=2, depth=2, verbose=False, allow_writing_files=False).fit(*data())
    model.save_model(str(tmp_path / "model.json"), format="json")
    text = (tmp_path / "model.json").read_text()
    assert text.count(old) == 1
    with pytest.raises(ModelFileError, match=message):
        parse_catboost_json(text.replace(old, new).encode())
