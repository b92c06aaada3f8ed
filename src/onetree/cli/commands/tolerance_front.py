"""``onetree tolerance-front``: how many leaves each tolerance takes."""

from __future__ import annotations

import argparse
from pathlib import Path

import onetree
from onetree.cli import numbers, options, terminal
from onetree.cli.commands.convert import summary
from onetree.cli.domain import add_domain, read_domain
from onetree.errors import InvalidInputError
from onetree.report.tolerance_figure import describe_tolerance_front, plot_tolerance_front


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "tolerance-front",
        help="how many leaves a tree takes whose probabilities or values are so near to the model's",
        description="For every tolerance at which the smallest tree changes, or for those that are given, find the "
        "smallest tree whose probabilities, or values if the model is a regressor, are within it for every input.",
    )
    options.add_model(parser)
    numbers.add_predicts(parser)
    parser.add_argument(
        "--tolerances", type=numbers.tolerance, nargs="+", metavar="E", help="only for these (default: every step)"
    )
    parser.add_argument("--max-leaves", type=options.positive_integer, metavar="N", help="only trees up to this size")
    numbers.add_promise(parser)
    add_domain(parser)
    parser.add_argument(
        "--time-limit",
        type=options.positive_number,
        metavar="S",
        help="seconds; then what is proven so far is shown",
    )
    parser.add_argument(
        "--memory-limit", type=options.positive_number, metavar="GB", help="gigabytes (default: 80%% of what is free)"
    )
    parser.add_argument(
        "--jobs", type=options.positive_integer, default=1, metavar="N", help="number of workers (default: 1)"
    )
    parser.add_argument("--save", metavar="FOLDER", help="write the trees there, as tree-8.json for one of 8 leaves")
    parser.add_argument("--plot", metavar="FILE", help="draw the front into a file: .png, .svg or .pdf")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Find the front."""
    if arguments.plot is not None:
        terminal.check_output(arguments.plot)
    wanted = arguments.predicts
    ensemble = options.read_model(arguments, wanted)
    if ensemble.output == "class" and wanted == "auto":
        ensemble = options.read_model(arguments, "probability")
    folder = None if arguments.save is None else _folder(arguments.save)
    with terminal.bar() as progress:
        front = onetree.tolerance_front(
            ensemble,
            output=ensemble.output,
            tolerances=arguments.tolerances,
            max_leaves=arguments.max_leaves,
            relative=arguments.relative,
            keep_class=not arguments.any_class,
            domain=read_domain(arguments, ensemble),
            time_limit=arguments.time_limit,
            memory_limit=arguments.memory_limit,
            n_jobs=arguments.jobs,
            progress=progress,
        )
    front = sorted(front, key=lambda each: each.tree.tolerance or 0.0)
    saved = []
    if folder is not None:
        for solution in front:
            saved.append(str(folder / f"tree-{solution.tree.n_leaves}.json"))
            solution.tree.save(saved[-1])
    if arguments.plot is not None:
        _draw(front, arguments.plot)
    complete = all(solution.stats.get("complete", True) for solution in front)
    if arguments.json:
        terminal.show_json({"front": [summary(each) for each in front], "complete": complete, "saved": saved})
        return 0
    written = saved if arguments.plot is None else [*saved, arguments.plot]
    note = [] if complete else ["the time limit came first: more steps may follow, with more leaves"]
    terminal.show("\n".join([*_table(front), *note, *(f"saved to {path}" for path in written)]))
    return 0


def _table(front: list[onetree.Solution]) -> list[str]:
    told = describe_tolerance_front(front)
    if told is None:
        return []
    rows = [told["header"], *told["lines"]]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _draw(front: list[onetree.Solution], path: str) -> None:
    from onetree.report.drawing import new_figure

    figure, axes = new_figure(6.4, 3.8)
    plot_tolerance_front(front, ax=axes)
    figure.savefig(path)


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be a folder for the trees: {error.strerror}") from None
    return folder
