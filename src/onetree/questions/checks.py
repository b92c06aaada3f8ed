"""Whether a property holds for every input, or for each of some rows: with proof, or with two inputs as witness."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.progress import ProgressOption, reporting
from onetree.domain.domain import Domain, DomainLike
from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble
from onetree.questions.ask import Asker, Found
from onetree.questions.costs import Terms, within
from onetree.questions.options import options_of
from onetree.questions.pairs import Pair
from onetree.questions.sources import class_index, feature_set, limits_of, ordered_set, source_of, weights_of
from onetree.questions.verdict import Check, everywhere, for_rows

__all__ = ["Check", "check_fair", "check_irrelevant", "check_monotone", "check_reachable", "check_stable"]

Floats = NDArray[np.float64]


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
    n_jobs: int | None = 1,
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
    n_jobs : int, optional
        Rows that are looked at side by side, in threads, as joblib counts them.
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
        return asker.nearest(near, wanted, largest=norm == "linf", at_most=radius, first=True)

    claim = f"the class does not change within a distance of {radius:g}"
    return for_rows(claim, ensemble, limits, X, ask, time_limit, work_limit, n_jobs, progress)


def check_irrelevant(
    model: Any,
    features: Any,
    *,
    X: Any = None,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    n_jobs: int | None = 1,
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
    n_jobs : int, optional
        Rows that are looked at side by side, in threads, as joblib counts them.
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
        return everywhere(claim, ensemble, ensemble, pair, wanted, (-1, -1), time_limit, work_limit, progress)

    def ask(asker: Asker, row: Floats, own: int) -> Found:
        near = asker.options.near(row)
        wanted = np.arange(ensemble.n_classes) != own
        return asker.nearest((within(near, {}, chosen), near), wanted, first=True)

    return for_rows(claim, ensemble, limits, X, ask, time_limit, work_limit, n_jobs, progress)


def check_fair(
    model: Any,
    protected: Any,
    *,
    X: Any = None,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    n_jobs: int | None = 1,
    progress: ProgressOption = None,
) -> Check:
    """Check whether a decision can change with protected features alone; parameters as in `check_irrelevant`."""
    return check_irrelevant(
        model,
        protected,
        X=X,
        domain=domain,
        time_limit=time_limit,
        work_limit=work_limit,
        n_jobs=n_jobs,
        progress=progress,
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
    n_jobs: int | None = 1,
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
    domain, time_limit, work_limit, n_jobs, progress
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
        return everywhere(claim, ensemble, ensemble, pair, wanted, ordered, time_limit, work_limit, progress)

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
            this = asker.nearest(terms.costs(asker.options, row), wanted, first=True)
            if this.point is not None:
                return this
            found = this if found is None or this.status == "limit" else found
        assert found is not None  # noqa: S101 - for the type checker
        return found

    return for_rows(claim, ensemble, limits, X, ask, time_limit, work_limit, n_jobs, progress)


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
    options = options_of(ensemble, limits)
    near = options.near(options.any_input())
    with reporting(progress) as reporter:
        asker = Asker(options, time_limit, work_limit, None, reporter)
        found = asker.nearest((within(near, {}, range(len(near))), near), wanted, first=True)
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
