"""From an ensemble to its tree: checks the request, runs the native engines, checks the answer."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from numpy.typing import ArrayLike

from onetree import _core
from onetree.domain import Domain, DomainLike, as_domain
from onetree.ensemble import Ensemble, as_ensemble
from onetree.errors import FidelityError, GridTooLargeError, InvalidInputError, LimitReachedError, UnsupportedModelError
from onetree.limits import OBJECTIVES as OBJECTIVES
from onetree.limits import ProgressCallback, adapt, check_choice, memory_bytes, seconds, threads
from onetree.restrict import restrict
from onetree.tree import Tree

METHODS = ("auto", "exact", "heuristic")
ENGINES = ("interval-dp", "branch-and-bound")
MAX_CLASSES = 256  # a class is one byte in the native core
_AUTO_ENGINE, _QUICK_TABLE = 0, 4  # in the core's numbers; 1 and 2 are ENGINES
_AUTO_BOXES = 0.0  # the heuristic chooses how large a grid goes to the exact engine

Value = int | tuple[int, int]


@dataclass(frozen=True, eq=False)
class Solution:
    """A faithful tree and what is proven about its size.

    Parameters
    ----------
    tree : Tree
        Predicts the ensemble's class everywhere, or everywhere inside `Tree.domain`.
    objective : str
        What was minimised.
    status : {"optimal", "feasible"}
        Whether no smaller tree exists, or a limit came first.
    value, lower_bound : int or pair of int
        Size of the tree and what is proven: one number for depth or leaves, two in the objective's order
        for the two-stage objectives.
    stats : dict
        cells, boxes, states, seconds, peak_bytes, engine.
    """

    tree: Tree
    objective: str
    status: str
    value: Value
    lower_bound: Value
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """How much larger than the bound the tree is, at worst: 0.0 when it is optimal."""
        if self.status == "optimal":
            return 0.0
        for value, bound in zip(_measures(self.value), _measures(self.lower_bound), strict=True):
            if value > bound:
                return (value - bound) / bound if bound > 0 else float(value)
        return 0.0

    def __repr__(self) -> str:
        where = "" if self.tree.domain is None else ", inside a domain"
        return (
            f"Solution({self.objective}: {self.status}, depth {self.tree.depth}, {self.tree.n_leaves} leaves, "
            f"gap {self.gap:.1%}, {self.stats.get('seconds', 0.0):.3g} s{where})"
        )


def born_again(
    source: object,
    *,
    objective: str = "depth-leaves",
    method: str = "auto",
    engine: str | None = None,
    domain: DomainLike | None = None,
    support: ArrayLike | None = None,
    held_out: ArrayLike | None = None,
    fidelity: float | None = None,
    max_leaves: int | None = None,
    certify: bool = False,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    n_jobs: int = 1,
    random_state: int = 0,
    progress: ProgressCallback | None = None,
    verify: bool = True,
) -> Solution:
    """Find the smallest tree that predicts exactly like an ensemble.

    Parameters
    ----------
    source : fitted model or Ensemble
        What to convert.
    objective : {"depth", "leaves", "depth-leaves", "leaves-depth"}
        What to minimise; the two-stage objectives settle ties of the first measure by the second.
    method : {"auto", "exact", "heuristic"}
        "exact" proves minimality, or says how far it came; "heuristic" takes any size of grid and only its bottom is
        optimal; "auto" is exact where the grid allows it, heuristic otherwise. The tree is faithful in any case.
    engine : {"interval-dp", "branch-and-bound"}, optional
        Force one exact engine instead of the choice by size.
    domain : Domain or mapping, optional
        What the features can be, such as ``{"age": (18, 99), "sex": "binary", 5: "integer"}``: the tree is exact, and
        the smallest, for these inputs only, which `Tree.domain` says. Both ends of a range belong to it; a feature that
        is named is never missing unless it says ``"... or missing"``. See `domain_of` and `domain_around`.
    support : array of shape (n_rows, n_features), optional
        Reference rows. Then the tree follows the ensemble only where these are, for models of any size, and is marked
        as not exact; with ``method="exact"`` it is the smallest that does. The result is a `SupportSolution`.
    held_out, fidelity, max_leaves, certify
        Only with `support`: what is measured and promised, see `onetree.support.support_tree`.
    time_limit : float, optional
        Seconds.
    memory_limit : float, optional
        Gigabytes; by default 80 % of what the machine has free.
    n_jobs : int
        Threads; -1 for all processors. The result does not depend on it.
    random_state : int
        Seed of the heuristic; exact search has no use for it.
    progress : callable, optional
        Called with a `Progress` about ten times a second; an exception raised in it stops the search.
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
    check_choice("objective", objective, OBJECTIVES)
    check_choice("method", method, METHODS)
    if engine is not None:
        check_choice("engine", engine, ENGINES)
        if method == "heuristic":
            raise InvalidInputError('engine= chooses among the exact engines; leave it out with method="heuristic"')
    if not isinstance(random_state, int) or random_state < 0:
        raise InvalidInputError(f"random_state must be a whole number from 0 on, not {random_state!r}")
    if support is not None:
        from onetree.support import support_tree

        if domain is not None or engine is not None:
            raise InvalidInputError("support= builds from rows and has no use for domain= and engine=; leave them out")
        return support_tree(
            source,
            support,
            held_out=held_out,
            fidelity=fidelity,
            max_leaves=max_leaves,
            certify=certify,
            optimal=method == "exact",
            objective=objective,
            time_limit=time_limit,
            random_state=random_state,
            progress=progress,
        )
    if held_out is not None or fidelity is not None or max_leaves is not None or certify:
        raise InvalidInputError("held_out, fidelity, max_leaves and certify belong to support=; give it the rows")
    ensemble = _solvable(source)
    where = as_domain(domain, ensemble.feature_names, ensemble.nan_features)
    inside = restrict(ensemble, where)
    request = _Request(inside, where, objective, seconds(time_limit), memory_bytes(memory_limit), adapt(progress))
    if method == "heuristic":
        found = request.heuristic(random_state)
    elif method == "exact" or engine is not None:
        found = request.exact(engine, threads(n_jobs))
    else:
        found = request.either(threads(n_jobs), random_state)
    if verify:
        _prove(found.tree, ensemble)
    return found


@dataclass(frozen=True, eq=False)
class _Request:
    """One ensemble, one objective, the limits: what every method needs."""

    ensemble: Ensemble  # inside the domain
    domain: Domain | None
    objective: str
    time_limit: float  # 0: none
    memory_limit: float
    progress: Any

    def exact(self, engine: str | None, n_threads: int) -> Solution:
        return self._solve(_AUTO_ENGINE if engine is None else 1 + ENGINES.index(engine), n_threads)

    def _solve(self, number: int, n_threads: int) -> Solution:
        objective = OBJECTIVES.index(self.objective)
        return self._run(
            lambda: _core.solve(
                self.ensemble, objective, number, self.time_limit, self.memory_limit, n_threads, self.progress
            )
        )

    def heuristic(self, random_state: int) -> Solution:
        objective = OBJECTIVES.index(self.objective)
        return self._run(
            lambda: _core.heuristic(
                self.ensemble,
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
            proven = self._solve(_QUICK_TABLE, n_threads)
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
        if proven is None:
            return found
        best = min(found, proven, key=lambda each: _measures(each.value))
        bound = max(found.lower_bound, proven.lower_bound, key=_measures)
        return replace(best, lower_bound=bound, status="optimal" if best.value == bound else best.status)

    def _run(self, job: Callable[[], dict[str, Any]]) -> Solution:
        result = _run(job)
        return _solution(self.ensemble, self.domain, self.objective, result["solutions"][0], result["stats"])


def pareto_front(
    source: object,
    *,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    n_jobs: int = 1,
    progress: ProgressCallback | None = None,
    verify: bool = True,
) -> list[Solution]:
    """Find every best compromise between depth and leaves, from the shallowest tree to the one with fewest leaves.

    Takes the arguments of `born_again`. Each solution has the objective "depth-leaves": no tree of its depth
    has fewer leaves, and no tree with as few leaves is shallower. At a limit, what is proven so far comes back with
    ``stats["complete"]`` False; where that is nothing, a single faithful tree of status "feasible".
    """
    ensemble = _solvable(source)
    where = as_domain(domain, ensemble.feature_names, ensemble.nan_features)
    inside = restrict(ensemble, where)
    result = _run(
        lambda: _core.pareto_front(
            inside, seconds(time_limit), memory_bytes(memory_limit), threads(n_jobs), adapt(progress)
        )
    )
    front = [_solution(inside, where, "depth-leaves", found, result["stats"]) for found in result["solutions"]]
    if verify:
        for solution in front:
            _prove(solution.tree, ensemble)
    return front


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
        raise LimitReachedError(
            f"the {error} limit was reached before any faithful tree was found; raise {error}_limit"
        ) from None


def _solution(
    ensemble: Ensemble, domain: Domain | None, objective: str, found: dict[str, Any], stats: dict[str, Any]
) -> Solution:
    tree = Tree(
        feature=found["feature"],
        threshold=found["threshold"],
        children_left=found["children_left"],
        children_right=found["children_right"],
        leaf_class=found["leaf_class"],
        classes=ensemble.classes,
        feature_names=ensemble.feature_names,
        nan_features=ensemble.nan_features,
        domain=domain,
    )
    return Solution(
        tree=tree,
        objective=objective,
        status="optimal" if found["optimal"] else "feasible",
        value=in_order(objective, found["depth"], found["leaves"]),
        lower_bound=in_order(objective, found["depth_bound"], found["leaves_bound"]),
        stats=dict(stats),
    )


def _prove(tree: Tree, ensemble: Ensemble) -> None:
    from onetree.verify import verify

    verdict = verify(tree, ensemble)
    if not verdict:
        raise FidelityError(
            f"the tree differs from the ensemble at {verdict.counterexample!r}; this is a bug in onetree, "
            "please report it with the model"
        )


def in_order(objective: str, depth: int, leaves: int) -> Value:
    """Give the measures that an objective names, in its order."""
    values: dict[str, Value] = {
        "depth": depth,
        "leaves": leaves,
        "depth-leaves": (depth, leaves),
        "leaves-depth": (leaves, depth),
    }
    return values[objective]


def _measures(value: Value) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)
