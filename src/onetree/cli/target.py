"""The truth on the command line: a CSV file and the name of a column in, classes of the model or numbers out."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

import onetree
from onetree.errors import InvalidInputError
from onetree.files.atomic import read_whole


def read_target(path: str, name: str, model: onetree.Ensemble | onetree.Tree) -> NDArray[Any]:
    """Return the column of that name, for a file that `read_inputs` has read; numbers are compared as such."""
    header, *rows = [row for row in csv.reader(io.StringIO(read_whole(path).decode("utf-8-sig"), newline="")) if row]
    column = [each.strip() for each in header].index(name)
    if not len(model.classes):
        return _numbers([row[column] for row in rows], f"{path}, column {name!r}")
    known = {_key(str(label)): index for index, label in enumerate(model.classes.tolist())}
    found = np.empty(len(rows), dtype=np.intp)
    for number, row in enumerate(rows):
        index = known.get(_key(row[column]))
        if index is None:
            raise InvalidInputError(
                f"{path}: {row[column]!r} in row {number + 1}, column {name!r}, is not a class of the model, which has "
                f"{', '.join(map(repr, model.classes.tolist()[:8]))}; name its classes with --classes"
            )
        found[number] = index
    labels: NDArray[Any] = model.classes[found]
    return labels


def _numbers(texts: list[str], where: str) -> NDArray[np.float64]:
    try:
        return np.array([float(text) for text in texts])
    except ValueError as error:
        raise InvalidInputError(f"{where}: {error}; the target of a regressor is a number") from None


def _key(text: str) -> float | str:
    """Return what makes 1, 1.0 and " 1" the same class."""
    try:
        return float(text)
    except ValueError:
        return text.strip()
