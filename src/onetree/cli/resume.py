"""The option ``--resume`` of ``onetree convert``: a conversion that continues where another process stopped."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onetree
from onetree.base.progress import ProgressCallback
from onetree.cli import terminal
from onetree.domain.domain import Domain
from onetree.errors import InvalidInputError, LimitReachedError
from onetree.scale import records
from onetree.scale.parts import EXACT, STOPPED
from onetree.search.advice import refuse_too_large
from onetree.search.solve import Solution
from onetree.search.wanted import wanted_of


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--resume",
        metavar="FILE",
        help="keep finished work in FILE; however the command was stopped, the same command resumes from there. Large "
        "trees are then found in parts. FILE is removed when the tree is saved",
    )


def check(arguments: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if arguments.resume is None:
        return
    if arguments.data is not None:
        raise InvalidInputError("--resume is not for --data, which takes little time; leave one of them out")
    if arguments.method == "exact":
        raise InvalidInputError(
            "an exact search cannot go on where it was ended, only begin again; leave out --resume, or take --method "
            "auto, which keeps what it finds after an exact search of a minute at most"
        )
    if arguments.work_limit is not None:
        raise InvalidInputError("--resume is for work without --work-limit; leave one of them out")
    if arguments.max_leaves is not None:
        raise InvalidInputError(
            "--resume is for a given --tolerance, not the least one with --max-leaves; leave one of them out"
        )
    if os.path.realpath(arguments.resume) == os.path.realpath(arguments.output):
        raise InvalidInputError("--resume and --output name the same file; give the tree one of its own")
    terminal.check_output(arguments.resume)


def has_begun(arguments: argparse.Namespace) -> bool:
    """Return whether there is anything to resume from."""
    return arguments.resume is not None and Path(arguments.resume).exists()


def convert(
    arguments: argparse.Namespace,
    ensemble: onetree.Ensemble,
    domain: Domain | None,
    asked: Mapping[str, Any],
    progress: ProgressCallback,
) -> Solution:
    """Find the tree that the options ask for, or what is missing of it; `asked` are those for numbers."""
    numbers = {name: value for name, value in asked.items() if name != "max_leaves"}  # which `check` refuses
    if arguments.method == "auto" and not has_begun(arguments):
        _refuse_too_large(arguments, ensemble, domain, numbers)
    try:
        return onetree.born_again_in_parts(
            ensemble,
            objective=arguments.objective,
            method=arguments.method,
            n_parts=None,
            domain=domain,
            **numbers,
            time_limit=arguments.time_limit,
            memory_limit=arguments.memory_limit,
            n_jobs=arguments.jobs,
            random_state=arguments.random_state,
            progress=progress,
            verify=not arguments.no_verify,
            checkpoint=arguments.resume,
        )
    except LimitReachedError as error:
        raise LimitReachedError(f"{error}\n{_outlook(arguments)}") from None
    except KeyboardInterrupt as signal:
        raise type(signal)(_outlook(arguments)) from None


def _refuse_too_large(
    arguments: argparse.Namespace, ensemble: onetree.Ensemble, domain: Domain | None, numbers: dict[str, Any]
) -> None:
    """Refuse a tree of which an estimate says that it is out of reach."""
    scoring = None
    if numbers:
        near = {name: value for name, value in numbers.items() if name != "output"}
        scoring = wanted_of(ensemble, numbers["output"]).scoring(**near)
    refuse_too_large(
        ensemble, objective=arguments.objective, domain=domain, random_state=arguments.random_state, scoring=scoring
    )


def remove(arguments: argparse.Namespace) -> None:
    """Remove the file, once the tree is saved."""
    if arguments.resume is not None:
        records.remove(arguments.resume)


def _outlook(arguments: argparse.Namespace) -> str:
    file = arguments.resume
    kept = records.beginnings(file)
    was_stopped = kept.get(EXACT) == json.dumps(STOPPED)
    if (EXACT in kept and not was_stopped) or any(key.startswith(("cut ", "part ")) for key in kept):
        return f"what is done is kept in {file}: the same command goes on from there"
    if was_stopped:
        return f"the same command goes on without an exact search, which is begun again if you delete {file}"
    return "nothing was done yet that could be kept"
