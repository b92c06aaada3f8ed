"""The text format of the paper's authors (BA-Trees): a hard vote of trees, read and written.

The format holds class and feature indices but no names: labels read from it are 0, 1, ..., and names are lost
when it is written. An input goes left iff x <= threshold, compared in float64.
"""

import os
import re
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.files.atomic import read_whole, write_whole
from onetree.importers.sizes import MAX_CLASSES, too_many_values
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble, Rule

_HEADER = ("DATASET_NAME", "ENSEMBLE", "NB_TREES", "NB_FEATURES", "NB_CLASSES", "MAX_TREE_DEPTH")
_COLUMNS = (
    "Format: node / node type (LN - leaf node, IN - internal node) / left child / right child / feature / "
    "threshold / node depth / majority class (starts with index 0)"
)
_INTEGER = re.compile(r"-?[0-9]{1,9}")
# A digit can be matched in one way only: otherwise the time for a million of them would grow with their square.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_MAX_FEATURES = 1_000_000
_MOST = {"NB_FEATURES": _MAX_FEATURES, "NB_CLASSES": MAX_CLASSES}


def read_ba_text(path: str | os.PathLike[str]) -> Ensemble:
    """Read a hard-vote ensemble from a file in the BA-Trees text format."""
    try:
        return parse_ba_text(read_whole(path))
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None


def parse_ba_text(content: bytes) -> Ensemble:
    """Read a hard-vote ensemble from the content of a file in the BA-Trees text format."""
    lines = _Lines.of(content)
    header = dict(_read_header(lines))
    n_trees, n_features, n_classes = header["NB_TREES"], header["NB_FEATURES"], header["NB_CLASSES"]
    nodes = _Nodes()
    for tree in range(n_trees):
        _read_tree(lines, nodes, tree, n_features, n_classes)
        if too_many_values(len(nodes.feature), n_classes):
            lines.fail(f"{n_classes} classes at {len(nodes.feature)} nodes are more than can be held")
    lines.skip_blank()
    if not lines.at_end():
        lines.next("the end of the file")
        lines.fail(f"there is more after the last of the {n_trees} trees that NB_TREES announces")
    leaf = np.array(nodes.feature) < 0
    value = np.zeros((len(leaf), n_classes))
    value[leaf, np.array(nodes.vote)[leaf]] = 1.0
    return Ensemble(
        classes=np.arange(n_classes),
        feature_names=tuple(f"x{i}" for i in range(n_features)),
        columns=Columns(named=False),
        roots=np.array(nodes.roots, dtype=np.int32),
        feature=np.array(nodes.feature, dtype=np.int32),
        threshold=np.array(nodes.threshold, dtype=np.float64),
        children_left=np.array(nodes.left, dtype=np.int32),
        children_right=np.array(nodes.right, dtype=np.int32),
        missing_left=np.zeros(len(leaf), dtype=np.bool_),
        value=value,
        base=np.zeros(n_classes),
        rule=Rule("hard"),
        nan_features=np.zeros(n_features, dtype=np.bool_),
    )


def write_ba_text(ensemble: Ensemble, path: str | os.PathLike[str], *, dataset_name: str = "onetree") -> None:
    """Write a hard-vote ensemble in the BA-Trees text format.

    Raises
    ------
    UnsupportedModelError
        If the ensemble is not a hard vote with equal weights, or takes NaN: the format cannot express it.
    """
    if ensemble.rule.kind != "hard" or ensemble.base.any():
        raise UnsupportedModelError(
            f'the BA-Trees text format holds hard votes with equal weights, and this is a "{ensemble.rule.kind}" rule; '
            'import the model with voting="hard", or save the project\'s JSON instead'
        )
    if ensemble.nan_features.any() or np.isposinf(ensemble.threshold).any():
        raise UnsupportedModelError(
            "the BA-Trees text format has no missing values (NaN); save this ensemble as the project's JSON instead"
        )
    if not re.fullmatch(r"\S+", dataset_name):
        raise InvalidInputError(f"dataset_name must be one word, not {dataset_name!r}")
    counts = (dataset_name, "RF", ensemble.n_trees, ensemble.n_features, ensemble.n_classes, ensemble.depths.max())
    lines = [f"{key}: {value}" for key, value in zip(_HEADER, counts, strict=True)] + [_COLUMNS, ""]
    for tree, root in enumerate(ensemble.roots.tolist()):
        rows = _tree_rows(ensemble, root)
        lines += [f"[TREE {tree}]", f"NB_NODES: {len(rows)}", *rows, ""]
    write_whole(path, "\n".join(lines) + "\n")


def _tree_rows(ensemble: Ensemble, root: int) -> list[str]:
    """Return a line for each node of a tree, numbered in preorder."""
    preorder: list[tuple[int, int]] = []
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        preorder.append((node, depth))
        if ensemble.feature[node] >= 0:
            stack += [(int(ensemble.children_right[node]), depth + 1), (int(ensemble.children_left[node]), depth + 1)]
    number = {node: i for i, (node, _) in enumerate(preorder)}
    rows = []
    for node, depth in preorder:
        if ensemble.feature[node] < 0:
            rows.append(f"{number[node]} LN -1 -1 -1 -1 {depth} {np.argmax(ensemble.value[node])}")
        else:
            left, right = number[int(ensemble.children_left[node])], number[int(ensemble.children_right[node])]
            threshold = float(ensemble.threshold[node])
            rows.append(f"{number[node]} IN {left} {right} {ensemble.feature[node]} {threshold!r} {depth} -1")
    return rows


@dataclass
class _Nodes:
    """The node arrays as they grow."""

    roots: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    vote: list[int] = field(default_factory=list)


@dataclass
class _Lines:
    """The lines of the file, with the number of the one last read for messages."""

    lines: list[str]
    number: int = 0

    @classmethod
    def of(cls, content: bytes) -> "_Lines":
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise ModelFileError(f"not a text file: {error}") from None
        lines = cls(text.split("\n"))
        if lines.lines[-1].strip():  # a number that was cut would otherwise still be a number
            lines.number = len(lines.lines)
            lines.fail("the last line does not end with a line break, so the file may be cut short")
        lines.lines.pop()
        return lines

    def at_end(self) -> bool:
        return self.number == len(self.lines)

    def next(self, wanted: str) -> str:
        if self.at_end():
            self.fail(f"the file ends where {wanted} should be; it is cut short")
        self.number += 1
        return self.lines[self.number - 1].strip()

    def skip_blank(self) -> None:
        while not self.at_end() and not self.lines[self.number].strip():
            self.number += 1

    def fail(self, what: str) -> NoReturn:
        raise ModelFileError(f"line {self.number}: {what}")

    def integer(self, text: str, what: str, low: int, high: int) -> int:
        """Return `text` as an integer between low and high, both inclusive."""
        if not _INTEGER.fullmatch(text):
            self.fail(f"{what} must be an integer, not {text[:40]!r}")
        if not low <= int(text) <= high:
            self.fail(f"{what} is {int(text)}, outside {low}..{high}")
        return int(text)


def _read_header(lines: _Lines) -> list[tuple[str, int]]:
    counts = []
    for key in _HEADER:
        name, colon, text = lines.next(f'"{key}:"').partition(":")
        if name != key or not colon:
            lines.fail(f'"{key}:" should be here')
        if key.startswith(("NB", "MAX")):
            low = 0 if key == "MAX_TREE_DEPTH" else 1
            counts.append((key, lines.integer(text.strip(), key, low, _MOST.get(key, 999_999_999))))
    if not lines.next('the line "Format: ..."').startswith("Format:"):
        lines.fail('the line "Format: ..." should be here')
    return counts


def _read_tree(lines: _Lines, nodes: _Nodes, tree: int, n_features: int, n_classes: int) -> None:
    """Append one tree; node 0 is its root, and the depths written in the file must be true."""
    lines.skip_blank()
    if lines.next(f"[TREE {tree}]") != f"[TREE {tree}]":
        lines.fail(f"[TREE {tree}] should be here")
    name, _, text = lines.next("NB_NODES").partition(":")
    if name != "NB_NODES":
        lines.fail('"NB_NODES:" should be here')
    n_nodes = lines.integer(text.strip(), "NB_NODES", 1, len(lines.lines) - lines.number)
    rows: list[tuple[int, int, int, float, int, int] | None] = [None] * n_nodes
    parent = [-1] * n_nodes
    first_line = lines.number + 1
    for _ in range(n_nodes):
        node, row = _read_node(lines, n_nodes, n_features, n_classes)
        if rows[node] is not None:
            lines.fail(f"node {node} is there twice")
        rows[node] = row
        for child in row[:2]:
            if child == 0:
                lines.fail("the root, node 0, cannot be a child (a cycle)")
            if child > 0 and parent[child] >= 0:
                lines.fail(f"node {child} is a child twice (a shared node or a cycle)")
            if child > 0:
                parent[child] = node
    offset = len(nodes.feature)
    nodes.roots.append(offset)
    depth_of = [0] + [-1] * (n_nodes - 1)  # known once the parent was visited
    stack, n_reached = [0], 0
    while stack:
        node = stack.pop()
        n_reached += 1
        left, right, _, _, depth, _ = rows[node]  # type: ignore[misc]  # n_nodes different ids fill all rows
        if depth != depth_of[node]:
            raise ModelFileError(f"tree {tree}: node {node} is at depth {depth_of[node]}, but the file says {depth}")
        if left >= 0:
            depth_of[left] = depth_of[right] = depth + 1
            stack += [right, left]
    if n_reached < n_nodes:
        lost = depth_of.index(-1)
        raise ModelFileError(
            f"tree {tree}, from line {first_line} on: node {lost} is not reached from the root (a cycle)"
        )
    for left, right, feature, threshold, _, vote in rows:  # type: ignore[misc]
        nodes.feature.append(feature)
        nodes.threshold.append(threshold)
        nodes.left.append(left + offset if left >= 0 else -1)
        nodes.right.append(right + offset if right >= 0 else -1)
        nodes.vote.append(vote)


def _read_node(
    lines: _Lines, n_nodes: int, n_features: int, n_classes: int
) -> tuple[int, tuple[int, int, int, float, int, int]]:
    """Return the node and its (left, right, feature, threshold, depth, vote)."""
    fields = lines.next(f"one of {n_nodes} nodes").split()
    if len(fields) != 8:
        lines.fail(f"a node has 8 fields, not {len(fields)}; is a node missing or the line cut short?")
    node = lines.integer(fields[0], "the node", 0, n_nodes - 1)
    is_leaf = fields[1] == "LN"
    if not is_leaf and fields[1] != "IN":
        lines.fail(f"the node type must be IN or LN, not {fields[1][:40]!r}")
    if not _NUMBER.fullmatch(fields[5]) or not np.isfinite(float(fields[5])):
        lines.fail(f"the threshold must be a finite number, not {fields[5][:40]!r}")
    depth = lines.integer(fields[6], "the depth", 0, n_nodes - 1)
    if is_leaf:
        for child in fields[2:4]:
            lines.integer(child, "the child of a leaf", -1, -1)
        lines.integer(fields[4], "the feature of a leaf", -2, -1)
        return node, (-1, -1, -1, 0.0, depth, lines.integer(fields[7], "the class", 0, n_classes - 1))
    left = lines.integer(fields[2], "the left child", 0, n_nodes - 1)
    right = lines.integer(fields[3], "the right child", 0, n_nodes - 1)
    feature = lines.integer(fields[4], "the feature", 0, n_features - 1)
    lines.integer(fields[7], "the class of an internal node", -1, -1)
    return node, (left, right, feature, float(fields[5]), depth, -1)
