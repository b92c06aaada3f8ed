"""Why this class: features that fix it whatever the others are, as few and as wide as the proof goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.limits import check_choice
from onetree.base.progress import ProgressOption, reporting
from onetree.domain.domain import DomainLike
from onetree.questions.ask import Asker
from onetree.questions.contrast import Contrast, against, contrasted
from onetree.questions.costs import Terms
from onetree.questions.options import options_of
from onetree.questions.sources import input_of, limits_of, source_of, weights_of
from onetree.questions.sufficient import Reasons, described

Floats = NDArray[np.float64]
SIZES = ("minimal", "smallest")


@dataclass(frozen=True, eq=False)
class SufficientReason:
    """Features that fix the class of an input, whatever the others are; its length is their number.

    Parameters
    ----------
    x : float64 array of shape (n_features,)
        The input, as the model reads it.
    x_class : label
    features : tuple of str
        While these keep their values, the class cannot change.
    bounds : dict
        Feature name: what the value may be without changing the class, all features at once. ``(low, high)`` stands
        for low < value <= high; a tuple of names or numbers for the categories.
    status : {"minimal", "smallest", "limit"}
        No feature can be left out; or no other reason has fewer. At a limit, the reason holds but may be too long.
    sentences : tuple of str
        One for each feature.
    radius : float or None
        If it was asked for: every input nearer than this, in the largest weighted difference of a feature, has the
        class. A lower bound, which is attained unless a limit was reached.
    contrasts : tuple of Contrast
        If they were asked for: what separates the input from each of some other classes.
    """

    x: Floats
    x_class: Any
    features: tuple[str, ...]
    bounds: dict[str, tuple[Any, ...]]
    status: str
    sentences: tuple[str, ...]
    radius: float | None = None
    contrasts: tuple[Contrast, ...] = ()

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        return f"SufficientReason({self.x_class!s} because of {', '.join(self.features) or 'nothing'}; {self.status})"

    def __str__(self) -> str:
        lines = [f"{self.x_class}, whatever the other features are, because", *(f"  {each}" for each in self.sentences)]
        if not self.features:
            lines = [f"{self.x_class}, always"]
        if self.radius is not None:
            lines.append(f"The class cannot change while every feature changes by less than {self.radius:.6g}.")
        lines += [str(each) for each in self.contrasts]
        return "\n".join(lines)


def explain(
    model: Any,
    x: Any,
    *,
    size: str = "minimal",
    widen: bool = True,
    radius: bool = False,
    contrast: Any = None,
    domain: DomainLike | None = None,
    costs: Any = None,
    data: Any = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    memory_limit: float | None = None,
    progress: ProgressOption = None,
) -> SufficientReason:
    """Find features that fix the class of an input whatever the others are, with proof.

    Parameters
    ----------
    model : fitted model, path, Ensemble or Tree
    x : array of shape (n_features,), mapping, or frame of one row
    size : {"minimal", "smallest"}
        No feature can be left out of the reason; or there is none with fewer features, which can take much longer.
    widen : bool
        Whether to replace the values by intervals, or sets of categories, that fix the class as well: as wide as the
        proof goes, one feature after the other.
    radius : bool
        Whether to find the distance to the nearest other class, as `counterfactual` with ``norm="linf"`` does.
    contrast : label, list of labels, or True; optional
        Other classes, True for all of them, to say of each what separates the input from it: the features that keep it
        from that class, and the fewest that would have to change for it.
    domain : Domain or mapping, optional
        What the features can be, as in `born_again`: the reason holds inside it. By default that of a tree.
    costs, data : optional
        The units of the radius and of the changes in a contrast, as in `counterfactual`.
    time_limit, work_limit, memory_limit : optional
        Seconds, boxes and gigabytes for everything together.
    progress : callable, False or None
        As in `born_again`, with the phase "question".

    Returns
    -------
    SufficientReason

    Examples
    --------
    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(20, max_depth=3, random_state=0).fit(X, y)
    >>> reason = onetree.explain(forest, X[0], size="smallest", contrast=2)
    >>> reason.status
    'smallest'
    >>> contrast = reason.contrasts[0]
    >>> int(forest.predict([contrast.point])[0]), len(contrast.changes)
    (2, 2)
    """
    check_choice("size", size, SIZES)
    ensemble = source_of(model)
    limits = limits_of(model, domain, ensemble)
    row = input_of(x, ensemble, limits)
    weights = weights_of(costs, data, ensemble)
    others = against(contrast, ensemble, int(ensemble.predict_index(row[np.newaxis])[0]))
    with reporting(progress) as reporter:
        asker = Asker(options_of(ensemble, limits), time_limit, work_limit, memory_limit, reporter)
        search = Reasons(asker, row)
        kept, status = search.smallest() if size == "smallest" else search.minimal(search.tested)
        inside = search.widened(kept) if widen else {}
        distance = None
        if radius:
            terms = Terms("linf", weights)
            distance = asker.nearest(terms.costs(asker.options, row), search.wanted, largest=True).lower_bound
        contrasts = tuple(contrasted(asker, row, other, weights, size, widen) for other in others)
    bounds, sentences = described(asker.options, row, sorted(kept), inside)
    names = ensemble.feature_names
    return SufficientReason(
        x=row,
        x_class=ensemble.classes[search.own],
        features=tuple(names[each] for each in sorted(kept)),
        bounds=bounds,
        status=status,
        sentences=sentences,
        radius=distance,
        contrasts=contrasts,
    )
