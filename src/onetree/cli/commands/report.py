"""``onetree report``: a tree in, one HTML file for people out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import onetree
from onetree.cli import options, terminal
from onetree.cli.table import read_inputs
from onetree.cli.target import read_target
from onetree.errors import ModelFileError
from onetree.files.atomic import read_whole
from onetree.search.solve import OBJECTIVES


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "report",
        help="write an HTML page about a tree: what is proven, its rules, and the tree to explore",
        description="Write one HTML file that needs no network. With --model it proves that tree and model are equal; "
        "exit code 1 if they are not, and the report then shows an input on which they differ.",
    )
    parser.add_argument("tree", metavar="TREE", help="file of the tree")
    parser.add_argument("-o", "--output", metavar="FILE.html", required=True, help="file for the report")
    parser.add_argument("--model", metavar="MODEL", help=f"what the tree was made from; {options.MODEL_HELP}")
    options.add_reading(parser)
    parser.add_argument(
        "--solution", metavar="JSON", help="what `onetree convert --json` printed: shows what is proven about the size"
    )
    parser.add_argument("--data", metavar="CSV", help="inputs to choose from: a header with the feature names, rows")
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument(
        "--target", metavar="NAME", help="the column of the data with the true classes; rows count by it"
    )
    columns.add_argument("--label", metavar="NAME", help="a column of the data to leave out")
    parser.add_argument(
        "--by-position", action="store_true", help="take the columns in the order of the features, whatever their names"
    )
    parser.add_argument("--title", metavar="TEXT", help="heading (default: the name of the model or tree file)")
    parser.add_argument("--time-limit", type=options.positive_number, metavar="S", help="seconds for the proof")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Report."""
    terminal.check_output(arguments.output)
    tree = onetree.load_tree(arguments.tree)
    found = tree if arguments.solution is None else read_solution(arguments.solution, tree)
    source = None if arguments.model is None else options.read_model(arguments, tree.output)
    X = y = None
    if arguments.data is not None:
        left_out = arguments.target or arguments.label
        X = read_inputs(arguments.data, tree, label=left_out, by_position=arguments.by_position)
        if arguments.target is not None:
            y = read_target(arguments.data, arguments.target, tree)
    with terminal.bar() as bar:
        equality = onetree.write_report(
            found,
            arguments.output,
            source=source,
            X=X,
            y=y,
            title=arguments.title or Path(arguments.model or arguments.tree).name,
            time_limit=arguments.time_limit,
            progress=bar,
        )
    if arguments.json:
        terminal.show_json(
            {
                "equality": equality.state,
                "status": None if isinstance(found, onetree.Tree) else found.status,
                "depth": tree.depth,
                "leaves": tree.n_leaves,
                "rows": None if X is None else len(X),
                "bytes": Path(arguments.output).stat().st_size,
                "output": arguments.output,
            }
        )
    else:
        terminal.show(f"{equality.text}\nsaved to {arguments.output}")
    return 1 if equality.state == "differs" else 0


def read_solution(path: str, tree: onetree.Tree) -> onetree.Solution:
    """Join the tree with what ``onetree convert --json`` printed about it."""
    try:
        document = json.loads(read_whole(path))
        objective, status, stats = document["objective"], document["status"], document["stats"]
        if objective not in OBJECTIVES or status not in ("optimal", "feasible") or not isinstance(stats, dict):
            raise ValueError("unknown objective, status or stats")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(f"{path}: not what `onetree convert --json` prints: {error!r}") from None
    if (document.get("depth"), document.get("leaves")) != (tree.depth, tree.n_leaves):
        raise ModelFileError(f"{path} describes another tree: its depth or leaves are not those of the tree's file")
    return onetree.Solution(
        tree=tree,
        objective=objective,
        status=status,
        value=_value(document.get("value"), objective, path),
        lower_bound=_value(document.get("lower_bound"), objective, path),
        stats=stats,
    )


def _value(value: Any, objective: str, path: str) -> int | tuple[int, int]:
    numbers = value if isinstance(value, list) else [value]
    if any(type(number) is not int for number in numbers) or len(numbers) != 1 + ("-" in objective):
        raise ModelFileError(f"{path}: {value!r} is not a value or a bound of the objective {objective}")
    return (numbers[0], numbers[1]) if len(numbers) == 2 else numbers[0]
