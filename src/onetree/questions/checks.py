"""Whether a property holds for every input, or for each of some rows: with proof, or with two inputs as witness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.progress import ProgressOption, Reporter, reporting
from onetree.domain.domain import Domain, DomainLike
from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble
from onetree.model.inputs import read_inputs
from onetree.questions.ask import Asker, Found, unconfirmed
from onetree.questions.costs import Terms, within
from onetree.questions.options import Options
from onetree.questions.pairs import Pair
from onetree.questions.sources import class_index, feature_set, input_of, limits_of, ordered_set, source_of, weights_of

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


def check_stable(
    model: Any,
    X: Any,
    radius: float,
    *,
    norm: str = "linf",
    domain: DomainLike | None = None,
    costs: Any = None,
    data: Any = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    progress: ProgressOption = None,
) -> Check:
    """Check for each row whether every input within a distance of it has its class.

    Parameters
    ----------
    model : fitted model, path, Ensemble or Tree
    X : array or frame
        Rows.
    radius : float
        The distance, inclusive.
    norm, domain, costs, data
        As in `counterfactual`.
    time_limit, work_limit : optional
        Seconds and boxes for each row.
    progress : callable, False or None
        As in `born_again`, with the phase "question".
    """
    if not radius >= 0:
        raise InvalidInputError(f"radius must not be negative, but is {radius!r}")
    ensemble, limits = _read(model, domain)
    terms = Terms(norm, weights_of(costs, data, ensemble))

    def ask(asker: Asker, row: Floats, own: int) -> Found:
        near = terms.costs(asker.options, row)
        wanted = np.arange(ensemble.n_classes) != own
        return asker.nearest(row, near, wanted, largest=norm == "linf", at_most=radius, first=True)

    claim = f"the class does not change within a distance of {radius:g}"
    return _for_rows(claim, ensemble, limits, X, ask, time_limit, work_limit, progress)


def check_irrelevant(
    model: Any,
    features: Any,
    *,
    X: Any = None,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    progress: ProgressOption = None,
) -> Check:
    """Check whether some features never matter: inputs that differ only there have the same class.

    Parameters
    ----------
    model : fitted model, path, Ensemble or Tree
    features : features
        By name or index.
    X : array or frame, optional
        Rows: check for each of them, with all other features as they are, in place of every input.
    domain : Domain or mapping, optional
        As in `born_again`.
    time_limit, work_limit : optional
        Seconds and boxes, for each row if there are rows.
    progress : callable, False or None
        As in `born_again`, with the phase "question".

    Examples
    --------
    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> check = onetree.check_irrelevant(forest, 2)
    >>> check.holds
    False
    >>> one, other = forest.predict(check.witness)
    >>> bool(one != other)
    True
    """
    ensemble, limits = _read(model, domain)
    chosen = feature_set(features, ensemble)
    names = ", ".join(ensemble.feature_names[each] for each in sorted(chosen))
    claim = f"{names} alone never changes the class"
    if X is None:
        pair = Pair(ensemble, ensemble, limits, tuple(sorted(chosen)))
        wanted = ~np.eye(ensemble.n_classes, dtype=bool)
        return _everywhere(claim, ensemble, ensemble, pair, wanted, (-1, -1), time_limit, work_limit, progress)

    def ask(asker: Asker, row: Floats, own: int) -> Found:
        near = asker.options.near(row)
        wanted = np.arange(ensemble.n_classes) != own
        return asker.nearest(row, (within(near, row, {}, chosen), near), wanted, first=True)

    return _for_rows(claim, ensemble, limits, X, ask, time_limit, work_limit, progress)


def check_fair(
    model: Any,
    protected: Any,
    *,
    X: Any = None,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    progress: ProgressOption = None,
) -> Check:
    """Check whether a decision can change with protected features alone; parameters as in `check_irrelevant`."""
    return check_irrelevant(
        model, protected, X=X, domain=domain, time_limit=time_limit, work_limit=work_limit, progress=progress
    )


def check_monotone(
    model: Any,
    feature: Any,
    *,
    increasing: bool = True,
    X: Any = None,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    progress: ProgressOption = None,
) -> Check:
    """Check whether the class, in the order of the model's classes, never falls as a feature rises.

    Parameters
    ----------
    model : fitted model, path, Ensemble or Tree
    feature : feature
        By name or index.
    increasing : bool
        If false, whether the class never rises as the feature does.
    X : array or frame, optional
        Rows: check for each of them, with all other features as they are, in place of every input.
    domain, time_limit, work_limit, progress
        As in `check_irrelevant`. Missing values are left out.
    """
    ensemble, limits = _read(model, domain)
    (at,) = _one(ordered_set([feature], ensemble))
    word = "falls" if increasing else "rises"
    claim = f"the class never {word} as {ensemble.feature_names[at]} rises"
    if X is None:
        if limits is not None and any(at in group.features for group in limits.groups):
            raise InvalidInputError(
                f"{ensemble.feature_names[at]!r} belongs to a group, so it does not rise alone; leave out the group"
            )
        pair = Pair(ensemble, ensemble, limits, (at,))
        wanted = np.tri(ensemble.n_classes, k=-1, dtype=bool)  # the class of the lower input is the higher one
        wanted = wanted if increasing else wanted.T.copy()
        ordered = (at, ensemble.n_features)
        return _everywhere(claim, ensemble, ensemble, pair, wanted, ordered, time_limit, work_limit, progress)

    def ask(asker: Asker, row: Floats, own: int) -> Found:
        classes = np.arange(ensemble.n_classes)
        found = None
        for up in (True, False):
            terms = Terms(
                "l0",
                np.zeros(ensemble.n_features),
                fixed=set(range(ensemble.n_features)) - {at},
                increasing={at} if up else (),
                decreasing=() if up else {at},
            )
            wanted = classes < own if up == increasing else classes > own
            this = asker.nearest(row, terms.costs(asker.options, row), wanted, first=True)
            if this.point is not None:
                return this
            found = this if found is None or this.status == "limit" else found
        assert found is not None  # noqa: S101 - for the type checker
        return found

    return _for_rows(claim, ensemble, limits, X, ask, time_limit, work_limit, progress)


def check_reachable(
    model: Any,
    label: Any,
    *,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    progress: ProgressOption = None,
) -> Check:
    """Check whether any input of a domain gets a class; the witness of this check is such an input.

    Parameters
    ----------
    model : fitted model, path, Ensemble or Tree
    label : label
    domain, time_limit, work_limit, progress
        As in `check_irrelevant`.
    """
    ensemble, limits = _read(model, domain)
    wanted = np.arange(ensemble.n_classes) == class_index(label, ensemble)
    options = Options(ensemble, limits)
    row = options.any_input()
    near = options.near(row)
    with reporting(progress) as reporter:
        asker = Asker(options, time_limit, work_limit, None, reporter)
        found = asker.nearest(row, (within(near, row, {}, range(len(row))), near), wanted, first=True)
    claim = f"some input gets the class {label}"
    if found.point is None:
        return Check(claim, None if found.status == "limit" else False)
    return Check(claim, True, (found.point, found.point), (label, label))


def _read(model: Any, domain: DomainLike | None) -> tuple[Ensemble, Domain | None]:
    ensemble = source_of(model)
    return ensemble, limits_of(model, domain, ensemble)


def _one(features: frozenset[int]) -> tuple[int]:
    (feature,) = features
    return (feature,)


def _everywhere(
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


def _for_rows(
    claim: str,
    ensemble: Ensemble,
    domain: Domain | None,
    X: Any,
    ask: Callable[[Asker, Floats, int], Found],
    time_limit: float | None,
    work_limit: int | None,
    progress: ProgressOption,
) -> Check:
    """Look for an input that refutes the claim for each row."""
    rows = read_inputs(X, ensemble).astype(np.float64)
    for row in rows:
        input_of(row, ensemble, domain)
    classes = ensemble.predict_index(rows)
    options = Options(ensemble, domain)
    verdicts = np.full(len(rows), None, dtype=object)
    witness = witness_classes = None
    with reporting(progress) as reporter:
        for number, (row, own) in enumerate(zip(rows, classes.tolist(), strict=True)):
            if _is_stopped(reporter):
                break
            found = ask(Asker(options, time_limit, work_limit, None, reporter), row, own)
            verdicts[number] = False if found.point is not None else None if found.status == "limit" else True
            if found.point is not None and witness is None:
                witness = (row, found.point)
                witness_classes = (ensemble.classes[own], ensemble.classes[found.point_class])
    undecided = any(each is None for each in verdicts)
    holds = False if witness is not None else None if undecided else True
    return Check(claim, holds, witness, witness_classes, verdicts)


def _is_stopped(reporter: Reporter | None) -> bool:
    return reporter is not None and reporter.stopped_at is not None
