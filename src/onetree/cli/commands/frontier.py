"""``onetree frontier``: a model and data in, what trees of several sizes are worth out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import onetree
from onetree.cli import options, terminal
from onetree.cli.table import read_inputs
from onetree.cli.target import read_target
from onetree.errors import InvalidInputError


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "frontier",
        help="how well trees of some sizes follow a model of any size, and whether CART is as good",
        description="For each number of leaves, build a tree that follows the model where the data are, and "
        "measure on held-out rows on how many it gives the class of the model. With --target, also how often model, "
        "tree and tuned CART are right.",
    )
    options.add_model(parser)
    parser.add_argument(
        "--data", metavar="CSV", required=True, help="rows to build from: a header with the names of the features, rows"
    )
    parser.add_argument("--target", metavar="NAME", help="the column of --data and --held-out with the true classes")
    parser.add_argument(
        "--held-out",
        metavar="CSV",
        help="rows to measure on, which the model has not seen (default: a fifth of the data, set aside)",
    )
    parser.add_argument(
        "--leaves",
        type=options.positive_integer,
        nargs="+",
        default=[8, 16, 32, 64],
        metavar="N",
        help="largest numbers of leaves (default: 8 16 32 64)",
    )
    parser.add_argument(
        "--by-position",
        action="store_true",
        help="take the columns, apart from the target, in the order of the features, whatever they are called",
    )
    parser.add_argument("--save", metavar="FOLDER", help="write the trees there, as tree-8.json and so on")
    parser.add_argument("--plot", metavar="FILE", help="draw the frontier into a file: .png, .svg or .pdf")
    options.add_random_state(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure."""
    if arguments.plot is not None:
        terminal.check_output(arguments.plot)
    ensemble = options.read_model(arguments)
    X, y = _read(arguments, arguments.data, ensemble)
    held_out: Any = None
    if arguments.held_out is not None:
        rows, labels = _read(arguments, arguments.held_out, ensemble)
        held_out = rows if labels is None else (rows, labels)
    folder = None if arguments.save is None else _folder(arguments.save)
    with terminal.bar() as progress:
        found = onetree.frontier(
            ensemble,
            X,
            y,
            leaves=arguments.leaves,
            held_out=held_out,
            random_state=arguments.random_state,
            progress=progress,
        )
    saved = []
    if folder is not None:
        for size, tree in found.trees.items():
            saved.append(str(folder / f"tree-{size}.json"))
            tree.save(saved[-1])
    if arguments.plot is not None:
        found.plot().savefig(arguments.plot)
    if arguments.json:
        terminal.show_json(found.to_dict() | {"saved": saved})
    else:
        written = saved if arguments.plot is None else [*saved, arguments.plot]
        terminal.show("\n".join([str(found), *(f"saved to {path}" for path in written)]))
    return 0


def _read(arguments: argparse.Namespace, path: str, ensemble: onetree.Ensemble) -> tuple[Any, Any]:
    X = read_inputs(path, ensemble, label=arguments.target, by_position=arguments.by_position)
    return X, None if arguments.target is None else read_target(path, arguments.target, ensemble)


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be a folder for the trees: {error.strerror}") from None
    return folder
