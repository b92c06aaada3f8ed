"""``onetree verify``: whether a model and a tree are the same function."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

import onetree
from onetree.cli import options, terminal
from onetree.cli.domain import add_domain, read_domain, words
from onetree.verify import METHODS


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "verify",
        help="prove that a tree equals an ensemble, or find an input where they differ",
        description="Prove that a tree and a model are the same function, or that the numbers of a tree are within its "
        "tolerance of the model's. Exit code 0 if that holds on every input, 1 with a counterexample if it does not.",
    )
    options.add_model(parser)
    parser.add_argument("tree", metavar="TREE", help="file of the tree")
    add_domain(parser)
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="the proof; cells: compare every cell of the grid; search: branch and bound for every leaf, any size of "
        "grid; milp: HiGHS for every leaf, independent and slow; auto: cells if they are few, else search "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--max-cells",
        type=options.positive_integer,
        default=2_000_000,
        metavar="N",
        help="most cells to compare (default: 2e6)",
    )
    parser.add_argument(
        "--time-limit",
        type=options.positive_number,
        metavar="S",
        help="seconds; without a verdict by then, exit code 3",
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Verify."""
    tree = onetree.load_tree(arguments.tree)
    ensemble = options.read_model(arguments, tree.output)
    with terminal.bar() as bar:
        verdict = onetree.verify(
            tree,
            ensemble,
            domain=read_domain(arguments, ensemble),
            method=arguments.method,
            max_cells=arguments.max_cells,
            time_limit=arguments.time_limit,
            progress=bar,
        )
    point = verdict.counterexample
    if arguments.json:
        terminal.show_json(
            {
                "equivalent": verdict.equivalent,
                "domain": None if verdict.domain is None else verdict.domain.to_json(ensemble.feature_names),
                "method": verdict.method,
                "checked": verdict.n_checked,
                "fragile": verdict.n_fragile,
                "counterexample": None if point is None else [_number(x) for x in point.tolist()],
                "tree_class": _plain(verdict.tree_class),
                "ensemble_class": _plain(verdict.ensemble_class),
                **(_numbers(verdict) if verdict.tolerance is not None else {}),
            }
        )
    elif point is None:
        unit = "cells" if verdict.method == "cells" else "leaves"
        where = "" if verdict.domain is None else f" of the domain: {words(verdict.domain, ensemble)}"
        checked = f"method {verdict.method}, {verdict.n_checked:,} {unit} checked"
        terminal.show(f"{verdict.kept} on every input{where} ({checked})")
        if verdict.worst and verdict.worst_input is not None:
            terminal.show(f"the worst deviation, {verdict.worst!r}, is at {_at(ensemble, verdict.worst_input)}")
        if verdict.n_fragile is not None:
            terminal.show(_fragile_note(verdict.n_fragile))
    else:
        said = verdict.difference.replace("the model", "the ensemble")
        terminal.show(f"not {verdict.kept}: {said}, at {_at(ensemble, point)}")
    return 0 if verdict else 1


def _at(ensemble: onetree.Ensemble, point: NDArray[np.float64]) -> str:
    return ", ".join(f"{name}={x!r}" for name, x in zip(ensemble.feature_names, point.tolist(), strict=True))


def _numbers(verdict: onetree.Verdict) -> dict[str, Any]:
    """Return what a verdict says of numbers, for JSON."""
    worst_input, worst = verdict.worst_input, verdict.worst
    tree_value, ensemble_value = verdict.tree_value, verdict.ensemble_value
    return {
        "tolerance": verdict.tolerance,
        "relative": verdict.relative,
        "worst": None if worst is None else _number(worst),
        "worst_input": None if worst_input is None else [_number(x) for x in worst_input.tolist()],
        "tree_value": None if tree_value is None else [_number(x) for x in tree_value.tolist()],
        "ensemble_value": None if ensemble_value is None else [_number(x) for x in ensemble_value.tolist()],
    }


def _fragile_note(n_fragile: int) -> str:
    if not n_fragile:
        return "the order of addition does not matter in any cell"
    return (
        f"cells so close to a tie that the order of addition may decide: {n_fragile:,}; it is that of the library "
        "on one thread"
    )


def _number(x: float) -> float | str | None:
    """Return a value for JSON, which has no NaN (a missing value is null) and no infinity."""
    if np.isnan(x):
        return None
    return x if np.isfinite(x) else str(x)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
