"""``onetree counterfactual``: what would have to change for another class."""

from __future__ import annotations

import argparse
from typing import Any

import onetree
from onetree.cli import options, question_options, terminal
from onetree.cli.domain import add_domain, read_domain
from onetree.questions.diverse import DIVERSITIES
from onetree.questions.sources import source_of
from onetree.questions.wording import plain


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "counterfactual",
        help="find the nearest input of another class, and prove that none is nearer",
        description="Find the nearest input to a row that gets another class. A unit of a feature is its median "
        "absolute deviation in the data. Exit code 1 if there is no such input, 3 if none was found within the limit; "
        "with --output 0 if every row has an answer.",
    )
    options.add_model(parser)
    question_options.add_row(parser)
    parser.add_argument("--target", metavar="CLASS", help="the class to reach (default: any other)")
    parser.add_argument(
        "-n", type=options.positive_integer, metavar="N", help="find this many answers that differ from each other"
    )
    parser.add_argument(
        "--diverse",
        choices=DIVERSITIES,
        default="features",
        help="features: each answer leaves at least one feature alone of each answer before it; disjoint: it changes "
        "none of their features (default: %(default)s)",
    )
    parser.add_argument(
        "--norm",
        type=question_options.norm,
        default="l1",
        metavar="NORM",
        help="l1: the sum of differences; l0: the number of features; linf: the largest difference; or a sum such as "
        "l1+0.5*l0 (default: %(default)s)",
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
    parser.add_argument(
        "--cost",
        type=question_options.cost,
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="what a unit of this feature costs, instead of the inverse median absolute deviation; may be repeated",
    )
    parser.add_argument(
        "--missing-cost",
        type=options.positive_number,
        metavar="C",
        help="the difference that a value makes by becoming missing, or the reverse (default: neither is allowed)",
    )
    add_domain(parser)
    question_options.add_limit(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Find it."""
    if arguments.output is not None:
        terminal.check_output(arguments.output)
    source = question_options.read_source(arguments)
    rows = question_options.read_rows(arguments, source)
    domain = read_domain(arguments, source)
    found: dict[int, onetree.Counterfactual] = {}
    with terminal.bar() as bar:
        for row in question_options.chosen_rows(arguments, rows):
            found[row] = onetree.counterfactual(
                source,
                rows[row],
                question_options.label_of(arguments.target, source),
                n=arguments.n,
                diverse=arguments.diverse,
                norm=arguments.norm,
                domain=domain,
                fixed=arguments.fixed,
                increasing=arguments.increasing,
                decreasing=arguments.decreasing,
                costs=dict(arguments.cost),
                data=rows,
                missing_cost=arguments.missing_cost,
                time_limit=arguments.time_limit,
                progress=bar,
            )
    if arguments.output is not None:
        _write(arguments.output, source_of(source), found)
    if arguments.json:
        said = [_as_json(each) | {"row": row + 1} for row, each in found.items()]
        terminal.show_json(said[0] if len(said) == 1 else {"rows": said})
    elif len(found) == 1:
        terminal.show(str(next(iter(found.values()))))
    else:
        n_found = sum(map(bool, found.values()))
        terminal.show(f"{n_found:,} of {len(found):,} rows have an answer\nsaved to {arguments.output}")
    if all(found.values()):
        return 0
    return 3 if any(each.status == "limit" for each in found.values() if not each) else 1


def _as_json(found: onetree.Counterfactual) -> dict[str, Any]:
    several = {
        "alternatives": [_as_json(each) for each in found.alternatives],
        "rest": found.rest,
    }
    return {
        "status": found.status,
        "class": question_options.plain(found.x_class),
        "new_class": question_options.plain(found.point_class),
        "norm": found.norm,
        "distance": question_options.number(found.distance),
        "lower_bound": question_options.number(found.lower_bound),
        "changes": question_options.changes(found.changes),
        "point": question_options.point(found.point),
    } | ({} if found.rest is None else several)


def _write(path: str, ensemble: onetree.Ensemble, found: dict[int, onetree.Counterfactual]) -> None:
    """Write a line for each answer: the input that it proposes, with the names of categories."""
    header = ["row", "answer", "class", "new_class", "status", "distance", "lower_bound", *ensemble.feature_names]
    lines = []
    for row, first in found.items():
        for number, each in enumerate([first, *first.alternatives]):
            point = each.x if each.point is None else each.point
            values = [plain(ensemble, feature, float(x)) for feature, x in enumerate(point)]
            new = [None] * len(values) if each.point is None else values
            known = [row + 1, number + 1, each.x_class, each.point_class, each.status, each.distance, each.lower_bound]
            lines.append([*known, *new])
    question_options.write_table(path, header, lines)
