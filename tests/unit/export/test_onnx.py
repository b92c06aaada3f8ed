"""The tree as an ONNX model. That its classes are right on 100,000 inputs: test_exports_run."""

from __future__ import annotations

import builtins
import json

import numpy as np
import pytest

from onetree import InvalidInputError, MissingDependencyError, Tree
from tests.cases import exported
from tests.unit.tree.test_tree import chain, small_tree

pytest.importorskip("onnxruntime")
ROWS = np.array([[0, -3], [0, 0], [2, 0]], dtype=np.float32)  # red, green, blue


def operators(model):
    return [node.op_type for node in model.graph.node]


def test_a_tree_is_a_tree_ensemble():
    assert operators(small_tree().to_onnx())[0] == "TreeEnsembleRegressor"


def test_a_tree_too_deep_for_that_is_a_loop():
    assert "Loop" in operators(chain(1_001).to_onnx())
    with pytest.raises(InvalidInputError, match='style="table"'):
        chain(1_001).to_onnx(style="nested")


@pytest.mark.parametrize("style", ["nested", "table"])
@pytest.mark.parametrize(
    "classes",
    [["a", "ü", 'c"\n'], [3, -1, 2**62], [0.1, 0.5, -1e300], [b"x".decode(), 1, 2.5]],
    ids=["strings", "ints", "floats", "mixed"],
)
def test_labels_are_strings_or_numbers_and_of_several_types_strings(classes, style):
    labels = np.empty(3, dtype=object)
    labels[:] = classes
    mixed = len({type(label) for label in classes}) > 1
    tree = small_tree(classes=labels if mixed else np.array(classes))
    found = exported.run_onnx(tree, ROWS, style=style)[0].tolist()
    assert found == ([str(label) for label in classes] if mixed else classes)


def test_labels_can_be_bools():
    tree = small_tree(classes=[False, True], leaf_class=[-1, -1, 0, 1, 1])
    assert exported.run_onnx(tree, ROWS)[0].tolist() == [False, True, True]


@pytest.mark.parametrize("number", ["float", "double"])
def test_a_single_leaf_is_a_model(number):
    tree = Tree([-1], [0.0], [-1], [-1], [1], ["a", "b"], ("x", "y"), [False, False])
    rows = ROWS if number == "float" else ROWS.astype(np.float64)
    assert exported.run_onnx(tree, rows, number=number)[0].tolist() == ["b"] * 3


@pytest.mark.parametrize("style", ["nested", "table"])
def test_no_rows_give_no_classes(style):
    assert exported.run_onnx(small_tree(), ROWS[:0], style=style)[0].tolist() == []


def test_rounding_an_input_to_float32_can_cross_a_threshold_and_double_does_not():
    tree = small_tree(threshold=[0.1, -2.0, 0, 0, 0])
    above = np.array([[np.nextafter(0.1, 1), 0.0]])  # float32 has nothing between the two floats around 0.1
    below = np.array([[np.nextafter(np.float32(0.1), np.float32(0)), 0.0]])
    assert tree.predict(above) == ["blue"]
    assert exported.run_onnx(tree, above, number="double")[0] == ["blue"]
    assert exported.run_onnx(tree, above.astype(np.float32))[0] == tree.predict(above.astype(np.float32))
    assert exported.run_onnx(tree, below.astype(np.float32))[0] == tree.predict(below) == ["green"]


def test_the_model_says_what_it_is():
    model = small_tree(feature_names=("a", 'b"'), exact=False).to_onnx()
    properties = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert properties == {"features": ["a", 'b"'], "exact": False}
    assert "NOT EXACT" in model.doc_string


@pytest.mark.parametrize(("option", "choice"), [("style", "auto, nested, table"), ("number", "double, float")])
def test_another_choice_is_refused(option, choice):
    with pytest.raises(InvalidInputError, match=choice):
        small_tree().to_onnx(**{option: "other"})


def test_without_onnx_the_error_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def absent(name, *others):
        if name.split(".")[0] == "onnx":
            raise ImportError(name)
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingDependencyError, match=r"pip install 'onetree\[onnx\]'"):
        small_tree().to_onnx()
