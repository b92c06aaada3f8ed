"""``onetree export``: a saved tree in, the same tree in another format out."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import onetree
from onetree.base.amounts import size
from onetree.cli import options, terminal
from onetree.errors import InvalidInputError, missing
from onetree.export.c import NUMBERS
from onetree.export.json import to_json
from onetree.export.shape import STYLES
from onetree.export.sql_dialects import DIALECTS
from onetree.files.atomic import write_whole
from onetree.tree.tree import Tree

_Writer = Callable[..., "str | bytes"]


def _sklearn(tree: Tree) -> bytes:
    """Return the scikit-learn tree as a skops file: unlike a pickle, it can be opened without running code."""
    try:
        from skops.io import dumps
    except ImportError:
        raise missing("skops", "skops") from None
    content: bytes = dumps(tree.to_sklearn())
    return content


def _onnx(tree: Tree, **chosen: Any) -> bytes:
    content: bytes = tree.to_onnx(**chosen).SerializeToString()
    return content


def _code(language: str) -> _Writer:
    return lambda tree, **chosen: tree.to_code(language, **chosen)


# Each format: its writer, and the options that it takes.
FORMATS: dict[str, tuple[_Writer, tuple[str, ...]]] = {
    "text": (Tree.to_text, ("digits",)),
    "rules": (Tree.to_rules, ("digits",)),
    "dot": (Tree.to_dot, ("digits",)),
    "json": (to_json, ()),
    "python": (_code("python"), ("style",)),
    "c": (_code("c"), ("style", "number", "name")),
    "sql": (_code("sql"), ("style", "table", "view", "dialect", "categories")),
    "onnx": (_onnx, ("style", "number")),
    "sklearn": (_sklearn, ()),
}
_BINARY = ("onnx", "sklearn")
_OPTIONS = sorted({option for _, taken in FORMATS.values() for option in taken})


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "export",
        help="write a tree as text, rules, a graph, source code, ONNX or a scikit-learn model",
        description="Write a saved tree in another format: to a file, or to stdout if it is text.",
    )
    parser.add_argument("tree", metavar="TREE", help="file of the tree")
    parser.add_argument("--to", choices=FORMATS, required=True, help="format; sklearn is a file for skops.io.load")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write; default: stdout")
    # An option that is not given is not there, so that each format keeps its own default.
    absent: dict[str, Any] = {"default": argparse.SUPPRESS}
    parser.add_argument("--style", choices=STYLES, help="python, c, sql, onnx: nested conditions, or tables", **absent)
    parser.add_argument("--number", choices=NUMBERS, help="c, onnx: type of the inputs", **absent)
    parser.add_argument("--name", help="c: what the names in the file begin with (default: onetree)", **absent)
    parser.add_argument("--table", help="sql: table with the inputs (default: inputs)", **absent)
    parser.add_argument("--view", help="sql: create a view of this name instead of ending in a SELECT", **absent)
    parser.add_argument("--dialect", choices=DIALECTS, help="sql: the database (default: standard)", **absent)
    categories = "sql: what columns of texts hold (default: codes)"
    parser.add_argument("--categories", choices=("codes", "values"), help=categories, **absent)
    parser.add_argument(
        "--digits",
        type=_digits,
        metavar="N",
        help='text, rules, dot: digits of the data that conditions are true for, or "exact" (default: 6)',
        **absent,
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Export."""
    write, taken = FORMATS[arguments.to]
    chosen = {option: getattr(arguments, option) for option in _OPTIONS if hasattr(arguments, option)}
    for option in chosen:
        if option not in taken:
            raise InvalidInputError(f"--{option} has no effect with --to {arguments.to}; leave it out")
    if arguments.to in _BINARY and arguments.output is None:
        raise InvalidInputError(f"{arguments.to} is a binary format; name a file with -o FILE")
    if arguments.output is not None:
        terminal.check_output(arguments.output)
    tree = onetree.load_tree(arguments.tree)
    content = write(tree, **chosen)
    data = content if isinstance(content, bytes) else (content + "\n").encode()
    if arguments.output is not None:
        write_whole(arguments.output, data)
    result = {"format": arguments.to, "exact": tree.exact, "output": arguments.output, "bytes": len(data)}
    if arguments.json:
        terminal.show_json(result if arguments.output is not None else {**result, "content": content})
    elif arguments.output is None:
        terminal.show_content(str(content))
    else:
        terminal.show(f"{size(len(data))} of {arguments.to} written to {arguments.output}")
    return 0


def _digits(text: str) -> int | None:
    """Read a number of digits; None stands for all of them."""
    return None if text == "exact" else options.positive_integer(text)
