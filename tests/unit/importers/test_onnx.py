"""ONNX models are read as onnxruntime runs them on one thread, and broken files are refused."""

import numpy as np
import pytest

from onetree import Ensemble, ModelFileError, UnsupportedModelError, born_again, load_ensemble
from onetree.importers.onnx.model import parse_onnx
from onetree.importers.self_test import sample_rows
from tests.cases.damage import damaged

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"]
TYPES = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.int64: TensorProto.INT64}
N_FEATURES = 3


def random_attributes(
    rng, *, n_trees=4, depth=3, n_classes=3, modes=("BRANCH_LEQ",), tracks=0.0, low=-1.0, class_ids=None
):
    """Complete trees whose thresholds and weights are rounded, so that ties occur."""
    found = {
        f"nodes_{name}": [] for name in ("treeids", "nodeids", "featureids", "modes", "truenodeids", "falsenodeids")
    }
    found |= {"nodes_values": [], "nodes_missing_value_tracks_true": []}
    found |= {f"class_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    n_inner = 2**depth - 1
    for tree in range(n_trees):
        for node in range(2 * n_inner + 1):
            inner = node < n_inner
            found["nodes_treeids"].append(tree)
            found["nodes_nodeids"].append(node)
            found["nodes_featureids"].append(int(rng.integers(N_FEATURES)) if inner else 0)
            found["nodes_modes"].append(str(rng.choice(modes)) if inner else "LEAF")
            found["nodes_truenodeids"].append(2 * node + 1 if inner else 0)
            found["nodes_falsenodeids"].append(2 * node + 2 if inner else 0)
            found["nodes_values"].append(float(np.float32(rng.integers(-8, 9) / 10)) if inner else 0.0)
            found["nodes_missing_value_tracks_true"].append(int(inner and rng.random() < tracks))
            for k in (range(n_classes) if class_ids is None else class_ids) if not inner else ():
                found["class_treeids"].append(tree)
                found["class_nodeids"].append(node)
                found["class_ids"].append(k)
                found["class_weights"].append(float(np.float32(max(low, rng.integers(-10, 11) / 10))))
    labels = {"classlabels_int64s": list(range(n_classes))}
    return found | labels | {"post_transform": "NONE"}


def model_of(attributes, dtype=np.float32, *, after=(), outputs=("label",), label_type=TensorProto.INT64, ml=3):
    attributes = dict(attributes)
    if dtype is np.float64:
        for name in ("nodes_values", "class_weights", "base_values"):
            if name in attributes:
                exact = np.array(attributes.pop(name), dtype=np.float64)
                attributes[f"{name}_as_tensor"] = numpy_helper.from_array(exact, name)
    trees = helper.make_node("TreeEnsembleClassifier", ["X"], ["label", "scores"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph(
        [trees, *after],
        "trees",
        [helper.make_tensor_value_info("X", TYPES[dtype], [None, N_FEATURES])],
        [helper.make_tensor_value_info(name, label_type, None) for name in outputs],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", ml)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def label_of(model, rows, dtype=np.float32):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    with np.errstate(all="ignore"):
        return session.run([model.graph.output[0].name], {"X": rows.astype(dtype)})[0]


def assert_same_classes(model, dtype=np.float32, **options):
    ensemble = Ensemble.from_model(model, **options)
    whole = dtype is np.int64
    rows = sample_rows(ensemble, np.random.default_rng(1), largest=2.0**31 if whole else np.inf)
    rows = np.rint(rows) if whole else rows
    np.testing.assert_array_equal(ensemble.predict(rows), label_of(model, rows, dtype))
    return ensemble


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_label_of_every_row_is_that_of_onnxruntime(dtype, n_classes):
    for seed in range(3):
        rng = np.random.default_rng([seed, n_classes])
        ids = None if n_classes > 2 else [0]
        assert_same_classes(model_of(random_attributes(rng, n_classes=n_classes, class_ids=ids), dtype), dtype)


@pytest.mark.parametrize("missing", ["follow", "refuse"])
@pytest.mark.parametrize("mode", [*MODES, "all"])
def test_each_comparison_and_each_way_of_missing_values_is_that_of_onnxruntime(mode, missing):
    rng = np.random.default_rng(0)
    attributes = random_attributes(rng, modes=MODES if mode == "all" else [mode], tracks=0.5, depth=4)
    ensemble = assert_same_classes(model_of(attributes), missing=missing)
    assert ensemble.nan_features.all() == (missing == "follow")


@pytest.mark.parametrize("tracks", [0.0, 0.5, 1.0])
def test_nan_is_an_input_if_nodes_send_it_different_ways(tracks):
    attributes = random_attributes(np.random.default_rng(0), tracks=tracks, depth=4)
    assert Ensemble.from_model(model_of(attributes)).nan_features.any() == (tracks == 0.5)


@pytest.mark.parametrize("low", [-1.0, 0.0])
@pytest.mark.parametrize("class_ids", [[0], [1], [0, 1]])
@pytest.mark.parametrize("n_base", [0, 1, 2])
def test_two_classes_follow_the_rules_that_onnxruntime_has_for_them(low, class_ids, n_base):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        attributes = random_attributes(rng, n_classes=2, low=low, class_ids=class_ids)
        base = [float(np.float32(b)) for b in rng.normal(size=n_base)]
        model = model_of(attributes | ({"base_values": base} if n_base else {}))
        if n_base == 2 and 1 in class_ids:
            with pytest.raises(UnsupportedModelError, match="two base values"):
                Ensemble.from_model(model)
        else:
            assert_same_classes(model)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_base_values_are_added_last(dtype):
    rng = np.random.default_rng(0)
    attributes = random_attributes(rng, n_trees=9) | {"base_values": [0.1, 1e-8, 0.3]}
    assert_same_classes(model_of(attributes, dtype), dtype)


@pytest.mark.parametrize("class_ids", [[0], [0, 1]])
def test_labels_of_two_classes_are_what_onnxruntime_returns(class_ids):
    attributes = random_attributes(np.random.default_rng(3), n_classes=2, class_ids=class_ids)
    ensemble = assert_same_classes(model_of(attributes | {"classlabels_int64s": [7, 9]}))
    assert ensemble.classes.tolist() == ([7, 9] if class_ids == [0] else [0, 1])


def test_labels_can_be_texts():
    attributes = random_attributes(np.random.default_rng(3))
    del attributes["classlabels_int64s"]
    texts = model_of(attributes | {"classlabels_strings": ["no", "ja", "å"]}, label_type=TensorProto.STRING)
    assert assert_same_classes(texts).classes.tolist() == ["no", "ja", "å"]


def test_tests_for_single_numbers_are_set_tests():
    rng = np.random.default_rng(0)
    attributes = random_attributes(rng, n_classes=2, class_ids=[0])
    modes, numbers, features = (attributes[f"nodes_{name}"] for name in ("modes", "values", "featureids"))
    for node, mode in enumerate(modes):
        if mode != "LEAF" and features[node] == 0:
            modes[node], numbers[node] = str(rng.choice(["BRANCH_EQ", "BRANCH_NEQ"])), float(rng.integers(-1, 5))
    ensemble = assert_same_classes(model_of(attributes), missing="follow")
    assert ensemble.has_subsets
    rows = np.tile(np.arange(-2, 7, 0.5)[:, np.newaxis], 3)
    np.testing.assert_array_equal(ensemble.predict(rows), label_of(model_of(attributes), rows))


def trees_of_opset_5(dtype, *, aggregate=1, mode=0, sets=None, post=0):
    """Two trees of one split each, over three targets."""
    as_tensor = lambda numbers, kind=dtype: numpy_helper.from_array(np.array(numbers, dtype=kind))  # noqa: E731
    trees = helper.make_node(
        "TreeEnsemble",
        ["X"],
        ["scores"],
        domain="ai.onnx.ml",
        n_targets=3,
        aggregate_function=aggregate,
        post_transform=post,
        tree_roots=[0, 1],
        nodes_modes=as_tensor([mode, mode], np.uint8),
        nodes_featureids=[0, 1],
        nodes_splits=as_tensor([0.1, 0.3]),
        nodes_truenodeids=[0, 2],
        nodes_trueleafs=[1, 1],
        nodes_falsenodeids=[1, 3],
        nodes_falseleafs=[1, 1],
        leaf_targetids=[0, 1, 2, 1],
        leaf_weights=as_tensor([0.5, 0.4, 0.5, -0.4]),
        **({} if sets is None else {"membership_values": as_tensor(sets)}),
    )
    last = [
        helper.make_node("ArgMax", ["scores"], ["index"], axis=1, keepdims=0),
        helper.make_node("Gather", ["labels", "index"], ["label"]),
    ]
    graph = helper.make_graph(
        [trees, *last],
        "trees",
        [helper.make_tensor_value_info("X", TYPES[dtype], [None, N_FEATURES])],
        [helper.make_tensor_value_info("label", TensorProto.INT64, None)],
        initializer=[numpy_helper.from_array(np.array([10, 20, 30]), "labels")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 5)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mode", range(6))
@pytest.mark.parametrize("aggregate", [0, 1])
def test_the_largest_score_of_a_tree_ensemble_of_opset_5_is_read(dtype, mode, aggregate):
    ensemble = assert_same_classes(trees_of_opset_5(dtype, mode=mode, aggregate=aggregate), dtype, missing="follow")
    assert ensemble.classes.tolist() == [10, 20, 30]


def test_sets_of_a_tree_ensemble_of_opset_5_are_read():
    model = trees_of_opset_5(np.float32, mode=6, sets=[0, 3, np.nan, 2, np.nan])
    ensemble = assert_same_classes(model, missing="follow")
    assert born_again(ensemble).tree.n_leaves > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregate": 2}, "minimum or maximum"),
        ({"post": 2}, "transformed scores"),
        ({"mode": 6, "sets": [40, np.nan, 2, np.nan]}, "outside 0..30"),
    ],
)
def test_what_opset_5_has_besides_is_refused_with_the_reason(options, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Ensemble.from_model(trees_of_opset_5(np.float32, **options))


def test_a_file_is_the_same_as_the_model(tmp_path):
    model = model_of(random_attributes(np.random.default_rng(0)))
    onnx.save(model, tmp_path / "model.onnx")
    read, live = load_ensemble(tmp_path / "model.onnx"), Ensemble.from_model(model)
    rows = sample_rows(live, np.random.default_rng(0))
    np.testing.assert_array_equal(read.predict(rows), live.predict(rows))


def test_outputs_besides_the_label_are_not_looked_at():
    after = [helper.make_node("Identity", ["label"], ["copy"]), helper.make_node("Exp", ["scores"], ["shares"])]
    model = model_of(random_attributes(np.random.default_rng(0)), after=after, outputs=("copy",))
    model.graph.output.insert(0, helper.make_tensor_value_info("shares", TensorProto.FLOAT, None))
    ensemble = Ensemble.from_model(model)
    assert ensemble.n_classes == 3


def test_other_models_are_refused_with_what_they_are():
    after = [helper.make_node("ArgMax", ["scores"], ["best"], axis=1)]
    model = model_of(random_attributes(np.random.default_rng(0)), after=after, outputs=("best",))
    with pytest.raises(UnsupportedModelError, match="is the largest of what TreeEnsembleClassifier gives"):
        Ensemble.from_model(model)


def test_a_leaf_without_weights_where_it_matters_is_refused():
    attributes = random_attributes(np.random.default_rng(0), n_trees=1)
    for name in ("treeids", "nodeids", "ids", "weights"):
        attributes[f"class_{name}"] = attributes[f"class_{name}"][:-1]
    with pytest.raises(UnsupportedModelError, match="write out the weights that are zero"):
        Ensemble.from_model(model_of(attributes))


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("nodes_truenodeids", 0, 99, "does not exist"),
        ("nodes_truenodeids", 1, 0, "child of two others"),
        ("nodes_featureids", 0, 7, "asks for feature 7"),
        ("nodes_values", 0, float("nan"), "not a number"),
        ("nodes_nodeids", 1, 0, "same number"),
        ("nodes_modes", 0, "BRANCH_WHAT", "unknown mode"),
        ("class_ids", 0, 9, "class_ids must be"),
        ("class_nodeids", 0, 99, "does not exist"),
        ("class_weights", 0, float("inf"), "not finite"),
        ("nodes_treeids", 1, 1, "do not follow"),
    ],
)
def test_a_broken_model_is_refused_with_what_is_wrong(name, at, value, message):
    attributes = random_attributes(np.random.default_rng(0))
    attributes[name][at] = value
    with pytest.raises((ModelFileError, UnsupportedModelError), match=message):
        parse_onnx(model_of(attributes).SerializeToString())


def test_a_mutated_file_is_a_model_or_an_error_that_says_so():
    content = model_of(random_attributes(np.random.default_rng(0), n_trees=2, depth=2)).SerializeToString()
    rng = np.random.default_rng(0)
    n_refused, n_tried = 0, 300
    for _ in range(n_tried):
        try:
            assert isinstance(
                parse_onnx(damaged(content, rng, [b"\x00", b"\xff", b"\x08\x01", b"BRANCH_LT"])), Ensemble
            )
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
    assert n_refused > n_tried // 4
