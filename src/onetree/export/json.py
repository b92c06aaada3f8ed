"""The tree's own file: JSON with a versioned schema, exact numbers and typed labels.

Reads only what it would itself have written: anything else is an error, never a guess.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onetree.domain.domain import Domain
from onetree.domain.groups import Declaration, join
from onetree.domain.values import Values
from onetree.errors import InvalidInputError, ModelFileError
from onetree.files.atomic import read_whole, write_whole
from onetree.files.strict_json import list_of, lists_of, parse_document, require_keys
from onetree.model.categories_json import ENTRIES, has_categories, set_tests_from_json, set_tests_to_json
from onetree.model.columns import Columns
from onetree.model.labels import labels_from_json, labels_to_json
from onetree.tree.leaf_probabilities import LeafShares
from onetree.tree.leaf_values import TYPES
from onetree.tree.tree import Tree

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

FORMAT = "onetree-tree"
# The second only for what the first cannot hold: categorical features, groups in the domain; the third for shares, and
# for columns that are not what their names say; the fourth for leaves with numbers.
_VERSIONS = (1, 2, 3, 4)
_KEYS = {"exact", "classes", "features", "nan_features", "nodes"}
_OPTIONAL = frozenset({"domain", "shares", "columns", "numbers"}) | ENTRIES
_PROMISE = ("tolerance", "relative", "keeps_class")
_INDICES = {"feature": "feature", "left": "children_left", "right": "children_right", "class": "leaf_class"}


def write_tree(tree: Tree, path: str | os.PathLike[str]) -> None:
    """Write `tree` to `path`, whole or not at all."""
    write_whole(path, to_json(tree) + "\n")


def to_json(tree: Tree) -> str:
    """Return the content of the file of `tree`; docs/schema/tree.schema.json describes it."""
    nodes: dict[str, Any] = {key: getattr(tree, name).tolist() for key, name in _INDICES.items()}
    # Python writes the shortest decimals that read back as the same float64. JSON has no infinity: "inf" stands for it.
    nodes["threshold"] = ["inf" if math.isinf(cut) else cut for cut in tree.threshold.tolist()]
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(tree),
        "exact": tree.exact,
        "classes": None if tree.output == "value" else labels_to_json(tree.classes),
        "features": list(tree.feature_names),
        "nan_features": tree.nan_features.tolist(),
        "nodes": nodes,
    }
    if tree.domain is not None:
        values = [None if values is None else str(values) for values in tree.domain.values]
        document["domain"] = {"values": values, "origin": tree.domain.origin}
        if tree.domain.groups:
            document["domain"]["groups"] = [{said.word: list(said.features)} for said in tree.domain.declarations]
    if has_categories(tree):
        nodes["subset"] = tree.subset.tolist()
        document |= set_tests_to_json(tree)
    if tree.shares is not None:
        document["shares"] = {"leaves": tree.shares.leaves.tolist(), "shares": tree.shares.shares.tolist()}
    if tree.columns != Columns().of_features(tree.feature_names):
        document["columns"] = tree.columns.to_json()
    if tree.value is not None:
        # A float32 is a float64 number, too, and its decimals read back as the same.
        nodes["value"] = [
            own if leaf else [] for own, leaf in zip(tree.value.tolist(), tree.leaf_class >= 0, strict=True)
        ]
        document["numbers"] = {"dtype": tree.value.dtype.name, **{name: getattr(tree, name) for name in _PROMISE}}
    return json.dumps(document, allow_nan=False)


def from_json(text: str) -> Tree:
    """Read the tree from what `to_json` gave."""
    return _parse(text.encode())


def read_tree(path: str | os.PathLike[str]) -> Tree:
    """Read the tree that `write_tree` wrote to `path`."""
    try:
        return _parse(read_whole(path))
    except (ModelFileError, InvalidInputError) as error:
        raise ModelFileError(f"{path}: {error}") from None


def _parse(content: bytes) -> Tree:
    document = parse_document(content, format=FORMAT, versions=_VERSIONS, keys=_KEYS, optional=_OPTIONAL)
    nodes: dict[str, Any] = document["nodes"]
    require_keys(nodes, {*_INDICES, "threshold"}, '"nodes"', optional=frozenset({"subset", "value"}))
    (exact,) = list_of([document["exact"]], (bool,), "exact")
    cuts = list_of(nodes["threshold"], (float, int, str), "threshold")
    if any(cut != "inf" if isinstance(cut, str) else abs(cut) == math.inf for cut in cuts):  # 1e999 reads as infinity
        raise ModelFileError('"threshold" must hold finite numbers or "inf"')
    names = tuple(list_of(document["features"], (str,), "features"))
    try:
        indices: dict[str, Any] = {
            name: np.array(list_of(nodes[key], (int,), key), dtype=np.int32) for key, name in _INDICES.items()
        }
        tree = Tree(
            **indices,
            **set_tests_from_json(document, nodes),
            threshold=np.array([float(cut) for cut in cuts]),
            classes=_classes(document),
            feature_names=names,
            columns=Columns.from_json(document["columns"]) if "columns" in document else Columns(),
            nan_features=np.array(list_of(document["nan_features"], (bool,), "nan_features"), dtype=np.bool_),
            exact=exact,
            domain=_domain(document["domain"], names) if "domain" in document else None,
            shares=_shares(document["shares"], len(_classes(document))) if "shares" in document else None,
            **_numbers(document, nodes),
        )
    except OverflowError:
        raise ModelFileError("the file holds a number that is too large") from None
    if document["version"] != _version(tree):
        raise ModelFileError(f"version {document['version']}, but files like it have {_version(tree)}")
    return tree


def _version(tree: Tree) -> int:
    if tree.value is not None:
        return 4
    if tree.shares is not None or tree.columns != Columns().of_features(tree.feature_names):
        return 3
    return 2 if has_categories(tree) or (tree.domain is not None and tree.domain.groups) else 1


def _classes(document: dict[str, Any]) -> NDArray[Any]:
    if document["classes"] is None and "numbers" in document:
        return np.zeros(0)
    return labels_from_json(document["classes"])


def _numbers(document: dict[str, Any], nodes: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of the leaves and what is promised of them; nothing if leaves have classes only."""
    if ("numbers" in document) != ("value" in nodes):
        raise ModelFileError('"numbers" and the "value" of the nodes belong together')
    if "numbers" not in document:
        return {}
    said = document["numbers"]
    require_keys(said, {"dtype", *_PROMISE}, '"numbers"')
    (dtype,) = list_of([said["dtype"]], (str,), "dtype")
    if dtype not in TYPES:
        raise ModelFileError(f'"dtype" of "numbers" must be one of {", ".join(TYPES)}, not {dtype!r}')
    (tolerance,) = list_of([said["tolerance"]], (float, int, type(None)), "tolerance")
    relative, keeps_class = list_of([said["relative"], said["keeps_class"]], (bool,), "relative")
    lengths, numbers = lists_of(nodes["value"], (float, int), "value")
    at_leaf = [index >= 0 for index in list_of(nodes["class"], (int,), "class")]
    n_numbers = max(lengths, default=0)
    if lengths != [n_numbers if leaf else 0 for leaf in at_leaf]:
        raise ModelFileError('"value" must hold as many numbers for each leaf, and none for an inner node')
    given = np.array(numbers, dtype=np.float64)
    value = np.zeros((len(lengths), n_numbers), dtype=dtype)
    with np.errstate(over="ignore"):
        value[np.array(at_leaf, dtype=bool)] = given.reshape(-1, n_numbers)
    if not np.array_equal(value[np.array(at_leaf, dtype=bool)].ravel(), given):
        raise ModelFileError(f'"value" holds numbers that are not {dtype}')
    return {"value": value, "tolerance": tolerance, "relative": relative, "keeps_class": keeps_class}


def _shares(document: Any, n_classes: int) -> LeafShares:
    require_keys(document, {"leaves", "shares"}, '"shares"')
    leaves = list_of(document["leaves"], (int,), "leaves")
    lengths, shares = lists_of(document["shares"], (float, int), "shares")
    if any(length != n_classes for length in lengths):
        raise ModelFileError('"shares" must hold one number per class for each leaf')
    kind = object if any(leaf >= 2**62 for leaf in leaves) else np.int64
    return LeafShares(np.array(leaves, dtype=kind), np.array(shares, dtype=np.float64).reshape(len(lengths), n_classes))


def _domain(document: Any, names: tuple[str, ...]) -> Domain:
    require_keys(document, {"values", "origin"}, '"domain"', optional=frozenset({"groups"}))
    (origin,) = list_of([document["origin"]], (str,), "origin")
    texts = list_of(document["values"], (str, type(None)), "values")
    declarations = []
    for entry in list_of(document.get("groups", []), (dict,), "groups"):
        if len(entry) != 1:
            raise ModelFileError('each entry of "groups" says one thing of its features')
        ((word, features),) = entry.items()
        declarations.append(Declaration(tuple(list_of(features, (int,), word)), word))
    known = {text: None if text is None else Values.of(text) for text in dict.fromkeys(texts)}
    return Domain(tuple(known[text] for text in texts), origin, join(declarations), names)
