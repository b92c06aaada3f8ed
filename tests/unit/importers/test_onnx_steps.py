"""Trees behind scalers, imputers and encoders are read on the inputs of the ONNX model, as onnxruntime runs it."""

import numpy as np
import pandas as pd
import pytest

from onetree import Ensemble, UnsupportedModelError, born_again
from onetree.importers.onnx.graph import read_graph
from onetree.importers.onnx.model import find_label
from onetree.importers.onnx.steps import Steps
from onetree.importers.self_test import sample_rows

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from tests.unit.importers.test_onnx import random_attributes  # noqa: E402

ML = "ai.onnx.ml"
FLOATS = [("a", TensorProto.FLOAT), ("b", TensorProto.FLOAT), ("c", TensorProto.FLOAT)]


def node(kind, inputs, output, domain="", **attributes):
    return helper.make_node(kind, inputs, [output], domain=domain, **attributes)


def model_of(inputs, nodes, constants=None, *, seed=0, width=1, **options):
    """Trees on the tensor T, of three columns, which the nodes make of the inputs."""
    attributes = random_attributes(np.random.default_rng(seed), depth=4, **options)
    trees = helper.make_node("TreeEnsembleClassifier", ["T"], ["label", "scores"], domain=ML, **attributes)
    graph = helper.make_graph(
        [*nodes, trees],
        "steps",
        [helper.make_tensor_value_info(name, kind, [None, width]) for name, kind in inputs],
        [helper.make_tensor_value_info("label", TensorProto.INT64, None)],
        initializer=[numpy_helper.from_array(np.array(value), name) for name, value in (constants or {}).items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def label_of(model, rows):
    graph = read_graph(model)
    steps = Steps(graph, find_label(graph).operator.inputs[0])
    return run(model, steps.as_given(rows)), steps


def run(model, given):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several add up the trees in another order
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(["label"], given)[0]


def assert_same_classes(model, **options):
    ensemble = Ensemble.from_model(model, **options)
    rows = sample_rows(ensemble, np.random.default_rng(1), largest=2.0**31)
    _, steps = label_of(model, rows[:1])
    whole = [each.kind in (TensorProto.INT32, TensorProto.INT64) for each, _ in steps.of_input]
    rows = np.where(whole, np.floor(rows), rows)
    np.testing.assert_array_equal(ensemble.predict(rows), label_of(model, rows)[0])
    return ensemble


JOIN = node("Concat", ["a", "b", "c"], "J", axis=1)
SCALER = {"offset": [0.1, 3.0, -0.7], "scale": [0.3, 1e-3, 7.0]}
NUMBERS = {
    "a scaler": ([JOIN, node("Scaler", ["J"], "T", ML, **SCALER)], {}),
    "arithmetic": (
        [JOIN, node("Mul", ["J", "k"], "M"), node("Add", ["M", "d"], "A"), node("Sub", ["d", "A"], "S"),
         node("Div", ["S", "k"], "T")],
        {"k": np.array([0.3, -1.5, 2.0], dtype=np.float32), "d": np.array([[0.1, 0.2, 0.3]], dtype=np.float32)},
    ),
    "an imputer": (
        [JOIN, node("Imputer", ["J"], "T", ML, imputed_value_floats=[0.2, -0.4, 0.1], replaced_value_float=np.nan)], {},
    ),
    "an imputer of a number": (
        [JOIN, node("Imputer", ["J"], "T", ML, imputed_value_floats=[0.7], replaced_value_float=0.25)], {},
    ),
    "a binarizer": ([JOIN, node("Binarizer", ["J"], "T", ML, threshold=0.3)], {}),
    "columns in another order": (
        [JOIN, node("Gather", ["J", "i"], "G", axis=1), node("Reshape", ["G", "s"], "T")],
        {"i": np.array([2, 0, 0]), "s": np.array([-1, 3])},
    ),
    "a vectorizer": ([node("FeatureVectorizer", ["a", "b", "c"], "T", ML, inputdimensions=[1, 1, 1])], {}),
    "doubles between floats": (
        [JOIN, node("Cast", ["J"], "D", to=TensorProto.DOUBLE), node("Mul", ["D", "k"], "M"),
         node("Cast", ["M"], "T", to=TensorProto.FLOAT)],
        {"k": np.array([0.1, 3.3, 1e-9])},
    ),
}  # fmt: skip


@pytest.mark.parametrize("missing", ["follow", "refuse"])
@pytest.mark.parametrize("what", NUMBERS)
def test_trees_behind_steps_on_numbers_are_read_on_the_inputs(what, missing):
    nodes, constants = NUMBERS[what]
    for seed in range(2):
        ensemble = assert_same_classes(model_of(FLOATS, nodes, constants, seed=seed, tracks=0.5), missing=missing)
        assert ensemble.feature_names == ("a", "b", "c")


def test_gaps_that_an_imputer_fills_are_inputs():
    nodes, _ = NUMBERS["an imputer"]
    assert Ensemble.from_model(model_of(FLOATS, nodes)).nan_features.all()
    assert not Ensemble.from_model(model_of(FLOATS, NUMBERS["a scaler"][0])).nan_features.any()


TEXT = [("size", TensorProto.FLOAT), ("colour", TensorProto.STRING)]
ONE_HOT = node("OneHotEncoder", ["colour"], "H", ML, cats_strings=["red", "blue"], zeros=1)
SPREAD = node("Reshape", ["H", "s"], "O")


def text_model(**options):
    scaled = node("Scaler", ["size"], "Z", ML, offset=[0.5], scale=[2.0])
    nodes = [scaled, ONE_HOT, SPREAD, node("Concat", ["Z", "O"], "T", axis=1)]
    return model_of(TEXT, nodes, {"s": np.array([-1, 2])}, **options)


def test_categories_go_by_name_and_unknown_ones_as_in_onnxruntime():
    model = text_model(seed=3)
    assert_same_classes(model)
    frame = pd.DataFrame({"colour": ["red", "blue", "green", "red"] * 5, "size": np.linspace(-1, 1, 20)})
    given = {
        "size": frame[["size"]].to_numpy(dtype=np.float32),
        "colour": frame[["colour"]].to_numpy(dtype=object),
    }
    expected = run(model, given)
    np.testing.assert_array_equal(Ensemble.from_model(model).predict(frame), expected)
    np.testing.assert_array_equal(born_again(model).tree.predict(frame), expected)


def test_categories_of_integers_and_encoded_texts_are_read():
    inputs = [("kind", TensorProto.INT64), ("word", TensorProto.STRING)]
    encoder = node(
        "LabelEncoder", ["word"], "W", ML, keys_strings=["x", "y"], values_floats=[0.1, -0.2], default_float=0.5
    )
    nodes = [
        node("OneHotEncoder", ["kind"], "H", ML, cats_int64s=[1, 4], zeros=1),
        node("Reshape", ["H", "s"], "O"),
        encoder,
        node("Concat", ["O", "W"], "T", axis=1),
    ]
    for seed in range(3):
        assert_same_classes(model_of(inputs, nodes, {"s": np.array([-1, 2])}, seed=seed))


def test_integers_are_looked_up_with_a_default():
    encoder = node("LabelEncoder", ["kind"], "L", ML, keys_int64s=[3, 5], values_int64s=[1, 0], default_int64=-1)
    nodes = [encoder, node("Cast", ["L"], "F", to=TensorProto.FLOAT), node("Concat", ["F", "F", "F"], "T", axis=1)]
    assert_same_classes(model_of([("kind", TensorProto.INT64)], nodes))


def test_one_tensor_of_several_columns_keeps_their_order():
    model = model_of([("X", TensorProto.FLOAT)], [node("Scaler", ["X"], "T", ML, **SCALER)], width=3)
    ensemble = assert_same_classes(model)
    assert ensemble.feature_names == ("x0", "x1", "x2")
    assert not ensemble.columns.named


@pytest.mark.parametrize(
    ("nodes", "constants", "message"),
    [
        ([JOIN, node("Normalizer", ["J"], "T", ML)], {}, "Normalizer, which is not read"),
        ([JOIN, node("Mul", ["J", "J"], "T")], {}, "mixes columns"),
        ([JOIN, node("Mul", ["J", "k"], "T")], {"k": np.float32([1, 0, 1])}, "such constants"),
        ([JOIN, node("Reshape", ["J", "s"], "T")], {"s": np.array([3, -1])}, "mixes rows and columns"),
        ([node("Concat", ["a", "b", "c"], "T", axis=0)], {}, "joins rows"),
        ([JOIN, node("Gather", ["J", "i"], "T", axis=0)], {"i": np.array([0])}, "picks rows"),
        ([JOIN, node("Cast", ["J"], "T", to=TensorProto.INT64)], {}, "to integers"),
        ([JOIN, node("Scaler", ["J"], "T", ML, offset=[0.0], scale=[0.0])], {}, "by zero"),
    ],
)
def test_steps_that_are_not_read_are_refused_by_name(nodes, constants, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Ensemble.from_model(model_of(FLOATS, nodes, constants))


def test_a_pipeline_of_scikit_learn_is_read_after_conversion():
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=200).astype(np.float32), "colour": rng.choice(["red", "blue"], 200)})
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    steps = make_column_transformer((numbers, ["size"]), (OneHotEncoder(handle_unknown="ignore"), ["colour"]))
    pipeline = make_pipeline(steps, RandomForestClassifier(5, max_depth=3, random_state=0))
    pipeline.fit(frame, (frame["size"] + (frame["colour"] == "red") > 0.4).astype(int))
    types = [("size", FloatTensorType([None, 1])), ("colour", StringTensorType([None, 1]))]
    model = skl2onnx.convert_sklearn(pipeline, initial_types=types, options={"zipmap": False})
    ensemble = assert_same_classes(model)
    assert ensemble.feature_names == ("size", "colour")
