"""What each operator between inputs and trees does to columns, and what it needs to be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.importers.onnx.attributes import finite_numbers, integers, texts
from onetree.importers.onnx.graph import DOUBLE, FLOAT, INT64, STRING, Operator
from onetree.importers.onnx.tensors import NUMPY, Array, Tensor

if TYPE_CHECKING:
    from onetree.importers.onnx.steps import Steps

_ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
}


# Operators that move columns.


def _same(steps: Steps, operator: Operator) -> None:
    name, tensor = steps.given(operator)
    shape = steps.graph.constant(operator.inputs[1]) if operator.kind == "Reshape" else None
    if operator.kind == "Reshape" and (shape is None or shape.ravel()[1:].tolist() != [len(tensor.columns)]):
        raise UnsupportedModelError("a Reshape mixes rows and columns, which is not read")
    if operator.kind == "Flatten" and operator.attributes.get("axis", 1) != 1:
        raise UnsupportedModelError("a Flatten mixes rows and columns, which is not read")
    steps.put(operator, [name], tensor, lambda x: x)


def _join(steps: Steps, operator: Operator) -> None:
    if operator.kind == "Concat" and operator.attributes.get("axis") not in (1, -1):
        raise UnsupportedModelError("a Concat joins rows, which is not read")
    given = [steps.given(operator, i) for i in range(len(operator.inputs))]
    kind = FLOAT if operator.kind == "FeatureVectorizer" else given[0][1].kind
    if operator.kind == "FeatureVectorizer":
        sizes = integers(operator, "inputdimensions").tolist()
        if sizes != [len(tensor.columns) for _, tensor in given]:
            raise UnsupportedModelError("a FeatureVectorizer cuts columns off, or fills up, which is not read")
    elif any(tensor.kind != kind for _, tensor in given):
        raise ModelFileError("a Concat joins columns of different types")
    columns = tuple(column for _, tensor in given for column in tensor.columns)
    dtype = NUMPY[kind]
    names = [name for name, _ in given]
    steps.put(operator, names, Tensor(kind, columns), lambda *x: np.concatenate(x, axis=1).astype(dtype))


def _pick(steps: Steps, operator: Operator) -> None:
    if operator.kind == "Gather" and operator.attributes.get("axis", 0) not in (1, -1):
        raise UnsupportedModelError("a Gather picks rows, which is not read")
    name, tensor = steps.given(operator)
    chosen = steps.graph.constant(operator.inputs[1])
    n = len(tensor.columns)
    if chosen is None or chosen.dtype.kind not in "iu" or chosen.size == 0 or chosen.min() < -n or chosen.max() >= n:
        raise UnsupportedModelError(f"a {operator.kind} picks columns that are not there, or not known beforehand")
    at = chosen.ravel()
    steps.put(operator, [name], Tensor(tensor.kind, tuple(tensor.columns[i] for i in at)), lambda x: x[:, at])


# Operators that change numbers.


def _cast(steps: Steps, operator: Operator) -> None:
    name, tensor = steps.given(operator)
    to = operator.attributes.get("to")
    if to not in (FLOAT, DOUBLE, INT64) or (tensor.kind == STRING):
        raise UnsupportedModelError("a Cast from or to texts, or to an unusual type of numbers, is not read")
    if to == INT64 and tensor.kind in (FLOAT, DOUBLE):
        raise UnsupportedModelError("a Cast of numbers to integers is not read; give the model integers")
    steps.put(operator, [name], Tensor(int(to), tensor.columns), lambda x: x.astype(NUMPY[to]))


def _scale(steps: Steps, operator: Operator) -> None:
    name, tensor = steps.given(operator)
    offset, scale = (_floats(operator, key, len(tensor.columns)) for key in ("offset", "scale"))
    if tensor.kind == STRING or not scale.all():
        raise UnsupportedModelError("a Scaler of texts, or by zero, is not read")
    dtype = np.float64 if tensor.kind == DOUBLE else np.float32
    steps.put(
        operator, [name], Tensor(FLOAT, tensor.columns),
        lambda x: ((x.astype(dtype) - offset) * scale).astype(np.float32),
    )  # fmt: skip


def _floats(operator: Operator, key: str, n: int) -> NDArray[np.float32]:
    found = finite_numbers(operator, key, np.float32)
    if len(found) not in (1, n):
        raise ModelFileError(f"{key} of a {operator.kind} must be 1 or {n} finite numbers")
    return found


def _arithmetic(steps: Steps, operator: Operator) -> None:
    constant = [steps.graph.constant(name) for name in operator.inputs]
    at = 0 if constant[0] is None else 1
    name, tensor = steps.given(operator, at)
    number = constant[1 - at]
    n = len(tensor.columns)
    if number is None or tensor.kind not in (FLOAT, DOUBLE) or number.dtype != NUMPY[tensor.kind]:
        raise UnsupportedModelError(f"the operator {operator.kind} mixes columns, which is not read")
    if number.ndim > 2 or number.size not in (1, n) or (number.ndim == 2 and number.shape[0] != 1):
        raise UnsupportedModelError(f"the operator {operator.kind} does not work column by column")
    by = number.ravel()
    zero = operator.kind in ("Mul", "Div") and not by.all()
    if zero or not np.isfinite(by).all() or (operator.kind == "Div" and at == 1):
        raise UnsupportedModelError(f"the operator {operator.kind} with such constants is not read")
    run = _ARITHMETIC[operator.kind]
    steps.put(operator, [name], tensor, (lambda x: run(x, by)) if at == 0 else (lambda x: run(by, x)))


def _impute(steps: Steps, operator: Operator) -> None:
    name, tensor = steps.given(operator)
    whole = tensor.kind == INT64
    if tensor.kind not in (FLOAT, INT64):
        raise UnsupportedModelError("an Imputer of such columns is not read")
    values: Array
    if whole:
        values = integers(operator, "imputed_value_int64s")
        replaced: Any = operator.attributes.get("replaced_value_int64", 0)
    else:
        values = _floats(operator, "imputed_value_floats", len(tensor.columns))
        replaced = np.float32(operator.attributes.get("replaced_value_float", 0.0))
    if len(values) not in (1, len(tensor.columns)):
        raise ModelFileError("an Imputer must have one number, or one per column")
    columns = tensor.columns
    if np.isnan(replaced):
        steps.fills_gaps |= {column.raw for column in columns if column.raw is not None}
    else:
        columns = steps.broken(name, columns, [[float(replaced)]] * len(columns))

    def run(x: Array) -> Array:
        gap = np.isnan(x) if np.isnan(replaced) else x == replaced
        return np.where(gap, values, x).astype(x.dtype)

    steps.put(operator, [name], Tensor(tensor.kind, columns), run)


def _binarize(steps: Steps, operator: Operator) -> None:
    name, tensor = steps.given(operator)
    threshold = np.float32(operator.attributes.get("threshold", 0.0))
    if tensor.kind != FLOAT:
        raise UnsupportedModelError("a Binarizer of such columns is not read")
    # onnxruntime ends with an error at a missing value.
    steps.refuses_gaps |= {column.raw for column in tensor.columns if column.raw is not None} - steps.fills_gaps
    steps.put(operator, [name], tensor, lambda x: (x > threshold).astype(np.float32))


# Operators that know categories.


def _one_hot(steps: Steps, operator: Operator) -> None:
    name, tensor = steps.given(operator)
    known: list[Any] = texts(operator, "cats_strings") or integers(operator, "cats_int64s").tolist()
    by_text = bool(known) and isinstance(known[0], str)
    if not known or len(set(known)) != len(known) or by_text != (tensor.kind == STRING):
        raise UnsupportedModelError("the categories of a OneHotEncoder do not fit its column")
    if tensor.kind not in (STRING, INT64):
        raise UnsupportedModelError("a OneHotEncoder of numbers that are not integers is not read")
    columns = steps.known(name, tensor, known, refuses_others=operator.attributes.get("zeros", 1) == 0)
    keys = np.array(known, dtype=object if by_text else np.int64)
    spread = tuple(column for column in columns for _ in known)

    def run(x: Array) -> Array:
        return np.asarray(x[:, :, np.newaxis] == keys).reshape(len(x), -1).astype(np.float32)

    steps.put(operator, [name], Tensor(FLOAT, spread), run)


def _encode(steps: Steps, operator: Operator) -> None:
    name, tensor = steps.given(operator)
    by_text = tensor.kind == STRING
    keys: list[Any] = texts(operator, "keys_strings") if by_text else integers(operator, "keys_int64s").tolist()
    numbers, kind = operator.attributes.get("values_int64s"), INT64
    default: Any = operator.attributes.get("default_int64", -1)
    if numbers is None:
        numbers, kind = operator.attributes.get("values_floats"), FLOAT
        default = np.float32(operator.attributes.get("default_float", -0.0))
    if tensor.kind not in (STRING, INT64) or not isinstance(numbers, np.ndarray) or not 0 < len(keys) == len(numbers):
        raise UnsupportedModelError("a LabelEncoder with such keys and values is not read")
    columns = steps.known(name, tensor, keys)
    value_of = dict(reversed(list(zip(keys, numbers.tolist(), strict=True))))  # the first of equal keys counts
    dtype = NUMPY[kind]

    def run(x: Array) -> Array:
        found = [value_of.get(key, default) for key in x.ravel().tolist()]
        return np.array(found, dtype=dtype).reshape(x.shape)

    steps.put(operator, [name], Tensor(kind, columns), run)


OPERATORS: dict[str, Callable[[Steps, Operator], None]] = {
    "Identity": _same,
    "Reshape": _same,
    "Flatten": _same,
    "Concat": _join,
    "FeatureVectorizer": _join,
    "Gather": _pick,
    "ArrayFeatureExtractor": _pick,
    "Cast": _cast,
    "Scaler": _scale,
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    "Imputer": _impute,
    "Binarizer": _binarize,
    "OneHotEncoder": _one_hot,
    "LabelEncoder": _encode,
}
