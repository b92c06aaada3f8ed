"""What a check found out, for every input or row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.progress import ProgressOption, Reporter, reporting
from onetree.domain.domain import Domain
from onetree.model.ensemble import Ensemble
from onetree.model.inputs import read_inputs
from onetree.questions.ask import Asker, Found, unconfirmed
from onetree.questions.options import options_of
from onetree.questions.pairs import Pair
from onetree.questions.sources import input_of

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Check:
    """Whether a property holds; true in a condition iff that is proven.

    Parameters
    ----------
    claim : str
        The property, in words.
    holds : bool or None
        Proven, refuted, or not decided before a limit.
    witness : tuple of two float64 arrays, or None
        Inputs that refute it: the model's own `predict` confirms their classes. Of a class that can be reached, the
        input twice.
    witness_classes : tuple of labels, or None
    rows : object array of shape (n_rows,), or None
        For each row that was given, True, False, or None if it was not decided.
    """

    claim: str
    holds: bool | None
    witness: tuple[Floats, Floats] | None = None
    witness_classes: tuple[Any, Any] | None = None
    rows: NDArray[np.object_] | None = None

    def __bool__(self) -> bool:
        return self.holds is True

    @property
    def decided(self) -> float:
        """Share of the rows for which it is decided; of every input, 1 or 0."""
        if self.rows is None or not len(self.rows):
            return float(self.holds is not None)
        return sum(each is not None for each in self.rows) / len(self.rows)

    def __repr__(self) -> str:
        return f"Check({self})"

    def __str__(self) -> str:
        word = {True: "proven", False: "refuted", None: "not decided"}[self.holds]
        if self.rows is None:
            return f"{word}: {self.claim}"
        counts = [sum(each is value for each in self.rows) for value in (True, False, None)]
        open_rows = f", not decided for {counts[2]:,}" if counts[2] else ""
        rows = f"holds for {counts[0]:,} of {len(self.rows):,} rows, not for {counts[1]:,}{open_rows}"
        return f"{word}: {self.claim}; {rows}"


def everywhere(
    claim: str,
    first: Ensemble,
    second: Ensemble,
    pair: Pair,
    wanted: Bools,
    ordered: tuple[int, int],
    time_limit: float | None,
    work_limit: int | None,
    progress: ProgressOption,
) -> Check:
    """Look for a pair of inputs that refutes the claim."""
    with reporting(progress) as reporter:
        status, point = Asker(pair.options, time_limit, work_limit, None, reporter).differing(
            pair.voters, wanted, ordered
        )
    if point is None:
        return Check(claim, None if status == "limit" else True)
    inputs = pair.split(point)
    a = int(first.predict_index(inputs[0][np.newaxis])[0])
    b = int(second.predict_index(inputs[1][np.newaxis])[0])
    if not wanted[a, b]:
        raise unconfirmed(point)
    return Check(claim, False, inputs, (first.classes[a], second.classes[b]))


def for_rows(
    claim: str,
    ensemble: Ensemble,
    domain: Domain | None,
    X: Any,
    ask: Callable[[Asker, Floats, int], Found],
    time_limit: float | None,
    work_limit: int | None,
    n_jobs: int | None,
    progress: ProgressOption,
) -> Check:
    """Look for an input that refutes the claim for each row."""
    from joblib import Parallel, delayed, effective_n_jobs

    rows = read_inputs(X, ensemble).astype(np.float64)
    for row in rows:
        input_of(row, ensemble, domain)
    classes = ensemble.predict_index(rows).tolist()
    options = options_of(ensemble, domain)
    _ = options.native  # made once, before there are threads
    verdicts = np.full(len(rows), None, dtype=object)
    witness = witness_classes = None
    alone = effective_n_jobs(n_jobs) == 1
    with reporting(progress) as reporter:

        def found_for(row: Floats, own: int) -> Found | None:
            if reporter is not None and reporter.stopped_at is not None:
                return None
            # Threads do not report: the caller is told row by row.
            return ask(Asker(options, time_limit, work_limit, None, reporter if alone else None), row, own)

        answers: Iterable[Found | None] = (found_for(row, own) for row, own in zip(rows, classes, strict=True))
        if not alone:
            jobs = (delayed(found_for)(row, own) for row, own in zip(rows, classes, strict=True))
            answers = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(jobs)
        start = perf_counter()
        for number, found in enumerate(answers):
            if found is None:
                continue
            verdicts[number] = False if found.point is not None else None if found.status == "limit" else True
            if found.point is not None and witness is None:
                witness = (rows[number], found.point)
                witness_classes = (ensemble.classes[classes[number]], ensemble.classes[found.point_class])
            _tell(reporter, perf_counter() - start, number + 1, len(rows))
    undecided = any(each is None for each in verdicts)
    holds = False if witness is not None else None if undecided else True
    return Check(claim, holds, witness, witness_classes, verdicts)


def _tell(reporter: Reporter | None, elapsed: float, done: int, n_rows: int) -> None:
    if reporter is not None:
        reporter("question", elapsed, -1, -1, done, done / n_rows)
