"""The project's own file of an ensemble: JSON with a versioned schema, exact numbers and typed labels.

Reads only what it would itself have written: anything else is an error, never a guess.
"""

import json
import math
import os
from typing import Any

import numpy as np

from onetree.errors import InvalidInputError, ModelFileError
from onetree.files.atomic import read_whole, write_whole
from onetree.files.strict_json import list_of, lists_of, parse_document, require_keys
from onetree.importers.rule_json import rule_from_json, rule_to_json, stages_from_json, stages_to_json
from onetree.importers.sizes import too_many_values
from onetree.model.categories_json import ENTRIES, has_categories, set_tests_from_json, set_tests_to_json
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble, Rule
from onetree.model.labels import labels_from_json, labels_to_json
from onetree.model.response import Response

FORMAT = "onetree-ensemble"
# The second only for what the first cannot hold: categorical features; the third for columns that are not what their
# names say; the fourth for rules of two levels; the fifth for what the library returns as numbers.
_VERSIONS = (1, 2, 3, 4, 5)
_WITH_RESPONSE = 5
_KEYS = {"classes", "features", "nan_features", "rule", "base", "roots", "nodes"}
_OPTIONAL = ENTRIES | {"columns", "response"}
_INDICES = {"feature": "feature", "left": "children_left", "right": "children_right"}
_NODE_KEYS = {*_INDICES, "threshold", "missing_left", "value"}


def write_json(ensemble: Ensemble, path: str | os.PathLike[str]) -> None:
    """Write `ensemble` to `path`, whole or not at all."""
    nodes: dict[str, Any] = {key: getattr(ensemble, name).tolist() for key, name in _INDICES.items()}
    nodes["missing_left"] = ensemble.missing_left.tolist()
    # Python writes the shortest decimals that read back as the same float64. JSON has no infinity: "inf" stands for it.
    nodes["threshold"] = ["inf" if math.isinf(cut) else cut for cut in ensemble.threshold.tolist()]
    leaf = ensemble.feature < 0
    nodes["value"] = ensemble.value[leaf].tolist()  # one vector per leaf, in the order of the nodes
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(ensemble),
        "classes": labels_to_json(ensemble.classes),
        "features": list(ensemble.feature_names),
        "nan_features": ensemble.nan_features.tolist(),
        "rule": rule_to_json(ensemble.rule),
        "base": ensemble.base.tolist(),
        "roots": ensemble.roots.tolist(),
        "nodes": nodes,
    }
    if has_categories(ensemble):
        nodes["subset"] = ensemble.subset.tolist()
        document |= set_tests_to_json(ensemble)
    if ensemble.columns != Columns().of_features(ensemble.feature_names):
        document["columns"] = ensemble.columns.to_json()
    if ensemble.response is not None:
        document["response"] = {"stages": stages_to_json(ensemble.response.stages)}
    write_whole(path, json.dumps(document, allow_nan=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> Ensemble:
    """Read the ensemble that `write_json` wrote to `path`."""
    try:
        return parse_json(read_whole(path))
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None


def parse_json(content: bytes) -> Ensemble:
    """Read the ensemble from the content of a file that `write_json` wrote."""
    document = parse_document(content, format=FORMAT, versions=_VERSIONS, keys=_KEYS, optional=_OPTIONAL)
    nodes = document["nodes"]
    require_keys(nodes, _NODE_KEYS, '"nodes"', optional=frozenset({"subset"}))
    try:
        cuts = list_of(nodes["threshold"], (float, int, str), "threshold")
        if any(cut != "inf" if isinstance(cut, str) else math.isinf(cut) for cut in cuts):  # 1e999 reads as infinity
            raise ModelFileError('"threshold" must hold finite numbers or "inf"')
        indices: dict[str, Any] = {name: _integers(nodes[key], key) for key, name in _INDICES.items()}
        classes = labels_from_json(document["classes"], may_be_none=document["version"] >= _WITH_RESPONSE)
        rule = rule_from_json(document["rule"])
        names = tuple(list_of(document["features"], (str,), "features"))
        n_outputs = rule.n_outputs(len(classes))
        ensemble = Ensemble(
            **indices,
            **set_tests_from_json(document, nodes),
            classes=classes,
            feature_names=names,
            columns=Columns.from_json(document["columns"]) if "columns" in document else Columns(),
            roots=_integers(document["roots"], "roots"),
            threshold=np.array([float(cut) for cut in cuts], dtype=np.float64),
            missing_left=np.array(list_of(nodes["missing_left"], (bool,), "missing_left"), dtype=np.bool_),
            value=_values(nodes["value"], indices["feature"] < 0, n_outputs),
            base=np.array(list_of(document["base"], (float, int), "base"), dtype=np.float64),
            rule=rule,
            nan_features=np.array(list_of(document["nan_features"], (bool,), "nan_features"), dtype=np.bool_),
            response=_response(document["response"], rule, n_outputs) if "response" in document else None,
        )
        if document["version"] != _version(ensemble):
            raise ModelFileError(f"version {document['version']}, but files like it have {_version(ensemble)}")
        return ensemble
    except InvalidInputError as error:
        raise ModelFileError(str(error)) from None
    except OverflowError:
        raise ModelFileError("the file holds a number that is too large") from None


def _response(document: Any, rule: Rule, n_outputs: int) -> Response:
    """Return the response; its members are those of the rule."""
    require_keys(document, {"stages"}, '"response"')
    return Response(rule.members(n_outputs), stages_from_json(document["stages"], "response"))


def _version(ensemble: Ensemble) -> int:
    if ensemble.response is not None:
        return _WITH_RESPONSE
    if ensemble.rule.combination is not None:
        return 4
    if ensemble.columns != Columns().of_features(ensemble.feature_names):
        return 3
    return 2 if has_categories(ensemble) else 1


def _integers(values: object, name: str) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(list_of(values, (int,), name), dtype=np.int32)


def _values(
    vectors: object, leaf: np.ndarray[Any, np.dtype[np.bool_]], n_outputs: int
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the value array: the vectors in the rows of the leaves, zeros elsewhere."""
    lengths, numbers = lists_of(vectors, (float, int), "value")
    if len(lengths) != np.count_nonzero(leaf):
        raise ModelFileError(f'"value" holds {len(lengths)} vectors for {np.count_nonzero(leaf)} leaves')
    wrong = set(lengths) - {n_outputs}
    if wrong:
        raise ModelFileError(f'a vector of "value" has {min(wrong)} entries, not {n_outputs}')
    if too_many_values(len(leaf), n_outputs):
        raise ModelFileError(f"{n_outputs} scores at {len(leaf)} nodes are more than can be held")
    value = np.zeros((len(leaf), n_outputs))
    value[leaf] = np.array(numbers, dtype=np.float64).reshape(len(lengths), n_outputs)
    return value
