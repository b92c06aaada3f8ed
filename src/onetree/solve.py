"""From an ensemble to its tree: checks the request, runs the native engines, checks the answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from onetree import _core
from onetree.axes import Axes, axes_of
from onetree.domain import DomainLike
from onetree.ensemble import Ensemble, as_ensemble
from onetree.errors import GridTooLargeError, InvalidInputError, LimitReachedError, UnsupportedModelError
from onetree.limits import DEFAULT_OBJECTIVE, check_choice, is_whole, memory_bytes, seconds, workers
from onetree.limits import OBJECTIVES as OBJECTIVES
from onetree.progress import ProgressOption, Reporter, reporting
from onetree.proof import prove, time_to_search
from onetree.solution import Solution as Solution
from onetree.solution import best_of, in_order

METHODS = ("auto", "exact", "heuristic")
ENGINES = ("interval-dp", "branch-and-bound")
MAX_CLASSES = 256  # a class is one byte in the native core
_AUTO_ENGINE, _QUICK_TABLE = 0, 4  # in the core's numbers; 1 and 2 are ENGINES
_AUTO_BOXES = 0.0  # the heuristic chooses how large a grid goes to the exact engine


def born_again(
    model: object,
    *,
    objective: str = DEFAULT_OBJECTIVE,
    method: str = "auto",
    engine: str | None = None,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    n_jobs: int = 1,
    random_state: int = 0,
    progress: ProgressOption = None,
    verify: bool = True,
) -> Solution:
    """Find the smallest tree that predicts exactly like an ensemble.

    Parameters
    ----------
    model : fitted model, path or Ensemble
        What to convert; a path leads to a file that `load_ensemble` reads.
    objective : {"depth", "leaves", "depth-leaves", "leaves-depth"}
        What to minimise; the two-stage objectives settle ties of the first measure by the second.
    method : {"auto", "exact", "heuristic"}
        "exact" proves minimality, or says how far it came; "heuristic" takes any size of grid and only its bottom is
        optimal; "auto" is exact where the grid allows it, heuristic otherwise. The tree is faithful in any case.
    engine : {"interval-dp", "branch-and-bound"}, optional
        Force one exact engine instead of the choice by size.
    domain : Domain or mapping, optional
        What the features can be, such as ``{"age": (18, 99), "sex": "binary", 5: "integer"}``, and which of them belong
        together, such as ``{("red", "green", "blue"): "one-hot"}``: the tree is exact, and the smallest, for these
        inputs only, which `Tree.domain` says. Both ends of a range belong to it; a feature that is named is never
        missing unless it says ``"... or missing"``. Categories go by their codes. See `domain_of` and `domain_around`.
    time_limit : float, optional
        Seconds, with the proof, for which a tenth is kept. `LimitReachedError` says that they were too few for any
        tree, or that the proof did not end; then its `solution` holds the tree.
    memory_limit : float, optional
        Gigabytes; by default 80 % of what the machine has free.
    n_jobs : int
        Number of workers, which are threads here; -1 for one per processor. The result does not depend on it.
    random_state : int
        Seed of the heuristic; exact search has no use for it.
    progress : callable, False or None
        Called with a `Progress` about ten times a second. `StopSearch` raised in it ends the work with the best tree
        so far, as a time limit would; any other exception ends it without one. None shows a bar on a terminal or in a
        notebook, once the work has taken a second; False shows nothing.
    verify : bool
        Prove the tree equivalent before it is returned.

    Returns
    -------
    Solution

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> solution = born_again(forest, objective="leaves")
    >>> solution.status, bool((solution.tree.predict(X) == forest.predict(X)).all())
    ('optimal', True)
    """
    started = perf_counter()
    check_choice("objective", objective, OBJECTIVES)
    check_choice("method", method, METHODS)
    if engine is not None:
        check_choice("engine", engine, ENGINES)
        if method == "heuristic":
            raise InvalidInputError('engine= chooses among the exact engines; leave it out with method="heuristic"')
    if not is_whole(random_state, 0):
        raise InvalidInputError(f"random_state must be a non-negative integer, not {random_state!r}")
    limit, n_threads = seconds(time_limit), workers(n_jobs)
    ensemble = _solvable(model)
    axes = axes_of(ensemble, domain)
    with reporting(progress) as report:
        to_search = time_to_search(limit, verify) - (perf_counter() - started)
        to_search = max(to_search, 1e-9) if limit else 0.0
        request = _Request(axes, objective, to_search, memory_bytes(memory_limit), report)
        if method == "heuristic":
            found = request.heuristic(random_state)
        elif method == "exact" or engine is not None:
            found = request.exact(engine, n_threads)
        else:
            found = request.either(n_threads, random_state)
        if verify:
            _prove(found, ensemble, started, limit, report)
    return found


@dataclass(frozen=True, eq=False)
class _Request:
    """One ensemble, one objective, the limits: what every method needs."""

    axes: Axes
    objective: str
    time_limit: float  # 0: none
    memory_limit: float
    progress: Any

    def exact(self, engine: str | None, n_threads: int) -> Solution:
        return self._solve(_AUTO_ENGINE if engine is None else 1 + ENGINES.index(engine), n_threads)

    def exact_table(self, n_threads: int) -> Solution:
        return self._solve(_QUICK_TABLE, n_threads)

    def _solve(self, number: int, n_threads: int) -> Solution:
        objective = OBJECTIVES.index(self.objective)
        return self._run(
            lambda: _core.solve(
                self.axes.ensemble, objective, number, self.time_limit, self.memory_limit, n_threads, self.progress
            )
        )

    def heuristic(self, random_state: int) -> Solution:
        objective = OBJECTIVES.index(self.objective)
        return self._run(
            lambda: _core.heuristic(
                self.axes.ensemble,
                objective,
                _AUTO_BOXES,
                random_state,
                self.time_limit,
                self.memory_limit,
                self.progress,
            )
        )

    def either(self, n_threads: int, random_state: int) -> Solution:
        """Prove the optimum where that is expected to fit; otherwise take the best that both methods find."""
        start = perf_counter()
        proven = None
        try:
            proven = self.exact_table(n_threads)
            if proven.status == "optimal":
                return proven
        except GridTooLargeError:
            pass
        left = self.time_limit - (perf_counter() - start) if self.time_limit else 0.0
        if proven is not None and self.time_limit and left <= 0:
            return proven
        try:
            found = replace(self, time_limit=max(left, 1e-9) if self.time_limit else 0.0).heuristic(random_state)
        except LimitReachedError:
            if proven is None:
                raise
            return proven
        return found if proven is None else best_of(found, proven)

    def _run(self, job: Callable[[], dict[str, Any]]) -> Solution:
        result = _run(job)
        return _solution(self.axes, self.objective, result["solutions"][0], result["stats"])


def exact_if_quick(
    model: object,
    *,
    objective: str,
    domain: DomainLike | None = None,
    memory_limit: float | None = None,
    n_jobs: int | None = 1,
    progress: ProgressOption = None,
) -> Solution | None:
    """Take the first step of ``method="auto"``: the optimum where it is expected within a minute, else what is known.

    Nothing is proven about the tree. None where the grid is too large to look at.
    """
    axes = axes_of(_solvable(model), domain)
    try:
        with reporting(progress) as report:
            request = _Request(axes, objective, 0.0, memory_bytes(memory_limit), report)
            return request.exact_table(workers(n_jobs))
    except GridTooLargeError:
        return None


def pareto_front(
    model: object,
    *,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    n_jobs: int = 1,
    progress: ProgressOption = None,
    verify: bool = True,
) -> list[Solution]:
    """Find every best compromise between depth and leaves, from the shallowest tree to the one with fewest leaves.

    Takes the arguments of `born_again`. Each solution has the objective "depth-leaves": no tree of its depth
    has fewer leaves, and no tree with as few leaves is shallower. At a limit, what is proven so far comes back with
    ``stats["complete"]`` False; where that is nothing, a single faithful tree of status "feasible".
    """
    started, limit = perf_counter(), seconds(time_limit)
    ensemble = _solvable(model)
    axes = axes_of(ensemble, domain)
    to_search = time_to_search(limit, verify)
    with reporting(progress) as report:
        result = _run(
            lambda: _core.pareto_front(axes.ensemble, to_search, memory_bytes(memory_limit), workers(n_jobs), report)
        )
        front = [_solution(axes, "depth-leaves", found, result["stats"]) for found in result["solutions"]]
        return _proven(front, ensemble, started, limit, report) if verify else front


def _proven(
    front: list[Solution], ensemble: Ensemble, started: float, time_limit: float, report: Reporter | None
) -> list[Solution]:
    """Return the beginning of a front that could be proven in time."""
    proven: list[Solution] = []
    try:
        for solution in front:
            if proven and time_limit and perf_counter() - started > time_limit:
                break
            _prove(solution, ensemble, started, time_limit, report)
            proven.append(solution)
    except LimitReachedError:
        if not proven:
            raise
    if len(proven) < len(front):
        proven = [replace(each, stats={**each.stats, "complete": False}) for each in proven]
    return proven


def _solvable(source: object) -> Ensemble:
    ensemble = as_ensemble(source)
    if ensemble.n_classes > MAX_CLASSES:
        raise UnsupportedModelError(
            f"the model has {ensemble.n_classes} classes and at most {MAX_CLASSES} are supported; merge rare classes"
        )
    return ensemble


def _run(job: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return job()
    except _core.GridTooLarge as error:
        raise GridTooLargeError(
            f"the grid is too large to enumerate ({error}); bin the features, use fewer or shallower trees, "
            "or raise memory_limit"
        ) from None
    except _core.LimitReached as error:
        if str(error) == "stop":
            raise LimitReachedError("stopped before any faithful tree was found") from None
        raise LimitReachedError(
            f"the {error} limit was reached before any faithful tree was found; raise {error}_limit"
        ) from None
    except MemoryError:  # the limit is about what is asked for on purpose, and the machine may have less
        raise LimitReachedError(
            "the machine had no memory left before any faithful tree was found; lower memory_limit, or give it more"
        ) from None


def _solution(axes: Axes, objective: str, found: dict[str, Any], stats: dict[str, Any]) -> Solution:
    tree = axes.tree(
        found["feature"], found["threshold"], found["children_left"], found["children_right"], found["leaf_class"]
    )
    return Solution(
        tree=tree,
        objective=objective,
        status="optimal" if found["optimal"] else "feasible",
        value=in_order(objective, found["depth"], found["leaves"]),
        lower_bound=in_order(objective, found["depth_bound"], found["leaves_bound"]),
        stats=dict(stats),
    )


def _prove(found: Solution, ensemble: Ensemble, started: float, time_limit: float, report: Reporter | None) -> None:
    try:
        prove(found.tree, ensemble, started=started, time_limit=time_limit, report=report)
    except LimitReachedError as error:
        error.solution = found
        raise
