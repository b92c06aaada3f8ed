"""The search of ``onetree convert``, which a signal or a limit ends with the best tree that there is."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from signal import SIGTERM, Signals
from typing import Any

import onetree
from onetree.base.progress import Progress, ProgressCallback
from onetree.cli import signals
from onetree.domain.domain import Domain
from onetree.errors import LimitReachedError
from onetree.search.solve import Solution

_MOMENT = 0.6  # seconds that a signal leaves for a tree where none is known yet


@dataclass(frozen=True)
class Found:
    """A tree, and the outcome of the command.

    Parameters
    ----------
    solution : Solution
    verified : bool
        Whether it was proven equal to the model.
    code : int
        Exit code of the command.
    ended : str
        What stopped the work early, for people; empty if nothing did.
    """

    solution: Solution
    verified: bool
    code: int = 0
    ended: str = ""


def search(
    arguments: argparse.Namespace,
    ensemble: onetree.Ensemble,
    domain: Domain | None,
    asked: dict[str, Any],
    progress: ProgressCallback,
) -> Found:
    """Find the tree that the options ask for; `asked` are those for numbers."""
    with signals.remembered() as stop:

        def report(step: Progress) -> None:
            progress(step)
            stop.check()

        try:
            solution = onetree.born_again(
                ensemble,
                objective=arguments.objective,
                method=arguments.method,
                domain=domain,
                time_limit=arguments.time_limit,
                work_limit=arguments.work_limit,
                memory_limit=arguments.memory_limit,
                n_jobs=arguments.jobs,
                random_state=arguments.random_state,
                progress=report,
                verify=not arguments.no_verify,
                **asked,
            )
            found = Found(solution, verified=not arguments.no_verify)
        except LimitReachedError as error:
            if isinstance(error.solution, Solution):
                found = Found(
                    error.solution, verified=False, code=3, ended="the proof was not finished within the time limit"
                )
            elif stop.signal is None:
                raise
            else:
                found = _quickest(arguments, ensemble, domain, asked, stop.signal)
        if stop.signal is None:
            return found
        return Found(found.solution, found.verified, signals.CODES[stop.signal], signals.WORDS[stop.signal])


def _quickest(
    arguments: argparse.Namespace,
    ensemble: onetree.Ensemble,
    domain: Domain | None,
    asked: dict[str, Any],
    heard: Signals,
) -> Found:
    """Return a tree that takes next to no time; without one, raise the signal after all."""
    try:
        if arguments.method != "heuristic" and asked.get("max_leaves") is None:
            solution = onetree.born_again(
                ensemble, objective=arguments.objective, method="heuristic", domain=domain, time_limit=_MOMENT, **asked
            )
            return Found(solution, verified=True)
    except LimitReachedError as error:
        if isinstance(error.solution, Solution):
            return Found(error.solution, verified=False)
    kind = signals.Terminated if heard == SIGTERM else KeyboardInterrupt
    raise kind("no file was written: no faithful tree was known yet")
