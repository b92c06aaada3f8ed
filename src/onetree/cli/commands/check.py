"""``onetree check``: whether a property of a model holds, for every input or for rows."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import onetree
from onetree.cli import options, question_options, terminal
from onetree.cli.domain import add_domain, read_domain


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "check",
        help="prove a property of a model for every input or for rows, or find inputs that refute it",
        description="Prove a property, or find two inputs that refute it. Exit code 0 if it is proven, 1 if it is "
        "refuted, 3 if that was not decided within the limit.",
    )
    options.add_model(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--increasing", metavar="NAME", help="the class never falls as this feature rises")
    what.add_argument("--decreasing", metavar="NAME", help="the class never rises as this feature does")
    what.add_argument(
        "--irrelevant",
        type=question_options.features,
        metavar="NAMES",
        help="these features alone never change the class; separated by commas or as a JSON list",
    )
    what.add_argument("--reachable", metavar="CLASS", help="some input gets this class")
    what.add_argument(
        "--stable",
        type=options.positive_number,
        metavar="RADIUS",
        help="the class of each row stays while every feature changes by at most this, in units of its median absolute "
        "deviation; needs --data",
    )
    what.add_argument(
        "--fair",
        type=question_options.features,
        metavar="NAMES",
        help="the same as --irrelevant, by the name that auditors give it",
    )
    question_options.add_rows(parser, required=False)
    question_options.add_output(parser, "whether it holds for each row of --data")
    add_domain(parser)
    question_options.add_limit(parser)
    options.add_json(parser)
    parser.set_defaults(run=run, refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Check."""
    if arguments.stable is not None and arguments.data is None:
        arguments.refuse("--stable is about rows; give them with --data")
    if arguments.output is not None and arguments.data is None:
        arguments.refuse("--output is about rows; give them with --data")
    if arguments.reachable is not None and arguments.data is not None:
        arguments.refuse("--reachable is about every input, not about rows; leave out --data")
    if arguments.output is not None:
        terminal.check_output(arguments.output)
    ensemble = question_options.read_source(arguments)
    rows = None if arguments.data is None else question_options.read_rows(arguments, ensemble)
    with terminal.bar() as bar:
        check = _question(arguments, ensemble, rows)(
            domain=read_domain(arguments, ensemble), time_limit=arguments.time_limit, progress=bar
        )
    if arguments.output is not None and check.rows is not None:
        words = {True: "yes", False: "no", None: "not decided"}
        lines = [[number + 1, words[holds]] for number, holds in enumerate(check.rows.tolist())]
        question_options.write_table(arguments.output, ["row", "holds"], lines)
    if arguments.json:
        classes = check.witness_classes
        terminal.show_json(
            {
                "claim": check.claim,
                "holds": check.holds,
                "witness": None if check.witness is None else [question_options.point(each) for each in check.witness],
                "witness_classes": None if classes is None else [question_options.plain(each) for each in classes],
                "rows": None if check.rows is None else check.rows.tolist(),
            }
        )
    else:
        terminal.show("\n".join([str(check), *_witness(check, ensemble)]))
    return {True: 0, False: 1, None: 3}[check.holds]


def _question(arguments: argparse.Namespace, ensemble: onetree.Ensemble | onetree.Tree, rows: Any) -> Any:
    if arguments.stable is not None:
        return partial(onetree.check_stable, ensemble, rows, arguments.stable, data=rows)
    if arguments.reachable is not None:
        return partial(onetree.check_reachable, ensemble, question_options.label_of(arguments.reachable, ensemble))
    features = arguments.irrelevant or arguments.fair
    if features is not None:
        return partial(onetree.check_irrelevant, ensemble, features, X=rows)
    is_increasing = arguments.increasing is not None
    feature = arguments.increasing if is_increasing else arguments.decreasing
    return partial(onetree.check_monotone, ensemble, feature, increasing=is_increasing, X=rows)


def _witness(check: onetree.Check, ensemble: onetree.Ensemble | onetree.Tree) -> list[str]:
    """Return the witness as lines: the first input, and what differs in the second."""
    if check.witness is None or check.witness_classes is None:
        return []
    one, other = check.witness
    named = zip(ensemble.feature_names, one.tolist(), other.tolist(), strict=True)
    first, changed = [], []
    for name, x, y in named:
        first.append(f"{name}={x!r}")
        if x != y and not (x != x and y != y):
            changed.append(f"{name}={y!r}")
    lines = [f"  {check.witness_classes[0]} at {', '.join(first)}"]
    return [*lines, f"  {check.witness_classes[1]} with {', '.join(changed)}"] if changed else lines
