"""Data on the command line: a CSV file in, the columns that a tree or an ensemble names out."""

import csv
import io
from collections import Counter

import numpy as np
from numpy.typing import NDArray

import onetree
from onetree.errors import InvalidInputError
from onetree.files import read_whole

_Named = onetree.Tree | onetree.Ensemble  # has names for its features


def read_inputs(path: str, tree: _Named, *, label: str | None, by_position: bool) -> NDArray[np.float64]:
    """Return the columns of a CSV file that the tree's features name, in their order; an empty field is NaN."""
    try:
        text = read_whole(path).decode("utf-8-sig")
        table = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{path}: not a CSV file in UTF-8: {error}") from None
    if not table:
        raise InvalidInputError(f"{path} is empty; it needs a header with the names of the features, and rows")
    header = [name.strip() for name in table[0]]
    if label is not None and label not in header:
        raise InvalidInputError(f"{path} has no column {label!r} for --label; it has {_listed(header)}")
    columns = _by_position(path, header, tree, label) if by_position else _by_name(path, header, tree)
    rows = np.empty((len(table) - 1, len(columns)))
    for number, row in enumerate(table[1:]):
        if len(row) != len(header):
            raise InvalidInputError(
                f"{path}: row {number + 1} has {len(row)} fields, but the header has {len(header)}; "
                "put quotes around fields with commas"
            )
        for place, column in enumerate(columns):
            rows[number, place] = _number(row[column], path, number, header[column])
    if len(rows) == 0:
        raise InvalidInputError(f"{path} has a header but no rows")
    return rows


def _by_name(path: str, header: list[str], tree: _Named) -> list[int]:
    times = Counter(header)
    twice = sorted({name for name in tree.feature_names if times[name] > 1})
    if twice:
        raise InvalidInputError(f"{path}: the column {twice[0]!r} is there twice; rename one of them")
    absent = [name for name in tree.feature_names if name not in times]
    if absent:
        raise InvalidInputError(
            f"{path} has no column for {len(absent)} of {tree.n_features} features: {_listed(absent)}; its header is "
            f"{_listed(header)}. Rename the columns, or give --by-position if they are in the order of the features"
        )
    place = {name: column for column, name in enumerate(header)}
    return [place[name] for name in tree.feature_names]


def _by_position(path: str, header: list[str], tree: _Named, label: str | None) -> list[int]:
    columns = [column for column, name in enumerate(header) if name != label]
    if len(columns) != tree.n_features:
        raise InvalidInputError(
            f"{path} has {len(columns)} columns{'' if label is None else ' besides the label'}, but the tree has "
            f"{tree.n_features} features; leave out a label with --label NAME, or name the columns like the features"
        )
    return columns


def _number(field: str, path: str, number: int, name: str) -> float:
    text = field.strip()
    try:
        if "_" in text:  # Python would read 1_0 as 10
            raise ValueError
        return float(text) if text else np.nan
    except ValueError:
        raise InvalidInputError(
            f"{path}: {field!r} in row {number + 1}, column {name!r}, is not a number; encode text as the model's "
            "training data were encoded"
        ) from None


def _listed(names: list[str], n_shown: int = 8) -> str:
    return ", ".join(map(repr, names[:n_shown])) + (", ..." if len(names) > n_shown else "")
