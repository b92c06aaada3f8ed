"""``onetree convert``: a model file in, the smallest equivalent tree out."""

from __future__ import annotations

import argparse
import shlex
from time import perf_counter
from typing import Any

import onetree
from onetree.cli import estimate, options, resume, support, terminal
from onetree.cli.domain import add_domain, read_domain, words
from onetree.cli.search import Found, search
from onetree.errors import LimitReachedError
from onetree.grid import Grid
from onetree.limits import memory_bytes
from onetree.progress import ProgressCallback
from onetree.restrict import restrict
from onetree.solve import METHODS, Solution

MAX_LEAVES = 1_000_000
_FEW_BOXES = 10**7  # of the whole grid: solved in less time than an estimate takes
_BUDGET = 1.5  # seconds for the estimate, at most; and of a time limit, this share
_SHARE = 0.1
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
        help="exact: prove that no smaller tree exists; heuristic: any size of model, an equal tree of no proven size; "
        "auto: exact where the grid allows it, else heuristic (default: %(default)s)",
    )
    parser.add_argument(
        "--max-leaves",
        type=options.positive_integer,
        metavar="N",
        help="give up before the work if the estimate says that the tree will have more (default: 1e6); with --data, "
        "leaves of the tree at most (default: 256)",
    )
    support.add_support(parser)
    parser.add_argument("--force", action="store_true", help="do the work whatever the estimate says")
    parser.add_argument(
        "--time-limit",
        type=options.positive_number,
        metavar="S",
        help="seconds, with the proof; then the best tree so far is saved, if there is one",
    )
    parser.add_argument(
        "--memory-limit", type=options.positive_number, metavar="GB", help="gigabytes (default: 80%% of what is free)"
    )
    parser.add_argument("--jobs", type=options.positive_integer, default=1, metavar="N", help="threads (default: 1)")
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
    ensemble = options.read_model(arguments)
    if arguments.data is not None:
        return _follow_data(arguments, ensemble)
    domain = read_domain(arguments, ensemble)
    with terminal.bar() as bar:
        started = perf_counter()
        estimable = arguments.method != "exact" and not arguments.force and not resume.has_begun(arguments)
        if estimable and Grid.of(ensemble, domain).n_boxes > _FEW_BOXES:
            _check_estimate(ensemble, domain, arguments, bar)
        left = _left(arguments.time_limit, perf_counter() - started)
        if arguments.resume is None:
            found = search(arguments, ensemble, domain, left, bar)
        else:
            solution = resume.convert(arguments, ensemble, domain, left, bar)
            found = Found(solution, verified=not arguments.no_verify)
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
    """Give the result for people."""
    solution, tree = found.solution, found.solution.tree
    proven = "proven optimal" if solution.status == "optimal" else f"proven lower bound {solution.lower_bound}"
    where = "everywhere" if tree.domain is None else "inside the domain"
    equal = f"verified equal {where}" if found.verified else "not verified"
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


def _check_estimate(
    ensemble: onetree.Ensemble, domain: onetree.Domain | None, arguments: argparse.Namespace, bar: ProgressCallback
) -> None:
    """Stop before the work if it would be more than the limits allow."""
    found = onetree.estimate(
        ensemble,
        objective=arguments.objective,
        domain=domain,
        budget=min(_BUDGET, _SHARE * (arguments.time_limit or _BUDGET / _SHARE)),
        random_state=arguments.random_state,
        progress=bar,
    )
    over, remedy = "", []
    max_leaves = arguments.max_leaves or MAX_LEAVES
    if found.leaves > max_leaves:
        over = f"have {found.describe()['leaves']} leaves, over --max-leaves {max_leaves:,}"
        if found.leaves < estimate.HOPELESS:
            remedy = ["--max-leaves", f"{estimate.enough(found.leaves_range[1]):.0f}"]
    elif found.memory_range[0] > memory_bytes(arguments.memory_limit):
        over = f"take {found.describe()['memory']} of memory, over the limit"
        remedy = ["--memory-limit", f"{estimate.enough(found.memory_range[1] / 1e9):g}"]
    elif arguments.time_limit is not None and found.seconds_range[0] > arguments.time_limit and not found.boxes:
        over = f"take {found.describe()['time']}, over --time-limit {arguments.time_limit:g}"
        remedy = ["--time-limit", f"{estimate.enough(found.seconds_range[1]):g}"]
    if not over:
        return
    lines = [f"the tree would {over}; nothing was written"]
    if remedy:
        lines.append(f"  allow that              {_command(arguments, *remedy)}")
    lines.append(f"  do it whatever it takes {_command(arguments, '--force')}")
    lines += [*support.alternatives(arguments), estimate.alternatives(restrict(ensemble, domain))]
    raise LimitReachedError("\n".join(lines))


def _command(arguments: argparse.Namespace, *more: str) -> str:
    """Give the command again, with other options added; of an option given twice the last counts."""
    line = ["onetree", "convert", arguments.model, "-o", arguments.output, "--objective", arguments.objective]
    line += ["--method", arguments.method, "--voting", arguments.voting, *options.given_classes(arguments)]
    line += [word for given in arguments.domain for word in ("--domain", given)]
    for name in ("missing", "max_leaves", "time_limit", "memory_limit", "jobs", "random_state", "resume"):
        value, option = getattr(arguments, name), f"--{name.replace('_', '-')}"
        if value is not None and value != _DEFAULTS.get(name) and option not in more:
            line += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    line += ["--no-verify"] * arguments.no_verify + ["--json"] * arguments.json
    return shlex.join([*line, *more])


def _left(time_limit: float | None, spent: float) -> float | None:
    return None if time_limit is None else max(time_limit - spent, 1e-3)


def summary(solution: Solution) -> dict[str, Any]:
    """Give a solution as values that `json` writes."""
    tree = solution.tree
    return {
        "objective": solution.objective,
        "status": solution.status,
        "value": solution.value,
        "lower_bound": solution.lower_bound,
        "gap": solution.gap,
        "depth": tree.depth,
        "leaves": tree.n_leaves,
        "domain": None if tree.domain is None else tree.domain.to_json(tree.feature_names),
        "stats": solution.stats,
    }
