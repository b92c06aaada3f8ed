"""``onetree explain``: which features fix the class of a row, whatever the others are."""

from __future__ import annotations

import argparse

import onetree
from onetree.cli import options, question_options, terminal
from onetree.cli.domain import add_domain, read_domain
from onetree.questions.reason import SIZES


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "explain",
        help="find the features that fix the class of a row, whatever the others are",
        description="Find features that fix the class of a row whatever the others are, with proof, and how far they "
        "may move. The radius is in units of the median absolute deviation in the data.",
    )
    options.add_model(parser)
    question_options.add_row(parser)
    parser.add_argument(
        "--size",
        choices=SIZES,
        default="minimal",
        help="minimal: no feature can be left out; smallest: no reason has fewer (default: %(default)s)",
    )
    add_domain(parser)
    question_options.add_limit(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain."""
    ensemble = options.read_model(arguments)
    rows = question_options.read_rows(arguments, ensemble)
    with terminal.bar() as bar:
        reason = onetree.explain(
            ensemble,
            question_options.chosen_row(arguments, rows),
            size=arguments.size,
            radius=True,
            domain=read_domain(arguments, ensemble),
            data=rows,
            time_limit=arguments.time_limit,
            progress=bar,
        )
    if arguments.json:
        terminal.show_json(
            {
                "status": reason.status,
                "class": question_options.plain(reason.x_class),
                "features": list(reason.features),
                "bounds": {
                    name: [question_options.number(each) if isinstance(each, float) else each for each in bounds]
                    for name, bounds in reason.bounds.items()
                },
                "radius": None if reason.radius is None else question_options.number(reason.radius),
            }
        )
    else:
        terminal.show(str(reason))
    return 0
