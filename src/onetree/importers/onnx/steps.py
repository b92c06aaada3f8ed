"""The operators between the inputs of an ONNX model and its trees, in onnxruntime's arithmetic.

Each works on columns: a tensor has rows and columns, and each of its columns depends on one column of an input. What
mixes columns is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.onnx.graph import DOUBLE, FLOAT, INT32, INT64, STRING, Graph, Input, Operator
from onetree.importers.onnx.operators import OPERATORS
from onetree.importers.onnx.tensors import NUMPY, Array, Tensor
from onetree.importers.pipeline import Break, Column, Raw
from onetree.model.columns import Labels

UNKNOWN = "\x01 not known to the model"
_MAX_COLUMNS = 1_000_000
_LARGEST_FLOAT, _LARGEST_INT = float(np.finfo(np.float32).max), 2.0**53


@dataclass(frozen=True)
class _Call:
    """An operator as a function of tensors."""

    run: Callable[..., Array]
    inputs: tuple[str, ...]
    output: str


class Steps:
    """The way from a matrix of numbers and codes to the columns that the trees get."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self._calls: list[_Call] = []
        self._tensors: dict[str, Tensor] = {}
        self._texts: dict[int, dict[str, None]] = {}  # what each raw column of texts is compared with
        self._refuses_others: set[int] = set()
        self.fills_gaps: set[int] = set()  # raw columns whose missing values are replaced
        self.refuses_gaps: set[int] = set()  # and those in which they are an error
        self.inputs = [each for each in graph.inputs if each.kind in NUMPY and each.n_columns > 0]
        if sum(each.n_columns for each in self.inputs) > _MAX_COLUMNS:
            raise UnsupportedModelError(f"the model has more than {_MAX_COLUMNS:,} columns")
        self.of_input: list[tuple[Input, int]] = [(each, i) for each in self.inputs for i in range(each.n_columns)]
        at = 0
        for each in self.inputs:
            own = tuple(Column(at + i) for i in range(each.n_columns))
            self._tensors[each.name], at = Tensor(each.kind, own), at + each.n_columns
        for operator in graph.needed_for(name):
            self._add(operator)
        if name not in self._tensors:
            raise UnsupportedModelError("the trees do not depend on the inputs of the model")
        self.result = self._tensors[name]
        self.evaluate = self._up_to(name)
        self.raw = [self._raw(i) for i in range(len(self.of_input))]

    def as_given(self, X: NDArray[np.float64]) -> dict[str, Array]:
        """Return rows of numbers and codes as onnxruntime takes them."""
        given, at = {}, 0
        for each in self.inputs:
            part = X[:, at : at + each.n_columns]
            if each.kind == STRING:
                columns = [self._as_texts(at + i, part[:, i]) for i in range(each.n_columns)]
                given[each.name] = np.stack(columns, axis=1).astype(object)
            else:
                with np.errstate(over="ignore", under="ignore"):
                    whole = np.floor(part) if each.kind in (INT32, INT64) else part
                    given[each.name] = whole.astype(NUMPY[each.kind])
            at += each.n_columns
        return given

    def _as_texts(self, raw: int, x: NDArray[np.float64]) -> Array:
        known = np.array([*self._texts.get(raw, {}), UNKNOWN], dtype=object)
        whole = np.isin(x, np.arange(len(known) - 1))
        return np.asarray(known[np.where(whole, x, len(known) - 1).astype(int)], dtype=object)

    def _raw(self, at: int) -> Raw:
        given, i = self.of_input[at]
        name = f"x{i}" if len(self.inputs) == 1 else given.name if given.n_columns == 1 else f"{given.name}_{i}"
        if given.kind == STRING:
            values = tuple(self._texts.get(at, {}))
            return Raw(name, Labels(values, unknown="refuse" if at in self._refuses_others else -1.0))
        largest = {FLOAT: _LARGEST_FLOAT, DOUBLE: float(np.finfo(np.float64).max)}.get(given.kind, _LARGEST_INT)
        largest = 2.0**31 - 1 if given.kind == INT32 else largest
        return Raw(name, low=-largest, high=largest)

    def _up_to(self, name: str) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        n_calls = len(self._calls)

        def evaluate(X: NDArray[np.float64]) -> NDArray[np.float64]:
            known = self.as_given(X)
            with np.errstate(all="ignore"):
                for call in self._calls[:n_calls]:
                    known[call.output] = call.run(*(known[each] for each in call.inputs))
            return np.asarray(known[name], dtype=np.float64)

        return evaluate

    def _add(self, operator: Operator) -> None:
        if operator.kind == "Constant":
            return
        made = OPERATORS.get(operator.kind)
        if made is None:
            raise UnsupportedModelError(
                f"between the inputs and the trees stands the operator {operator.kind[:80]}, which is not read; "
                "convert the trees alone, or read the model from the library that it was trained with"
            )
        made(self, operator)

    def given(self, operator: Operator, at: int = 0) -> tuple[str, Tensor]:
        """Return the name of what an operator gets, and the tensor."""
        name = operator.inputs[at] if at < len(operator.inputs) else ""
        if name not in self._tensors:
            raise UnsupportedModelError(f"the operator {operator.kind} does not get columns of the model's inputs")
        return name, self._tensors[name]

    def put(self, operator: Operator, inputs: Sequence[str], tensor: Tensor, run: Callable[..., Array]) -> None:
        """Note what an operator makes of its inputs."""
        self._calls.append(_Call(run, tuple(inputs), operator.outputs[0]))
        self._tensors[operator.outputs[0]] = tensor

    def known(
        self, name: str, tensor: Tensor, values: list[Any], *, refuses_others: bool = False
    ) -> tuple[Column, ...]:
        """Note what columns are compared with; return them, with breaks at these numbers."""
        if tensor.kind == STRING:
            for column in tensor.columns:
                if column.raw is not None:
                    self._texts.setdefault(column.raw, {}).update(dict.fromkeys(values))
                    if refuses_others:
                        self._refuses_others.add(column.raw)
            return tensor.columns
        if refuses_others:
            raise UnsupportedModelError(
                "a OneHotEncoder that refuses unknown numbers is not read; convert it with zeros=1"
            )
        return self.broken(name, tensor.columns, [[float(value) for value in values]] * len(tensor.columns))

    def broken(self, name: str, columns: Sequence[Column], points: Sequence[list[float]]) -> tuple[Column, ...]:
        """Return columns that do something else at these points."""
        evaluate = self._up_to(name)
        broken = []
        for i, (column, own) in enumerate(zip(columns, points, strict=True)):
            at = Break(evaluate, i, np.unique(np.array(own, dtype=np.float64)))
            broken.append(replace(column, breaks=(*column.breaks, at)))
        return tuple(broken)
