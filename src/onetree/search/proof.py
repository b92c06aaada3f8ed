"""The proof of a tree that was just found, within what is left of the limits of its search.

Divides the time limit between search and proof; the proof itself is in `onetree.verify`.
"""

from dataclasses import replace
from time import perf_counter

from onetree.base.progress import Progress, ProgressOption, Reporter
from onetree.errors import FidelityError, LimitReachedError
from onetree.model.ensemble import Ensemble
from onetree.search.solution import Solution
from onetree.tree.tree import Tree
from onetree.verify import verify

_SHARE_OF_THE_END = 0.05  # in which a search gives gigabytes back to the system
_SHARE, _LEAST = 0.1, 0.25  # of a time limit and in seconds: kept for the proof
_SLACK, _LEAST_SLACK = 0.05, 0.1  # of a time limit and in seconds: by how much a proof may pass it
_GRACE = 0.3  # seconds for the proof when the caller has asked to stop


def time_to_search(time_limit: float, verify: bool) -> float:
    """Seconds of a limit that the search may take, its tree to be proven or not; 0 is no limit."""
    if not verify:
        return (1 - _SHARE_OF_THE_END) * time_limit
    return time_limit - min(max(_SHARE * time_limit, _LEAST), time_limit / 2)


def prove(tree: Tree, ensemble: Ensemble, *, started: float, time_limit: float, report: Reporter | None) -> None:
    """Prove that the two are equal, or a tree with numbers within its tolerance, in the time that is left.

    Parameters
    ----------
    tree : Tree
    ensemble : Ensemble
    started : float
        When the work began, on the clock of `perf_counter`.
    time_limit : float
        Seconds from then on, 0 for no limit. A proof that is underway may take 5 % longer, or a tenth of a second.
    report : Reporter, optional
        Receives the phase "proof". Once it has asked to stop, the proof gets a moment to finish.

    Raises
    ------
    FidelityError
        They differ.
    LimitReachedError
        The time is up, or the caller asked to stop.
    """
    begun = perf_counter()

    def tell(step: Progress) -> None:
        now = perf_counter()
        if report is None:
            return
        report.tell(step)
        if report.stopped_at is not None and now - max(begun, report.stopped_at) > _GRACE and step.fraction != 1:
            raise LimitReachedError("stopped before the tree was proven")

    left = None
    if time_limit:
        left = max(time_limit + max(_SLACK * time_limit, _LEAST_SLACK) - (begun - started), _LEAST_SLACK)
    try:
        # The fastest of the three proofs: to go through all cells takes up to a thousand times as long as the search.
        # Numbers are proven to be within their tolerance; how near the worst comes to it costs more to find.
        told: ProgressOption = False if report is None else tell
        verdict = verify(tree, ensemble, method="search", time_limit=left, progress=told, find_worst=False)
    except LimitReachedError as error:
        if report is not None and report.stopped_at is not None:
            raise
        raise LimitReachedError(
            f"a tree was found, but its proof did not end within time_limit={time_limit:g}; raise time_limit, or take "
            "`solution` of this error and let verify() prove its tree"
        ) from error
    if not verdict:
        raise FidelityError(
            f"the tree differs from the ensemble at {verdict.counterexample!r}; this is a bug in onetree, "
            "please report it with the model"
        )


def prove_found(
    found: Solution, ensemble: Ensemble, started: float, time_limit: float, report: Reporter | None
) -> None:
    """Prove the tree of a solution; an error that it could not be done in time has the solution."""
    try:
        prove(found.tree, ensemble, started=started, time_limit=time_limit, report=report)
    except LimitReachedError as error:
        error.solution = found
        raise


def proven_front(
    front: list[Solution], ensemble: Ensemble, started: float, time_limit: float, report: Reporter | None
) -> list[Solution]:
    """Return the beginning of a front that could be proven in time."""
    proven: list[Solution] = []
    try:
        for solution in front:
            if proven and time_limit and perf_counter() - started > time_limit:
                break
            prove_found(solution, ensemble, started, time_limit, report)
            proven.append(solution)
    except LimitReachedError:
        if not proven:
            raise
    if len(proven) < len(front):
        proven = [replace(each, stats={**each.stats, "complete": False}) for each in proven]
    return proven
