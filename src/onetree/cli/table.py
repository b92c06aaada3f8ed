"""Data on the command line: a CSV file in, the columns that a tree or an ensemble names out."""

import csv
import io
import math

import numpy as np
from numpy.typing import NDArray

import onetree
from onetree.errors import InvalidInputError
from onetree.files.atomic import read_whole
from onetree.model.columns import Labels
from onetree.model.frames import columns_by_name, listed

_Named = onetree.Tree | onetree.Ensemble  # has names for its features


def read_inputs(path: str, tree: _Named, *, label: str | None, by_position: bool) -> NDArray[np.float64]:
    """Return the columns of a CSV file that the tree's features name, in their order; an empty field is NaN.

    A category is read by its value, as in a data frame.
    """
    try:
        text = read_whole(path).decode("utf-8-sig")
        table = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{path}: not a CSV file in UTF-8: {error}") from None
    if not table:
        raise InvalidInputError(f"{path} is empty; it needs a header with the names of the features, and rows")
    header = [name.strip() for name in table[0]]
    if label is not None and label not in header:
        raise InvalidInputError(f"{path} has no column {label!r} for --label; it has {listed(header)}")
    columns = _by_position(path, header, tree, label) if by_position else _by_name(path, header, tree)
    rows = np.empty((len(table) - 1, len(columns)))
    for number, row in enumerate(table[1:]):
        if len(row) != len(header):
            raise InvalidInputError(
                f"{path}: row {number + 1} has {len(row)} fields, but the header has {len(header)}; "
                "put quotes around fields with commas"
            )
    labels = _labels(path, table[1:], columns, tree)
    for place, column in enumerate(columns):
        known: dict[str, float] = {}  # fields repeat, categories most of all
        for number, row in enumerate(table[1:]):
            field = row[column]
            try:
                if field not in known:
                    known[field] = _number(field, labels[place])
            except InvalidInputError as error:
                raise InvalidInputError(f"{path}: column {header[column]!r} in row {number + 1} {error}") from None
            rows[number, place] = known[field]
    if len(rows) == 0:
        raise InvalidInputError(f"{path} has a header but no rows")
    return rows


def _by_name(path: str, header: list[str], tree: _Named) -> list[int]:
    try:
        return columns_by_name(header, tree, what=path)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{error}. If the columns are in the order of the features, give --by-position"
        ) from None


def _labels(path: str, rows: list[list[str]], columns: list[int], tree: _Named) -> list[Labels | None]:
    """Return the categories of each feature; where the model has them without saying of which, those with texts."""
    labels = [tree.columns.labels_of(feature) for feature in range(len(columns))]
    if not tree.columns.unassigned:
        return labels
    texts = [at for at, column in enumerate(columns) if any(_is_text(row[column]) for row in rows)]
    if len(texts) != len(tree.columns.unassigned):
        raise InvalidInputError(
            f"{path} has {len(texts)} columns with texts, but the model has {len(tree.columns.unassigned)} with "
            "categories, and does not say which these are; read the data in Python, as a data frame"
        )
    for at, own in zip(texts, tree.columns.unassigned, strict=True):
        labels[at] = own
    return labels


def _is_text(field: str) -> bool:
    try:
        float(field.strip() or "nan")
    except ValueError:
        return True
    return False


def _by_position(path: str, header: list[str], tree: _Named, label: str | None) -> list[int]:
    columns = [column for column, name in enumerate(header) if name != label]
    if len(columns) != tree.n_features:
        raise InvalidInputError(
            f"{path} has {len(columns)} columns{'' if label is None else ' besides the label'}, but the tree has "
            f"{tree.n_features} features; leave out a label with --label NAME, or name the columns like the features"
        )
    return columns


def _number(field: str, labels: Labels | None) -> float:
    """Return the number that a field stands for: itself, or that of the category it names; NaN if it is empty."""
    text = field.strip()
    if not text:
        return math.nan
    if labels is not None:
        return labels.number(labels.from_text(text))
    try:
        if "_" in text:  # Python would read 1_0 as 10
            raise ValueError
        return float(text)
    except ValueError:
        raise InvalidInputError(
            f"holds {field!r}, which is not a number; encode text as the model's training data were encoded"
        ) from None
