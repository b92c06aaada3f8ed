"""Estimates of how large the tree of an ensemble would be, and how long the search would take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onetree import _core
from onetree.base.amounts import count, duration, leaves, size
from onetree.base.limits import DEFAULT_OBJECTIVE, OBJECTIVES, check_choice, is_integer
from onetree.base.progress import ProgressOption, reporting
from onetree.domain.domain import DomainLike, as_domain
from onetree.errors import InvalidInputError, LimitReachedError
from onetree.lowering.axes import axes_of
from onetree.lowering.choices import objective_of
from onetree.model.ensemble import Ensemble
from onetree.search.scoring import Scoring
from onetree.search.wanted import Threshold, wanted_of

_AUTO_BOXES = 0.0  # as the heuristic would choose
_DEFAULT_BUDGET = 1.5  # seconds

Range = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """The expected size of a tree, and the cost of finding it.

    Parameters
    ----------
    leaves, seconds, memory_bytes : float
        Means over random descents through the tree that the heuristic would build. Equal subtrees are held, and found,
        once: time and memory grow less than the leaves do.
    leaves_range, seconds_range, memory_range : pair of float
        Two standard errors around them, and a factor of two around what was not measured but extrapolated.
    exact : bool
        Whether the numbers are exact: the whole grid was solved on the way.
    beyond : bool
        Whether the tree has 1e12 leaves or more, or the descents took too long and were cut off: then the numbers are
        lower bounds.
    boxes : float
        Of the whole grid, where the exact engines can take it as it is; otherwise 0.
    n_probes : int
        Number of descents.
    """

    leaves: float
    leaves_range: Range
    seconds: float
    seconds_range: Range
    memory_bytes: float
    memory_range: Range
    exact: bool
    beyond: bool
    boxes: float
    n_probes: int

    def describe(self) -> dict[str, str]:
        """Return leaves, time and memory in words."""
        return {
            "leaves": self._range(self.leaves, self.leaves_range, lambda n: count(float(f"{n:.3g}"))),
            "time": self._range(self.seconds, self.seconds_range, duration),
            "memory": self._range(self.memory_bytes, self.memory_range, size),
        }

    def _range(self, mean: float, ends: Range, words: Callable[[float], str]) -> str:
        if self.beyond:
            return f"more than {words(mean)}"
        return words(mean) if self.exact else f"about {words(mean)} ({words(ends[0])} to {words(ends[1])})"

    def __repr__(self) -> str:
        return f"Estimate({', '.join(f'{name}: {words}' for name, words in self.describe().items())})"

    def _repr_html_(self) -> str:
        from onetree.display import estimate_html

        return estimate_html(self)

    @property
    def leaves_in_words(self) -> str:
        """The leaves in two digits: "about 3,400 leaves", "more than 1.5e15 leaves"."""
        if self.exact:
            return leaves(self.leaves)
        return f"{'more than' if self.beyond else 'about'} {leaves(float(f'{self.leaves:.2g}'))}"

    @property
    def seconds_in_words(self) -> str:
        """The time in two digits: "about 5 min", "more than 24 years"."""
        return f"{'more than' if self.beyond else 'about'} {duration(float(f'{self.seconds:.2g}'))}"


def estimate(
    model: object,
    *,
    objective: str = DEFAULT_OBJECTIVE,
    domain: DomainLike | None = None,
    threshold: Threshold | None = None,
    bands: Sequence[float] | None = None,
    output: str = "auto",
    tolerance: float | None = None,
    relative: bool = False,
    keep_class: bool = True,
    budget: float = _DEFAULT_BUDGET,
    random_state: int = 0,
    progress: ProgressOption = None,
) -> Estimate:
    """Estimate the size of the faithful tree of an ensemble, and the time and memory to build it.

    Parameters
    ----------
    model : fitted model, path or Ensemble
        What would be converted.
    objective : str
        What would be minimised.
    domain : Domain or mapping, optional
        Where the tree would have to be faithful, as in `born_again`.
    threshold, bands, output, tolerance, relative, keep_class
        What the tree would say, and how near, as in `born_again`.
    budget : float
        Approximate seconds to spend; at most twice as many, except that large forests may need more for the first cut.
    random_state : int
        Seed of the cuts, as in `born_again`, and of the descents.
    progress : callable, False or None
        As in `born_again`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> estimate(forest).exact
    True
    """
    check_choice("objective", objective, OBJECTIVES)
    if not budget > 0:
        raise InvalidInputError(f"budget must be positive, in seconds, not {budget!r}")
    if not is_integer(random_state, 0):
        raise InvalidInputError(f"random_state must be a non-negative integer, not {random_state!r}")
    wanted = wanted_of(model, output, threshold=threshold, bands=bands)
    scoring = wanted.scoring(tolerance, relative=relative, keep_class=keep_class)
    return estimated(
        wanted.ensemble,
        objective=objective,
        domain=domain,
        budget=float(budget),
        random_state=random_state,
        progress=progress,
        scoring=scoring,
    )


def estimated(
    ensemble: Ensemble,
    *,
    objective: str,
    domain: DomainLike | None = None,
    budget: float = _DEFAULT_BUDGET,
    random_state: int = 0,
    progress: ProgressOption = None,
    scoring: Scoring | None = None,
) -> Estimate:
    """Estimate, as `estimate` does, what is known to be in order; `scoring` where leaves carry numbers."""
    inside = axes_of(ensemble, as_domain(domain, ensemble)).ensemble
    try:
        with reporting(progress) as report:
            how = (objective_of(objective), _AUTO_BOXES, budget, random_state, report)
            found = _core.estimate(inside, *how) if scoring is None else _core.score_estimate(inside, scoring, *how)
    except _core.LimitReached:  # only ever at the caller's request: the budget is kept otherwise
        raise LimitReachedError("stopped before there was an estimate") from None
    return Estimate(
        leaves=found.leaves.mean,
        leaves_range=(found.leaves.low, found.leaves.high),
        seconds=found.seconds.mean,
        seconds_range=(found.seconds.low, found.seconds.high),
        memory_bytes=found.bytes.mean,
        memory_range=(found.bytes.low, found.bytes.high),
        exact=found.is_exact,
        beyond=found.is_beyond,
        boxes=found.boxes,
        n_probes=found.n_probes,
    )
