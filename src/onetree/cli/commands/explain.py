"""``onetree explain``: which features fix the class of a row, whatever the others are."""

from __future__ import annotations

import argparse
from typing import Any

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
    parser.add_argument(
        "--contrast",
        action="append",
        metavar="CLASS",
        help="also say what separates the row from this class; may be repeated, ALL is every other class",
    )
    add_domain(parser)
    question_options.add_limit(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain."""
    if arguments.output is not None:
        terminal.check_output(arguments.output)
    source = question_options.read_source(arguments)
    rows = question_options.read_rows(arguments, source)
    domain = read_domain(arguments, source)
    contrast: Any = [question_options.label_of(each, source) for each in arguments.contrast or ()]
    found: dict[int, onetree.SufficientReason] = {}
    with terminal.bar() as bar:
        for row in question_options.chosen_rows(arguments, rows):
            own = source.predict(rows[row][None])[0]
            found[row] = onetree.explain(
                source,
                rows[row],
                size=arguments.size,
                radius=True,
                contrast=True if "ALL" in contrast else [each for each in contrast if each != own],
                domain=domain,
                data=rows,
                time_limit=arguments.time_limit,
                progress=bar,
            )
    if arguments.output is not None:
        _write(arguments.output, found)
    if arguments.json:
        said = [_as_json(each) | {"row": row + 1} for row, each in found.items()]
        terminal.show_json(said[0] if len(said) == 1 else {"rows": said})
    elif len(found) == 1:
        terminal.show(str(next(iter(found.values()))))
    else:
        terminal.show(f"{len(found):,} rows are explained\nsaved to {arguments.output}")
    return 0


def _as_json(reason: onetree.SufficientReason) -> dict[str, Any]:
    return {
        "status": reason.status,
        "class": question_options.plain(reason.x_class),
        "features": list(reason.features),
        "bounds": question_options.bounds(reason.bounds),
        "radius": None if reason.radius is None else question_options.number(reason.radius),
        "contrasts": [
            {
                "class": question_options.plain(each.label),
                "status": each.status,
                "features": list(each.features),
                "bounds": question_options.bounds(each.bounds),
                "changes": question_options.changes(each.changes),
                "point": question_options.point(each.point),
            }
            for each in reason.contrasts
        ],
    }


def _write(path: str, found: dict[int, onetree.SufficientReason]) -> None:
    """Write a line for each row."""
    lines = []
    for row, each in found.items():
        contrasts = [" ".join(str(contrast).split()) for contrast in each.contrasts]
        reason = "; ".join(each.sentences)
        lines.append([row + 1, each.x_class, each.status, len(each), reason, each.radius, " | ".join(contrasts)])
    question_options.write_table(path, ["row", "class", "status", "n_features", "reason", "radius", "contrasts"], lines)
