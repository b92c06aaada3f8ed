"""An ONNX file as a graph of operators, read without running it.

Says what the file says: operators, their attributes, constants, and where a tensor comes from. What these mean for a
prediction is said elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.errors import missing as missing_package

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto

FLOAT, INT32, INT64, STRING, BOOL, DOUBLE = 1, 6, 7, 8, 9, 11
"""Types of tensors, as ONNX numbers them."""

ML = "ai.onnx.ml"
_DOMAINS = ("", "ai.onnx", ML)
_MAX_NODES = 100_000


@dataclass(frozen=True)
class Input:
    """A tensor that the model is given: its type, and how many columns it has (0 if the file does not say)."""

    name: str
    kind: int
    n_columns: int


@dataclass(frozen=True)
class Operator:
    """A node of the graph, with the attributes as plain values."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    index: int  # its place in the file


@dataclass(frozen=True)
class Graph:
    """The operators of a model, and what they work on."""

    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    operators: tuple[Operator, ...]
    constants: Mapping[str, NDArray[Any]]
    made_by: Mapping[str, Operator]

    def constant(self, name: str) -> NDArray[Any] | None:
        """Return a tensor that is the same for every input, or None."""
        found = self.constants.get(name)
        if found is None and name in self.made_by and self.made_by[name].kind == "Constant":
            value = self.made_by[name].attributes.get("value")
            return value if isinstance(value, np.ndarray) else None
        return found

    def needed_for(self, name: str) -> list[Operator]:
        """Return the operators that a tensor depends on, in the order of the file."""
        found: dict[int, Operator] = {}
        todo = [name]
        while todo:
            operator = self.made_by.get(todo.pop())
            if operator is not None and operator.index not in found:
                found[operator.index] = operator
                todo += operator.inputs
        return [found[index] for index in sorted(found)]


def parse_model(content: bytes) -> ModelProto:
    """Return the protocol buffer in the content of a file."""
    try:
        import onnx
    except ImportError:
        raise missing_package("onnx", "onnx") from None
    from google.protobuf.message import DecodeError

    try:
        model: ModelProto = onnx.load_model_from_string(content)
    except (DecodeError, ValueError, RuntimeError) as error:
        raise ModelFileError(f"not an ONNX model, or cut short: {str(error)[:200]}") from None
    if not model.HasField("graph") or not model.graph.node:
        raise ModelFileError("not an ONNX model, or one without any operator")
    return model


def read_graph(model: ModelProto) -> Graph:
    """Return what the model says, or refuse it if it is broken."""
    graph = model.graph
    if len(graph.node) > _MAX_NODES:
        raise UnsupportedModelError(f"the model has {len(graph.node):,} operators; {_MAX_NODES:,} at most are read")
    if graph.sparse_initializer or model.functions:
        raise UnsupportedModelError("models with sparse constants or functions of their own are not read")
    constants = {tensor.name: tensor_array(tensor) for tensor in graph.initializer}
    operators = tuple(_operator(node, i) for i, node in enumerate(graph.node))
    made_by: dict[str, Operator] = {}
    known = set(constants) | {value.name for value in graph.input}
    for operator in operators:
        unknown = next((name for name in operator.inputs if name and name not in known), None)
        if unknown is not None:
            raise ModelFileError(f"the operator {operator.kind} takes {unknown[:80]!r}, which nothing before it makes")
        for name in filter(None, operator.outputs):
            if name in known:
                raise ModelFileError(f"two operators make the tensor {name[:80]!r}")
            known.add(name)
            made_by[name] = operator
    return Graph(
        inputs=tuple(_input(value) for value in graph.input if value.name not in constants),
        outputs=tuple(value.name for value in graph.output),
        operators=operators,
        constants=constants,
        made_by=made_by,
    )


def tensor_array(tensor: TensorProto) -> NDArray[Any]:
    """Return the numbers or texts of a tensor that is held in the file itself."""
    from onnx import TensorProto, numpy_helper

    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
        raise UnsupportedModelError("the model keeps constants in other files, which are not read; save it as one file")
    try:
        array: NDArray[Any] = np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError, NotImplementedError, OverflowError) as error:
        raise ModelFileError(f"the constant {tensor.name[:80]!r} is damaged: {str(error)[:200]}") from None
    if array.dtype == object:
        return np.array([_text(item) for item in array.ravel()], dtype=object).reshape(array.shape)
    return array


def _operator(node: NodeProto, index: int) -> Operator:
    domain = "" if node.domain == "ai.onnx" else node.domain
    kind = node.op_type if domain in _DOMAINS else f"{domain[:40]}.{node.op_type[:80]}"
    return Operator(kind, tuple(node.input), tuple(node.output), dict(_attributes(node)), index)


def _attributes(node: NodeProto) -> Iterator[tuple[str, Any]]:
    from onnx import AttributeProto

    seen = set()
    for attribute in node.attribute:
        name, kind = attribute.name, attribute.type
        if name in seen:
            raise ModelFileError(f"the operator {node.op_type[:80]} has the attribute {name[:80]!r} twice")
        seen.add(name)
        if kind == AttributeProto.FLOAT:
            yield name, attribute.f
        elif kind == AttributeProto.INT:
            yield name, attribute.i
        elif kind == AttributeProto.STRING:
            yield name, _text(attribute.s)
        elif kind == AttributeProto.TENSOR:
            yield name, tensor_array(attribute.t)
        elif kind == AttributeProto.FLOATS:
            yield name, np.array(attribute.floats, dtype=np.float32)
        elif kind == AttributeProto.INTS:
            yield name, np.array(attribute.ints, dtype=np.int64)
        elif kind == AttributeProto.STRINGS:
            yield name, [_text(item) for item in attribute.strings]
        else:  # graphs inside graphs, and sparse tensors
            yield name, None


def _text(given: bytes | str) -> str:
    if isinstance(given, str):
        return given
    try:
        return given.decode()
    except UnicodeDecodeError:
        raise ModelFileError("a text in the model is not UTF-8") from None


def _input(value: ValueInfoProto) -> Input:
    kind = value.type.tensor_type
    dimensions = [dimension.dim_value for dimension in kind.shape.dim]
    if len(dimensions) not in (1, 2):
        return Input(value.name, kind.elem_type, 0)
    return Input(value.name, kind.elem_type, max(0, dimensions[1]) if len(dimensions) == 2 else 1)
