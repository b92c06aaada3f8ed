"""``onetree audit``: a model and rows in, one HTML page for those who sign out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import onetree
from onetree.cli import options, question_options, terminal
from onetree.cli.domain import add_domain, read_domain
from onetree.cli.target import read_target
from onetree.questions.sources import loaded


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "audit",
        help="write an HTML page for those who sign: checks with proofs and witnesses, rules, what changed",
        description="Check a model with proof and write one HTML page. Exit code 0 if every check is proven, 1 if one "
        "is refuted, 3 if one was not decided within the limit.",
    )
    options.add_model(parser)
    question_options.add_rows(parser, required=True)
    parser.add_argument("-o", "--output", metavar="FILE.html", required=True, help="file for the page")
    parser.add_argument("--target", metavar="NAME", help="the column of the data with the true classes")
    parser.add_argument(
        "--protected",
        type=question_options.features,
        action="append",
        default=[],
        metavar="NAMES",
        help="features that must not change a decision, together; may be repeated, for others on their own",
    )
    for direction in ("increasing", "decreasing"):
        never = "falls" if direction == "increasing" else "rises"
        parser.add_argument(
            f"--{direction}",
            type=question_options.features,
            default=[],
            metavar="NAMES",
            help=f"features of which the class never {never} as one of them rises",
        )
    parser.add_argument(
        "--stable",
        type=options.positive_number,
        metavar="RADIUS",
        help="a distance, in median absolute deviations, within which no decision about a row may change",
    )
    parser.add_argument(
        "--previous", metavar="MODEL", help="the version before, a model or a tree, to say what changed"
    )
    parser.add_argument("--tree", metavar="TREE", help="a tree of the model (default: one is searched for)")
    parser.add_argument(
        "--everywhere", action="store_true", help="prove for every input, not only for what the data span"
    )
    parser.add_argument("--title", metavar="TEXT", help="heading (default: the name of the model file)")
    parser.add_argument(
        "--max-rows",
        type=options.positive_integer,
        default=500,
        metavar="N",
        help="most rows that are checked one by one (default: %(default)s)",
    )
    add_domain(parser)
    parser.add_argument(
        "--time-limit",
        type=options.positive_number,
        default=30.0,
        metavar="S",
        help="seconds for each check, for the tree, the rules and the comparison (default: %(default)s)",
    )
    options.add_json(parser)
    parser.set_defaults(run=run, refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Audit."""
    if arguments.everywhere and arguments.domain:
        arguments.refuse("--everywhere and --domain exclude each other")
    terminal.check_output(arguments.output)
    source = question_options.read_source(arguments)
    if arguments.target is not None and arguments.label is None:
        arguments.label = arguments.target
    rows = question_options.read_rows(arguments, source)
    y = None if arguments.target is None else read_target(arguments.data, arguments.target, source)
    given = None if arguments.everywhere else read_domain(arguments, source) or "data"
    with terminal.bar() as bar:
        found = onetree.audit(
            source,
            rows,
            path=arguments.output,
            y=y,
            protected=arguments.protected,
            monotone=dict.fromkeys(arguments.increasing, "increasing")
            | dict.fromkeys(arguments.decreasing, "decreasing"),
            stable=arguments.stable,
            previous=None if arguments.previous is None else _previous(arguments),
            tree=None if arguments.tree is None else onetree.load_tree(arguments.tree),
            domain=given,
            title=arguments.title or Path(arguments.model).name,
            max_rows=arguments.max_rows,
            time_limit=arguments.time_limit,
            progress=bar,
        )
    if arguments.json:
        terminal.show_json(_as_json(found) | {"output": arguments.output})
    else:
        terminal.show(f"{found}\nsaved to {arguments.output}")
    states = [check.holds for check in found.checks]
    return 1 if False in states else 3 if None in states else 0


def _previous(arguments: argparse.Namespace) -> Any:
    found = loaded(arguments.previous)
    if isinstance(found, onetree.Tree):
        return found
    return options.read_model(argparse.Namespace(**vars(arguments) | {"model": arguments.previous}))


def _as_json(found: onetree.Audit) -> dict[str, Any]:
    return {
        "fingerprint": found.fingerprint,
        "rows": found.n_rows,
        "rows_checked": found.n_checked,
        "accuracy": found.accuracy,
        "checks": [
            {
                "kind": check.kind,
                "about": check.about,
                "holds": check.holds,
                "everywhere": None if check.everywhere is None else check.everywhere.holds,
                "rows_that_hold": _count(check, True),
                "rows_that_fail": _count(check, False),
            }
            for check in found.checks
        ],
        "leaves": None if found.tree is None else found.tree.n_leaves,
        "differ": None if found.difference is None else found.difference.differ,
        "share": None if found.difference is None else found.difference.share,
    }


def _count(check: Any, state: bool) -> int | None:
    return None if check.rows is None else sum(each is state for each in check.rows.rows)
