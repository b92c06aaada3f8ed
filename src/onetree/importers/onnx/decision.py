"""How onnxruntime makes a label of the sums of a tree operator.

Sums are formed in the order of the trees, from 0, in the type of the input; base values are added last. Of more than
two classes the first largest sum wins. Two classes have rules of their own, in which only one of the sums is looked at.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.cut import last_score
from onetree.importers.onnx.attributes import finite_numbers
from onetree.importers.onnx.graph import Operator
from onetree.importers.onnx.trees import FlatTrees, RawTrees, class_labels
from onetree.model.ensemble import Rule


@dataclass(frozen=True)
class Decision:
    """The labels, the rule, the leaf vectors of the nodes in the file, and what is added last (None for nothing)."""

    classes: NDArray[Any]
    rule: Rule
    value: NDArray[np.float64]
    last: NDArray[np.float64] | None = None


def decide_classifier(operator: Operator, raw: RawTrees, flat: FlatTrees, dtype: type) -> Decision:
    """Return what the output `label` of a `TreeEnsembleClassifier` is."""
    labels = class_labels(operator)
    base = finite_numbers(operator, "base_values", dtype)
    if len(labels) == 2:
        return _two_classes(operator, labels, base, raw, flat, dtype)
    if len(base) not in (0, len(labels)):
        raise UnsupportedModelError(f"{len(base)} base values do not go with {len(labels)} classes")
    if not len(base):
        _check_always_scored(raw, flat)
    return Decision(_labels(labels), Rule("scores", dtype=np.dtype(dtype).name), raw.weight, _nonzero(base))


def decide_argmax(operator: Operator, raw: RawTrees, dtype: type) -> Decision:
    """Return the index of the first largest score of a `TreeEnsemble`."""
    attributes = operator.attributes
    if attributes.get("post_transform", 0) != 0:
        raise UnsupportedModelError(
            "the largest of transformed scores is not read, since rounding can make different scores equal; "
            "leave post_transform at NONE"
        )
    aggregate = attributes.get("aggregate_function", 1)
    if aggregate not in (0, 1):
        raise UnsupportedModelError("only sums and averages of trees are read, not their minimum or maximum")
    n_targets = raw.weight.shape[1]
    if n_targets < 2:
        raise UnsupportedModelError("the largest of one score says nothing; a score per class is needed")
    divisor = float(len(raw.roots)) if aggregate == 0 else 1.0
    return Decision(np.arange(n_targets), Rule("scores", dtype=np.dtype(dtype).name, divisor=divisor), raw.weight)


def _two_classes(
    operator: Operator, labels: list[Any], base: NDArray[Any], raw: RawTrees, flat: FlatTrees, dtype: type
) -> Decision:
    """Return one score and its cut.

    If leaves name one class alone, its sum is a score for the second label: above 0.5 if no weight is negative, above 0
    otherwise. If they name both, the sum of the second is compared with 0, and the labels are 0 and 1 unless they are
    texts.
    """
    scored = [_scored(raw, flat, k) for k in range(2)]
    if len(base) > 2:
        raise UnsupportedModelError(f"{len(base)} base values do not go with 2 classes")
    if scored[1] == "sometimes" or (scored[1] == "never" and scored[0] != "always"):
        raise UnsupportedModelError(
            "some leaves have a weight for a class and others have none, and onnxruntime then looks at one class or "
            "the other; write out the weights that are zero"
        )
    second = scored[1] == "always"
    if second and len(base) == 2:
        raise UnsupportedModelError("onnxruntime does not add two base values to two scores as it should")
    offset = dtype(base[0]) if len(base) and not second else dtype(0)
    ids = operator.attributes["class_ids"]
    one_class = len(np.unique(ids)) == 1
    weights = finite_numbers(operator, "class_weights", dtype)
    limit = dtype(0.5) if one_class and not np.any(weights < 0) else dtype(0)
    classes = _labels(labels if one_class or isinstance(labels[0], str) else [0, 1])
    cut = _last_score(offset, limit, dtype)
    rule = Rule("score", dtype=np.dtype(dtype).name, cut=cut)
    return Decision(classes, rule, raw.weight[:, 1:] if second else raw.weight[:, :1])


def _last_score(offset: Any, limit: Any, dtype: type) -> float:
    """Return the largest sum that stays below the limit once the offset is added, in this precision."""
    if offset == 0:
        return float(limit)

    def stays_below(score: float) -> bool:
        with np.errstate(over="ignore", under="ignore"):
            return bool(dtype(score) + offset <= limit)

    found = last_score(stays_below)
    if found is None:
        raise UnsupportedModelError(f"with the base value {float(offset)!r} the class never changes")
    # Sums are numbers of this precision, and the last of them that stays below is as good as what lies beyond.
    with np.errstate(over="ignore"):
        single = dtype(found)
    return float(single if float(single) <= found else np.nextafter(single, dtype(-np.inf)))


def _scored(raw: RawTrees, flat: FlatTrees, k: int) -> str:
    """Return whether every input, none or some have a weight for class k in a leaf that they reach."""
    leaf = np.array(flat.feature) < 0
    has = raw.has_weight[np.array(flat.source), k]
    if not has[leaf].any():
        return "never"
    lacks = np.cumsum(np.concatenate([[0], leaf & ~has]))
    ends = np.array([*flat.roots[1:], len(leaf)])
    return "always" if np.any(lacks[ends] == lacks[np.array(flat.roots)]) else "sometimes"


def _check_always_scored(raw: RawTrees, flat: FlatTrees) -> None:
    """Refuse models in which a class may have no score at all, unless another one is then above zero."""
    if all(_scored(raw, flat, k) == "always" for k in range(raw.weight.shape[1])):
        return
    at_leaves = raw.weight[np.array(flat.source)[np.array(flat.feature) < 0]]
    if np.any(at_leaves < 0) or np.any(at_leaves.max(axis=1) <= 0):
        raise UnsupportedModelError(
            "some leaves have no weight for a class, and onnxruntime leaves such classes out although their score of "
            "zero could be the largest; write out the weights that are zero"
        )


def _labels(labels: list[Any]) -> NDArray[Any]:
    return np.array(labels, dtype=object if isinstance(labels[0], str) else np.int64)


def _nonzero(base: NDArray[Any]) -> NDArray[np.float64] | None:
    return base.astype(np.float64) if base.any() else None


def with_labels(decision: Decision, labels: NDArray[Any]) -> Decision:
    """Return the decision with labels that are looked up by the index of the class."""
    if labels.ndim != 1 or len(labels) < len(decision.classes):
        raise UnsupportedModelError(f"{labels.size} labels do not go with {len(decision.classes)} classes")
    return replace(decision, classes=np.array(labels[: len(decision.classes)]))
