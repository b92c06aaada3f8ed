"""ONNX models with a tree ensemble at their end, from a file or in memory, as onnxruntime runs them on one thread.

With several threads and more than 50 rows, onnxruntime adds up parts of the trees apart, so that its own sums can
differ in the last place from those of single rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.importers.onnx.decision import Decision, decide_argmax, decide_classifier, with_labels
from onetree.importers.onnx.graph import (
    DOUBLE,
    FLOAT,
    INT32,
    INT64,
    STRING,
    Graph,
    Input,
    Operator,
    parse_model,
    read_graph,
)
from onetree.importers.onnx.steps import Steps
from onetree.importers.onnx.trees import FlatTrees, RawTrees, flatten, read_classifier, read_ensemble
from onetree.importers.pipeline import compose
from onetree.importers.self_test import self_test
from onetree.importers.set_tests import SetTest, known_categories, set_fields
from onetree.importers.thresholds import canonical_thresholds
from onetree.model.categories import Categories
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble

if TYPE_CHECKING:
    from onnx import ModelProto

_DTYPES = {FLOAT: np.float32, INT32: np.float32, INT64: np.float32, DOUBLE: np.float64}
_MAX_FEATURES = 1_000_000


@dataclass(frozen=True)
class Label:
    """Where a label comes from: the tree operator, the name of the output, and labels that are looked up at the end."""

    output: str
    operator: Operator
    looked_up: NDArray[Any] | None


def import_onnx(model: Any, *, missing: str = "auto") -> Ensemble:
    """Read an `onnx.ModelProto`."""
    return _import(model, missing)


def parse_onnx(content: bytes, *, missing: str = "auto") -> Ensemble:
    """Read an ensemble from the content of a file, and check it against onnxruntime if that is installed."""
    return _import(parse_model(content), missing)


def _import(model: ModelProto, missing: str) -> Ensemble:
    graph = read_graph(model)
    label = find_label(graph)
    given = _direct_input(graph, label.operator)
    steps = Steps(graph, given[0].name if given else label.operator.inputs[0])
    ensemble = _bare(label, *given, missing) if given else _behind_steps(label, steps, missing)
    run = _session(model, graph, label, steps)
    if run is not None:
        whole = [each.kind in (INT32, INT64) for each, _ in steps.of_input]
        largest = min(raw.high for raw in steps.raw) if any(whole) or given is None else np.inf
        self_test(ensemble, run, "ONNX model", largest=largest, rows=lambda X: np.where(whole, np.floor(X), X))
    return ensemble


def _behind_steps(label: Label, steps: Steps, missing: str) -> Ensemble:
    """Return the ensemble on the inputs of the model, which its first operators make other columns of."""
    kind = DOUBLE if steps.result.kind == DOUBLE else FLOAT
    if steps.result.kind == STRING:
        raise UnsupportedModelError("the trees get texts, which they cannot compare")
    trees = ensemble_of(label, kind, len(steps.result.columns), missing, rounded=False)
    shown = bool(trees.nan_features.any())
    raw = []
    for at, (each, (of, _)) in enumerate(zip(steps.raw, steps.of_input, strict=True)):
        asked = missing == "follow" or (missing == "auto" and (shown or at in steps.fills_gaps))
        possible = of.kind in (FLOAT, DOUBLE) and at not in steps.refuses_gaps
        raw.append(replace(each, takes_nan=asked and possible))
    named = len(steps.inputs) > 1 or steps.inputs[0].n_columns == 1
    return compose(trees, raw, steps.result.columns, steps.evaluate, frame=Columns(named=named, integers="float32"))


def find_label(graph: Graph) -> Label:
    """Return the output that is a label made by trees."""
    reasons = []
    for output in graph.outputs:
        try:
            return _label(graph, output)
        except _NotLabelError as error:
            reasons.append(f"{output[:80]!r} {error}")
    raise UnsupportedModelError(
        f"no output of this ONNX model is the label of a tree ensemble: {'; '.join(reasons[:5])}. A "
        "TreeEnsembleClassifier is read, and the ArgMax of a TreeEnsemble"
    )


class _NotLabelError(Exception):
    """An output is something else."""


def _label(graph: Graph, output: str) -> Label:
    looked_up: NDArray[Any] | None = None
    name = output
    while True:
        operator = graph.made_by.get(name)
        if operator is None:
            raise _NotLabelError("is not computed by trees")
        kind = operator.kind
        if kind == "TreeEnsembleClassifier" and operator.outputs[:1] == (name,):
            return Label(output, operator, looked_up)
        if kind == "ArgMax" and _is_first_of_columns(operator):
            trees = graph.made_by.get(operator.inputs[0])
            if trees is not None and trees.kind == "TreeEnsemble":
                return Label(output, trees, looked_up)
            raise _NotLabelError(f"is the largest of what {trees.kind if trees else 'an input'} gives")
        if kind in ("Gather", "ArrayFeatureExtractor") and looked_up is None:
            looked_up = graph.constant(operator.inputs[0])
            if looked_up is None:
                raise _NotLabelError(f"comes from {kind}")
            looked_up, name = looked_up.ravel(), operator.inputs[1]
        elif kind in ("Identity", "Reshape", "Squeeze", "Flatten") or (kind == "Cast" and _keeps(graph, operator)):
            name = operator.inputs[0]
        else:
            raise _NotLabelError(f"comes from {kind[:80]}")


def _is_first_of_columns(operator: Operator) -> bool:
    get = operator.attributes.get
    return get("axis", 0) in (1, -1) and get("select_last_index", 0) == 0


def _keeps(graph: Graph, operator: Operator) -> bool:
    """Whether a cast leaves labels as they are: integers that become integers."""
    source = graph.made_by.get(operator.inputs[0])
    texts = source is not None and "classlabels_strings" in source.attributes
    return operator.attributes.get("to") == INT64 and not texts


def _bare(label: Label, given: Input, compared: int, missing: str) -> Ensemble:
    """Return the ensemble on the columns of the one input that the trees get."""
    if not 0 < given.n_columns <= _MAX_FEATURES:
        raise UnsupportedModelError(
            f"the input {given.name[:80]!r} must have a known number of columns, 1 to {_MAX_FEATURES:,}, not "
            f"{given.n_columns:,}; convert the model again with the shape [None, n_features]"
        )
    ensemble = ensemble_of(label, compared, given.n_columns, missing, rounded=FLOAT in (given.kind, compared))
    if given.kind in (INT32, INT64):
        nothing = np.zeros(given.n_columns, dtype=np.bool_)
        ensemble = replace(ensemble, nan_features=nothing, columns=Columns(named=False, integers="float32"))
    return ensemble


def _direct_input(graph: Graph, trees: Operator) -> tuple[Input, int] | None:
    """Return the only input, if the trees get it as it is, and the type of the numbers that they compare."""
    name, compared = trees.inputs[0], 0
    while name in graph.made_by:
        operator = graph.made_by[name]
        if operator.kind == "Cast" and operator.attributes.get("to") in (FLOAT, DOUBLE):
            compared = compared or int(operator.attributes["to"])
        elif operator.kind != "Identity":
            return None
        name = operator.inputs[0]
    given = next((each for each in graph.inputs if each.name == name), None)
    if given is None or len(graph.inputs) > 1:
        return None
    if given.kind not in _DTYPES:
        raise UnsupportedModelError(f"the input {name[:80]!r} must hold floats, doubles or integers")
    return given, compared or (DOUBLE if given.kind == DOUBLE else FLOAT)


def ensemble_of(label: Label, compared: int, n_features: int, missing: str, *, rounded: bool) -> Ensemble:
    """Return the ensemble of a tree operator; `rounded` says that inputs are float32 when they are compared."""
    operator, dtype = label.operator, _DTYPES[compared]
    if operator.kind == "TreeEnsemble":
        raw = read_ensemble(operator, dtype)
        flat = flatten(raw, n_features)
        decision = decide_argmax(operator, raw, dtype)
    else:
        raw = read_classifier(operator, dtype)
        flat = flatten(raw, n_features)
        decision = decide_classifier(operator, raw, flat, dtype)
    if label.looked_up is not None:
        decision = with_labels(decision, label.looked_up)
    try:
        return _join(raw, flat, decision, n_features, missing, rounded)
    except InvalidInputError as error:
        raise ModelFileError(str(error)) from None


def _join(raw: RawTrees, flat: FlatTrees, decision: Decision, n_features: int, missing: str, rounded: bool) -> Ensemble:
    source, feature = np.array(flat.source), np.array(flat.feature)
    roots, value = flat.roots, decision.value[source]
    threshold = raw.threshold[source]
    threshold = np.where(flat.strict, np.nextafter(threshold, threshold.dtype.type(-np.inf)), threshold)
    by_threshold = feature >= 0
    by_threshold[list(flat.sets)] = False
    bad = by_threshold & ~(threshold > -np.inf)
    if bad.any():
        raise UnsupportedModelError("a threshold is not a number, or no number is below it")
    left, right, missing_left = (np.array(side) for side in (flat.left, flat.right, flat.missing_left))
    names = tuple(f"x{i}" for i in range(n_features))
    tests = [
        SetTest(node, flat.feature[node], members, goes_left, not goes_left, bool(missing_left[node]))
        for node, (members, goes_left) in flat.sets.items()
    ]
    categories = known_categories(tests, {}, lambda _, codes: _equal(codes, rounded), n_features)
    shows_nan = len(np.unique(missing_left[by_threshold])) == 2
    if decision.last is not None:  # a tree of one leaf
        roots = [*roots, len(feature)]
        feature, left, right = (np.append(each, -1) for each in (feature, left, right))
        threshold, missing_left = np.append(threshold, 0), np.append(missing_left, False)
        value = np.concatenate([value, decision.last[np.newaxis]])
    threshold = np.where(feature >= 0, threshold, 0).astype(np.float64)
    return Ensemble(
        classes=decision.classes,
        feature_names=names,
        roots=np.array(roots),
        feature=feature,
        threshold=canonical_thresholds(threshold) if rounded else threshold,
        children_left=left,
        children_right=right,
        missing_left=missing_left,
        value=value,
        base=np.zeros(value.shape[1]),
        rule=decision.rule,
        nan_features=np.full(n_features, missing == "follow" or (missing == "auto" and shows_nan)),
        columns=Columns(named=False),
        **set_fields(tests, categories, feature, names),
    )


def _equal(codes: NDArray[np.float64], rounded: bool) -> Categories:
    """Return categories that are one number each, or all numbers that round to it."""
    if not rounded:
        return Categories.equal(codes)
    below = np.nextafter(codes.astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    return Categories(tuple(codes.tolist()), canonical_thresholds(below), canonical_thresholds(codes))


def _session(
    model: ModelProto, graph: Graph, label: Label, steps: Steps
) -> Callable[[NDArray[np.float64]], NDArray[Any]] | None:
    """Return the model's label as onnxruntime computes it, or None if that is not installed."""
    try:
        import onnxruntime
    except ImportError:
        return None
    only = _label_alone(model, graph, label)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(only, options, providers=["CPUExecutionProvider"], enable_fallback=0)
    except Exception as error:  # its own classes of errors derive from nothing in common
        raise ModelFileError(f"onnxruntime does not take this model: {str(error)[:300]}") from None
    names = [given.name for given in session.get_inputs()]

    def predict(X: NDArray[np.float64]) -> NDArray[Any]:
        rows = steps.as_given(X)
        try:
            return np.asarray(session.run([label.output], {name: rows[name] for name in names})[0]).ravel()
        except Exception as error:
            raise ModelFileError(f"onnxruntime cannot run this model: {str(error)[:300]}") from None

    return predict


def _label_alone(model: ModelProto, graph: Graph, label: Label) -> bytes:
    """Return the model without outputs other than the label, and without the operators that only these need."""
    import onnx

    needed = {operator.index for operator in graph.needed_for(label.output)}
    used = {name for operator in graph.operators if operator.index in needed for name in operator.inputs}
    only = onnx.ModelProto()
    only.CopyFrom(model)
    for items, kept in (
        (only.graph.node, [node for i, node in enumerate(model.graph.node) if i in needed]),
        (only.graph.output, [value for value in model.graph.output if value.name == label.output]),
        (only.graph.input, [value for value in model.graph.input if value.name in used]),
        (only.graph.initializer, [tensor for tensor in model.graph.initializer if tensor.name in used]),
    ):
        del items[:]
        items.extend(kept)
    return bytes(only.SerializeToString())
