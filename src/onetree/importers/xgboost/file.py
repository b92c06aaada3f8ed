"""What a model file of XGBoost says, with its structure checked; JSON and UBJSON hold the same document.

Needs no XGBoost. How the trees are combined is in `importers/xgboost/model.py`. A broken file
is a `ModelFileError` that names the place; a sound model of a kind that has no exact tree is an
`UnsupportedModelError`. Nothing else is raised.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.files.strict_json import check_containers, unique_entries
from onetree.importers.sizes import MAX_CLASSES
from onetree.importers.xgboost.categories import NODE_CATEGORIES, category_values, node_categories, split_conditions
from onetree.importers.xgboost.entries import COUNT, check_numbers, count, entry, floats, integers, known_entries
from onetree.importers.xgboost.ubjson import parse_ubjson
from onetree.importers.xgboost.vectors import without_vectors

_DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,4})?")
_MAX_FEATURES = 1_000_000
_OLDEST = (1, 6, 0)  # some versions before it add up the same trees in another order
_OLDEST_CATEGORICAL = (1, 7, 3)  # versions before it send unknown categories elsewhere

_FILE_ENTRIES = frozenset({"learner", "version"})
_LEARNER_ENTRIES = frozenset(
    {"attributes", "feature_names", "feature_types", "gradient_booster", "learner_model_param", "objective"}
)
_BOOSTER_ENTRIES = frozenset({"gbtree", "model", "name", "weight_drop"})
_MODEL_ENTRIES = frozenset({"cats", "gbtree_model_param", "iteration_indptr", "tree_info", "trees", "weight_drop"})
_NODE_NUMBERS = ("split_indices", "left_children", "right_children", "parents", "default_left", "split_type")
_NODE_STATISTICS = ("base_weights", "loss_changes", "sum_hessian")  # not needed, but what is written must be whole
_TREE_ENTRIES = frozenset(
    {*_NODE_NUMBERS, *_NODE_STATISTICS, "id", "split_conditions", "tree_param"} | set(NODE_CATEGORIES)
)


@dataclass(frozen=True, eq=False)
class FileTree:
    """One tree; node 0 is the root, and every other node has one parent (cycles are left to `Ensemble`).

    An input goes left iff float32(x) < number; the number of a leaf is its value. A node that names categories goes
    by them instead.
    """

    feature: NDArray[np.int64]  # -1 at a leaf
    number: NDArray[np.float32]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    default_left: NDArray[np.bool_]
    categories: dict[int, NDArray[np.int64]]  # by node; empty if no split is categorical
    vector: NDArray[np.float32] | None = None  # of shape (n_nodes, n_groups), if leaves have vectors instead of numbers


@dataclass(frozen=True, eq=False)
class FileModel:
    """A model of trees as its file has it."""

    version: tuple[int, ...]
    objective: str
    n_groups: int  # scores that the trees add up to
    base_score: NDArray[np.float32]  # one per group
    feature_names: tuple[str, ...]
    named: bool  # whether these are names of columns in the training data
    category_values: dict[int, tuple[str, ...] | tuple[int, ...]]  # by feature, if the file has them
    trees: tuple[FileTree, ...]
    group: NDArray[np.int64]  # score that each tree adds to
    weight: NDArray[np.float32] | None  # of each tree, if trees were dropped in training (DART)
    n_trees_after: NDArray[np.int64]  # trees in the first i iterations
    attributes: dict[str, str]

    @property
    def best_iteration(self) -> int | None:
        """Where early stopping found the best score, if it was used."""
        text = self.attributes.get("best_iteration")
        if text is None:
            return None
        if not COUNT.fullmatch(text) or int(text) + 1 >= len(self.n_trees_after):
            n_iterations = len(self.n_trees_after) - 1
            raise ModelFileError(f"{text[:40]!r} cannot be the best iteration of a model that has {n_iterations}")
        return int(text)

    @property
    def from_scikit_learn_wrapper(self) -> bool:
        """Whether the file was saved by an `XGBClassifier` rather than by a `Booster`."""
        return "scikit_learn" in self.attributes


def read_json(content: bytes) -> FileModel:
    """Read a model from the content of a JSON file."""
    check_containers(content)
    try:
        document = json.loads(content.decode(), object_pairs_hook=unique_entries)
    except (ValueError, RecursionError) as error:  # ValueError: bad JSON, bad UTF-8, an absurdly long number
        raise ModelFileError(f"not a JSON file, or cut short: {error}") from None
    return _read_model(document)


def read_ubj(content: bytes) -> FileModel:
    """Read a model from the content of a UBJSON file."""
    return _read_model(parse_ubjson(content))


def _read_model(document: Any) -> FileModel:
    version = tuple(integers(entry(document, "version", list | np.ndarray, "the file"), '"version"').tolist())
    if len(version) != 3:
        raise ModelFileError('"version" must have three parts')
    if version < _OLDEST:
        written_by = ".".join(map(str, version))
        raise UnsupportedModelError(
            f"this file was written by XGBoost {written_by}; predictions of versions before 1.6 can differ in the last "
            "bits from later ones, so it is not read. Load it with a newer XGBoost and save it again"
        )
    known_entries(document, _FILE_ENTRIES, "the file")
    learner = entry(document, "learner", dict, "the file")
    known_entries(learner, _LEARNER_ENTRIES, '"learner"')
    booster = entry(learner, "gradient_booster", dict, '"learner"')
    kind = entry(booster, "name", str, '"gradient_booster"')
    if kind == "gblinear":
        raise UnsupportedModelError(
            'this XGBoost model is linear (booster="gblinear") and has no trees; train it with booster="gbtree"'
        )
    if kind not in ("gbtree", "dart"):
        raise ModelFileError(f'"gradient_booster" is of the unknown kind {kind[:40]!r}')
    known_entries(booster, _BOOSTER_ENTRIES, '"gradient_booster"')
    objective = entry(entry(learner, "objective", dict, '"learner"'), "name", str, '"objective"')
    param = entry(learner, "learner_model_param", dict, '"learner"')
    if count(param, "num_target") > 1:
        raise UnsupportedModelError(
            f"this XGBoost model predicts {param['num_target']} targets at once; train one model per target"
        )
    if "boost_from_average" in param:
        count(param, "boost_from_average")
    n_groups = max(1, count(param, "num_class"))
    if n_groups > MAX_CLASSES:
        raise ModelFileError(f'"num_class" is {n_groups}, outside 0..{MAX_CLASSES}')
    n_features = count(param, "num_feature")
    if not 0 < n_features <= _MAX_FEATURES:
        raise ModelFileError(f'"num_feature" is {n_features}, outside 1..{_MAX_FEATURES}')
    names = _feature_names(learner, n_features)
    outer = booster if kind == "gbtree" else entry(booster, "gbtree", dict, '"gradient_booster"')
    model = entry(outer, "model", dict, '"gradient_booster"')
    known_entries(model, _MODEL_ENTRIES, '"model"')
    trees = entry(model, "trees", list, '"model"')
    model_param = entry(model, "gbtree_model_param", dict, '"model"')
    if count(model_param, "num_trees") != len(trees):
        raise ModelFileError(f'"num_trees" is {model_param["num_trees"]}, but the file holds {len(trees)} trees')
    group = integers(entry(model, "tree_info", list | np.ndarray, '"model"'), '"tree_info"')
    if len(group) != len(trees) or np.any((group < 0) | (group >= n_groups)):
        raise ModelFileError(f'"tree_info" must name one of {n_groups} scores for each of the {len(trees)} trees')
    return FileModel(
        version=version,
        objective=objective,
        n_groups=n_groups,
        base_score=_base_score(param, n_groups),
        feature_names=names,
        named=bool(learner.get("feature_names")),
        category_values=category_values(model, n_features),
        trees=tuple(_read_tree(tree, i, names, version, n_groups) for i, tree in enumerate(trees)),
        group=group,
        weight=_tree_weights(booster, model, kind, len(trees)),
        n_trees_after=_n_trees_after(model, model_param, n_groups, len(trees)),
        attributes=_attributes(learner),
    )


def _read_tree(document: Any, index: int, names: tuple[str, ...], version: tuple[int, ...], n_groups: int) -> FileTree:
    where = f"tree {index}"
    param = entry(document, "tree_param", dict, where)
    if entry(document, "id", int, where) != index:
        raise ModelFileError(f"{where} says that it is tree {document['id']}")
    vector, n_scores = None, count(param, "size_leaf_vector")
    if n_scores > 1:
        if n_scores != n_groups:
            raise ModelFileError(f"{where} has {n_scores} scores in each leaf, but the model has {n_groups}")
        document, vector = without_vectors(document, n_scores, where)
    known_entries(document, _TREE_ENTRIES, where)
    n_nodes, n_deleted = count(param, "num_nodes"), count(param, "num_deleted")
    column: dict[str, NDArray[Any]] = {}
    for key in _NODE_NUMBERS:
        column[key] = integers(entry(document, key, list | np.ndarray, where), f'"{key}" of {where}')
    column["split_conditions"] = number = split_conditions(document, column, where)
    lengths = {key: len(values) for key, values in column.items()}
    lengths |= {key: len(entry(document, key, list | np.ndarray, where)) for key in _NODE_STATISTICS}
    for key in _NODE_STATISTICS:
        check_numbers(document[key], f'"{key}" of {where}')
    for key, n_entries in lengths.items():
        if n_entries != n_nodes or n_nodes == 0:
            raise ModelFileError(f'{where} has {n_nodes} nodes, but {n_entries} entries in "{key}"')
    left, right = column["left_children"], column["right_children"]
    kept = _kept_nodes(left, right, column["parents"], n_deleted, where)
    leaf = left < 0
    for key in ("default_left", "split_type"):
        if np.any((column[key] < 0) | (column[key] > 1)):
            raise ModelFileError(f'"{key}" of {where} must hold 0 and 1')
    feature = np.where(leaf, -1, column["split_indices"])
    if np.any((feature[kept & ~leaf] < 0) | (feature[kept & ~leaf] >= len(names))):
        raise ModelFileError(f"{where} splits on a feature that does not exist")
    categorical = column["split_type"] == 1
    named = zip(np.flatnonzero(categorical).tolist(), node_categories(document, categorical, where), strict=True)
    if version < _OLDEST_CATEGORICAL and np.any(categorical & kept & ~leaf):
        raise UnsupportedModelError(
            "this XGBoost model splits by categories and was written by a version before 1.7.3, which sends unknown "
            "categories elsewhere than later ones. Load it with a newer XGBoost and save it again"
        )
    place = np.cumsum(kept) - 1  # where a node is once the deleted ones are gone
    return FileTree(
        feature=feature[kept],
        number=number[kept],
        left=np.where(leaf, -1, place[left])[kept],
        right=np.where(leaf, -1, place[right])[kept],
        default_left=(column["default_left"] == 1)[kept],
        categories={int(place[node]): codes for node, codes in named if kept[node] and not leaf[node]},
        vector=None if vector is None else vector[kept],
    )


def _kept_nodes(
    left: NDArray[np.int64], right: NDArray[np.int64], parents: NDArray[np.int64], n_deleted: int, where: str
) -> NDArray[np.bool_]:
    """Return which nodes belong to the tree: pruning leaves some behind that are no one's children."""
    n_nodes, inner = len(left), np.flatnonzero((left != -1) | (right != -1))
    for child in (left[inner], right[inner]):
        if np.any((child <= 0) | (child >= n_nodes)):
            raise ModelFileError(f"{where} has a node whose child does not exist or is the root")
        if np.any(parents[child] != inner):
            raise ModelFileError(f"{where} has a node that another one calls its child, but not its parent")
    times_reached = np.bincount(np.concatenate([left[inner], right[inner]]), minlength=n_nodes)
    if np.any(times_reached > 1):
        node = int(np.argmax(times_reached > 1))
        raise ModelFileError(f"node {node} of {where} is a child twice (a shared node or a cycle)")
    kept: NDArray[np.bool_] = times_reached == 1
    kept[0] = True
    lost = ~kept
    if np.count_nonzero(lost) != n_deleted or np.any(lost[inner]):
        raise ModelFileError(
            f"{where} has {np.count_nonzero(lost)} nodes without a parent, but {n_deleted} deleted ones"
        )
    return kept


def _base_score(param: Mapping[str, Any], n_groups: int) -> NDArray[np.float32]:
    """Return the base score of each group; versions before 3.1 write one number for all."""
    text = entry(param, "base_score", str, '"learner_model_param"')
    parts = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [text]
    if not all(_DECIMAL.fullmatch(part.strip()) for part in parts) or len(parts) not in (1, n_groups):
        raise ModelFileError(f'"base_score" must be a number, or {n_groups} of them in a list, not {text[:60]!r}')
    scores = floats([float(part) for part in parts], '"base_score"')
    return np.resize(scores, n_groups)


def _n_trees_after(
    model: Mapping[str, Any], param: Mapping[str, Any], n_groups: int, n_trees: int
) -> NDArray[np.int64]:
    """Return the number of trees in the first i iterations; versions before 2.0 give each iteration the same."""
    if "iteration_indptr" not in model:
        n_each = n_groups * max(1, count(param, "num_parallel_tree"))
        if n_trees % n_each:
            raise ModelFileError(f"{n_trees} trees cannot be {n_each} for each iteration")
        return np.arange(0, n_trees + 1, n_each)
    after = integers(entry(model, "iteration_indptr", list | np.ndarray, '"model"'), '"iteration_indptr"')
    if len(after) == 0 or after[0] != 0 or after[-1] != n_trees or np.any(np.diff(after) < 0):
        raise ModelFileError(f'"iteration_indptr" must rise from 0 to the number of trees, {n_trees}')
    return after


def _tree_weights(
    booster: Mapping[str, Any], model: Mapping[str, Any], kind: str, n_trees: int
) -> NDArray[np.float32] | None:
    """Return the weights of DART, which versions from 3.4 on write into the model of a plain "gbtree"."""
    place = booster if "weight_drop" in booster else model
    if kind == "gbtree" and "weight_drop" not in place:
        return None
    weight = floats(entry(place, "weight_drop", list | np.ndarray, '"gradient_booster"'), '"weight_drop"')
    if len(weight) != n_trees:
        raise ModelFileError(f'"weight_drop" holds {len(weight)} weights for {n_trees} trees')
    return weight


def _feature_names(learner: Mapping[str, Any], n_features: int) -> tuple[str, ...]:
    for key in ("feature_names", "feature_types"):
        texts = learner.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ModelFileError(f'"{key}" must be a list of texts')
    names = learner.get("feature_names", [])
    if names and len(names) != n_features:
        raise ModelFileError(f'"feature_names" holds {len(names)} names for {n_features} features')
    return tuple(names) or tuple(f"x{i}" for i in range(n_features))


def _attributes(learner: Mapping[str, Any]) -> dict[str, str]:
    attributes = learner.get("attributes", {})
    if not isinstance(attributes, dict) or not all(isinstance(value, str) for value in attributes.values()):
        raise ModelFileError('"attributes" must be an object that holds texts')
    return attributes
