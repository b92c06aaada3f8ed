"""Where a rule of two levels is one of one level: a single sum, compared with a cut.

What follows the sum of one member grows with it, so the class changes at one number, found by bisection over all
floating-point numbers with the library's own functions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from onetree.importers.cut import last_score
from onetree.model.combination import Combination
from onetree.model.ensemble import Ensemble, Rule

_N_NEIGHBOURS = 4096  # numbers on either side of the cut at which the class must not change back


def reduced(ensemble: Ensemble) -> Ensemble:
    """Return the ensemble with a rule of one level, if one gives the same classes; otherwise as it is."""
    combination = ensemble.rule.combination
    if combination is not None and ensemble.output == "value" and len(combination.members) == 1:
        (member,) = combination.members
        return replace(ensemble, rule=Rule("value", dtype=member.dtype, divisor=member.divisor))
    if combination is None or combination.n_outputs != 1 or ensemble.n_classes != 2:
        return ensemble
    dtype = np.dtype(combination.members[0].dtype)

    def stays_below(score: float) -> bool:
        with np.errstate(over="ignore"):
            return combination.decide_one(np.array([score], dtype=dtype).astype(np.float64)) == 0

    # The largest number of the precision itself is infinite when a float64 is rounded to it; so is its negative.
    cut = last_score(stays_below)
    if cut is None or not _changes_once(combination, cut, dtype):
        return ensemble
    rule = Rule("score", dtype=dtype.name, divisor=combination.members[0].divisor, cut=cut)
    return replace(ensemble, rule=rule)


def _changes_once(combination: Combination, cut: float, dtype: np.dtype[np.floating]) -> bool:
    """Whether all numbers around the cut are on the right side: functions that are rounded may waver."""
    scores = [dtype.type(cut)]
    for direction in (-np.inf, np.inf):
        score = dtype.type(cut)
        for _ in range(_N_NEIGHBOURS):
            score = np.nextafter(score, dtype.type(direction))
            scores.append(score)
    around = np.unique(np.array(scores).astype(np.float64))
    return bool(np.array_equal(combination.decide(around[:, np.newaxis]), (around > cut).astype(int)))
