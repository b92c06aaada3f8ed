"""What is asked of the native core, and what it answers: one ensemble, one objective, the limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeVar

from onetree import _core
from onetree.base.progress import Reporter
from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.lowering.axes import Axes
from onetree.lowering.choices import objective_of
from onetree.search.apart import n_apart
from onetree.search.budget import Budget
from onetree.search.scoring import Scoring
from onetree.search.solution import Solution, in_order, measures

Answer = TypeVar("Answer")

ENGINES = ("interval-dp", "branch-and-bound")
_ENGINE = {
    None: _core.Engine.AUTO,
    "interval-dp": _core.Engine.INTERVAL_DP,
    "branch-and-bound": _core.Engine.BRANCH_AND_BOUND,
}
_AUTO_BOXES = 0.0  # the heuristic chooses how large a grid goes to the exact engine


@dataclass(frozen=True, eq=False)
class Request:
    """One ensemble, one objective, the limits: what every method needs."""

    axes: Axes
    objective: str
    memory_limit: float  # bytes
    n_threads: int
    random_state: int
    progress: Reporter | None
    scoring: Scoring | None = None  # where leaves carry numbers

    @property
    def is_stopped(self) -> bool:
        """Whether the caller has asked to stop."""
        return self.progress is not None and self.progress.stopped_at is not None

    def exact(self, engine: str | None, budget: Budget) -> Solution:
        """Search for the optimum; at a limit, give the best tree so far."""
        return self._solve(_ENGINE[engine], budget)

    def exact_table(self, budget: Budget) -> Solution:
        """Find the optimum if the table of all boxes is expected to be done in time, in a minute without a limit."""
        return self._solve(_core.Engine.QUICK_TABLE, budget)

    def heuristic(
        self, budget: Budget, share: float = 1.0, max_boxes: float = _AUTO_BOXES
    ) -> tuple[Solution, _core.FlatTree]:
        """Find a faithful tree, whose parts of up to `max_boxes` boxes are optimal, in a share of what is left.

        Also returns the tree as the core has it, for `bounded`.
        """
        objective = objective_of(self.objective)
        seconds, steps = budget.allow(share)
        limits = (seconds, steps, self.memory_limit, self._threads(steps), self.progress)
        asked = (objective, max_boxes, self.random_state, *limits)
        ensemble, scoring = self.axes.ensemble, self.scoring
        if scoring is None:
            return self._found(budget, steps, lambda: _core.heuristic(ensemble, *asked))
        return self._found(budget, steps, lambda: _core.score_heuristic(ensemble, scoring, *asked))

    def bounded(self, found: Solution, nodes: _core.FlatTree, budget: Budget, share: float = 1.0) -> Solution:
        """Return a solution of the heuristic with the bounds that its tree gives, in a share of what is left.

        They hold for every tree that is equal to this one, so they rest on its proof; those of a tree within a
        tolerance, for all within it.
        """
        if found.status == "optimal" or self.is_stopped:
            return found
        if self.scoring is not None:
            started = perf_counter()
            n_leaves = n_apart(self.axes, self.scoring, found.tree, self.random_state)
            return self._raised(found, (n_leaves - 1).bit_length(), n_leaves, perf_counter() - started)
        seconds, steps = budget.allow(share)
        n_threads = self._threads(steps)
        bounds = _core.tree_bounds(
            self.axes.ensemble, nodes, seconds, steps, self.memory_limit, n_threads, self.progress
        )
        budget.charge(bounds.work)
        return self._raised(found, bounds.depth, bounds.leaves, bounds.seconds, bounds.work, bounds.peak_bytes)

    def _raised(
        self, found: Solution, depth: int, leaves: int, seconds: float, work: int = 0, peak_bytes: int = 0
    ) -> Solution:
        """Return a solution with bounds that hold besides its own, and what they took."""
        others = measures(in_order(self.objective, depth, leaves))
        known = [max(pair) for pair in zip(measures(found.lower_bound), others, strict=True)]
        lower_bound = known[0] if len(known) == 1 else (known[0], known[1])
        stats = {
            **found.stats,
            "seconds": found.stats["seconds"] + seconds,
            "work": found.stats["work"] + work,
            "peak_bytes": max(found.stats["peak_bytes"], peak_bytes),
        }
        status = "optimal" if lower_bound == found.value else "feasible"
        return replace(found, lower_bound=lower_bound, status=status, stats=stats)

    def _solve(self, engine: _core.Engine, budget: Budget) -> Solution:
        objective = objective_of(self.objective)
        seconds, steps = budget.allow()
        n_threads = self._threads(steps)
        limits = (seconds, steps, self.memory_limit, n_threads, self.progress)
        ensemble, scoring = self.axes.ensemble, self.scoring
        if scoring is None:
            return self._found(budget, steps, lambda: _core.solve(ensemble, objective, engine, *limits))[0]
        return self._found(
            budget,
            steps,
            lambda: _core.solve_scores(ensemble, scoring.n_columns, scoring.admit, objective, engine, *limits),
        )[0]

    def _threads(self, steps: int) -> int:
        # The steps of one thread do not depend on what the others do.
        return 1 if steps else self.n_threads

    def _found(self, budget: Budget, steps: int, job: Callable[[], _core.Outcome]) -> tuple[Solution, _core.FlatTree]:
        try:
            outcome = run(job)
        except LimitReachedError:
            budget.charge(steps)
            raise
        budget.charge(outcome.statistics.work)
        return solutions_of(self.axes, self.objective, outcome, self.scoring)[0], outcome.solutions[0].tree


def run(job: Callable[[], Answer]) -> Answer:
    """Run a job of the core; translate what stops it into an error of onetree."""
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
    except MemoryError:  # the limit covers planned allocations only, and the machine may have less
        raise LimitReachedError(
            "the machine ran out of memory before any faithful tree was found; lower memory_limit, or add memory"
        ) from None


def solutions_of(axes: Axes, objective: str, outcome: _core.Outcome, scoring: Scoring | None = None) -> list[Solution]:
    """Return what the core found, on the features of the ensemble."""
    statistics = outcome.statistics
    stats: dict[str, Any] = {
        "cells": int(statistics.cells),
        "boxes": int(statistics.boxes),
        "states": statistics.states,
        "seconds": statistics.seconds,
        "work": statistics.work,
        "peak_bytes": statistics.peak_bytes,
        "engine": statistics.engine,
        "complete": outcome.is_complete,
    }
    solutions = []
    for found in outcome.solutions:
        nodes = found.tree
        if scoring is not None:
            tree = (scoring.nearest_tree if scoring.has_extremes else scoring.tree)(axes, nodes, outcome)
        else:
            tree = axes.tree(
                nodes.feature, nodes.threshold, nodes.children_left, nodes.children_right, nodes.leaf_class
            )
        solutions.append(
            Solution(
                tree=tree,
                objective=objective,
                status="optimal" if found.optimal else "feasible",
                value=in_order(objective, found.depth, found.leaves),
                lower_bound=in_order(objective, found.depth_bound, found.leaves_bound),
                stats=dict(stats),
            )
        )
    return solutions
