"""From an ensemble to its tree: check the request, search, prove the answer."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from onetree import _core
from onetree.base.limits import DEFAULT_OBJECTIVE, check_choice, is_integer, memory_bytes, seconds, steps, workers
from onetree.base.limits import OBJECTIVES as OBJECTIVES
from onetree.base.progress import ProgressOption, reporting
from onetree.domain.domain import Domain, DomainLike, as_domain
from onetree.errors import GridTooLargeError, InvalidInputError, LimitReachedError, TooLargeError
from onetree.lowering.axes import axes_of
from onetree.model.ensemble import Ensemble
from onetree.search.advice import MOST_LEAVES, too_large
from onetree.search.auto import Auto
from onetree.search.budget import Budget
from onetree.search.estimate import Estimate, estimated
from onetree.search.own_tree import own_tree
from onetree.search.proof import prove_found, proven_front, time_to_search
from onetree.search.request import ENGINES, Request, run, solutions_of
from onetree.search.scoring import Scoring
from onetree.search.solution import Solution as Solution
from onetree.search.solution import best_of
from onetree.search.tolerance_front import least_tolerance
from onetree.search.wanted import Threshold, check_max_leaves, wanted_of

METHODS = ("auto", "exact", "heuristic")
DEFAULT_SECONDS = 10.0  # for search and proof of method="auto" without a limit
_MOST_SECONDS = 14.0  # a proof that is underway then may take so long in all
_BUDGET = 1.5  # seconds for an estimate
_SHARE, _LEAST = 0.04, 0.04  # of a time limit, and in seconds: for the estimate that explains why it was too short


def born_again(
    model: object,
    *,
    objective: str = DEFAULT_OBJECTIVE,
    method: str = "auto",
    engine: str | None = None,
    domain: DomainLike | None = None,
    threshold: Threshold | None = None,
    bands: Sequence[float] | None = None,
    output: str = "auto",
    tolerance: float | None = None,
    relative: bool = False,
    keep_class: bool = True,
    max_leaves: int | None = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    memory_limit: float | None = None,
    n_jobs: int | None = 1,
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
        "auto" answers within seconds: with the optimum where that is feasible, otherwise with a faithful tree, made
        smaller for about ten seconds, and bounds on its size; `TooLargeError` says that the tree would be far
        too large. With a limit it uses all of it. "exact" proves minimality, however long it takes, or says how far it
        came; "heuristic" takes any size of grid, and only the bottom of its tree is optimal. The tree is faithful in
        any case, and that of a single tree no larger than the model.
    engine : {"interval-dp", "branch-and-bound"}, optional
        Force one exact engine instead of the choice by size.
    domain : Domain or mapping, optional
        What the features can be, such as ``{"age": (18, 99), "sex": "binary", 5: "integer"}``, and which of them belong
        together, such as ``{("red", "green", "blue"): "one-hot"}``: the tree is exact, and the smallest, for these
        inputs only, which `Tree.domain` says. Both ends of a range belong to it; a feature that is named is never
        missing unless it says ``"... or missing"``. Categories go by their codes. See `domain_of` and `domain_around`.
    threshold : float, or mapping of a class to a float, optional
        Of two classes, predict the second iff its probability is at least this, or the class that is named against the
        rest; see `Ensemble.from_model`.
    bands : sequence of float, optional
        Cuts of the probability of the second of two classes: the tree tells which band it is in.
    output : {"auto", "class", "probability", "value"}
        What the tree says: the class, also the probability of each class, or the value of a regressor. "auto" is the
        class of a classifier and the value of a regressor.
    tolerance : float, optional
        For numbers: how far, at most, those of the tree may be from those that the model returns, for every input and
        in every component. 0 means equal. `tolerance_front` shows what each tolerance costs.
    relative : bool
        Whether the tolerance is a share of the model's number.
    keep_class : bool
        Whether a tree of probabilities also has the model's class everywhere.
    max_leaves : int, optional
        In place of a tolerance: find the least one that a tree with so many leaves can keep.
    time_limit : float, optional
        Seconds, with the proof, for which a tenth is kept. `LimitReachedError` says that they were too few for any
        tree, or that the proof did not end; then its `solution` holds the tree. What is found in time depends on the
        machine.
    work_limit : int, optional
        Steps of work instead of seconds: a step is a region, a block of boxes or some hundred states of the search, of
        which a second has ten thousand to a million. The result is the same on every machine; one thread does the
        work, and the proof is not counted.
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
    if not is_integer(random_state, 0):
        raise InvalidInputError(f"random_state must be a non-negative integer, not {random_state!r}")
    limit, work, n_threads = seconds(time_limit), steps(work_limit), workers(n_jobs)
    wanted = wanted_of(model, output, threshold=threshold, bands=bands)
    ensemble = wanted.ensemble
    check_max_leaves(max_leaves, tolerance, objective)
    scoring = wanted.scoring(tolerance, relative=relative, keep_class=keep_class, max_leaves=max_leaves)
    axes = axes_of(ensemble, as_domain(domain, ensemble))
    by_default = method == "auto" and engine is None and not limit and not work
    if by_default:  # from here on: to read a large model may take as long
        limit, started = DEFAULT_SECONDS, perf_counter()
    with reporting(progress) as report:
        request = Request(axes, objective, memory_bytes(memory_limit), n_threads, random_state, report, scoring)
        to_search = time_to_search(limit, verify) - (perf_counter() - started)
        budget = Budget(max(to_search, 1e-9) if limit else 0.0, work)
        if max_leaves is not None and scoring is not None:
            found = least_tolerance(request, scoring, engine, budget, max_leaves)
        else:
            found = _Search(ensemble, request, budget, by_default).by(method, engine)
        if verify:
            prove_found(found, ensemble, started, _MOST_SECONDS if by_default else limit, report)
    return found


class _Search:
    """One search by one method, and the error if it finds nothing."""

    def __init__(self, ensemble: Ensemble, request: Request, budget: Budget, by_default: bool) -> None:
        self._ensemble, self._request, self._budget, self._by_default = ensemble, request, budget, by_default
        self._estimate: Estimate | None = None

    def by(self, method: str, engine: str | None) -> Solution:
        is_plain = engine is None and self._request.scoring is None
        own = own_tree(self._request.axes, self._request.objective) if is_plain else None
        try:
            found = self._found(method, engine)
        except (LimitReachedError, GridTooLargeError) as error:
            if own is not None:
                return own
            if isinstance(error, GridTooLargeError):
                raise
            raise self._explained(error) from None
        return found if own is None or found.status == "optimal" else best_of(found, own)

    def _found(self, method: str, engine: str | None) -> Solution:
        if method == "exact" or engine is not None:
            return self._request.exact(engine, self._budget)
        if method == "auto":
            return Auto(self._request, self._budget).run(in_doubt=self._refuse_the_hopeless)
        if self._budget.is_limited:
            return Auto(self._request, self._budget).rounds()
        return self._request.bounded(*self._request.heuristic(self._budget), self._budget)

    def _refuse_the_hopeless(self) -> None:
        """Estimate how large the tree would be, when it was not found at once."""
        if self._by_default:
            self._estimate = self._estimated(_BUDGET)
            if self._estimate.leaves_range[0] > MOST_LEAVES or self._estimate.beyond:
                raise self._too_large(self._estimate)

    def _estimated(self, seconds: float) -> Estimate:
        return estimated(self._ensemble, budget=seconds, progress=False, **self._asked())

    def _too_large(self, found: Estimate) -> TooLargeError:
        return too_large(self._ensemble, found, **self._asked())

    def _asked(self) -> dict[str, Any]:
        request = self._request
        return {
            "objective": request.objective,
            "domain": request.axes.domain,
            "random_state": request.random_state,
            "scoring": request.scoring,
        }

    def _explained(self, error: LimitReachedError) -> Exception:
        """Return the error for a limit reached without a tree: how much more it takes, or that more does not help."""
        if self._request.is_stopped or "memory" in str(error):
            return error
        if self._by_default:
            guess = self._estimate or self._estimated(_BUDGET)
            if guess.beyond or guess.leaves > MOST_LEAVES:
                return self._too_large(guess)
            return LimitReachedError(
                f'no faithful tree was found in the seconds that method="auto" takes by itself: it has '
                f"{guess.leaves_in_words} and takes {guess.seconds_in_words} on a machine that is not busy; "
                "give a time_limit"
            )
        seconds = _SHARE * self._budget.seconds
        if seconds < _LEAST:
            return LimitReachedError(
                f"{error}, if estimate(model) says that the tree is feasible; support_tree(model, X) gives one of any "
                "size that follows the model where your data are"
            )
        found = self._estimated(min(_BUDGET, seconds))
        if found.beyond or found.leaves > MOST_LEAVES:
            return LimitReachedError(
                "no faithful tree was found in time, and more time does not help: it would have "
                f"{found.leaves_in_words} and take {found.seconds_in_words}; support_tree(model, X) gives a tree of "
                "any size that follows the model where your data are"
            )
        return LimitReachedError(
            f"{error}: the tree has {found.leaves_in_words} and takes {found.seconds_in_words}. Or take "
            "support_tree(model, X), which follows the model where your data are"
        )


def exact_if_quick(
    ensemble: Ensemble,
    *,
    objective: str,
    scoring: Scoring | None = None,
    domain: Domain | None = None,
    memory_limit: float | None = None,
    n_jobs: int | None = 1,
    progress: ProgressOption = None,
) -> Solution | None:
    """Run the first step of ``method="auto"``: the optimum where it is expected within a minute, else what is known.

    Nothing is proven about the tree. None where the grid is too large to look at.
    """
    axes = axes_of(ensemble, domain)
    try:
        with reporting(progress) as report:
            request = Request(axes, objective, memory_bytes(memory_limit), workers(n_jobs), 0, report, scoring)
            return request.exact_table(Budget())
    except GridTooLargeError:
        return None


def pareto_front(
    model: object,
    *,
    domain: DomainLike | None = None,
    threshold: Threshold | None = None,
    bands: Sequence[float] | None = None,
    output: str = "auto",
    tolerance: float | None = None,
    relative: bool = False,
    keep_class: bool = True,
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
    wanted = wanted_of(model, output, threshold=threshold, bands=bands)
    scoring = wanted.scoring(tolerance, relative=relative, keep_class=keep_class)
    axes = axes_of(wanted.ensemble, as_domain(domain, wanted.ensemble))
    to_search = time_to_search(limit, verify)
    with reporting(progress) as report:
        limits = (to_search, memory_bytes(memory_limit), workers(n_jobs), report)
        if scoring is None:
            outcome = run(lambda: _core.pareto_front(axes.ensemble, *limits))
        else:
            outcome = run(lambda: _core.score_front(axes.ensemble, scoring.n_columns, scoring.admit, *limits))
        front = solutions_of(axes, "depth-leaves", outcome, scoring)
        return proven_front(front, wanted.ensemble, started, limit, report) if verify else front
