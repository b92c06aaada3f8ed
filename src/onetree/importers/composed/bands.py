"""Classes that are cut from probabilities: a threshold for one class, or bands of the probability of the second of two.

The probability is what the library's own `predict_proba` computes, and the number that it is compared with is rounded
as numpy rounds it in `predict_proba(X)[:, 1] >= threshold`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError
from onetree.importers.composed.parts import Signal, composed
from onetree.importers.composed.reduced import reduced
from onetree.importers.outputs import Asked
from onetree.model.combination import Combination
from onetree.model.ensemble import Ensemble, Rule
from onetree.model.stages import Stage


def cut_probabilities(asked: Asked, both: Signal, classes: NDArray[Any]) -> Ensemble:
    """Return the ensemble whose classes are what a threshold or bands make of probabilities.

    Parameters
    ----------
    asked : Asked
    both : Signal
        What `predict_proba` returns, a column per class.
    classes : array of labels
    """
    place = place_of(asked, classes)
    is_pair = both.stage is not None and both.stage.kind == "pair" and place == 1
    signal = both.of[0] if is_pair else both.only(place)
    if asked.bands is not None:
        return _banded(signal, asked.bands)
    made = composed(
        signal,
        names_of(asked, classes),
        cut=compared_with(asked.level, signal.dtype()),
        cut_inclusive=True,
        response=both if asked.output == "probability" else None,
    )
    return reduced(made)


def place_of(asked: Asked, classes: NDArray[Any]) -> int:
    """Return the column of the probability that is cut."""
    labels: list[Any] = classes.tolist()
    if asked.named is None:
        if len(labels) != 2:
            if asked.bands is not None:
                raise InvalidInputError(f"bands= is for two classes, and this model has {len(labels)}")
            raise InvalidInputError(
                f"threshold={asked.threshold!r} is for two classes, and this model has {len(labels)}; name one, as in "
                f"threshold={{{labels[-1]!r}: {asked.threshold!r}}}, which is then predicted against the rest"
            )
        return 1
    if asked.named not in labels:
        raise InvalidInputError(
            f"{asked.named!r} is not a class of the model, which has {', '.join(map(repr, labels[:10]))}"
        )
    if asked.output == "probability" and not (len(labels) == 2 and labels.index(asked.named) == 1):
        raise InvalidInputError(
            'output="probability" goes with a threshold for the second of two classes only; use output="class"'
        )
    return labels.index(asked.named)


def names_of(asked: Asked, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes that a threshold leaves: the second is predicted from the threshold on."""
    place = place_of(asked, classes)
    if len(classes) == 2:
        return classes[[1 - place, place]]
    return np.array([f"not {asked.named}", str(asked.named)])


def expected(asked: Asked, probabilities: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return what is to be predicted for rows of probabilities: in the words of the documentation, without stages."""
    own = probabilities[:, place_of(asked, classes)]
    if asked.bands is None:
        labels: NDArray[Any] = names_of(asked, classes)[(own >= asked.level).astype(int)]
        return labels
    names: NDArray[Any] = np.array(band_names(asked.bands))
    above = np.sum([own >= cut for cut in asked.bands], axis=0)
    bands: NDArray[Any] = names[above]
    return bands


def band_names(bands: Sequence[float]) -> list[str]:
    """Return what the bands are called: "below 0.2", "0.2 to 0.5", "0.5 and above"."""
    texts = [str(np.float64(cut)).removesuffix(".0") for cut in bands]
    inner = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *inner, f"{texts[-1]} and above"]


def compared_with(threshold: Any, dtype: np.dtype[Any]) -> float:
    """Return the number that scores of a precision are compared with: numpy rounds Python's numbers to it."""
    return float(dtype.type(threshold)) if type(threshold) in (int, float) else float(threshold)


def _banded(signal: Signal, bands: Sequence[float]) -> Ensemble:
    cuts = [compared_with(cut, signal.dtype()) for cut in bands]
    if any(a >= b for a, b in pairwise(cuts)):
        raise InvalidInputError(
            f"the bands {list(bands)!r} are too close: the model's {signal.dtype()} are the same there"
        )
    names = np.array(band_names(bands))
    each = [reduced(composed(signal, [0, 1], cut=cut, cut_inclusive=True)) for cut in cuts]
    own = [one.rule.cut for one in each if one.rule.kind == "score"]
    if len(own) == len(cuts) and all(a < b for a, b in pairwise(own)):  # cuts of the sum itself
        members = each[0].rule.members(1)
        rule = Rule("combined", combination=Combination(members, (Stage("bands", (0,), tuple(own)),)))
        return replace(each[0], classes=names, rule=rule)
    below = [math.nextafter(cut, -math.inf) for cut in cuts]  # the stage takes a number on a cut for below it
    return composed(signal.then("bands", numbers=below), names)
