"""The nearest input of another class: what would have to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.base.limits import check_choice
from onetree.base.progress import ProgressOption, reporting
from onetree.domain.domain import DomainLike
from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble
from onetree.questions.ask import Asker, Found
from onetree.questions.costs import Terms, changed_features
from onetree.questions.diverse import DIVERSITIES, Several, several
from onetree.questions.nearest import Nearest, norm_parts, norm_words
from onetree.questions.options import options_of
from onetree.questions.sources import class_index, feature_set, input_of, limits_of, ordered_set, source_of, weights_of
from onetree.questions.wording import plain, shown

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """The nearest input of another class, or how far there is none; true in a condition iff there is one.

    Parameters
    ----------
    x : float64 array of shape (n_features,)
        The input that was asked about, as the model reads it.
    x_class : label
    point : float64 array of shape (n_features,), or None
        The nearest input found, as the model reads it: its `predict` gives `point_class`.
    point_class : label or None
    distance : float
        Of `point`; infinite without one.
    lower_bound : float
        No input of the wanted class is nearer. Equal to `distance` if the status is "optimal".
    status : {"optimal", "none", "limit"}
        Proven to be the nearest; proven that there is none; or a limit was reached, and `point` may not be the nearest.
    norm : str
    changes : dict
        Feature name: old and new value, for those that change.
    n_boxes : int
        Boxes that were looked at.
    alternatives : tuple of Counterfactual
        The other answers, if several were asked for, in the order in which they were found; a distance is the least of
        all inputs that are not like this answer or an earlier alternative.
    rest : {"more", "none", "limit"} or None
        Whether there may be more alternatives than these: all that were asked for were found; it is proven that there
        are no others; or a limit was reached. None if one answer was asked for.
    """

    x: Floats
    x_class: Any
    point: Floats | None
    point_class: Any
    distance: float
    lower_bound: float
    status: str
    norm: str
    changes: dict[str, tuple[Any, Any]]
    n_boxes: int
    alternatives: tuple[Counterfactual, ...] = ()
    rest: str | None = None

    def __bool__(self) -> bool:
        return self.point is not None

    def __repr__(self) -> str:
        if self.point is None:
            known = "there is none" if self.status == "none" else f"none found nearer than {self.lower_bound:.6g}"
            return f"Counterfactual({self.x_class!s}: {known})"
        proof = "proven" if self.status == "optimal" else f"lower bound {self.lower_bound:.6g}"
        return f"Counterfactual({self.x_class!s} -> {self.point_class!s}, {self.norm} {self.distance:.6g}, {proof})"

    def __str__(self) -> str:
        if self.point is None:
            return (
                f"{self.x_class} in every allowed case; no change leads to another class"
                if self.status == "none"
                else f"{self.x_class}; nothing was found before the limit, and there is nothing nearer than "
                f"{self.lower_bound:.6g}"
            )
        if not self.changes:
            return f"{self.point_class} already; nothing has to change"
        lines = [f"{self.point_class} instead of {self.x_class}, if"]
        lines += [f"  {name} were {shown(new)} instead of {shown(old)}" for name, (old, new) in self.changes.items()]
        if self.status == "limit":
            lines.append(
                f"distance {self.distance:.6g}; whether there is less, down to {self.lower_bound:.6g}, is open"
            )
        lines += [line for other in self.alternatives for line in ("or", *str(other).splitlines())]
        if self.rest in ("none", "limit"):
            known = "there is no other way" if self.rest == "none" else "others were not found before the limit"
            lines.append(f"{known} that differs as asked for")
        return "\n".join(lines)


def counterfactual(
    model: Any,
    x: Any,
    target: Any = None,
    *,
    n: int | None = None,
    diverse: str = "features",
    norm: str | Mapping[str, float] = "l1",
    domain: DomainLike | None = None,
    fixed: Any = (),
    increasing: Any = (),
    decreasing: Any = (),
    costs: Mapping[Any, float] | ArrayLike | None = None,
    data: Any = None,
    missing_cost: float | None = None,
    at_most: float | None = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    memory_limit: float | None = None,
    progress: ProgressOption = None,
) -> Counterfactual:
    """Find the nearest input to `x` that gets another class, or the class `target`, and prove that none is nearer.

    Parameters
    ----------
    model : fitted model, path, Ensemble or Tree
    x : array of shape (n_features,), mapping, or frame of one row
    target : label, optional
        The class to reach; by default any other.
    n : int, optional
        How many answers to find; the others are the `alternatives` of the first.
    diverse : {"features", "disjoint"}
        How the answers differ. "features": each next one is the nearest of those that leave at least one feature alone
        of each answer before it. "disjoint": the nearest of those that change none of the features that an answer
        before it changes.
    norm : {"l1", "l0", "linf"}, or a mapping
        Distance: the sum of ``cost * |difference|`` over the features, the sum of the costs of those that change, or
        the largest ``cost * |difference|``. A category that changes counts as a difference of 1, and becomes only
        one that the model knows, unless the domain names others. ``{"l1": 1, "l0": 0.5}`` is a weighted sum of these.
    domain : Domain or mapping, optional
        What the features can be, and which belong together, as in `born_again`. By default that of a tree; ``{}`` is
        everywhere.
    fixed, increasing, decreasing : features
        Features, by name or index, that must not change, not become smaller, not become larger.
    costs : mapping or array, optional
        What a unit of a feature costs, 1 by default.
    data : array or frame, optional
        Rows; the cost of an ordinary feature that `costs` does not name is the inverse of its median absolute
        deviation there.
    missing_cost : float, optional
        The difference that a value makes by becoming missing, or the reverse; by default neither is allowed.
    at_most : float, optional
        Distances beyond this are of no interest.
    time_limit, work_limit, memory_limit : optional
        Seconds, boxes and gigabytes; at a limit, the best is returned with a lower bound.
    progress : callable, False or None
        As in `born_again`, with the phase "question".

    Returns
    -------
    Counterfactual

    Examples
    --------
    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(20, max_depth=3, random_state=0).fit(X, y)
    >>> found = onetree.counterfactual(forest, X[0], target=1)
    >>> found.status, forest.predict([found.point])[0] == 1
    ('optimal', np.True_)
    """
    parts = norm_parts(norm)
    check_choice("diverse", diverse, DIVERSITIES)
    if n is not None and (not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1):
        raise InvalidInputError(f"n must be a positive integer, but is {n!r}")
    ensemble = source_of(model)
    within = limits_of(model, domain, ensemble)
    row = input_of(x, ensemble, within)
    own = int(ensemble.predict_index(row[np.newaxis])[0])
    wanted = np.arange(ensemble.n_classes) != own
    if target is not None:
        wanted = np.arange(ensemble.n_classes) == class_index(target, ensemble)
    if missing_cost is not None and not missing_cost >= 0:
        raise InvalidInputError(f"missing_cost must not be negative, but is {missing_cost!r}")
    terms = Terms(
        "l1",
        weights_of(costs, data, ensemble),
        feature_set(fixed, ensemble),
        ordered_set(increasing, ensemble),
        ordered_set(decreasing, ensemble),
        missing_cost,
    )
    options = options_of(ensemble, within)
    limit = np.inf if at_most is None else float(at_most)
    with reporting(progress) as reporter:
        asker = Asker(options, time_limit, work_limit, memory_limit, reporter)
        search = Nearest(asker, row, wanted, terms, parts, limit)
        if n is None:
            answers = Several((search.find(),), "more")
        else:
            answers = several(search.find, lambda found: _changed(row, found), int(n), diverse)
    said = [_answer(ensemble, row, own, norm_words(parts), each) for each in answers.found]
    if not said:
        nothing = Found(answers.rest, None, -1, np.inf, answers.bound, asker.n_boxes)
        said = [_answer(ensemble, row, own, norm_words(parts), nothing)]
    return said[0] if n is None else replace(said[0], alternatives=tuple(said[1:]), rest=answers.rest)


def _changed(row: Floats, found: Found) -> frozenset[int]:
    return frozenset() if found.point is None else changed_features(row, found.point)


def _answer(ensemble: Ensemble, row: Floats, own: int, norm: str, found: Found) -> Counterfactual:
    changes = {}
    if found.point is not None:
        for feature in sorted(_changed(row, found)):
            old, new = float(row[feature]), float(found.point[feature])
            changes[ensemble.feature_names[feature]] = (plain(ensemble, feature, old), plain(ensemble, feature, new))
    return Counterfactual(
        x=row,
        x_class=ensemble.classes[own],
        point=found.point,
        point_class=None if found.point is None else ensemble.classes[found.point_class],
        distance=found.cost,
        lower_bound=found.lower_bound,
        status=found.status,
        norm=norm,
        changes=changes,
        n_boxes=found.n_boxes,
    )
