"""What separates an input from another class: what keeps it from there, and what would have to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble
from onetree.questions.ask import Asker
from onetree.questions.costs import Terms, changed_features
from onetree.questions.sources import class_index
from onetree.questions.sufficient import Reasons, described
from onetree.questions.wording import plain, shown

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contrast:
    """What separates an input from a class.

    Parameters
    ----------
    label : label
        The class that the input does not have.
    features : tuple of str
        While these keep their values, the class cannot become this one, whatever the others are.
    bounds, sentences
        As in `SufficientReason`.
    reason_status : {"minimal", "smallest", "limit"}
        As in `SufficientReason`.
    changes : dict
        Feature name: old and new value, for as few features as possible that lead to the class, and of all inputs that
        change no others the nearest.
    point : float64 array of shape (n_features,), or None
        That input; the model's own `predict` gives it the class.
    status : {"optimal", "none", "limit"}
        Fewer features are proven not to be enough; no input of the domain has the class, apart from categories that the
        model does not know; or a limit was reached.
    """

    label: Any
    features: tuple[str, ...]
    bounds: dict[str, tuple[Any, ...]]
    sentences: tuple[str, ...]
    reason_status: str
    changes: dict[str, tuple[Any, Any]]
    point: Floats | None
    status: str

    def __str__(self) -> str:
        if not self.features and self.point is None:
            return f"Never {self.label}: no input has this class."
        lines = [f"Not {self.label}, whatever the other features are, because", *(f"  {x}" for x in self.sentences)]
        if self.status == "none":
            return "\n".join([*lines, f"No change to what the model knows would make it {self.label}."])
        if self.point is None:
            return "\n".join([*lines, f"What would make it {self.label} was not found before the limit."])
        proof = "" if self.status == "optimal" else ", though fewer changes may do"
        lines.append(f"It would be {self.label}{proof}, if")
        lines += [f"  {name} were {shown(new)} instead of {shown(old)}" for name, (old, new) in self.changes.items()]
        return "\n".join(lines)


def against(contrast: Any, ensemble: Ensemble, own: int) -> list[int]:
    """Return the classes that an input is contrasted with: none, one, some or, for True, all others."""
    if contrast is None or contrast is False:
        return []
    if contrast is True:
        return [each for each in range(ensemble.n_classes) if each != own]
    labels = list(contrast) if isinstance(contrast, list | tuple | set | np.ndarray) else [contrast]
    found = [class_index(label, ensemble) for label in labels]
    if own in found:
        raise InvalidInputError(f"the input is of the class {ensemble.classes[own]} itself; contrast it with another")
    return found


def contrasted(asker: Asker, row: Floats, other: int, weights: Floats, size: str, widen: bool) -> Contrast:
    """Return what separates a row from a class."""
    options, ensemble = asker.options, asker.options.ensemble
    wanted = np.arange(ensemble.n_classes) == other
    search = Reasons(asker, row, wanted)
    kept, reason_status = search.smallest() if size == "smallest" else search.minimal(search.tested)
    bounds, sentences = described(options, row, sorted(kept), search.widened(kept) if widen else {})
    names, n_features = ensemble.feature_names, ensemble.n_features
    fewest = asker.nearest(Terms("l0", np.ones(n_features), missing_cost=1.0).costs(options, row), wanted)
    point = fewest.point
    if point is not None:
        fixed = set(range(n_features)) - changed_features(row, point)
        terms = Terms("l1", weights, fixed=fixed, missing_cost=1.0)
        nearest = asker.nearest(terms.costs(options, row), wanted)
        point = point if nearest.point is None else nearest.point
    changed = () if point is None else sorted(changed_features(row, point))
    return Contrast(
        label=ensemble.classes[other],
        features=tuple(names[each] for each in sorted(kept)),
        bounds=bounds,
        sentences=sentences,
        reason_status=reason_status,
        changes={
            names[each]: (plain(ensemble, each, float(row[each])), plain(ensemble, each, float(new)))
            for each, new in ((each, point[each]) for each in changed if point is not None)
        },
        point=point,
        status=fewest.status,
    )
