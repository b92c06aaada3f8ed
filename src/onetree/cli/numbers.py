"""The options for trees with numbers: what is reproduced, and how near."""

from __future__ import annotations

import argparse
import math
from typing import Any

import onetree
from onetree.errors import InvalidInputError
from onetree.importers.outputs import OUTPUTS

_ONLY_NUMBERS = {"tolerance": None, "relative": False, "any_class": False}


def add_numbers(parser: argparse.ArgumentParser) -> None:
    """Add the options of a tree with numbers."""
    group = parser.add_argument_group(
        "probabilities and values of regressors",
        "A tree whose numbers are within a tolerance of the model's, for every input.",
    )
    add_predicts(group)
    group.add_argument(
        "--tolerance",
        type=tolerance,
        metavar="E",
        help="how far the numbers of the tree may be from the model's; 0: equal. `onetree tolerance-front` shows what "
        "each tolerance costs",
    )
    add_promise(group)


def add_predicts(parser: argparse._ActionsContainer) -> None:
    """Add what the tree is to reproduce."""
    parser.add_argument(
        "--predicts",
        choices=OUTPUTS,
        default="auto",
        help="what the tree says; auto: the class of a classifier, the value of a regressor (default: %(default)s)",
    )


def add_promise(parser: argparse._ActionsContainer) -> None:
    """Add how a tolerance is meant."""
    parser.add_argument("--relative", action="store_true", help="the tolerance is a share of the model's number")
    parser.add_argument(
        "--any-class",
        action="store_true",
        help="of a tree with probabilities, keep these only, not the class of the model as well",
    )


def asked(arguments: argparse.Namespace, ensemble: onetree.Ensemble) -> dict[str, Any]:
    """Return what `born_again` is asked for beside the class; refuses options that do not go together."""
    if ensemble.output == "class":
        for name, default in _ONLY_NUMBERS.items():
            if getattr(arguments, name) != default:
                raise InvalidInputError(
                    f"--{name.replace('_', '-')} is for numbers; add --predicts probability, or leave it out"
                )
        if arguments.max_leaves is not None:
            raise InvalidInputError(
                "--max-leaves needs --data CSV, the rows to follow the model on, or --predicts probability"
            )
        return {}
    is_plain = all(getattr(arguments, name) == default for name, default in _ONLY_NUMBERS.items())
    if ensemble.output == "probability" and arguments.predicts == "auto" and is_plain and arguments.max_leaves is None:
        return {}  # the class
    if arguments.tolerance is None and arguments.max_leaves is None:
        raise InvalidInputError(
            "a tree with numbers needs --tolerance E: how far, at most, they may be from those of the model; 0 means "
            f"equal. `onetree tolerance-front {arguments.model}` shows what each tolerance costs in leaves"
        )
    return {
        "output": ensemble.output,
        "tolerance": arguments.tolerance,
        "relative": arguments.relative,
        "keep_class": not arguments.any_class,
        "max_leaves": arguments.max_leaves,
    }


def given_numbers(arguments: argparse.Namespace) -> list[str]:
    """Return the options again, as words of a command."""
    words = [] if arguments.predicts == "auto" else ["--predicts", arguments.predicts]
    words += [] if arguments.tolerance is None else ["--tolerance", repr(arguments.tolerance)]
    words += [] if arguments.max_leaves is None else ["--max-leaves", str(arguments.max_leaves)]
    return words + ["--relative"] * arguments.relative + ["--any-class"] * arguments.any_class


def tolerance(text: str) -> float:
    """Read a tolerance, which is at least 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (number >= 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative number")
    return number
