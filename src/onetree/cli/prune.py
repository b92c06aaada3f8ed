"""``onetree prune``: a tree and data in, the splits that the data need out."""

from __future__ import annotations

import argparse
import csv
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

import onetree
from onetree.cli import options, terminal
from onetree.errors import InvalidInputError
from onetree.files import read_whole

_Named = onetree.Tree | onetree.Ensemble  # has names for its features


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "prune",
        help="leave out the splits that no data need; the tree is then no longer exact",
        description="Leave out every split one side of which holds none of the data, then merge leaves of one class "
        "below the same split. On these data the tree predicts as before, elsewhere it may not.",
    )
    parser.add_argument("tree", metavar="TREE", help="file of the tree")
    parser.add_argument(
        "--data", metavar="CSV", required=True, help="the training data: a header with the names of the features, rows"
    )
    parser.add_argument("-o", "--output", metavar="TREE.json", required=True, help="file for the pruned tree")
    parser.add_argument("--held-out", metavar="CSV", help="other data, to tell on how many rows the trees agree")
    parser.add_argument("--label", metavar="NAME", help="a column that must be there and is left out")
    parser.add_argument(
        "--by-position",
        action="store_true",
        help="take the columns, apart from the label, in the order of the features, whatever they are called",
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prune."""
    terminal.check_output(arguments.output)
    tree = onetree.load_tree(arguments.tree)
    X = read_inputs(arguments.data, tree, label=arguments.label, by_position=arguments.by_position)
    held_out = None
    if arguments.held_out is not None:
        held_out = read_inputs(arguments.held_out, tree, label=arguments.label, by_position=arguments.by_position)
    pruned = onetree.prune(tree, X)
    effect = onetree.compare(tree, pruned, X)
    elsewhere = None if held_out is None else onetree.compare(tree, pruned, held_out, max_boxes=0)
    pruned.save(arguments.output)
    if arguments.json:
        terminal.show_json(
            {
                "exact": pruned.exact,
                "depth_before": tree.depth,
                "leaves_before": tree.n_leaves,
                "depth": pruned.depth,
                "leaves": pruned.n_leaves,
                "rows": effect.n_rows,
                "agreement": effect.agreement,
                "held_out_rows": None if elsewhere is None else elsewhere.n_rows,
                "held_out_agreement": None if elsewhere is None else elsewhere.agreement,
                "cells": effect.n_cells,
                "changed_cells": effect.n_changed_cells,
                "output": arguments.output,
            }
        )
    else:
        terminal.show(_page(tree, pruned, effect, elsewhere, arguments.output))
    return 0


def _page(
    tree: onetree.Tree,
    pruned: onetree.Tree,
    effect: onetree.Comparison,
    elsewhere: onetree.Comparison | None,
    output: str,
) -> str:
    lines = [
        f"depth {tree.depth} with {tree.n_leaves:,} leaves -> depth {pruned.depth} with {pruned.n_leaves:,} leaves; "
        "no longer exact",
        f"the data       same class on {_share(effect)}",
    ]
    if elsewhere is not None:
        lines.append(f"held-out data  same class on {_share(elsewhere)}")
    if effect.changed is None:
        lines.append("all inputs     too many leaves to count the cells in which the class changed")
    else:
        cells = f"{terminal.count(effect.n_cells)} cells of the tree"
        lines.append(f"all inputs     another class in {effect.changed:.3%} of {cells}")
    return "\n".join([*lines, f"saved to {output}"])


def _share(found: onetree.Comparison) -> str:
    return f"{found.n_agreeing:,} of {found.n_rows:,} rows ({found.agreement:.2%})"


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
    twice = sorted({name for name in tree.feature_names if header.count(name) > 1})
    if twice:
        raise InvalidInputError(f"{path}: the column {twice[0]!r} is there twice; rename one of them")
    absent = [name for name in tree.feature_names if name not in header]
    if absent:
        raise InvalidInputError(
            f"{path} has no column for {len(absent)} of {tree.n_features} features: {_listed(absent)}; its header is "
            f"{_listed(header)}. Rename the columns, or give --by-position if they are in the order of the features"
        )
    return [header.index(name) for name in tree.feature_names]


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
        return float(text) if text else np.nan
    except ValueError:
        raise InvalidInputError(
            f"{path}: {field!r} in row {number + 1}, column {name!r}, is not a number; encode text as the model's "
            "training data were encoded"
        ) from None


def _listed(names: list[Any], n_shown: int = 8) -> str:
    return ", ".join(map(repr, names[:n_shown])) + (", ..." if len(names) > n_shown else "")
