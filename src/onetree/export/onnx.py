"""The tree as an ONNX model: a tree ensemble of one tree or, for any depth and size, tables and a loop.

Both compare ``x <= threshold`` in the type of the input, so a missing value goes right. A set test is several such
comparisons, the first of which asks whether the value is known if a missing one has to go elsewhere.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onetree.errors import InvalidInputError, missing
from onetree.export.c import NUMBERS
from onetree.export.shape import STYLES, float32_thresholds, tables, unfolded
from onetree.export.steps import thresholds_only, written_out
from onetree.export.words.wording import heading, uniform_labels
from onetree.tree.leaf_values import outcomes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

    from onetree.model.categories import Categories
    from onetree.tree.tree import Tree

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # ML 3 is the first with double thresholds; read by onnxruntime from 1.12 on
# onnxruntime reads the nodes of a tree by recursion and runs out of stack somewhere above a depth of 10,000.
_MAX_DEPTH, _MAX_LEAVES = 1_000, 1_000_000
_MAX_SET_NODES = 100_000  # of a tree ensemble in which set tests are written out; a loop shares what is below them
_INT64 = np.dtype(np.int64)
_MAX_CLASSES = 1 << 24  # the tree ensemble gives the index of what a leaf says as a float32


def to_onnx(tree: Tree, *, number: str = "float", style: str = "auto") -> ModelProto:
    """Return `tree` as an ONNX model with the input `X` and the outputs `label` and `class_index`.

    A tree with probabilities has the output `probabilities` of shape (n_rows, n_classes) as well; a regression tree has
    `value` of shape (n_rows,) alone. Both are of the type in which the source returns them, whatever the input is, and
    bit by bit those of the tree.

    Parameters
    ----------
    tree : Tree
    number : {"float", "double"}
        Type of the input. For "float" each threshold is rounded down to a float: the class of every float32 input is
        exactly that of the tree. A float64 input that is rounded to float32 on its way to the model can cross a
        threshold, unless the tree comes from a model that rounds its inputs itself, as scikit-learn's forests do.
        For "double" the class of every float64 input is exactly that of the tree.
    style : {"auto", "nested", "table"}
        "nested" is the operator TreeEnsembleRegressor, which gives the index of what the leaf says; "table" a Loop over
        tables, which takes any depth and shared subtrees; "auto" takes the first where it can.

    Returns
    -------
    onnx.ModelProto
        Its `doc_string` says what the tree is; the names of the features and whether it is exact are in its metadata.

    Notes
    -----
    ONNX cannot refuse: on features where `tree.predict` refuses missing values (NaN), they go where +inf goes or, past
    thresholds of +inf, right. Labels are strings, 64-bit integers, doubles or booleans; labels of several types become
    strings. Set tests become comparisons; the categories are in the metadata.
    """
    try:
        import onnx
        from onnx import helper
    except ImportError:
        raise missing("onnx", "onnx") from None
    if number not in NUMBERS:
        raise InvalidInputError(f"unknown number type {number!r}; use one of {', '.join(NUMBERS)}")
    kind = onnx.TensorProto.DOUBLE if number == "double" else onnx.TensorProto.FLOAT
    ensemble = _as_ensemble(tree, style)
    plain = thresholds_only(tree) if ensemble is None else ensemble
    nodes, constants = _loop(plain, number) if ensemble is None else _ensemble(plain, number)
    said = _said(plain)
    graph = helper.make_graph(
        [*nodes, *said.nodes],
        "onetree",
        [helper.make_tensor_value_info("X", kind, ["n_rows", tree.n_features])],
        said.outputs,
        initializer=[*constants, *said.constants],
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="onetree",
        doc_string="\n".join(heading(tree)),
    )
    properties = {"features": json.dumps(tree.feature_names), "exact": json.dumps(tree.exact)}
    if tree.value is not None:
        properties["tolerance"] = json.dumps({"tolerance": tree.tolerance, "relative": tree.relative})
    if tree.domain is not None:
        properties["domain"] = json.dumps(tree.domain.to_json())
    if any(kind is not None for kind in tree.categories):
        properties["categories"] = json.dumps([_categories(kind) for kind in tree.categories])
    helper.set_model_props(model, properties)
    return model


def _categories(kind: Categories | None) -> dict[str, Any] | None:
    return None if kind is None else {"codes": kind.codes, "names": kind.names}


def _as_ensemble(tree: Tree, style: str) -> Tree | None:
    """Return the tree that a tree ensemble holds, without set tests and shared nodes; None for a loop."""
    if style not in STYLES:
        raise InvalidInputError(f"unknown style {style!r}; use one of {', '.join(STYLES)}")
    if style == "table" and tree.n_leaves > 1:  # a single leaf has no table
        return None
    n_outcomes = len(outcomes(tree).leaf_class)
    fits = tree.depth <= _MAX_DEPTH and tree.n_leaves <= _MAX_LEAVES and n_outcomes <= _MAX_CLASSES
    plain = None
    if tree.n_leaves == 1 or fits:
        plain = written_out(tree, _MAX_SET_NODES) if tree.has_subsets else unfolded(tree)
    if plain is not None and (plain.depth <= _MAX_DEPTH or tree.n_leaves == 1):
        return plain
    if style == "nested":
        sets = f", set tests in {_MAX_SET_NODES:,} nodes at most" if tree.has_subsets else ""
        raise InvalidInputError(
            f"a tree ensemble in ONNX takes a depth of {_MAX_DEPTH:,}, {_MAX_LEAVES:,} leaves and {_MAX_CLASSES:,} "
            f'classes at most{sets}, and the tree is {tree.depth:,} deep; use style="table"'
        )
    return None


class _Said(NamedTuple):
    """What leads from the index of what a leaf says to the outputs."""

    nodes: list[NodeProto]
    outputs: list[ValueInfoProto]
    constants: list[TensorProto]


def _index_name(tree: Tree) -> str:
    return "class_index" if tree.output == "class" else "outcome"


def _said(tree: Tree) -> _Said:
    from onnx import TensorProto, helper, numpy_helper

    said = outcomes(tree)
    nodes, outputs, constants = [], [], []
    if tree.output != "value":
        labels = _label_tensor(tree)
        constants.append(labels)
        if tree.output == "probability":
            constants.append(numpy_helper.from_array(said.leaf_class.astype(_INT64), "leaf_class"))
            nodes.append(helper.make_node("Gather", ["leaf_class", "outcome"], ["class_index"]))
        nodes.append(helper.make_node("Gather", ["labels", "class_index"], ["label"]))
        outputs += [
            helper.make_tensor_value_info("label", labels.data_type, ["n_rows"]),
            helper.make_tensor_value_info("class_index", TensorProto.INT64, ["n_rows"]),
        ]
    if said.value is not None:
        shape: list[str | int | None] = ["n_rows", tree.n_classes]
        name, value = "probabilities", said.value
        if tree.output == "value":
            name, value, shape = "value", said.value[:, 0], ["n_rows"]
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), "leaf_value"))
        nodes.append(helper.make_node("Gather", ["leaf_value", "outcome"], [name]))
        outputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape))
    return _Said(nodes, outputs, constants)


def _ensemble(tree: Tree, number: str) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the operator that adds up one tree whose leaves hold the index of what they say."""
    from onnx import helper, numpy_helper

    inner = tree.feature >= 0
    leaves = (~inner).nonzero()[0].tolist()
    threshold, index = _thresholds(tree, number), outcomes(tree).index[0][~inner].astype(_dtype(number))
    if number == "double":
        numbers = {
            "nodes_values_as_tensor": numpy_helper.from_array(threshold, "threshold"),
            "target_weights_as_tensor": numpy_helper.from_array(index, "class"),
        }
    else:
        numbers = {"nodes_values": threshold.tolist(), "target_weights": index.tolist()}
    ensemble = helper.make_node(
        "TreeEnsembleRegressor",
        ["X"],
        ["outcome_number"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0] * tree.n_nodes,
        nodes_nodeids=list(range(tree.n_nodes)),
        nodes_featureids=np.where(inner, tree.feature, 0).tolist(),
        nodes_modes=["BRANCH_LEQ" if split else "LEAF" for split in inner.tolist()],
        nodes_truenodeids=np.where(inner, tree.children_left, 0).tolist(),
        nodes_falsenodeids=np.where(inner, tree.children_right, 0).tolist(),
        nodes_missing_value_tracks_true=[0] * tree.n_nodes,
        target_treeids=[0] * len(leaves),
        target_nodeids=leaves,
        target_ids=[0] * len(leaves),
        **numbers,
    )
    return [
        ensemble,
        helper.make_node("Cast", ["outcome_number"], ["outcome_column"], to=helper.np_dtype_to_tensor_dtype(_INT64)),
        helper.make_node("Squeeze", ["outcome_column", "column"], [_index_name(tree)]),
    ], [numpy_helper.from_array(np.array([1], dtype=_INT64), "column")]


def _loop(tree: Tree, number: str) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the steps that take all rows from node to node until each is at a leaf, a node below zero."""
    from onnx import helper, numpy_helper

    inner = tables(tree, _thresholds(tree, number))
    whole = {
        "feature": inner.feature,
        "if_true": inner.left,
        "if_false": inner.right,
        "depth": tree.depth,
        "column": [1],
        "zero": 0,
        "minus_one": -1,
    }
    constants = [numpy_helper.from_array(np.array(value, dtype=_INT64), name) for name, value in whole.items()]
    constants.append(numpy_helper.from_array(np.array(inner.threshold, dtype=_dtype(number)), "threshold"))
    constants.append(numpy_helper.from_array(np.array(True), "begin"))
    first = numpy_helper.from_array(np.zeros(1, dtype=_INT64))
    nodes = [
        helper.make_node("Shape", ["X"], ["rows"], start=0, end=1),
        helper.make_node("ConstantOfShape", ["rows"], ["root"], value=first),
        helper.make_node("Loop", ["depth", "begin", "root"], ["leaf"], body=_step()),
        helper.make_node("Sub", ["minus_one", "leaf"], [_index_name(tree)]),
    ]
    return nodes, constants


def _step() -> GraphProto:
    """Return one step of the loop: rows at a leaf stay there, the others go one node down."""
    from onnx import TensorProto, helper

    # A leaf has no entry in the tables: its row looks up the root, and the result is not used.
    steps = [
        ("Max", ["node", "zero"], "entry"),
        ("Gather", ["feature", "entry"], "at"),
        ("Unsqueeze", ["at", "column"], "at_column"),
        ("GatherElements", ["X", "at_column"], "value_column"),
        ("Squeeze", ["value_column", "column"], "own_value"),
        ("Gather", ["threshold", "entry"], "cut"),
        ("LessOrEqual", ["own_value", "cut"], "holds"),
        ("Gather", ["if_true", "entry"], "yes"),
        ("Gather", ["if_false", "entry"], "no"),
        ("Where", ["holds", "yes", "no"], "below"),
        ("Less", ["node", "zero"], "done"),
        ("Where", ["done", "node", "below"], "next"),
        ("GreaterOrEqual", ["next", "zero"], "on_the_way"),
        ("Cast", ["on_the_way"], "counted"),
        ("ReduceSum", ["counted"], "n_on_the_way"),
        ("Greater", ["n_on_the_way", "zero"], "again"),
    ]
    options: dict[str, dict[str, Any]] = {
        "GatherElements": {"axis": 1},
        "Cast": {"to": TensorProto.INT64},
        "ReduceSum": {"keepdims": 0},
    }
    return helper.make_graph(
        [helper.make_node(name, taken, [given], **options.get(name, {})) for name, taken, given in steps],
        "step",
        [
            helper.make_tensor_value_info("iteration", TensorProto.INT64, []),
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("node", TensorProto.INT64, ["n_rows"]),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.INT64, ["n_rows"]),
        ],
    )


def _dtype(number: str) -> np.dtype[Any]:
    return np.dtype(np.float64 if number == "double" else np.float32)


def _thresholds(tree: Tree, number: str) -> NDArray[Any]:
    return tree.threshold if number == "double" else float32_thresholds(tree)


def _label_tensor(tree: Tree) -> TensorProto:
    from onnx import TensorProto, helper, numpy_helper

    labels = uniform_labels(tree)
    if isinstance(labels[0], str):
        # JSON can hold half of a surrogate pair, which has no UTF-8.
        encoded: Any = [str(label).encode(errors="backslashreplace") for label in labels]
        return helper.make_tensor("labels", TensorProto.STRING, [len(labels)], encoded)
    return numpy_helper.from_array(np.array(labels), "labels")
