"""``onetree estimate``: how large the tree would be, how long it would take, and what to do if that is too much."""

from __future__ import annotations

import argparse
from dataclasses import asdict

import onetree
from onetree.cli import options, terminal
from onetree.cli.domain import add_domain, read_domain
from onetree.restrict import restrict

HOPELESS = 1e12  # leaves; more are not counted
_SOME_MORE = 1.2  # room above a range, when a limit is proposed


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
    options.add_random_state(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Estimate."""
    ensemble = options.read_model(arguments)
    domain = read_domain(arguments, ensemble)
    with terminal.bar() as bar:
        found = onetree.estimate(
            ensemble,
            objective=arguments.objective,
            domain=domain,
            random_state=arguments.random_state,
            progress=bar,
        )
    named = None if domain is None else domain.to_json(ensemble.feature_names)
    if arguments.json:
        terminal.show_json({"objective": arguments.objective, "domain": named, **asdict(found)})
        return 0
    page = "\n".join(f"{name:<10} {text}" for name, text in found.describe().items())
    is_small = found.leaves < 1e5 and not found.beyond
    terminal.show(page if is_small else f"{page}\n\n{alternatives(restrict(ensemble, domain))}")
    return 0


def alternatives(ensemble: onetree.Ensemble) -> str:
    """Say what gives a smaller tree."""
    depth = (int(ensemble.depths.max()) + 1) // 2
    return "\n".join(
        [
            "A smaller tree comes from a model with fewer thresholds:",
            '  bin the features        KBinsDiscretizer(5, encode="ordinal").fit_transform(X) before training',
            f"  fewer, shallower trees  RandomForestClassifier({max(2, ensemble.n_trees // 2)}, max_depth={depth})",
            "  restrict the domain     say what the features can be: --domain age=18:99 --domain sex=binary, or a file",
            "or, if it need not be equal everywhere:",
            "  faithful on data only   onetree convert MODEL -o TREE.json --data CSV; support_tree(model, X)",
        ]
    )


def enough(largest: float) -> float:
    """Propose a limit for what an estimate says may be needed, in two digits."""
    return float(f"{_SOME_MORE * largest:.1e}")
