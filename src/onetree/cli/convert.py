"""``onetree convert``: a model file in, the smallest equivalent tree out."""

from __future__ import annotations

import argparse
from typing import Any

import onetree
from onetree.cli import options, terminal
from onetree.solve import METHODS, OBJECTIVES, Solution


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "convert", help="find the smallest tree equal to an ensemble", description="Find the tree and save it."
    )
    options.add_model(parser)
    parser.add_argument("-o", "--output", metavar="TREE.json", required=True, help="file for the tree")
    parser.add_argument(
        "--objective", choices=OBJECTIVES, default="depth-leaves", help="what to make least (default: %(default)s)"
    )
    parser.add_argument("--method", choices=METHODS, default="auto", help="how to search (default: %(default)s)")
    parser.add_argument("--time-limit", type=options.positive_number, metavar="S", help="seconds")
    parser.add_argument(
        "--memory-limit", type=options.positive_number, metavar="GB", help="default: 80%% of what is free"
    )
    parser.add_argument("--jobs", type=options.positive_integer, default=1, metavar="N", help="threads (default: 1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random_state of a heuristic (default: 0)")
    parser.add_argument("--no-verify", action="store_true", help="skip the proof that tree and ensemble are equal")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert."""
    terminal.check_output(arguments.output)
    ensemble = onetree.load_ensemble(arguments.model, voting=arguments.voting)
    with terminal.bar() as bar:
        solution = onetree.born_again(
            ensemble,
            objective=arguments.objective,
            method=arguments.method,
            time_limit=arguments.time_limit,
            memory_limit=arguments.memory_limit,
            n_jobs=arguments.jobs,
            random_state=arguments.seed,
            progress=bar.solving,
            verify=not arguments.no_verify,
        )
    solution.tree.save(arguments.output)
    if arguments.json:
        terminal.show_json({**summary(solution), "verified": not arguments.no_verify, "output": arguments.output})
        return 0
    tree = solution.tree
    proven = "proven optimal" if solution.status == "optimal" else f"proven lower bound {solution.lower_bound}"
    equal = "not verified" if arguments.no_verify else "verified equal everywhere"
    terminal.show(
        f"{ensemble.n_trees} trees with {ensemble.n_leaves:,} leaves -> one tree of depth {tree.depth} "
        f"with {tree.n_leaves:,} leaves ({arguments.objective}: {proven}; {equal})\n"
        f"{solution.stats['seconds']:.3g} s, saved to {arguments.output}"
    )
    return 0


def summary(solution: Solution) -> dict[str, Any]:
    """Give a solution as values that `json` writes."""
    return {
        "objective": solution.objective,
        "status": solution.status,
        "value": solution.value,
        "lower_bound": solution.lower_bound,
        "gap": solution.gap,
        "depth": solution.tree.depth,
        "leaves": solution.tree.n_leaves,
        "stats": solution.stats,
    }
