"""The attributes of ONNX's tree operators as node arrays: `TreeEnsembleClassifier`, and `TreeEnsemble` of ai.onnx.ml 5.

Compared are numbers of one type, float32 or float64. The false child of a node with `x >= t` is the true child of one
with `x < t`, except for NaN, which goes to the false child of either unless the node says otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.importers.onnx.attributes import integers, numbers, tensor, texts
from onetree.importers.onnx.graph import Operator
from onetree.importers.sizes import too_many_values

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF")
LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, LEAF = range(len(MODES))
_MAX_DEPTH = 1_000  # onnxruntime reads trees by recursion


@dataclass(frozen=True)
class RawTrees:
    """Trees as the file has them: node i goes to `if_true[i]` or `if_false[i]`, positions in these arrays."""

    roots: Sequence[int]
    mode: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[Any]
    if_true: NDArray[np.int64]
    if_false: NDArray[np.int64]
    missing_true: NDArray[np.bool_]
    members: dict[int, NDArray[np.float64]]
    weight: NDArray[np.float64]  # (n_nodes, n_targets); zero where there is none
    has_weight: NDArray[np.bool_]
    most_weights: int  # at one leaf


@dataclass
class FlatTrees:
    """The same, root first, each node once, with thresholds that mean "left iff x <= t" or "x < t"."""

    roots: list[int] = field(default_factory=list)
    source: list[int] = field(default_factory=list)  # position of the node in the file
    feature: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    strict: list[bool] = field(default_factory=list)  # x < t
    missing_left: list[bool] = field(default_factory=list)
    sets: dict[int, tuple[NDArray[np.float64], bool]] = field(default_factory=dict)  # members, and whether they go left


def read_classifier(operator: Operator, dtype: type) -> RawTrees:
    """Read the nodes of a `TreeEnsembleClassifier`."""
    ints = {
        name: integers(operator, f"nodes_{name}")
        for name in ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    }
    modes = texts(operator, "nodes_modes")
    n_nodes = len(modes)
    if n_nodes == 0:
        raise ModelFileError("a TreeEnsembleClassifier has no nodes")
    threshold = numbers(operator, "nodes_values", dtype)
    for name, found in (*ints.items(), ("values", threshold)):
        if len(found) != n_nodes:
            raise ModelFileError(f"nodes_{name} has {len(found):,} entries for {n_nodes:,} nodes")
    unknown = set(modes) - set(MODES)
    if unknown or "BRANCH_MEMBER" in modes:
        raise ModelFileError(f"unknown mode {str(min(unknown, default='BRANCH_MEMBER'))[:40]!r} of a node")
    mode = np.array([MODES.index(each) for each in modes], dtype=np.int64)
    tree = ints["treeids"]
    begins = np.flatnonzero(np.concatenate([[True], tree[1:] != tree[:-1]]))
    if len(np.unique(tree)) != len(begins):
        raise UnsupportedModelError("the nodes of a tree do not follow each other in the file, which is not read")
    place = {key: i for i, key in enumerate(zip(tree.tolist(), ints["nodeids"].tolist(), strict=True))}
    if len(place) != n_nodes:
        raise ModelFileError("two nodes of a tree have the same number")
    inner = mode != LEAF

    def children(name: str) -> NDArray[np.int64]:
        found = np.full(n_nodes, -1, dtype=np.int64)
        for i in np.flatnonzero(inner).tolist():
            at = place.get((int(tree[i]), int(ints[name][i])))
            if at is None:
                raise ModelFileError(f"node {i} has a child that does not exist")
            found[i] = at
        return found

    missing_true = _missing_true(operator, n_nodes)
    n_targets = len(class_labels(operator))
    weight, has_weight, most = _class_weights(operator, place, inner, n_targets, dtype)
    return RawTrees(
        begins.tolist(), mode, ints["featureids"], threshold, children("truenodeids"), children("falsenodeids"),
        missing_true, {}, weight, has_weight, most,
    )  # fmt: skip


def read_ensemble(operator: Operator, dtype: type) -> RawTrees:
    """Read the nodes of a `TreeEnsemble`, in which leaves are numbered apart from the nodes above them."""
    n_targets = operator.attributes.get("n_targets")
    if not isinstance(n_targets, int) or n_targets < 1:
        raise ModelFileError("a TreeEnsemble must have n_targets of at least 1")
    names = ("featureids", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")
    ints = {name: integers(operator, f"nodes_{name}") for name in names}
    mode = np.asarray(operator.attributes.get("nodes_modes", np.zeros(0, dtype=np.uint8)), dtype=np.int64)
    splits = tensor(operator, "nodes_splits", dtype)
    n_inner = len(mode)
    for name, found in (*ints.items(), ("splits", splits)):
        if len(found) != n_inner or n_inner == 0:
            raise ModelFileError(f"nodes_{name} has {len(found):,} entries for {n_inner:,} nodes")
    if mode.min() < LEQ or mode.max() > MEMBER:
        raise ModelFileError("unknown mode of a node")
    targets, weights = integers(operator, "leaf_targetids"), tensor(operator, "leaf_weights", dtype)
    n_leaves = len(targets)
    if len(weights) != n_leaves or n_leaves == 0 or targets.min() < 0 or targets.max() >= n_targets:
        raise ModelFileError("leaf_targetids and leaf_weights do not go together")
    roots = integers(operator, "tree_roots")
    if len(roots) == 0 or roots.min() < 0 or roots.max() >= n_inner:
        raise ModelFileError("tree_roots points outside the nodes")
    _refuse_size(n_inner + n_leaves, n_targets)

    def children(side: str) -> NDArray[np.int64]:
        to, is_leaf = ints[f"{side}nodeids"], ints[f"{side}leafs"] != 0
        if to.min() < 0 or np.any(to >= np.where(is_leaf, n_leaves, n_inner)):
            raise ModelFileError("a node has a child that does not exist")
        return np.concatenate([np.where(is_leaf, to + n_inner, to), np.full(n_leaves, -1, dtype=np.int64)])

    weight = np.zeros((n_inner + n_leaves, n_targets))
    at = np.arange(n_inner, n_inner + n_leaves)
    weight[at, targets] = weights
    has_weight = np.zeros(weight.shape, dtype=np.bool_)
    has_weight[at, targets] = True
    none = np.zeros(n_leaves, dtype=np.int64)
    if_true, if_false = children("true"), children("false")
    # A tree that is one leaf is a node both of whose children are that leaf.
    alone = [int(if_true[r]) if if_true[r] == if_false[r] and if_true[r] >= n_inner else int(r) for r in roots.tolist()]
    return RawTrees(
        alone, np.concatenate([mode, none + LEAF]), np.concatenate([ints["featureids"], none]),
        np.concatenate([splits, none.astype(dtype)]), if_true, if_false,
        np.concatenate([_missing_true(operator, n_inner), none != 0]), _members(operator, mode, dtype),
        weight, has_weight, 1,
    )  # fmt: skip


def flatten(raw: RawTrees, n_features: int) -> FlatTrees:
    """Return the trees with each node once, false and true children as right and left ones.

    Tests for one number after another, with the same true child, are one test for a set.
    """
    flat = FlatTrees()
    seen = np.zeros(len(raw.mode), dtype=np.bool_)
    for root in raw.roots:
        flat.roots.append(len(flat.feature))
        todo = [(int(root), -1, True, 0)]  # a node, its parent, the side of it, its depth
        while todo:
            at, parent, is_left, depth = todo.pop()
            if seen[at]:
                raise UnsupportedModelError("a node is the child of two others, which is not read")
            if depth > _MAX_DEPTH:
                raise UnsupportedModelError(f"a tree is deeper than {_MAX_DEPTH:,}, or its nodes form a circle")
            seen[at] = True
            number = len(flat.feature)
            if parent >= 0:
                (flat.left if is_left else flat.right)[parent] = number
            _emit(flat, raw, at, n_features)
            if raw.mode[at] == LEAF:
                continue
            to_true, to_false = int(raw.if_true[at]), int(raw.if_false[at])
            if raw.mode[at] in (EQ, NEQ, MEMBER):
                to_false = _take_set(flat, raw, at, number, seen)
            swapped = raw.mode[at] in (GTE, GT)
            left, right = (to_false, to_true) if swapped else (to_true, to_false)
            todo += [(right, number, False, depth + 1), (left, number, True, depth + 1)]
    return flat


def _emit(flat: FlatTrees, raw: RawTrees, at: int, n_features: int) -> None:
    leaf, swapped = raw.mode[at] == LEAF, raw.mode[at] in (GTE, GT)
    feature = -1 if leaf else int(raw.feature[at])
    if not leaf and not 0 <= feature < n_features:
        raise ModelFileError(f"a node asks for feature {feature}, but the model has {n_features:,}")
    flat.source.append(at)
    flat.feature.append(feature)
    flat.left.append(-1)
    flat.right.append(-1)
    flat.strict.append(raw.mode[at] in (LT, GTE))  # not x >= t
    # NaN takes the false side of every comparison but !=.
    goes_true = bool(raw.missing_true[at]) or raw.mode[at] == NEQ
    flat.missing_left.append(goes_true != swapped)


def _take_set(flat: FlatTrees, raw: RawTrees, at: int, number: int, seen: NDArray[np.bool_]) -> int:
    """Note the set that a node asks for; return where the rest goes."""
    to_false = int(raw.if_false[at])
    members = raw.members.get(at, raw.threshold[at : at + 1].astype(np.float64))
    if raw.mode[at] == EQ:
        several = [members]
        while raw.mode[to_false] == EQ and raw.feature[to_false] == raw.feature[at] and not seen[to_false]:
            if raw.missing_true[to_false] != raw.missing_true[at]:
                break
            if raw.if_true[to_false] != raw.if_true[at]:
                if raw.most_weights > 1:
                    raise UnsupportedModelError(
                        "tests for single numbers follow each other in a way that onnxruntime joins although their "
                        "leaves may differ; such models are not read"
                    )
                break
            seen[to_false] = True
            several.append(raw.threshold[to_false : to_false + 1].astype(np.float64))
            to_false = int(raw.if_false[to_false])
        members = np.unique(np.concatenate(several))
    flat.sets[number] = (members, raw.mode[at] != NEQ)
    return to_false


def class_labels(operator: Operator) -> list[str] | list[int]:
    """Return the labels of a `TreeEnsembleClassifier`; texts come before numbers."""
    labels: list[Any] = texts(operator, "classlabels_strings") or integers(operator, "classlabels_int64s").tolist()
    if len(labels) < 2:
        raise UnsupportedModelError(f"the model has {len(labels)} class labels; at least two are needed")
    return labels


def _class_weights(
    operator: Operator, place: dict[tuple[int, int], int], inner: NDArray[np.bool_], n_targets: int, dtype: type
) -> tuple[NDArray[np.float64], NDArray[np.bool_], int]:
    trees, nodes, targets = (integers(operator, f"class_{name}") for name in ("treeids", "nodeids", "ids"))
    weights = numbers(operator, "class_weights", dtype)
    if not len(trees) == len(nodes) == len(targets) == len(weights) or len(weights) == 0:
        raise ModelFileError("class_treeids, class_nodeids, class_ids and class_weights do not go together")
    if targets.min() < 0 or targets.max() >= n_targets:
        raise ModelFileError(f"class_ids must be 0..{n_targets - 1}")
    _refuse_size(len(inner), n_targets)
    weight, count = np.zeros((len(inner), n_targets)), np.zeros((len(inner), n_targets), dtype=np.int64)
    for tree, node, target, number in zip(
        trees.tolist(), nodes.tolist(), targets.tolist(), weights.tolist(), strict=True
    ):
        at = place.get((tree, node))
        if at is None:
            raise ModelFileError(f"class_nodeids names node {node} of tree {tree}, which does not exist")
        if not inner[at]:  # weights of other nodes are ignored
            weight[at, target] = number
            count[at, target] += 1
    if count.max() > 1:
        raise UnsupportedModelError("a leaf has two weights for the same class, which is not read")
    return weight, count > 0, int(count.sum(axis=1).max())


def _members(operator: Operator, mode: NDArray[np.int64], dtype: type) -> dict[int, NDArray[np.float64]]:
    """Return the members of each set that is asked for; NaN ends a set."""
    given = tensor(operator, "membership_values", dtype).astype(np.float64)
    ends = np.flatnonzero(np.isnan(given)).tolist()
    sets = np.split(given, ends)
    asking = np.flatnonzero(mode == MEMBER).tolist()
    found = {}
    for node, members in zip(asking, sets, strict=False):
        whole = np.unique(members[~np.isnan(members)])
        if not len(whole) or np.any(whole != np.rint(whole)):
            raise UnsupportedModelError("onnxruntime asks for sets of small integers only; others are not read")
        if whole.min() < 0 or whole.max() > 30 or len(whole) >= 31:
            raise UnsupportedModelError("sets with numbers outside 0..30 are cut to integers first, which is not read")
        found[node] = whole
    if len(found) != len(asking):
        raise ModelFileError("membership_values has fewer sets than there are nodes that ask for one")
    return found


def _missing_true(operator: Operator, n_nodes: int) -> NDArray[np.bool_]:
    given = integers(operator, "nodes_missing_value_tracks_true")
    if len(given) not in (0, n_nodes):
        raise ModelFileError(f"nodes_missing_value_tracks_true has {len(given):,} entries for {n_nodes:,} nodes")
    return np.resize(given == 1, n_nodes) if len(given) else np.zeros(n_nodes, dtype=np.bool_)


def _refuse_size(n_nodes: int, n_targets: int) -> None:
    if too_many_values(n_nodes, n_targets):
        raise UnsupportedModelError(f"{n_nodes:,} nodes with {n_targets:,} scores each are more than can be held")
