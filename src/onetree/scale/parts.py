"""One huge tree in parts, through joblib: each box of the first cuts is converted, and proven, on its own.

Below the cuts everything is left to `born_again` inside a domain. The tree depends on the number of parts, never on who
computes them or how many do. Nothing here recurses on the depth of a tree.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from time import perf_counter, time
from typing import Any

from onetree.base.limits import DEFAULT_OBJECTIVE, OBJECTIVES, Until, check_choice, memory_bytes, seconds
from onetree.base.machine import n_cores
from onetree.base.progress import Progress, ProgressCallback, ProgressOption, Reporter, StopSearch, shown
from onetree.domain.domain import Domain, DomainLike, as_domain
from onetree.domain.restrict import restrict
from onetree.errors import InvalidInputError, LimitReachedError, ModelFileError
from onetree.lowering.axes import axes_of
from onetree.lowering.grid import Grid
from onetree.model.ensemble import Ensemble
from onetree.scale.checkpoint import Checkpoint
from onetree.scale.fingerprint import fingerprint
from onetree.scale.join import joined
from onetree.scale.many import run_jobs
from onetree.scale.partition import Cut, Partition, partition
from onetree.search.apart import n_apart
from onetree.search.proof import prove
from onetree.search.scoring import Scoring
from onetree.search.solution import Solution, Value, best_of, in_order, measures
from onetree.search.solve import exact_if_quick
from onetree.search.wanted import Threshold, wanted_of
from onetree.tree.tree import Tree

EXACT, STOPPED = "exact", "stopped"  # in the checkpoint: the search of the whole, and that it did not come to its end
_METHODS = ("heuristic", "auto")
_ROOT_OF_CELLS = 100_000  # of a part of about a second
_FEWEST_PARTS, _MOST_PARTS = 4, 1024


def born_again_in_parts(
    model: object,
    *,
    objective: str = DEFAULT_OBJECTIVE,
    method: str = "heuristic",
    n_parts: int | None = 32,
    domain: DomainLike | None = None,
    threshold: Threshold | None = None,
    bands: Sequence[float] | None = None,
    output: str = "auto",
    tolerance: float | None = None,
    relative: bool = False,
    keep_class: bool = True,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: ProgressOption = None,
    verify: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Solution:
    """Find one huge tree as tasks that run side by side, here or on a cluster.

    The space is cut into boxes by the heuristic's own rule; each box is converted by ``born_again(method="heuristic")``
    wherever joblib has room, and the trees are put together. The tree is as equal to the ensemble as any other, or its
    numbers as near, only not proven smallest. Parts that are alike are found more than once, so on a single processor
    ``born_again(method="heuristic")`` does less work.

    Parameters
    ----------
    model : fitted model, path or Ensemble
        What to convert.
    objective : {"depth", "leaves", "depth-leaves", "leaves-depth"}
        What the parts minimise.
    method : {"heuristic", "auto"}
        "auto" begins as `born_again` does, with an exact search if that is expected to end within a minute, and is
        content with what it proves. Nothing of it is kept until it ends. If the time limit or a stop ends it, a later
        call with the same checkpoint skips it, since it would get no further.
    n_parts : int or None
        Boxes to cut the space into, at most; fewer where it is small. The tree depends on it, so that it does not
        follow `n_jobs`, and should be several times as large. None chooses by the number of cells, so that a part
        takes seconds where that can be had.
    domain, threshold, bands, output, tolerance, relative, keep_class, memory_limit, random_state
        As in `born_again`; the limit holds for each part.
    time_limit : float, optional
        Seconds. `LimitReachedError` is raised when they have passed before all parts are done; what is done is in the
        checkpoint.
    n_jobs : int, optional
        Number of workers, as in `born_again_many`; each does one part at a time. The tree does not depend on it.
    progress : callable, False or None
        Called here with a `Progress` after each part: phase "parts", and in `done` how many are done; then in the
        phase "proof", in `done` how many of those in the checkpoint are proven again. An exception raised in it stops
        everything.
    verify : bool
        Prove each part equivalent to the ensemble inside its box, or within the tolerance there, where it is computed.
    checkpoint : path, optional
        A file for what is done. A later call with the same arguments goes on from there, so that a process that was
        killed loses no more than the parts that were underway, and ends with the same tree. It stays when all is done.

    Returns
    -------
    Solution
        The bound is that of the hardest part, which is true and weak, or that of inputs whose numbers are far apart.
        ``stats["part_seconds"]`` says what each took, with its proof.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(7, max_depth=3, random_state=0).fit(X, y)
    >>> solution = born_again_in_parts(forest, n_parts=4)
    >>> solution.stats["parts"], bool((solution.tree.predict(X) == forest.predict(X)).all())
    (4, True)
    """
    check_choice("objective", objective, OBJECTIVES)
    check_choice("method", method, _METHODS)
    if n_parts is not None and (not isinstance(n_parts, int) or n_parts < 1):
        raise InvalidInputError(f"n_parts must be a positive integer, not {n_parts!r}")
    if not isinstance(random_state, int) or random_state < 0:
        raise InvalidInputError(f"random_state must be a non-negative integer, not {random_state!r}")
    started = perf_counter()
    until = None if time_limit is None else Until.after(seconds(time_limit))
    wanted = wanted_of(model, output, threshold=threshold, bands=bands)
    ensemble = wanted.ensemble
    scoring = wanted.scoring(tolerance, relative=relative, keep_class=keep_class)
    asked = {"output": wanted.output, "tolerance": tolerance, "relative": relative, "keep_class": keep_class}
    where = as_domain(domain, ensemble)
    if n_parts is None:
        n_parts = parts_for(Grid.of(ensemble, where).n_cells)
    task = {
        "kind": "parts",
        "model": fingerprint(ensemble),
        "domain": fingerprint(where),
        "objective": objective,
        "method": method,
        "parts": n_parts,
        "random_state": random_state,
        "memory_limit": memory_limit,
        **asked,
    }
    with shown(progress) as callback, Checkpoint(checkpoint, task) as kept:
        watched = _watched(callback, until)
        memory_limit = memory_limit if checkpoint is None else _fixed_memory(kept, memory_limit)
        whole = None
        if method == "auto":
            quick = {"objective": objective, "memory_limit": memory_limit, "n_jobs": n_jobs}
            whole = _exact(kept, ensemble, where, scoring, quick, until, watched, verify)
            if whole is not None and whole.status == "optimal":
                return whole
        top = _cuts(kept, ensemble, where, n_parts, random_state, scoring, until)
        # The largest first, so that none is only begun when the others are nearly done.
        order = sorted(top.boxes, key=lambda node: (-top.boxes[node].n_cells, node))
        found = {node: part for node in order if (part := kept.get_solution(f"part {node}")) is not None}
        before, missing = len(found), [node for node in order if node not in found]
        options = {
            "objective": objective,
            "method": "heuristic",
            "memory_limit": memory_limit,
            "random_state": random_state,
            **asked,
            "progress": until or False,
            "verify": verify,
        }

        def keep(number: int, part: Solution) -> None:
            found[missing[number]] = part
            kept.put_solution(f"part {missing[number]}", part)

        def tell(report: Progress) -> None:
            n_done = before + report.done
            watched(replace(report, done=n_done, fraction=n_done / len(order)))

        run_jobs(
            ((ensemble, {**options, "domain": top.boxes[node].domain}) for node in missing),
            n_jobs=n_jobs,
            progress=tell,
            phase="parts",
            stop_at_error=True,
            keep=keep,
        )
        if verify:
            domain_of = {f"part {node}": top.boxes[node].domain for node in order if node not in missing}
            _check_found(kept, ensemble, domain_of, scoring, until, watched)
    tree = joined(top, {node: part.tree for node, part in found.items()}, restrict(ensemble, where), where)
    value = _size(tree, objective)
    # A tree of the whole, restricted to a part, is no larger: the best of a part is a bound for the whole.
    bound = max((part.lower_bound for part in found.values()), key=measures)
    if scoring is not None:
        n_leaves = n_apart(axes_of(ensemble, where), scoring, tree, random_state)
        bound = max(bound, in_order(objective, (n_leaves - 1).bit_length(), n_leaves), key=measures)
    stats = {
        "parts": len(found),
        "parts_found": before,
        "seconds": perf_counter() - started,
        "part_seconds": [found[node].stats.get("total_seconds", 0.0) for node in sorted(found)],
        "peak_bytes": max(part.stats.get("peak_bytes", 0) for part in found.values()),
        "engine": "heuristic",
    }
    found_in_parts = Solution(tree, objective, "optimal" if value == bound else "feasible", value, bound, stats)
    return found_in_parts if whole is None else best_of(found_in_parts, whole)


def _exact(
    kept: Checkpoint,
    ensemble: Ensemble,
    where: Domain | None,
    scoring: Scoring | None,
    asked: dict[str, Any],
    until: Until | None,
    progress: ProgressCallback,
    verify: bool,
) -> Solution | None:
    """Return what exact search of the whole gives, if anything, as an earlier run found it or now."""
    if EXACT in kept:
        if kept.get(EXACT) in (None, STOPPED):
            return None
        if verify:
            return _check_found(kept, ensemble, {EXACT: where}, scoring, until, progress)[0]
        return kept.get_solution(EXACT)
    try:
        found = exact_if_quick(ensemble, scoring=scoring, domain=where, **asked, progress=progress)
    except (LimitReachedError, KeyboardInterrupt):
        kept.put(EXACT, STOPPED)  # or every run of the same length would end here
        raise
    if found is None:
        kept.put(EXACT, None)
        return None
    kept.put_solution(EXACT, found)  # before its proof: what comes from the file is proven in any case
    if verify:
        left = 0.0 if until is None else _left(until)
        try:
            prove(found.tree, ensemble, started=perf_counter(), time_limit=left, report=Reporter(progress))
        except LimitReachedError:
            raise LimitReachedError(
                "a tree was found by exact search, but the work was ended before its proof; raise time_limit", found
            ) from None
    return found


def _watched(progress: ProgressCallback | None, until: Until | None) -> ProgressCallback:
    """Return a callback that ends the work at the limit, without leaving partial results."""

    def report(step: Progress) -> None:
        if until is not None:
            until()
        try:
            if progress is not None:
                progress(step)
        except StopSearch:
            raise _StoppedError("stopped before all was done") from None

    return report


class _StoppedError(LimitReachedError):
    """The caller asked to stop, so more time would not help."""


def _left(until: Until) -> float:
    """Return the seconds until then, always positive."""
    return max(until.end - time(), 1e-3)


def parts_for(n_cells: int) -> int:
    """Return into how many parts a space of so many cells is best cut for parts of a few seconds."""
    # The heuristic takes about as long as the root of the cells says, where trees are shallow, and less where they are
    # deep: then there are more parts than it needs, which costs the cuts.
    return min(max(math.isqrt(n_cells) // _ROOT_OF_CELLS, _FEWEST_PARTS), _MOST_PARTS)


def _cuts(
    kept: Checkpoint,
    ensemble: Ensemble,
    where: Domain | None,
    n_parts: int,
    seed: int,
    scoring: Scoring | None,
    until: Until | None,
) -> Partition:
    """Find the first cuts, except those that an earlier run found."""
    known = {node: _cut(kept.get(key)) for node in range(2 * n_parts) if (key := f"cut {node}") in kept}

    def made(node: int, cut: Cut) -> None:
        kept.put(f"cut {node}", {**asdict(cut), "threshold": repr(cut.threshold)})  # JSON has no infinity

    def tick() -> None:
        if until is not None:
            until()

    return partition(ensemble, where, n_parts, seed, scoring=scoring, known=known, made=made, tick=tick)


def _cut(record: dict[str, Any]) -> Cut:
    return Cut(**{**record, "threshold": float(record["threshold"])})


def _fixed_memory(kept: Checkpoint, memory_limit: float | None) -> float:
    """Return the limit of a part in gigabytes; where none is given, the one that the first run chose."""
    if memory_limit is not None:
        return memory_limit
    if "memory" not in kept:
        kept.put("memory", memory_bytes(None) / 1e9 / n_cores())
    return float(kept.get("memory"))


def _check_found(
    kept: Checkpoint,
    ensemble: Ensemble,
    domain_of: Mapping[str, Domain | None],
    scoring: Scoring | None,
    until: Until | None,
    progress: ProgressCallback,
) -> list[Solution]:
    """Prove what comes from a file, which need not be what this process would have written."""
    started = perf_counter()
    proven: list[Solution] = []

    def tell(step: Progress | None = None) -> None:
        within = 0.0 if step is None or step.fraction is None else step.fraction
        fraction = (len(proven) + within) / len(domain_of)
        progress(Progress("proof", perf_counter() - started, None, None, len(proven), fraction))

    try:
        for key, domain in domain_of.items():
            left = None if until is None else _left(until)
            solution = kept.proven_solution(key, ensemble, domain, scoring=scoring, time_limit=left, progress=tell)
            if solution is None:
                raise ModelFileError(
                    f'"{key}" in the checkpoint is not equal to the model there, or not what is asked for; delete the '
                    "file to begin again"
                )
            proven.append(solution)
            tell()
    except _StoppedError:
        raise
    except LimitReachedError:
        raise LimitReachedError(
            f"the time limit was reached when {len(proven)} of {len(domain_of)} results of earlier runs were proven "
            "again, which has to be done in one run; raise time_limit"
        ) from None
    return proven


def _size(tree: Tree, objective: str) -> Value:
    sizes = {"depth": tree.depth, "leaves": tree.n_leaves}
    if objective in sizes:
        return sizes[objective]
    first, second = objective.split("-")
    return sizes[first], sizes[second]
