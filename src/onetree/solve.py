"""From an ensemble to its tree: checks the request, runs the native engines, checks the answer."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onetree import _core
from onetree.ensemble import Ensemble, as_ensemble
from onetree.errors import FidelityError, GridTooLargeError, InvalidInputError, LimitReachedError, UnsupportedModelError
from onetree.tree import Tree

OBJECTIVES = ("depth", "leaves", "depth-leaves", "leaves-depth")
METHODS = ("auto", "exact", "heuristic")
ENGINES = ("interval-dp",)
MAX_CLASSES = 256  # a class is one byte in the native core
_AUTO_ENGINE = 0

Value = int | tuple[int, int]


@dataclass(frozen=True)
class Progress:
    """How far a search has come.

    Parameters
    ----------
    phase : str
        What is being done.
    elapsed : float
        Seconds since the start.
    lower_bound, upper_bound : int or None
        What is proven, and what is in hand, for the objective's first measure.
    states : int
        Boxes or states settled.
    fraction : float or None
        Share of the work that is done, where it is known.
    """

    phase: str
    elapsed: float
    lower_bound: int | None
    upper_bound: int | None
    states: int
    fraction: float | None


ProgressCallback = Callable[[Progress], object]
NativeCallback = Callable[[str, float, int, int, int, float], object]


@dataclass(frozen=True, eq=False)
class Solution:
    """A faithful tree and what is proven about its size.

    Parameters
    ----------
    tree : Tree
        Predicts the ensemble's class everywhere.
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
        return (
            f"Solution({self.objective}: {self.status}, depth {self.tree.depth}, {self.tree.n_leaves} leaves, "
            f"gap {self.gap:.1%}, {self.stats.get('seconds', 0.0):.3g} s)"
        )


def born_again(
    source: object,
    *,
    objective: str = "depth-leaves",
    method: str = "auto",
    engine: str | None = None,
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
        Whether to prove minimality.
    engine : {"interval-dp"}, optional
        Force one exact engine instead of the choice by size.
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
    _check_choice("objective", objective, OBJECTIVES)
    _check_choice("method", method, METHODS)
    if engine is not None:
        _check_choice("engine", engine, ENGINES)
    ensemble = _solvable(source)
    result = _run(
        lambda: _core.solve(
            ensemble,
            OBJECTIVES.index(objective),
            _AUTO_ENGINE if engine is None else 1 + ENGINES.index(engine),
            _seconds(time_limit),
            _bytes(memory_limit),
            _threads(n_jobs),
            _adapt(progress),
        )
    )
    return _solution(ensemble, objective, result["solutions"][0], result["stats"], verify)


def pareto_front(
    source: object,
    *,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    n_jobs: int = 1,
    progress: ProgressCallback | None = None,
    verify: bool = True,
) -> list[Solution]:
    """Find every best compromise between depth and leaves, from the shallowest tree to the one with fewest leaves.

    Takes the arguments of `born_again`. Each solution has the objective "depth-leaves": no tree of its depth
    has fewer leaves, and no tree with as few leaves is shallower.
    """
    ensemble = _solvable(source)
    result = _run(
        lambda: _core.pareto_front(
            ensemble, _seconds(time_limit), _bytes(memory_limit), _threads(n_jobs), _adapt(progress)
        )
    )
    return [_solution(ensemble, "depth-leaves", found, result["stats"], verify) for found in result["solutions"]]


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
    ensemble: Ensemble, objective: str, found: dict[str, Any], stats: dict[str, Any], check: bool
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
    )
    solution = Solution(
        tree=tree,
        objective=objective,
        status="optimal" if found["optimal"] else "feasible",
        value=_in_order(objective, found["depth"], found["leaves"]),
        lower_bound=_in_order(objective, found["depth_bound"], found["leaves_bound"]),
        stats=dict(stats),
    )
    if check:
        from onetree.verify import verify

        verdict = verify(tree, ensemble)
        if not verdict:
            raise FidelityError(
                f"the tree differs from the ensemble at {verdict.counterexample!r}; this is a bug in onetree, "
                "please report it with the model"
            )
    return solution


def _in_order(objective: str, depth: int, leaves: int) -> Value:
    values: dict[str, Value] = {
        "depth": depth,
        "leaves": leaves,
        "depth-leaves": (depth, leaves),
        "leaves-depth": (leaves, depth),
    }
    return values[objective]


def _measures(value: Value) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidInputError(f"unknown {name} {value!r}; use one of {', '.join(map(repr, choices))}")


def _seconds(time_limit: float | None) -> float:
    if time_limit is None:
        return 0.0
    if not time_limit > 0:
        raise InvalidInputError(f"time_limit must be positive, not {time_limit!r}")
    return float(time_limit)


def _bytes(memory_limit: float | None) -> float:
    if memory_limit is None:
        return 0.8 * _free_memory()
    if not memory_limit > 0:
        raise InvalidInputError(f"memory_limit must be positive, in gigabytes, not {memory_limit!r}")
    return float(memory_limit) * 1e9


def _free_memory() -> float:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2


def _threads(n_jobs: int) -> int:
    if n_jobs == -1:
        return os.cpu_count() or 1
    if not isinstance(n_jobs, int) or n_jobs < 1:
        raise InvalidInputError(f"n_jobs must be a positive whole number or -1, not {n_jobs!r}")
    return n_jobs


def _adapt(progress: ProgressCallback | None) -> NativeCallback | None:
    if progress is None:
        return None

    def report(phase: str, elapsed: float, lower: int, upper: int, states: int, fraction: float) -> None:
        progress(
            Progress(
                phase,
                elapsed,
                lower if lower >= 0 else None,
                upper if upper >= 0 else None,
                states,
                fraction if fraction >= 0 else None,
            )
        )

    return report
