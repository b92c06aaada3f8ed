"""Trees of numbers for every tolerance that matters, and the nearest tree of a size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import perf_counter

from onetree import _core
from onetree.base.limits import OBJECTIVES, check_choice, is_number, memory_bytes, seconds, workers
from onetree.base.progress import ProgressOption, reporting
from onetree.domain.domain import DomainLike, as_domain
from onetree.errors import InvalidInputError, LimitReachedError
from onetree.lowering.axes import axes_of
from onetree.search.budget import Budget
from onetree.search.proof import proven_front, time_to_search
from onetree.search.request import ENGINES, Request, run
from onetree.search.scoring import Scoring
from onetree.search.solution import Solution
from onetree.search.tolerances import Steps, every_step
from onetree.search.wanted import check_max_leaves, check_promise, wanted_of
from onetree.tree.leaf_values import check_tolerance


def tolerance_front(
    model: object,
    *,
    output: str = "auto",
    objective: str = "leaves",
    tolerances: Iterable[float] | None = None,
    max_leaves: int | None = None,
    relative: bool = False,
    keep_class: bool = True,
    engine: str | None = None,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    n_jobs: int = 1,
    progress: ProgressOption = None,
    verify: bool = True,
) -> list[Solution]:
    """Find the fewest leaves for each tolerance: how much nearer a larger tree is.

    Takes the arguments of `born_again`. The fewest leaves are a function of the tolerance that goes down in steps, and
    each of its steps is found and proven: a solution has the fewest leaves of all trees within its ``tree.tolerance``,
    and no smaller tolerance is kept by a tree with so few leaves. The last step is tolerance 0, except for a stack
    with a linear model at its end: the last bits of its probabilities depend on how many rows are predicted at once,
    so that equal ones cannot be promised. That step is left out then, and the tolerances of the others are larger by
    1e-12.

    Parameters
    ----------
    output : {"auto", "probability", "value"}
        "auto" is the value of a regressor and the probabilities of a classifier.
    objective : {"leaves", "leaves-depth"}
        With `tolerances`, any objective.
    tolerances : iterable of float, optional
        Only for these, in this order: the best tree within each.
    max_leaves : int, optional
        Only trees with so many leaves at most. A large model has thousands of steps.
    time_limit : float, optional
        Seconds. What is proven by then comes back, with ``stats["complete"]`` False.

    Returns
    -------
    list of Solution
        From the largest tolerance, with the fewest leaves, to the smallest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
    >>> front = tolerance_front(forest, tolerances=[0.4, 0.0])
    >>> [solution.tree.tolerance for solution in front], front[0].value <= front[1].value
    ([0.4, 0.0], True)
    """
    started, limit = perf_counter(), seconds(time_limit)
    check_choice("objective", objective, OBJECTIVES)
    if engine is not None:
        check_choice("engine", engine, ENGINES)
    if tolerances is None:
        check_max_leaves(1 if max_leaves is None else max_leaves, None, objective)
    elif max_leaves is not None:
        raise InvalidInputError("max_leaves= goes with the tolerances where the tree changes; leave tolerances= out")
    if output == "class":
        raise InvalidInputError('classes have no tolerance; ask for output="probability"')
    wanted = wanted_of(model, output)
    if wanted.output == "class":
        wanted = wanted_of(model, "probability")
    scoring = wanted.numbers(0.0, relative=relative, keep_class=keep_class)
    axes = axes_of(wanted.ensemble, as_domain(domain, wanted.ensemble))
    asked = None if tolerances is None else _listed(tolerances, relative)
    with reporting(progress) as report:
        request = Request(axes, objective, memory_bytes(memory_limit), workers(n_jobs), 0, report, scoring)
        budget = Budget(max(time_to_search(limit, verify), 1e-9) if limit else 0.0)
        if asked is not None:
            near = [scoring.within(each) for each in asked]
            for each in near:
                check_promise(each)
            front = _of_tolerances([replace(request, scoring=each) for each in near], engine, budget)
        else:
            front = every_step(_steps(request, scoring, engine, budget), max_leaves)
        return proven_front(front, wanted.ensemble, started, limit, report) if verify else front


def least_tolerance(
    request: Request, scoring: Scoring, engine: str | None, budget: Budget, max_leaves: int
) -> Solution:
    """Return the tree of the least tolerance with at most so many leaves; how it is proven, `Steps` says."""
    steps = _steps(request, scoring, engine, budget)
    first = steps.first()
    if first.tree.n_leaves <= max_leaves:
        return steps.least(first, max_leaves)
    why = "the class alone needs more leaves" if scoring.keep_class else "a share of numbers around zero is below 1"
    raise InvalidInputError(
        f"no tolerance allows a tree with max_leaves={max_leaves}: {why}, {first.tree.n_leaves} at least; "
        f"raise max_leaves{', or give keep_class=False' if scoring.keep_class else ''}"
    )


def _steps(request: Request, scoring: Scoring, engine: str | None, budget: Budget) -> Steps:
    scoring = replace(scoring, has_extremes=True)

    def solve(tolerance: float) -> Solution:
        return replace(request, scoring=scoring.within(tolerance)).exact(engine, budget)

    allowed, _ = budget.allow()
    sums = run(lambda: _core.distinct_sums(request.axes.ensemble, allowed, request.memory_limit, request.progress))
    # Between the slack and twice of it, steps are those of the last bits.
    return Steps(solve, scoring.largest_tolerance(sums), 2 * scoring.slack)


def _of_tolerances(requests: Sequence[Request], engine: str | None, budget: Budget) -> list[Solution]:
    front: list[Solution] = []
    try:
        for request in requests:
            found = request.exact(engine, budget)
            if found.status != "optimal" and front:
                raise LimitReachedError("a limit was reached before the tree of a tolerance was proven")
            front.append(found)
    except LimitReachedError:
        if not front:
            raise
        front = [replace(each, stats={**each.stats, "complete": False}) for each in front]
    return front


def _listed(tolerances: Iterable[float], relative: bool) -> list[float]:
    try:
        listed = list(tolerances)
    except TypeError:
        listed = []  # a number, or an array that is one
    if not listed or not all(map(is_number, listed)):
        raise InvalidInputError(f"tolerances must be a list of numbers, such as [0.05, 0.1], not {tolerances!r}")
    for each in listed:
        check_tolerance(each, relative=relative)
    return [float(each) for each in listed]
