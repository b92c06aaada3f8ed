"""The options of ``onetree convert`` for a tree that follows the model only where data are."""

from __future__ import annotations

import argparse
import shlex

import numpy as np
from numpy.typing import NDArray

import onetree
from onetree.base.progress import ProgressCallback
from onetree.cli import options
from onetree.cli.table import read_inputs
from onetree.errors import InvalidInputError
from onetree.support import SupportSolution, support_tree
from onetree.support.build import DEFAULT_LEAVES

_ONLY_WITH_DATA = ("held_out", "label", "by_position", "fidelity", "certify")


def add_support(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group(
        "a tree for the data only",
        "For models of any size. The tree is marked as not exact, and the result says what it promises.",
    )
    group.add_argument(
        "--data",
        metavar="CSV",
        help="follow the model where these rows are: a header with the names of the features, rows",
    )
    group.add_argument("--held-out", metavar="CSV", help="rows to measure on (default: a fifth of the data, set aside)")
    group.add_argument("--label", metavar="NAME", help="a column to leave out")
    group.add_argument(
        "--by-position", action="store_true", help="take the columns in the order of the features, whatever their names"
    )
    group.add_argument(
        "--max-leaves",
        type=options.positive_integer,
        metavar="N",
        help=f"largest number of leaves (default: {DEFAULT_LEAVES}). Without --data, for a tree with numbers: the "
        "least tolerance that a tree of this size can keep",
    )
    group.add_argument(
        "--fidelity",
        type=share,
        metavar="SHARE",
        help="promise that this share of the rows gets the class of the model, 1.0 for all, instead of --max-leaves",
    )
    group.add_argument(
        "--certify",
        action="store_true",
        help="find for each leaf a box in which its class is proven, and their coverage; of a tree with numbers, prove "
        "how far they are from the model's at worst",
    )


def check(arguments: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if arguments.data is None:
        for name in _ONLY_WITH_DATA:
            if getattr(arguments, name):
                raise InvalidInputError(f"--{name.replace('_', '-')} needs --data CSV, the rows to follow the model on")
    elif arguments.domain:
        raise InvalidInputError("--data and --domain exclude each other; leave one of them out")
    elif arguments.tolerance is not None:
        raise InvalidInputError("a tree for the data keeps no tolerance; give --max-leaves in place of --tolerance")


def convert(arguments: argparse.Namespace, ensemble: onetree.Ensemble, progress: ProgressCallback) -> SupportSolution:
    """Build the tree that the options ask for."""
    return support_tree(
        ensemble,
        _rows(arguments, arguments.data, ensemble),
        held_out=None if arguments.held_out is None else _rows(arguments, arguments.held_out, ensemble),
        output=arguments.predicts,
        fidelity=arguments.fidelity,
        max_leaves=arguments.max_leaves,
        certify=arguments.certify,
        optimal=arguments.objective.split("-")[0] if arguments.method == "exact" else None,
        time_limit=arguments.time_limit,
        random_state=arguments.random_state,
        progress=progress,
    )


def page(solution: SupportSolution, ensemble: onetree.Ensemble, output: str) -> str:
    """Return the result for people."""
    lines = [
        f"{ensemble.n_trees} trees with {ensemble.n_leaves:,} leaves -> one tree for the data only, not exact",
        str(solution),
    ]
    if solution.status == "support-optimal":
        lines.append(f"no smaller tree over the model's thresholds does that ({solution.objective}: proven)")
    elif solution.fidelity == 1.0:
        lines.append(f"{solution.objective}: {solution.value}, proven lower bound {solution.lower_bound}")
    return "\n".join([*lines, f"{solution.stats['seconds']:.3g} s, saved to {output}"])


def alternatives(arguments: argparse.Namespace) -> list[str]:
    """Return the commands for a tree that follows the data only."""
    line = ["onetree", "convert", arguments.model, "-o", arguments.output, "--voting", arguments.voting]
    line += ["--missing", arguments.missing] if arguments.missing != "auto" else []
    line += options.given_classes(arguments)
    has_numbers = arguments.tolerance is not None
    line += ["--predicts", arguments.predicts] if has_numbers else []
    command = shlex.join([*line, "--data", "DATA.csv"])
    some_size = [
        "With the training data as DATA.csv, within a minute, for inputs like these:",
        f"  a tree of some size     {command} --max-leaves {DEFAULT_LEAVES}",
    ]
    if has_numbers:
        return some_size
    return [
        *some_size,
        f"  right on every row      {command} --fidelity 1.0",
        f"  with proven parts       {command} --certify",
    ]


def share(text: str) -> float:
    """Read a share, above 0 and at most 1."""
    number = options.positive_number(text)
    if number > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share, above 0 and at most 1")
    return number


def _rows(arguments: argparse.Namespace, path: str, ensemble: onetree.Ensemble) -> NDArray[np.float64]:
    return read_inputs(path, ensemble, label=arguments.label, by_position=arguments.by_position)
