"""The words that several exports share: names and labels on one line, and what the file is.

Quoting and escaping are left to each format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onetree.base.amounts import count, leaves
from onetree.errors import InvalidInputError
from onetree.model.labels import labels_to_json
from onetree.tree.leaf_values import tolerance_words

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

NOT_EXACT = "NOT EXACT: the tree was pruned or built from data; its {output} can differ from that of its source model"
ONLY_INSIDE = "EXACT ONLY INSIDE A DOMAIN: for inputs outside of it the {output} means nothing. The domain"
MAX_LEAVES = 10_000_000
"""Most leaves that are written out one by one."""

LINE_WIDTH = 110
"""Of generated source."""

_HARMLESS = re.compile(r"[\w .,:<>=()-]*")  # in a comment of any language


def printable(name: str) -> str:
    """Escape what would break one line per thing, such as a newline in a name from a file."""
    return name if name.isprintable() else ascii(name)


def feature_words(tree: Tree) -> list[str]:
    """Return the feature names, each on one line."""
    return [printable(name) for name in tree.feature_names]


def label_words(tree: Tree) -> list[str]:
    """Return the labels as text, each on one line."""
    return [printable(str(label)) for label in tree.classes.tolist()]


def plain_labels(tree: Tree) -> list[str | int | float | bool]:
    """Return the labels as values that source code can hold; raises `UnsupportedModelError` for any other type."""
    labels: list[str | int | float | bool] = labels_to_json(tree.classes)["labels"]
    return labels


def uniform_labels(tree: Tree) -> list[str] | list[int] | list[float] | list[bool]:
    """Return the labels as values of one type: text if they are of several, or integers of more than 64 bits."""
    labels: list[Any] = plain_labels(tree)
    too_long = any(isinstance(label, int) and not -(2**63) <= label < 2**63 for label in labels)
    return [str(label) for label in labels] if too_long or len({type(label) for label in labels}) > 1 else labels


def check_writable(tree: Tree, what: str) -> None:
    """Refuse a tree with more leaves than anyone can write down."""
    if tree.n_leaves > MAX_LEAVES:
        raise InvalidInputError(
            f"the tree has {leaves(tree.n_leaves)} if equal subtrees are written out, and {what} holds at most "
            f"{MAX_LEAVES:,}; use an export that shares subtrees: JSON, DOT, code or ONNX"
        )


def heading(tree: Tree) -> list[str]:
    """Return the lines that a file begins with: what it is, whether and where it is exact.

    None of them can end a comment or a string, whatever a model file calls its features.
    """
    lines = [f"Decision tree of depth {count(tree.depth)} with {leaves(tree.n_leaves)}, written by onetree."]
    return lines + limitations(tree)


def limitations(tree: Tree) -> list[str]:
    """Return the lines that say where the tree is not exact; none if it is everywhere."""
    lines = promises(tree) if tree.exact else [f"{NOT_EXACT.format(output=tree.output)}."]
    if tree.domain is not None:
        names = [
            name if name and _HARMLESS.fullmatch(name) else f"feature {at}"
            for at, name in enumerate(tree.feature_names)
        ]
        origin = f", {tree.domain.origin}" if tree.domain.origin and _HARMLESS.fullmatch(tree.domain.origin) else ""
        lines += [
            f"{ONLY_INSIDE.format(output=tree.output)}{origin}:",
            *(f"  {line}" for line in tree.domain.describe(names)),
        ]
    return lines


def promises(tree: Tree) -> list[str]:
    """Return the line that says how near the numbers of an exact tree are to the source's; none if they are equal."""
    if tree.value is None or (tree.tolerance == 0 and tree.keeps_class):
        return []
    if tree.tolerance is None:
        return [f"NOT MEASURED: nothing is promised of how far its {tree.output} is from that of its source model."]
    where = "for every input" if tree.domain is None else "for every input of the domain"
    words = tolerance_words(tree.tolerance, relative=tree.relative)
    most = f"at most {words}{' of the latter' if tree.relative else ''}"
    what = "the value" if tree.output == "value" else "each probability"
    kept = {"value": "", "probability": f", and the class {'is the same' if tree.keeps_class else 'can differ'}"}
    return [f"WITHIN {words}: {where} {what} differs from that of the source model by {most}{kept[tree.output]}."]


def wrapped(values: Sequence[str]) -> Iterator[str]:
    """Return indented lines with a comma after each value, as many on a line as fit."""
    row = "   "
    for value in values:
        if len(row) + len(value) > LINE_WIDTH and row.strip():
            yield row
            row = "   "
        row += f" {value},"
    yield row
