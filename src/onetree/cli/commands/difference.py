"""``onetree difference``: where two models differ, or a proof that they do not."""

from __future__ import annotations

import argparse
from pathlib import Path

import onetree
from onetree.cli import options, question_options, terminal
from onetree.cli.domain import add_domain, read_domain
from onetree.questions.difference import MAX_BOXES, common_features
from onetree.questions.joint import KINDS
from onetree.questions.sources import loaded, source_of


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "difference",
        help="find where two models or trees differ, or prove that they are equal",
        description="Find an input on which two models differ, or prove that there is none. Exit code 0 if they are "
        "equal, 1 if they differ, 3 if that was not decided within the limit.",
    )
    parser.add_argument("model", metavar="A", help=f"a tree, or a model; {options.MODEL_HELP}")
    parser.add_argument("other", metavar="B", help="the other one, likewise")
    options.add_reading(parser)
    question_options.add_rows(parser, required=False)
    question_options.add_output(parser, "the classes that both give to each row of --data")
    parser.add_argument(
        "--tree",
        choices=KINDS,
        help="also find the smallest tree of where they differ, and all boxes of it. changes: with one class for all "
        "inputs on which they agree; pairs: with both classes of every input",
    )
    parser.add_argument("--save-tree", metavar="FILE.json", help="write that tree to a file; --tree changes by default")
    parser.add_argument(
        "--max-boxes",
        type=options.positive_integer,
        default=MAX_BOXES,
        metavar="N",
        help="most leaves of that tree to list (default: %(default)s)",
    )
    add_domain(parser)
    question_options.add_limit(parser)
    options.add_json(parser)
    parser.set_defaults(run=run, refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Compare."""
    if arguments.output is not None and arguments.data is None:
        arguments.refuse("--output is about rows; give them with --data")
    for path in (arguments.output, arguments.save_tree):
        if path is not None:
            terminal.check_output(path)
    a = question_options.read_source(arguments)
    b = _other(arguments)
    first, second = common_features(source_of(a), source_of(b))
    rows = None if arguments.data is None else question_options.read_rows(arguments, first)
    with terminal.bar() as bar:
        found = onetree.difference(
            a,
            b,
            domain=read_domain(arguments, first),
            X=rows,
            tree=arguments.tree or ("changes" if arguments.save_tree else None),
            max_boxes=arguments.max_boxes,
            time_limit=arguments.time_limit,
            progress=bar,
        )
    if arguments.output is not None and rows is not None:
        both = zip(first.predict(rows).tolist(), second.predict(rows).tolist(), strict=True)
        lines = [[number + 1, one, other] for number, (one, other) in enumerate(both)]
        header = ["row", *(Path(each).name for each in (arguments.model, arguments.other))]
        question_options.write_table(arguments.output, header, lines)
    if arguments.save_tree is not None and found.tree is not None:
        found.tree.save(arguments.save_tree)
    if arguments.json:
        terminal.show_json(_as_json(found))
    else:
        saved = [] if found.tree is None or arguments.save_tree is None else [f"saved to {arguments.save_tree}"]
        terminal.show("\n".join([str(found), *saved]))
    return {False: 0, True: 1, None: 3}[found.differ]


def _other(arguments: argparse.Namespace) -> onetree.Ensemble | onetree.Tree:
    found = loaded(arguments.other)
    if isinstance(found, onetree.Tree):
        return found
    return options.read_model(argparse.Namespace(**vars(arguments) | {"model": arguments.other}))


def _as_json(found: onetree.ModelDifference) -> dict[str, object]:
    plain = question_options.plain
    return {
        "differ": found.differ,
        "point": question_options.point(found.point),
        "values": None
        if found.values is None
        else {name: question_options.value(x) for name, x in found.values.items()},
        "classes": None if found.classes is None else [plain(each) for each in found.classes],
        "rows": found.n_rows if found.share is not None else None,
        "share": found.share,
        "changes": None
        if found.changes is None
        else [{"classes": [plain(each) for each in pair], "rows": count} for pair, count in found.changes.items()],
        "volume": found.volume,
        "tree": None
        if found.tree is None
        else {"status": found.tree_status, "leaves": found.tree.n_leaves, "depth": found.tree.depth},
        "boxes": None
        if found.boxes is None
        else [
            {
                "classes": [plain(each) for each in box.classes],
                "bounds": question_options.bounds(box.bounds),
                "volume": box.volume,
                "rows": box.n_rows,
            }
            for box in found.boxes
        ],
        "note": found.note,
    }
