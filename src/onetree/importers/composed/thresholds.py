"""A threshold for an ensemble without its model: from a file, or given as it is.

Class fractions are probabilities. Of other sums the link must be known, which XGBoost's and LightGBM's files tell.
"""

from __future__ import annotations

import re
from dataclasses import replace

from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.importers.composed.composites import compared_with
from onetree.importers.composed.parts import Signal, composed, sums_of
from onetree.importers.composed.reduced import reduced
from onetree.model.ensemble import Ensemble, Rule
from onetree.model.stages import Stage

_PROBABILITIES = ("average", "mean", "clip", "pair", "softmax", "numpy-softmax")


def at_threshold(ensemble: Ensemble, threshold: float, content: bytes = b"") -> Ensemble:
    """Return the ensemble that predicts its second class iff its probability is at least the threshold.

    Parameters
    ----------
    ensemble : Ensemble
    threshold : float
    content : bytes
        Of the file that it was read from, if there is one.
    """
    if ensemble.n_classes != 2:
        raise InvalidInputError(f"threshold= is for two classes, and this model has {ensemble.n_classes}")
    combination = ensemble.rule.combination
    if combination is not None and combination.stages[-1].kind in _PROBABILITIES:
        last = len(combination.members) + len(combination.stages) - 1
        stages = (*combination.stages, Stage("columns", (last,), places=(1,)))
        precision = combination.final(ensemble.base[None]).dtype
        made = replace(combination, stages=stages, cut=compared_with(threshold, precision), cut_inclusive=True)
        return reduced(replace(ensemble, rule=Rule("combined", combination=made)))
    signal = _positive(ensemble, content)
    if signal is None:
        raise UnsupportedModelError(
            "the scores of this model do not say how they become probabilities, so there is nothing to compare a "
            "threshold with; read the fitted model itself with threshold="
        )
    cut = compared_with(threshold, signal.dtype())
    return reduced(composed(signal, ensemble.classes, cut=cut, cut_inclusive=True))


def _positive(ensemble: Ensemble, content: bytes) -> Signal | None:
    sums = sums_of(ensemble)
    if b"onetree-ensemble" in content:
        content = b""
    if ensemble.rule.kind == "soft":
        return sums.only(1)
    if ensemble.rule.kind == "score" and b"learner" in content and b"binary:logistic" in content:
        return sums.then("xgboost-sigmoid")
    found = re.search(rb"^objective=binary sigmoid:([0-9.eE+-]+)\s*$", content, re.MULTILINE)
    if ensemble.rule.kind == "score" and found is not None:
        return sums.then("sigmoid", numbers=[float(found[1])])
    return None
