"""LightGBM's model text, read strictly: the header and the trees as arrays.

Returns what is written in the file and checks that it is complete; what it means for a prediction is in `model`.
"""

import json
import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.model.forest_checks import check_forest

_VERSIONS = ("v2", "v3", "v4")
_TREE_START = re.compile(rb"^Tree=", re.MULTILINE)
_TREES_END = re.compile(rb"^end of trees$", re.MULTILINE)
_CATEGORICAL_FEATURE = re.compile(rb"\n\[categorical_feature: ([0-9]{1,9}(?:,[0-9]{1,9})*)?\]\n")
_INTEGERS = re.compile(r"(-?[0-9]{1,9}( -?[0-9]{1,9})*)?")
_NUMBER = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?")
_WORDS = re.compile(r"([0-9]{1,10}( [0-9]{1,10})*)?")
_STATISTIC = re.compile(rf"{_NUMBER.pattern}|[+-]?(inf|nan)")
_NUMBERS = re.compile(rf"({_NUMBER.pattern}|inf)( ({_NUMBER.pattern}|inf))*")  # a whole line at once
_STATISTICS = re.compile(rf"({_STATISTIC.pattern})(\s+({_STATISTIC.pattern}))*")
_SPLIT_STATISTICS = ("split_gain", "internal_value", "internal_weight", "internal_count")
_LEAF_STATISTICS = ("leaf_weight", "leaf_count")
_MAX_FEATURES = 1_000_000
_MAX_CLASSES = 100_000
_MAX_WORDS = 1 << 24  # of 32 categories each; so no category is too large for LightGBM's int
_MAX_CATEGORIES = 1 << 22  # named by all splits of a tree together


@dataclass(frozen=True)
class TextTree:
    """One tree: inner nodes first, then leaves; node 0 is the root.

    `decision_type` and `threshold` belong to the inner nodes and `leaf_value` to the leaves, in the order of both.
    """

    feature: NDArray[np.int32]  # -1 at a leaf
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    threshold: NDArray[np.float64]
    decision_type: NDArray[np.int32]
    leaf_value: NDArray[np.float64]
    categories: tuple[NDArray[np.int64], ...]  # sets of categories; at a categorical split the threshold is its number


@dataclass(frozen=True)
class TextModel:
    """What a model text says."""

    objective: tuple[str, ...]  # the name, then its parameters as "key:value"; empty if the objective is the user's own
    n_classes: int
    n_trees_per_iteration: int
    average_output: bool
    feature_names: tuple[str, ...]
    feature_infos: tuple[str, ...]  # "[low:high]", "none", or categories as "3:0:1"; empty in old files
    pandas_categorical: tuple[tuple[Any, ...], ...]  # what the categories of the categorical columns were called
    categorical_features: tuple[int, ...] | None  # whose values are categories, if the file says it
    trees: tuple[TextTree, ...]


def read_text(content: bytes) -> TextModel:
    """Return what the model text says, or refuse it if it is broken, cut short, or has linear trees."""
    content = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    end = _TREES_END.search(content)
    if end is None:
        raise ModelFileError('the line "end of trees" is missing, so the file is not a LightGBM model or is cut short')
    tail = content[end.end() :]
    if b"\nparameters:\n" in tail and b"\nend of parameters\n" not in tail:
        raise ModelFileError('the line "end of parameters" is missing, so the file is cut short')
    starts = [match.start() for match in _TREE_START.finditer(content, 0, end.start())]
    header = _entries(content[: starts[0] if starts else end.start()], "the header")
    if "tree" not in header:
        raise ModelFileError('a LightGBM model begins with the line "tree"')
    version = _entry(header, "version", "the header")
    if version not in _VERSIONS:
        raise ModelFileError(f"version {version[:20]!r} of LightGBM's model text is not known, only {_VERSIONS}")
    bounds = [*starts, end.start()]
    sizes = _integers(_entry(header, "tree_sizes", "the header"), "tree_sizes").tolist()
    if sizes != [high - low for low, high in pairwise(bounds)]:
        raise ModelFileError(
            f"tree_sizes announces {len(sizes)} trees of {sum(sizes)} bytes, but there are {len(starts)} of "
            f"{bounds[-1] - bounds[0]} bytes, or they are divided in another way; the file was changed or cut"
        )
    n_features = 1 + _integer(header, "max_feature_idx", "the header", 0, _MAX_FEATURES - 1)
    names = tuple(_entry(header, "feature_names", "the header").split(" "))
    if len(names) != n_features or "" in names:
        raise ModelFileError(f"feature_names names {len(names)} features, but max_feature_idx says {n_features}")
    if len(set(names)) != n_features:
        raise ModelFileError("two features have the same name in feature_names")
    return TextModel(
        objective=tuple(header.get("objective", "").split()),
        n_classes=_integer(header, "num_class", "the header", 1, _MAX_CLASSES),
        n_trees_per_iteration=_integer(header, "num_tree_per_iteration", "the header", 1, _MAX_CLASSES),
        average_output="average_output" in header,
        feature_names=names,
        feature_infos=_feature_infos(header, n_features),
        pandas_categorical=_pandas_categorical(tail),
        categorical_features=_categorical_features(tail, n_features),
        trees=tuple(_tree(content[low:high], index, names) for index, (low, high) in enumerate(pairwise(bounds))),
    )


def _tree(block: bytes, index: int, names: tuple[str, ...]) -> TextTree:
    where = f"tree {index}"
    entries = _entries(block, where)
    if entries.get("Tree") != str(index):
        raise ModelFileError(f'"Tree={index}" should stand where "Tree={entries.get("Tree")}" stands')
    if _integer(entries, "is_linear", where, 0, 1, absent=0):
        raise UnsupportedModelError(
            f"{where} has linear models in its leaves, so its score is not constant in a cell; "
            "train with linear_tree=False"
        )
    n_leaves = _integer(entries, "num_leaves", where, 1, 1 << 28)
    n_inner = n_leaves - 1
    feature, decision_type, left, right = (
        _integers(entries.get(key, ""), f"{key} of {where}", n_inner)
        for key in ("split_feature", "decision_type", "left_child", "right_child")
    )
    if np.any((feature < 0) | (feature >= len(names))):
        raise ModelFileError(f"{where} splits on a feature that does not exist")
    if np.any((decision_type < 0) | (decision_type > 15) | (decision_type >> 2 == 3)):
        raise ModelFileError(f"{where} has an unknown decision_type")
    categorical = feature[decision_type & 1 == 1]
    n_categorical = _integer(entries, "num_cat", where, 0, n_inner)
    if n_categorical != len(categorical):
        raise ModelFileError(f"{where} announces {n_categorical} categorical splits but has {len(categorical)}")
    # A split between all numbers and NaN has the threshold inf.
    threshold = _numbers(entries.get("threshold", ""), f"threshold of {where}", n_inner, or_inf=True)
    categories = _categories(entries, n_categorical, where)
    if np.any(~np.isin(threshold[decision_type & 1 == 1], np.arange(n_categorical))):
        raise ModelFileError(f"{where} has a categorical split whose set of categories does not exist")
    _check_statistics(entries, n_inner, n_leaves, where)
    leaf = np.full(n_leaves, -1, dtype=np.int32)
    tree = TextTree(
        feature=np.concatenate([feature, leaf]),
        left=np.concatenate([_children(left, n_inner, n_leaves, where), leaf]),
        right=np.concatenate([_children(right, n_inner, n_leaves, where), leaf]),
        threshold=threshold,
        decision_type=decision_type,
        leaf_value=_numbers(_entry(entries, "leaf_value", where), f"leaf_value of {where}", n_leaves),
        categories=categories,
    )
    try:
        check_forest(np.zeros(1, dtype=np.int32), tree.feature, tree.left, tree.right, len(names))
    except InvalidInputError as error:
        raise ModelFileError(f"{where} is not a tree: {error}") from None
    return tree


def _categories(entries: dict[str, str], n_sets: int, where: str) -> tuple[NDArray[np.int64], ...]:
    """Return the sets of categories of a tree, which the text has as numbers of 32 bits each, one bit per category."""
    if n_sets == 0:
        return ()
    bounds = _integers(_entry(entries, "cat_boundaries", where), f"cat_boundaries of {where}", n_sets + 1)
    text = _entry(entries, "cat_threshold", where)
    if not _WORDS.fullmatch(text):
        raise ModelFileError(f"cat_threshold of {where} must hold integers")
    if text.count(" ") >= _MAX_WORDS:
        raise UnsupportedModelError(
            f"the sets of categories of {where} take more than {_MAX_WORDS:,} numbers, more than is read; number the "
            "categories from 0 and train again"
        )
    words = np.fromstring(text, dtype=np.int64, sep=" ") if text else np.empty(0, dtype=np.int64)
    if np.any(words >= 1 << 32):
        raise ModelFileError(f"cat_threshold of {where} holds a number of more than 32 bits")
    if bounds[0] != 0 or bounds[-1] != len(words) or np.any(np.diff(bounds) < 0):
        raise ModelFileError(f"cat_boundaries of {where} does not divide the {len(words)} numbers of cat_threshold")
    if 32 * np.count_nonzero(words) > _MAX_CATEGORIES:
        raise UnsupportedModelError(
            f"the splits of {where} may name more than {_MAX_CATEGORIES:,} categories together, more than is read; "
            "join rare categories and train again"
        )
    return tuple(_bits(words[low:high]) for low, high in pairwise(bounds.tolist()))


def _bits(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the bits that are set, the lowest of the first word being 0."""
    used = np.flatnonzero(words)
    word, bit = np.nonzero(words[used, np.newaxis] >> np.arange(32) & 1)
    return used[word] * 32 + bit


def _feature_infos(header: dict[str, str], n_features: int) -> tuple[str, ...]:
    if "feature_infos" not in header:
        return ()
    infos = tuple(header["feature_infos"].split(" "))
    if len(infos) != n_features:
        raise ModelFileError(f"feature_infos has {len(infos)} entries for {n_features} features")
    return infos


def _pandas_categorical(tail: bytes) -> tuple[tuple[Any, ...], ...]:
    """Return the names of categories that the Python package writes behind the model, if it was given a data frame."""
    mark = b"\npandas_categorical:"
    if mark not in tail:
        return ()
    try:
        lists = json.loads(tail.rpartition(mark)[2].decode())
    except ValueError as error:
        raise ModelFileError(f"pandas_categorical is broken: {str(error)[:100]}") from None
    if lists is None:
        return ()
    if not isinstance(lists, list) or not all(isinstance(names, list) for names in lists):
        raise ModelFileError("pandas_categorical must hold a list of categories per column")
    return tuple(map(tuple, lists))


def _categorical_features(tail: bytes, n_features: int) -> tuple[int, ...] | None:
    """Return the features that the parameters of the training name as categorical; None if there is no such line."""
    found = _CATEGORICAL_FEATURE.search(tail)
    if found is None:
        return None
    features = tuple(map(int, found[1].split(b","))) if found[1] else ()
    return features if list(features) == sorted(set(features)) and max(features, default=0) < n_features else None


def _check_statistics(entries: dict[str, str], n_inner: int, n_leaves: int, where: str) -> None:
    """Refuse damage in numbers that are not needed: LightGBM may fail on it, and there may be more."""
    for keys, n_wanted in ((_SPLIT_STATISTICS, n_inner), (_LEAF_STATISTICS, n_leaves)):
        for key in keys:
            text = entries.get(key, "").strip()
            if text and (len(text.split()) != n_wanted or not _STATISTICS.fullmatch(text)):
                raise ModelFileError(f"{key} of {where} should hold {n_wanted} numbers")


def _children(child: NDArray[np.int32], n_inner: int, n_leaves: int, where: str) -> NDArray[np.int32]:
    """Return node numbers; in the text, -1 is the first leaf, -2 the second, and so on."""
    if np.any((child >= n_inner) | (child < -n_leaves)):
        raise ModelFileError(f"{where} has a child that does not exist")
    return np.where(child >= 0, child, n_inner - 1 - child).astype(np.int32)


def _entries(block: bytes, where: str) -> dict[str, str]:
    """Return the lines "key=value" as a dictionary; a line without "=" is a key alone."""
    try:
        lines = block.decode().split("\n")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"{where} is not text: {error}") from None
    if lines[-1]:
        raise ModelFileError(f"the last line of {where} does not end with a line break")
    entries: dict[str, str] = {}
    for line in lines:
        if line:
            key, _, value = line.partition("=")
            if key in entries:
                raise ModelFileError(f"{where} has the line {key[:40]!r} twice")
            entries[key] = value
    return entries


def _entry(entries: dict[str, str], key: str, where: str) -> str:
    if key not in entries:
        raise ModelFileError(f'{where} has no line "{key}="')
    return entries[key]


def _integer(entries: dict[str, str], key: str, where: str, low: int, high: int, absent: int | None = None) -> int:
    """Return an integer between low and high, both inclusive."""
    if absent is not None and key not in entries:
        return absent
    values = _integers(_entry(entries, key, where), f"{key} of {where}")
    if len(values) != 1 or not low <= values[0] <= high:
        raise ModelFileError(f"{key} of {where} must be an integer in {low}..{high}, not {entries[key][:40]!r}")
    return int(values[0])


def _integers(text: str, what: str, n_wanted: int | None = None) -> NDArray[np.int32]:
    if not _INTEGERS.fullmatch(text):
        raise ModelFileError(f"{what} must hold integers")
    values = np.array(text.split(), dtype=np.int32)
    if n_wanted is not None and len(values) != n_wanted:
        raise ModelFileError(f"{what} should hold {n_wanted} numbers, not {len(values)}")
    return values


def _numbers(text: str, what: str, n_wanted: int, *, or_inf: bool = False) -> NDArray[np.float64]:
    """Return finite numbers or, where it is allowed, infinity written as "inf"."""
    words = text.split(" ") if text else []
    values = np.array(words, dtype=np.float64) if _NUMBERS.fullmatch(text) else None
    if values is None or not np.isfinite(values).all():
        for word in words:
            if not (_NUMBER.fullmatch(word) and math.isfinite(float(word))) and not (or_inf and word == "inf"):
                raise ModelFileError(f"{what} must hold finite numbers, not {word[:40]!r}")
    if len(words) != n_wanted:
        raise ModelFileError(f"{what} should hold {n_wanted} numbers, not {len(words)}")
    return np.empty(0) if values is None else values
