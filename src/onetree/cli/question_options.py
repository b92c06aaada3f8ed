"""Options of the commands that ask a model something about rows of data."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

import onetree
from onetree.cli import options
from onetree.cli.table import read_inputs
from onetree.errors import InvalidInputError


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
    """Add the data and the one row that is asked about."""
    add_rows(parser, required=True)
    parser.add_argument(
        "--row", type=options.positive_integer, default=1, metavar="N", help="row of the data, from 1 (default: 1)"
    )


def add_limit(parser: argparse.ArgumentParser) -> None:
    """Add the time limit."""
    parser.add_argument(
        "--time-limit", type=options.positive_number, metavar="S", help="seconds; then what is known so far is printed"
    )


def read_rows(arguments: argparse.Namespace, ensemble: onetree.Ensemble) -> NDArray[np.float64]:
    """Return all rows of the data."""
    return read_inputs(arguments.data, ensemble, label=arguments.label, by_position=arguments.by_position)


def chosen_row(arguments: argparse.Namespace, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the row that is asked about."""
    if arguments.row > len(rows):
        raise InvalidInputError(f"--row {arguments.row} is past the {len(rows):,} rows of {arguments.data}")
    row: NDArray[np.float64] = rows[arguments.row - 1]
    return row


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


def label_of(text: str | None, ensemble: onetree.Ensemble) -> Any:
    """Return the class of the model that is written like this, or the text itself."""
    return next((label for label in ensemble.classes.tolist() if str(label) == text), text)


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
