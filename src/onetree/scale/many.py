"""Many conversions at once, through joblib: on the processors of this machine, or on a cluster that joblib knows.

Each conversion is one call of `born_again`, with one thread, wherever it runs. What
travels is arrays. A model is read where the call is made, so that no worker needs the library that it comes from.
"""

import inspect
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import Any, Literal, cast, overload

from onetree.base.limits import check_choice, memory_bytes
from onetree.base.machine import n_cores
from onetree.base.progress import Progress, ProgressCallback, ProgressOption, shown
from onetree.errors import InvalidInputError, SomeFailedError
from onetree.lowering.grid import Grid
from onetree.model.ensemble import Ensemble, as_ensemble
from onetree.scale.checkpoint import Checkpoint
from onetree.scale.fingerprint import fingerprint
from onetree.search.solve import Solution, born_again
from onetree.search.wanted import wanted_of

Outcome = Solution | Exception
Job = tuple[object, Mapping[str, Any]]  # a source and the options of `born_again`

_ERRORS = ("raise", "return")
_WAVE = 4  # jobs per worker that are handed out together where results cannot come one by one


@overload
def born_again_many(
    sources: Iterable[object],
    *,
    n_jobs: int | None = None,
    errors: Literal["raise"] = "raise",
    progress: ProgressOption = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,
) -> list[Solution]: ...


@overload
def born_again_many(
    sources: Iterable[object],
    *,
    n_jobs: int | None = None,
    errors: Literal["return"],
    progress: ProgressOption = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,
) -> list[Outcome]: ...


def born_again_many(
    sources: Iterable[object],
    *,
    n_jobs: int | None = None,
    errors: str = "raise",
    progress: ProgressOption = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,
) -> list[Solution] | list[Outcome]:
    """Convert many models, each as `born_again` would, several at a time.

    Parameters
    ----------
    sources : iterable of fitted models, paths or Ensembles
        Of a list, the largest are converted first where several run at a time; of an iterator, each as there is room
        for it.
    n_jobs : int, optional
        Number of workers, each of which converts one source at a time: None is one, or what `joblib.parallel_config`
        says; -1 is one per processor. The trees do not depend on it.
    errors : {"raise", "return"}
        What happens if a source cannot be converted. All others are converted in any case. "raise" then raises
        `SomeFailedError`, whose `results` hold everything; "return" gives the error in the place of the solution.
    progress : callable, False or None
        Called here with a `Progress` after each conversion: phase "many", and in `done` how many are done. An
        exception raised in it stops everything. None shows a bar, as in `born_again`.
    checkpoint : path, optional
        A file for the solutions as they come. A later call with the same options takes from it what is there, so that
        a process that was killed loses no more than what was underway. Models are known by their content.
    **options
        Those of `born_again`, such as `output` and `tolerance`, the same for every source. Limits hold for each
        conversion on its own; without `memory_limit`, as many as there are processors share what their machine has
        free.

    Returns
    -------
    list of Solution
        In the order of the sources. ``stats["total_seconds"]`` is what each took where it ran, with its proof.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forests = [RandomForestClassifier(5, max_depth=2, random_state=seed).fit(X, y) for seed in range(3)]
    >>> [solution.status for solution in born_again_many(forests, objective="leaves")]
    ['optimal', 'optimal', 'optimal']
    """
    check_choice("errors", errors, _ERRORS)
    inspect.signature(born_again).bind(None, **options)  # a TypeError here and now, not one for each source
    total = len(sources) if isinstance(sources, Sized) else None
    task = {name: value if _is_plain(value) else fingerprint(value) for name, value in options.items()}
    keys: dict[int, str] = {}  # of the sources that are not known yet
    with shown(progress) as tell, Checkpoint(checkpoint, {"kind": "many", "options": task}) as kept:

        def recall(number: int, job: Job) -> Solution | None:
            keys[number] = fingerprint(job[0])
            return _recalled(kept, keys[number], cast(Ensemble, job[0]), job[1])

        found = run_jobs(
            ((source, options) for source in sources),
            n_jobs=n_jobs,
            progress=tell,
            total=total,
            recall=None if checkpoint is None else recall,
            keep=None if checkpoint is None else lambda number, solution: kept.put_solution(keys[number], solution),
        )
    failed = [number for number, outcome in enumerate(found) if isinstance(outcome, Exception)]
    if failed and errors == "raise":
        first = found[failed[0]]
        raise SomeFailedError(
            f"{len(failed)} of {len(found)} sources could not be converted: {_listed(failed)}; "
            f'source {failed[0]}: {first}. `results` of this error holds the others; errors="return" returns all',
            found,
        ) from cast(Exception, first)
    return found


def _recalled(kept: Checkpoint, key: str, ensemble: Ensemble, options: Mapping[str, Any]) -> Solution | None:
    """Return what an earlier run found, if it is what the options ask for."""
    if key not in kept:
        return None
    scoring = wanted_of(ensemble, options.get("output", "auto")).scoring(
        options.get("tolerance"),
        relative=options.get("relative", False),
        keep_class=options.get("keep_class", True),
        max_leaves=options.get("max_leaves"),
    )
    if scoring is not None and options.get("max_leaves") is not None:
        scoring = replace(scoring, has_extremes=True)
    return kept.proven_solution(key, ensemble, options.get("domain"), scoring=scoring)


def run_jobs(
    jobs: Iterable[Job],
    *,
    n_jobs: int | None,
    progress: ProgressCallback | None = None,
    total: int | None = None,
    phase: str = "many",
    stop_at_error: bool = False,
    recall: Callable[[int, Job], Solution | None] | None = None,
    keep: Callable[[int, Solution], None] | None = None,
) -> list[Outcome]:
    """Run each job wherever joblib has room, and give solutions and errors in the order of the jobs.

    With `stop_at_error` the first error that comes back is raised instead, and what has not begun is not begun. A job
    whose solution `recall` knows is not run; `keep` receives the number and the solution of every other job.
    """
    from joblib import delayed

    started = perf_counter()
    n_workers = _number_of_workers(n_jobs)
    found: dict[int, Outcome] = {}

    def unknown() -> Iterator[tuple[int, Job | Exception]]:
        numbered: Iterable[tuple[int, Job | Exception]] = enumerate(_read(jobs))
        if total is not None and n_workers > 1:
            # The largest first, so that none is only begun when the others are nearly done.
            numbered = sorted(numbered, key=lambda each: -_n_cells(each[1]))
        for number, job in numbered:
            solution = None if recall is None or isinstance(job, Exception) else recall(number, job)
            if solution is None:
                yield number, job
            else:
                found[number] = solution

    tasks = (delayed(_convert)(number, job, n_workers) for number, job in unknown())
    with _closed_after(_finished(tasks, n_jobs, n_workers)) as finished:
        for number, outcome in finished:
            if stop_at_error and isinstance(outcome, Exception):
                raise outcome
            found[number] = outcome
            if keep is not None and isinstance(outcome, Solution):
                keep(number, outcome)
            if progress is not None:
                fraction = len(found) / total if total else None
                progress(Progress(phase, perf_counter() - started, None, None, len(found), fraction))
    return [found[number] for number in range(len(found))]


def _finished(tasks: Iterator[Any], n_jobs: int | None, n_workers: int) -> Generator[tuple[int, Outcome], None, None]:
    """Run tasks wherever joblib has room; the results as they come."""
    from joblib import Parallel
    from joblib.parallel import get_active_backend

    if get_active_backend()[0].supports_return_generator:
        yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(tasks)
        return
    # Ray's backend gives all results at the end: some tasks at a time, so that what is done can be told and kept.
    with Parallel(n_jobs=n_jobs, batch_size=1) as parallel:
        while wave := list(islice(tasks, _WAVE * n_workers)):
            yield from parallel(wave)


@contextmanager
def _closed_after(
    finished: Generator[tuple[int, Outcome], None, None],
) -> Iterator[Generator[tuple[int, Outcome], None, None]]:
    """Cancel what has not begun when the results are left before their end."""
    try:
        yield finished
    finally:
        with warnings.catch_warnings():
            # joblib warns of the tasks that it cancels, which is what is wanted.
            warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
            finished.close()


def _number_of_workers(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    try:
        return int(effective_n_jobs(n_jobs))
    except ValueError:
        raise InvalidInputError(f"n_jobs must be an integer other than 0, or None, not {n_jobs!r}") from None


def _read(jobs: Iterable[Job]) -> Iterator[Job | Exception]:
    """Read models into arrays; one that cannot be read must not stop the others."""
    for source, options in jobs:
        cuts = {name: options[name] for name in ("threshold", "bands") if name in options}
        try:
            ensemble = as_ensemble(source, output=options.get("output", "auto"), **cuts)
        except Exception as error:  # also what a broken model of another library raises
            yield error
        else:
            yield ensemble, {name: value for name, value in options.items() if name not in cuts}


def _n_cells(job: Job | Exception) -> int:
    return 0 if isinstance(job, Exception) else Grid.of(cast(Ensemble, job[0])).n_cells


def _convert(number: int, job: Job | Exception, n_workers: int) -> tuple[int, Outcome]:
    """Run one job, in the process that joblib chose."""
    if isinstance(job, Exception):
        return number, job
    ensemble, options = job
    if options.get("memory_limit") is None:
        # No machine runs more of them than it has processors; how many of the others run elsewhere is not known.
        share = min(n_workers, n_cores())
        options = {**options, "memory_limit": memory_bytes(None) / 1e9 / share}
    started = perf_counter()
    try:
        solution = born_again(cast(Ensemble, ensemble), **{"progress": False, **options})
        stats = {**solution.stats, "total_seconds": perf_counter() - started}
        return number, replace(solution, stats=stats)
    except Exception as error:  # whatever it is, the other conversions go on
        return number, error


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _listed(numbers: list[int], most: int = 8) -> str:
    return ", ".join(map(str, numbers[:most])) + (", ..." if len(numbers) > most else "")
