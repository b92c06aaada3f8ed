"""``onetree prune``: a tree and data in, the splits that the data need out."""

from __future__ import annotations

import argparse

import onetree
from onetree.base.amounts import count
from onetree.cli import options, terminal
from onetree.cli.table import read_inputs


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "prune",
        help="leave out the splits that no data need; the tree is then no longer exact",
        description="Leave out every split one side of which holds none of the data, then merge leaves of one class "
        "below the same split. On these data the tree predicts as before, elsewhere it may not.",
    )
    parser.add_argument("tree", metavar="TREE", help="file of the tree")
    parser.add_argument(
        "--data", metavar="CSV", required=True, help="the training data: a header with the names of the features, rows"
    )
    parser.add_argument("-o", "--output", metavar="TREE.json", required=True, help="file for the pruned tree")
    parser.add_argument("--held-out", metavar="CSV", help="other data, to count the rows on which the trees agree")
    parser.add_argument("--label", metavar="NAME", help="a column to leave out")
    parser.add_argument(
        "--by-position",
        action="store_true",
        help="take the columns, apart from the label, in the order of the features, whatever they are called",
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prune."""
    terminal.check_output(arguments.output)
    tree = onetree.load_tree(arguments.tree)
    X = read_inputs(arguments.data, tree, label=arguments.label, by_position=arguments.by_position)
    held_out = None
    if arguments.held_out is not None:
        held_out = read_inputs(arguments.held_out, tree, label=arguments.label, by_position=arguments.by_position)
    pruned = onetree.prune(tree, X)
    effect = onetree.compare(tree, pruned, X)
    elsewhere = None if held_out is None else onetree.compare(tree, pruned, held_out, max_boxes=0)
    pruned.save(arguments.output)
    if arguments.json:
        terminal.show_json(
            {
                "exact": pruned.exact,
                "depth_before": tree.depth,
                "leaves_before": tree.n_leaves,
                "depth": pruned.depth,
                "leaves": pruned.n_leaves,
                "rows": effect.n_rows,
                "agreement": effect.agreement,
                "held_out_rows": None if elsewhere is None else elsewhere.n_rows,
                "held_out_agreement": None if elsewhere is None else elsewhere.agreement,
                "cells": effect.n_cells,
                "changed_cells": effect.n_changed_cells,
                "output": arguments.output,
            }
        )
    else:
        terminal.show(_page(tree, pruned, effect, elsewhere, arguments.output))
    return 0


def _page(
    tree: onetree.Tree,
    pruned: onetree.Tree,
    effect: onetree.Comparison,
    elsewhere: onetree.Comparison | None,
    output: str,
) -> str:
    lines = [
        f"depth {tree.depth} with {tree.n_leaves:,} leaves -> depth {pruned.depth} with {pruned.n_leaves:,} leaves; "
        "no longer exact",
        f"the data       same class on {_share(effect)}",
    ]
    if elsewhere is not None:
        lines.append(f"held-out data  same class on {_share(elsewhere)}")
    if effect.changed is None:
        lines.append("all inputs     too many leaves to count the cells in which the class changed")
    else:
        cells = f"{count(effect.n_cells)} cells of the tree"
        lines.append(f"all inputs     another class in {effect.changed:.3%} of {cells}")
    return "\n".join([*lines, f"saved to {output}"])


def _share(found: onetree.Comparison) -> str:
    return f"{found.n_agreeing:,} of {found.n_rows:,} rows ({found.agreement:.2%})"
