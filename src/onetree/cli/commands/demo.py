"""``onetree demo``: everything in a few seconds, with data that come with scikit-learn."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import onetree
from onetree.cli import options, terminal
from onetree.cli.commands import convert
from onetree.model.columns import Columns
from onetree.search.solve import OBJECTIVES

SAVED_OBJECTIVE = "leaves-depth"


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "demo",
        help="train a small forest and convert it for every objective",
        description="Train a forest on the iris data, convert it for every objective, and save one of the trees.",
    )
    default = "onetree-demo.json"
    parser.add_argument(
        "-o", "--output", metavar="TREE.json", default=default, help=f"file for the tree (default: {default})"
    )
    parser.add_argument("--forest", metavar="FILE.json", help="also save the forest, as a MODEL for the other commands")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration."""
    terminal.check_output(arguments.output)
    if arguments.forest is not None:
        terminal.check_output(arguments.forest)
    ensemble = train()
    results = []
    for objective in OBJECTIVES:
        with terminal.bar() as bar:
            solution = onetree.born_again(ensemble, objective=objective, verify=False, progress=bar)
            verdict = onetree.verify(solution.tree, ensemble, method="cells", progress=bar)
        results.append({**convert.summary(solution), "equal": verdict.equivalent, "cells": verdict.n_checked})
        if objective == SAVED_OBJECTIVE:
            saved = solution.tree
    equal = all(result["equal"] for result in results)
    if equal:
        saved.save(arguments.output)
        if arguments.forest is not None:
            ensemble.save(arguments.forest)
    if arguments.json:
        terminal.show_json(
            {
                "forest": {"trees": ensemble.n_trees, "leaves": ensemble.n_leaves},
                "results": results,
                "output": arguments.output if equal else None,
            }
        )
    else:
        terminal.show(_page(ensemble, results, arguments))
    return 0 if equal else 1


def train() -> onetree.Ensemble:
    """Return the forest of the demonstration: 10 trees of depth 3 on the iris data."""
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    data = load_iris()
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(data.data, data.target_names[data.target])
    names = tuple(data.feature_names)
    return replace(onetree.Ensemble.from_model(forest), feature_names=names, columns=Columns())


def _page(ensemble: onetree.Ensemble, results: list[dict[str, Any]], arguments: argparse.Namespace) -> str:
    rows = [
        (
            result["objective"],
            result["depth"],
            result["leaves"],
            f"{1000 * result['stats']['seconds']:.2f} ms",
            "yes" if result["status"] == "optimal" else "no",
            "yes" if result["equal"] else "NO",
        )
        for result in results
    ]
    lines = [
        f"A random forest on the iris data: {ensemble.n_trees} trees of depth {ensemble.depths.max()}, "
        f"{ensemble.n_leaves} leaves in all.",
        f"Its thresholds cut the space of all inputs into {results[0]['cells']:,} cells, each of one class.",
        "For each objective, the smallest single tree that gives the forest's class in every cell",
        "(depth-leaves: least depth, then fewest leaves; leaves-depth: the other way round):",
        "",
        terminal.table(("objective", "depth", "leaves", "time", "proven smallest", "equal on all cells"), rows),
        "",
    ]
    if not all(result["equal"] for result in results):
        return "\n".join([*lines, "A tree differs from the forest: this is a bug in onetree, please report it."])
    lines += [
        f"The {SAVED_OBJECTIVE} tree is saved to {arguments.output}. Next:",
        f'  in Python     tree = onetree.load_tree("{arguments.output}"); print(tree.to_text())',
        '  your forest   solution = onetree.born_again(forest, objective="leaves")',
    ]
    if arguments.forest is None:
        lines.append("  on files      onetree demo --forest forest.json, then onetree inspect forest.json")
    else:
        lines.append(f"  on files      onetree verify {arguments.forest} {arguments.output}")
    return "\n".join(lines)
