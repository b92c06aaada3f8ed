"""``onetree counterfactual``: what would have to change for another class."""

from __future__ import annotations

import argparse

import onetree
from onetree.cli import options, question_options, terminal
from onetree.cli.domain import add_domain, read_domain
from onetree.questions.costs import NORMS


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "counterfactual",
        help="find the nearest input of another class, and prove that none is nearer",
        description="Find the nearest input to a row that gets another class. A unit of a feature is its median "
        "absolute deviation in the data. Exit code 1 if there is no such input, 3 if none was found within the limit.",
    )
    options.add_model(parser)
    question_options.add_row(parser)
    parser.add_argument("--target", metavar="CLASS", help="the class to reach (default: any other)")
    parser.add_argument(
        "--norm",
        choices=NORMS,
        default="l1",
        help="l1: the sum of differences; l0: the number of features; linf: the largest difference "
        "(default: %(default)s)",
    )
    for name, what in (
        ("fixed", "must not change"),
        ("increasing", "must not become smaller"),
        ("decreasing", "must not become larger"),
    ):
        parser.add_argument(
            f"--{name}",
            type=question_options.features,
            default=[],
            metavar="NAMES",
            help=f"features that {what}, separated by commas or as a JSON list",
        )
    add_domain(parser)
    question_options.add_limit(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Find it."""
    ensemble = options.read_model(arguments)
    rows = question_options.read_rows(arguments, ensemble)
    with terminal.bar() as bar:
        found = onetree.counterfactual(
            ensemble,
            question_options.chosen_row(arguments, rows),
            question_options.label_of(arguments.target, ensemble),
            norm=arguments.norm,
            domain=read_domain(arguments, ensemble),
            fixed=arguments.fixed,
            increasing=arguments.increasing,
            decreasing=arguments.decreasing,
            data=rows,
            time_limit=arguments.time_limit,
            progress=bar,
        )
    if arguments.json:
        terminal.show_json(
            {
                "status": found.status,
                "class": question_options.plain(found.x_class),
                "new_class": question_options.plain(found.point_class),
                "norm": found.norm,
                "distance": question_options.number(found.distance),
                "lower_bound": question_options.number(found.lower_bound),
                "changes": {name: list(change) for name, change in found.changes.items()},
                "point": question_options.point(found.point),
            }
        )
    else:
        terminal.show(str(found))
    return 0 if found else 3 if found.status == "limit" else 1
