"""A threshold or bands for an ensemble without its model: from a file, or given as it is.

What the ensemble knows of its probabilities is cut. One that was read for its class alone may still have them: class
fractions are probabilities, and so is what some rules of two levels decide by.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from onetree.errors import UnsupportedModelError
from onetree.importers.composed.bands import band_names, compared_with, cut_probabilities, names_of, place_of
from onetree.importers.composed.parts import after
from onetree.importers.composed.reduced import reduced
from onetree.importers.outputs import Asked
from onetree.model.combination import Combination
from onetree.model.ensemble import Ensemble, Rule
from onetree.model.stages import Stage

_PROBABILITIES = ("average", "mean", "clip", "pair", "softmax", "numpy-softmax", "catboost-softmax")


def at_cuts(ensemble: Ensemble, asked: Asked) -> Ensemble:
    """Return the ensemble whose classes are what a threshold or bands make of its probabilities."""
    if ensemble.output == "value":
        raise UnsupportedModelError("threshold= and bands= cut probabilities, which a regressor does not have")
    stages = _stages(ensemble)
    if stages is None:
        raise UnsupportedModelError(
            "the scores of this model do not say how they become probabilities, so there is nothing to compare a "
            "threshold with; read the fitted model itself with threshold= or bands="
        )
    if ensemble.rule.combination is not None:
        return _of_combination(ensemble, ensemble.rule.combination, stages, asked)
    return cut_probabilities(asked, after(ensemble, stages), ensemble.classes)


def _stages(ensemble: Ensemble) -> tuple[Stage, ...] | None:
    """Return the stages from the sums to the probabilities, if they are known."""
    combination, response = ensemble.rule.combination, ensemble.response
    if response is not None:
        return response.stages
    if ensemble.rule.kind == "soft":
        return ()
    known = combination is not None and combination.stages and combination.stages[-1].kind in _PROBABILITIES
    return combination.stages if combination is not None and known else None


def _of_combination(ensemble: Ensemble, combination: Combination, stages: tuple[Stage, ...], asked: Asked) -> Ensemble:
    """Return the same members with more stages."""
    last = len(combination.members) + len(stages)
    stages = (*stages, Stage("columns", (last - 1,), places=(place_of(asked, ensemble.classes),)))
    precision = Combination(combination.members, stages).dtype
    if asked.bands is None:
        cut = compared_with(asked.level, precision)
        made, names = (
            Combination(combination.members, stages, cut, cut_inclusive=True),
            names_of(asked, ensemble.classes),
        )
    else:
        below = tuple(math.nextafter(compared_with(cut, precision), -math.inf) for cut in asked.bands)
        made = Combination(combination.members, (*stages, Stage("bands", (last,), below)))
        names = np.array(band_names(asked.bands))
    response = ensemble.response if asked.output == "probability" else None
    return reduced(replace(ensemble, classes=names, rule=Rule("combined", combination=made), response=response))
