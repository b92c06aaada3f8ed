"""Options of the commands that ask a model something about rows of data."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import onetree
from onetree.cli import options
from onetree.cli.table import read_inputs
from onetree.errors import InvalidInputError
from onetree.files.atomic import write_whole
from onetree.questions.costs import NORMS
from onetree.questions.sources import loaded


def add_rows(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the data, and which rows of it are meant."""
    needed = "" if required else " (default: every input, not only rows)"
    parser.add_argument(
        "--data", metavar="CSV", required=required, help=f"a header with the feature names, rows{needed}"
    )
    parser.add_argument("--label", metavar="NAME", help="a column of the data to leave out")
    parser.add_argument(
        "--by-position", action="store_true", help="take the columns in the order of the features, whatever their names"
    )


def add_row(parser: argparse.ArgumentParser) -> None:
    """Add the data and the one row that is asked about, or a file for the answers to all."""
    add_rows(parser, required=True)
    parser.add_argument(
        "--row",
        type=options.positive_integer,
        metavar="N",
        help="row of the data, from 1 (default: 1, or all with --output)",
    )
    add_output(parser, "an answer for each row")


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the file for answers about rows."""
    parser.add_argument("-o", "--output", metavar="FILE.csv", help=f"write {what} to this CSV file")


def add_limit(parser: argparse.ArgumentParser) -> None:
    """Add the time limit."""
    parser.add_argument(
        "--time-limit",
        type=options.positive_number,
        metavar="S",
        help="seconds, for each row if there are several; then what is known so far is printed",
    )


def read_source(arguments: argparse.Namespace) -> onetree.Ensemble | onetree.Tree:
    """Return the model, or the tree if that is what the file holds."""
    found = loaded(arguments.model)
    return found if isinstance(found, onetree.Tree) else options.read_model(arguments)


def read_rows(arguments: argparse.Namespace, ensemble: onetree.Ensemble | onetree.Tree) -> NDArray[np.float64]:
    """Return all rows of the data."""
    return read_inputs(arguments.data, ensemble, label=arguments.label, by_position=arguments.by_position)


def chosen_rows(arguments: argparse.Namespace, rows: NDArray[np.float64]) -> list[int]:
    """Return the indices of the rows that are asked about."""
    if arguments.row is None:
        return list(range(len(rows))) if arguments.output is not None else [0]
    if arguments.row > len(rows):
        raise InvalidInputError(f"--row {arguments.row} is past the {len(rows):,} rows of {arguments.data}")
    return [arguments.row - 1]


def write_table(path: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file; what is missing is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(["" if each is None else each for each in row])
    write_whole(path, text.getvalue())


def features(text: str) -> list[str]:
    """Read names of features, separated by commas, or a JSON list of them."""
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list):
            return [str(each) for each in found]
        raise argparse.ArgumentTypeError(f"{text!r} is not a JSON list of names")
    return [name.strip() for name in text.split(",") if name.strip()]


def label_of(text: str | None, ensemble: onetree.Ensemble | onetree.Tree) -> Any:
    """Return the class of the model that is written like this, or the text itself."""
    return next((label for label in ensemble.classes.tolist() if str(label) == text), text)


def cost(text: str) -> tuple[str, float]:
    """Read what a unit of a feature costs: NAME=NUMBER. A name may hold "="."""
    name, is_pair, value = text.rpartition("=")
    try:
        if not is_pair:
            raise ValueError
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=NUMBER, such as age=2") from None


def norm(text: str) -> str | dict[str, float]:
    """Read a distance: l1, l0, linf, or a sum such as l1+0.5*l0."""
    if text in NORMS:
        return text
    found: dict[str, float] = {}
    for part in text.split("+"):
        weight, _, name = part.strip().rpartition("*")
        try:
            if name.strip() not in NORMS or name.strip() in found:
                raise ValueError
            found[name.strip()] = float(weight) if weight else 1.0
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a distance; write {', '.join(NORMS)}, or a sum such as l1+0.5*l0"
            ) from None
    return found


def changes(found: Mapping[str, tuple[Any, Any]]) -> dict[str, list[Any]]:
    """Return old and new values for JSON."""
    return {name: [value(each) for each in change] for name, change in found.items()}


def bounds(found: Mapping[str, tuple[Any, ...]]) -> dict[str, list[Any]]:
    """Return bounds for JSON."""
    return {name: [value(each) for each in ends] for name, ends in found.items()}


def value(x: Any) -> Any:
    """Return a number or the name of a category for JSON."""
    return number(x) if isinstance(x, float) else x


def number(x: float) -> float | str | None:
    """Return a value for JSON, which has no NaN (a missing value is null) and no infinity."""
    if np.isnan(x):
        return None
    return float(x) if np.isfinite(x) else str(x)


def point(values: NDArray[np.float64] | None) -> list[float | str | None] | None:
    """Return an input for JSON."""
    return None if values is None else [number(x) for x in values.tolist()]


def plain(label: Any) -> Any:
    """Return a label for JSON."""
    return label.item() if isinstance(label, np.generic) else label
