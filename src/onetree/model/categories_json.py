"""Categories and set tests in the project's JSON files, the same for ensembles and trees.

Reads only what it would itself have written: anything else is an error, never a guess.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError
from onetree.files.strict_json import list_of, lists_of, require_keys
from onetree.model.categories import Categories
from onetree.model.routing import Splits

ENTRIES = frozenset({"categories", "subsets"})  # of the file; each node has an entry "subset" as well
_CATEGORY_KEYS = {"codes", "low", "high", "names"}
_MAX_ELEMENTS = 1 << 27  # entries of the matrix of all sets, 128 MiB
_INFINITE = {"inf": math.inf, "-inf": -math.inf}  # JSON has no infinity


def has_categories(splits: Splits) -> bool:
    """Whether some feature is categorical, so that a file needs these entries."""
    return any(kind is not None for kind in splits.categories)


def set_tests_to_json(splits: Splits) -> dict[str, Any]:
    """Return the entries of a file: the categories of each feature, and each set as the list of its elements."""
    return {
        "categories": [None if kind is None else _to_json(kind) for kind in splits.categories],
        "subsets": [np.flatnonzero(members).tolist() for members in splits.subsets],
    }


def set_tests_from_json(document: Mapping[str, Any], nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields `categories`, `subset` and `subsets` from the entries of a file; none if it has no entry."""
    found = {*(ENTRIES & set(document)), *({"subset"} & set(nodes))}
    if not found:
        return {}
    if found != {*ENTRIES, "subset"}:
        raise ModelFileError('"categories", "subsets" and the "subset" of the nodes belong together; one is missing')
    given = list_of(document["categories"], (dict, type(None)), "categories")
    categories = tuple(None if entry is None else _from_json(entry) for entry in given)
    width = max((kind.n_elements for kind in categories if kind is not None), default=0)
    return {
        "categories": categories,
        "subset": np.array(list_of(nodes["subset"], (int,), "subset"), dtype=np.int32),
        "subsets": _members(document["subsets"], width),
    }


def _to_json(kind: Categories) -> dict[str, Any]:
    # Python writes the shortest decimals that read back as the same float64.
    ends = {"low": kind.low.tolist(), "high": kind.high.tolist()}
    written = {name: [f"{end}" if math.isinf(end) else end for end in each] for name, each in ends.items()}
    return {"codes": list(kind.codes), **written, "names": list(kind.names)}


def _from_json(entry: dict[str, Any]) -> Categories:
    require_keys(entry, _CATEGORY_KEYS, 'an entry of "categories"')
    return Categories(
        codes=tuple(float(code) for code in list_of(entry["codes"], (float, int), "codes")),
        low=_ends(entry["low"], "low"),
        high=_ends(entry["high"], "high"),
        names=tuple(list_of(entry["names"], (str,), "names")),
    )


def _ends(given: object, name: str) -> NDArray[np.float64]:
    ends = list_of(given, (float, int, str), name)
    # 1e999 reads as infinity.
    if any(end not in _INFINITE if isinstance(end, str) else abs(end) == math.inf for end in ends):
        raise ModelFileError(f'"{name}" must hold finite numbers, "inf" or "-inf"')
    return np.array([_INFINITE[end] if isinstance(end, str) else float(end) for end in ends], dtype=np.float64)


def _members(given: object, width: int) -> NDArray[np.bool_]:
    lengths, elements = lists_of(given, (int,), "subsets")
    if len(lengths) * width > _MAX_ELEMENTS:
        raise ModelFileError(f"{len(lengths):,} sets over {width:,} elements are more than can be held")
    known = not elements or (min(elements) >= 0 and max(elements) < width)
    row, column = np.repeat(np.arange(len(lengths)), lengths), np.array(elements if known else (), dtype=np.intp)
    if not known or ((np.diff(row) == 0) & (np.diff(column) <= 0)).any():
        raise ModelFileError(f'a set of "subsets" must list elements from 0 to {width - 1}, ascending')
    members = np.zeros((len(lengths), width), dtype=np.bool_)
    members[row, column] = True
    return members
