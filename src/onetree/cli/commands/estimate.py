"""``onetree estimate``: how large the tree would be, how long it would take, and what to do if that is too much."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

import onetree
from onetree.cli import numbers, options, terminal
from onetree.cli.domain import add_domain, read_domain
from onetree.search.advice import proposals
from onetree.search.wanted import wanted_of

HOPELESS = 1e12  # leaves; more are not counted
_MANY = 1e5  # leaves above which a smaller model is proposed
_FOR_THE_DATA = "For the data only, of any size: onetree convert MODEL -o TREE.json --data CSV; support_tree(model, X)"


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "estimate",
        help="estimate the size of the tree, and the time and memory to find it",
        description="Estimate leaves, time and memory in about two seconds, by random descents through the tree.",
    )
    options.add_model(parser)
    options.add_objective(parser)
    add_domain(parser)
    numbers.add_numbers(parser)
    options.add_random_state(parser)
    options.add_json(parser)
    parser.set_defaults(run=run, max_leaves=None)


def run(arguments: argparse.Namespace) -> int:
    """Estimate."""
    ensemble = options.read_model(arguments, arguments.predicts)
    asked = numbers.asked(arguments, ensemble)
    near = {name: each for name, each in asked.items() if name not in ("output", "max_leaves")}
    domain = read_domain(arguments, ensemble)
    with terminal.bar() as bar:
        found = onetree.estimate(
            ensemble,
            objective=arguments.objective,
            domain=domain,
            random_state=arguments.random_state,
            progress=bar,
            **near,
            **({"output": asked["output"]} if asked else {}),
        )
        tried = []
        if not arguments.json and (found.leaves >= _MANY or found.beyond):
            tried = proposals(
                ensemble,
                found,
                objective=arguments.objective,
                domain=domain,
                random_state=arguments.random_state,
                scoring=wanted_of(ensemble, asked["output"]).scoring(**near) if asked else None,
            )
    named = None if domain is None else domain.to_json(ensemble.feature_names)
    if arguments.json:
        terminal.show_json({"objective": arguments.objective, "domain": named, **asdict(found)})
        return 0
    page = "\n".join(f"{name:<10} {text}" for name, text in found.describe().items())
    if found.leaves >= _MANY or found.beyond:
        page = "\n".join([page, "", *smaller_models(tried), _FOR_THE_DATA])
    terminal.show(page)
    return 0


def smaller_models(found: Sequence[object]) -> list[str]:
    """Return the changes that were tried on the model and give a smaller tree, in words."""
    if not found:
        return ["No smaller model was found by leaving out trees or thresholds of this one."]
    return ["Smaller models have feasible trees. Tried on this one:", *(f"  {each}" for each in found)]
