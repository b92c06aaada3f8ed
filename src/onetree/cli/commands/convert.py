"""``onetree convert``: a model file in, the smallest equivalent tree out."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, cast

import onetree
from onetree.cli import numbers, options, resume, terminal
from onetree.cli.commands import estimate, support
from onetree.cli.domain import add_domain, read_domain, words
from onetree.cli.search import Found, search
from onetree.errors import LimitReachedError, TooLargeError
from onetree.search.solve import METHODS, Solution
from onetree.tree.leaf_values import tolerance_words

_DEFAULTS = {"missing": "auto", "jobs": 1, "random_state": 0}


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "convert",
        help="find the smallest tree equal to an ensemble",
        description="Find the smallest tree that predicts like the model, prove that it does, and save it.",
    )
    options.add_model(parser)
    parser.add_argument("-o", "--output", metavar="TREE.json", required=True, help="file for the tree")
    options.add_objective(parser)
    add_domain(parser)
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="auto: an equal tree within seconds, proven smallest where feasible; exact: prove that no smaller "
        "tree exists, however long it takes; heuristic: any size of model, an equal tree of no proven size "
        "(default: %(default)s)",
    )
    numbers.add_numbers(parser)
    support.add_support(parser)
    parser.add_argument(
        "--time-limit",
        type=options.positive_number,
        metavar="S",
        help="seconds, with the proof; then the best tree so far is saved, if there is one (default: about ten with "
        "--method auto, otherwise none)",
    )
    parser.add_argument(
        "--work-limit",
        type=options.positive_integer,
        metavar="N",
        help="steps of work instead of seconds, so that the tree is the same on every machine; 1e5 take about a second",
    )
    parser.add_argument(
        "--memory-limit", type=options.positive_number, metavar="GB", help="gigabytes (default: 80%% of what is free)"
    )
    parser.add_argument(
        "--jobs", type=options.positive_integer, default=1, metavar="N", help="number of workers (default: 1)"
    )
    options.add_random_state(parser)
    resume.add_resume(parser)
    parser.add_argument("--no-verify", action="store_true", help="skip the proof that tree and ensemble are equal")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert."""
    support.check(arguments)
    terminal.check_output(arguments.output)
    resume.check(arguments)
    ensemble = options.read_model(arguments, arguments.predicts)
    if arguments.data is not None:
        return _follow_data(arguments, ensemble)
    asked = numbers.asked(arguments, ensemble)
    domain = read_domain(arguments, ensemble)
    try:
        with terminal.bar() as bar:
            if arguments.resume is None:
                found = search(arguments, ensemble, domain, asked, bar)
            else:
                solution = resume.convert(arguments, ensemble, domain, asked, bar)
                found = Found(solution, verified=not arguments.no_verify)
    except TooLargeError as error:
        raise LimitReachedError(_refusal(error, arguments)) from None
    found.solution.tree.save(arguments.output)
    resume.remove(arguments)
    if found.ended:
        given = options.given_classes(arguments)
        command = shlex.join(["onetree", "verify", arguments.model, arguments.output, *given])
        advice = "" if found.verified else f"; it was not verified: {command}"
        terminal.tell(f"{found.ended}; the best tree so far was saved to {arguments.output}{advice}")
    if arguments.json:
        terminal.show_json({**summary(found.solution), "verified": found.verified, "output": arguments.output})
    else:
        terminal.show(_page(found, ensemble, arguments))
    return found.code


def _page(found: Found, ensemble: onetree.Ensemble, arguments: argparse.Namespace) -> str:
    """Return the result for people."""
    solution, tree = found.solution, found.solution.tree
    proven = "proven optimal" if solution.status == "optimal" else f"proven lower bound {solution.lower_bound}"
    where = "everywhere" if tree.domain is None else "inside the domain"
    kept = "equal" if not tree.tolerance else f"within {tolerance_words(tree.tolerance, relative=tree.relative)}"
    equal = f"verified {kept} {where}" if found.verified else "not verified"
    return (
        f"{ensemble.n_trees} trees with {ensemble.n_leaves:,} leaves -> one tree of depth {tree.depth} "
        f"with {tree.n_leaves:,} leaves ({arguments.objective}: {proven}; {equal})\n"
        f"{solution.stats['seconds']:.3g} s, saved to {arguments.output}"
        + ("" if tree.domain is None else f"\nthe domain: {words(tree.domain, tree)}")
    )


def _follow_data(arguments: argparse.Namespace, ensemble: onetree.Ensemble) -> int:
    """Convert for the data only."""
    with terminal.bar() as bar:
        solution = support.convert(arguments, ensemble, bar)
    solution.tree.save(arguments.output)
    if arguments.json:
        terminal.show_json({**summary(solution), **solution.report(), "exact": False, "output": arguments.output})
    else:
        terminal.show(support.page(solution, ensemble, arguments.output))
    return 0


def _refusal(error: TooLargeError, arguments: argparse.Namespace) -> str:
    """Return the message for a tree that is too large, with commands that give another."""
    found = cast(onetree.Estimate, error.estimate)
    lines = [f"the tree would have {found.leaves_in_words}, {found.seconds_in_words} of work; nothing was written"]
    if found.leaves < estimate.HOPELESS and not found.beyond:
        lines.append(f"  build it nevertheless   {_command(arguments, '--method', 'heuristic')}")
    return "\n".join([*lines, *support.alternatives(arguments), *estimate.smaller_models(error.proposals)])


def _command(arguments: argparse.Namespace, *more: str) -> str:
    """Return the command again, with other options added; of an option given twice the last counts."""
    line = ["onetree", "convert", arguments.model, "-o", arguments.output, "--objective", arguments.objective]
    line += ["--method", arguments.method, "--voting", arguments.voting, *options.given_classes(arguments)]
    line += numbers.given_numbers(arguments)
    line += [word for given in arguments.domain for word in ("--domain", given)]
    for name in ("missing", "time_limit", "work_limit", "memory_limit", "jobs", "random_state", "resume"):
        value, option = getattr(arguments, name), f"--{name.replace('_', '-')}"
        if value is not None and value != _DEFAULTS.get(name) and option not in more:
            line += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    line += ["--no-verify"] * arguments.no_verify + ["--json"] * arguments.json
    return shlex.join([*line, *more])


def _promise(tree: onetree.Tree) -> dict[str, Any]:
    promised = {name: getattr(tree, name) for name in ("tolerance", "relative", "keeps_class")}
    return {"predicts": tree.output, **promised}


def summary(solution: Solution) -> dict[str, Any]:
    """Return a solution as values that `json` writes."""
    tree = solution.tree
    return {
        "objective": solution.objective,
        "status": solution.status,
        "value": solution.value,
        "lower_bound": solution.lower_bound,
        "gap": solution.gap,
        "depth": tree.depth,
        "leaves": tree.n_leaves,
        **({} if tree.value is None else _promise(tree)),
        "domain": None if tree.domain is None else tree.domain.to_json(tree.feature_names),
        "stats": solution.stats,
    }
