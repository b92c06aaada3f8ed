"""What XGBoost's objectives make of the margin, and where the margin starts.

Margins are float32, and so is everything that is computed from them.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.importers.xgboost.file import FileModel
from onetree.model.ensemble import Rule
from onetree.model.stages import Stage

# The least margin whose sigmoid, computed in float32, is above 0.5.
_LOGISTIC_CUT = float.fromhex("0x1.800002p-24")

RULES = {
    "binary:logistic": Rule("score", dtype="float32", cut=_LOGISTIC_CUT, cut_inclusive=True),
    "binary:hinge": Rule("score", dtype="float32"),
    "multi:softprob": Rule("scores", dtype="float32", softmax=True),
    "multi:softmax": Rule("scores", dtype="float32"),
}
VALUE = Rule("value", dtype="float32")

_IDENTITY = (
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:pseudohubererror",
    "reg:absoluteerror",
    "reg:quantileerror",
)
_EXPONENTIAL = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")
_LOGISTIC = ("binary:logistic", "reg:logistic")
REGRESSION = (*_IDENTITY, *_EXPONENTIAL, "reg:logistic")

_PROBABILITIES = {
    "binary:logistic": (Stage("xgboost-sigmoid", ()), Stage("pair", ())),
    "multi:softprob": (Stage("softmax", ()),),
}


def probability_stages(objective: str, wrapped: bool) -> tuple[Stage, ...]:
    """Return the stages from the margins to what `predict_proba` returns, or a `Booster` that is not `wrapped`."""
    if objective == "multi:softmax" and wrapped:
        return (Stage("numpy-softmax", ()),)  # that of scipy, in Python
    if objective not in _PROBABILITIES:
        raise UnsupportedModelError(
            f"an XGBoost model with the objective {objective} has no probabilities that are read; train an "
            "XGBClassifier with binary:logistic or multi:softprob"
        )
    return _PROBABILITIES[objective]


def value_stages(objective: str) -> tuple[Stage, ...]:
    """Return the stages from the margin to what the `predict` of a regressor returns."""
    if objective in _LOGISTIC:
        return (Stage("xgboost-sigmoid", ()),)
    if objective in _EXPONENTIAL:
        return (Stage("exp", ()),)
    if objective in _IDENTITY:
        return ()
    raise UnsupportedModelError(why_not(objective))


def base_margin(file: FileModel) -> NDArray[np.float32]:
    """Return where the margins start: the base score, through the inverse of the link."""
    score, one = file.base_score[0], np.float32(1)
    if file.objective in _EXPONENTIAL:
        if not score > 0:
            raise ModelFileError(f"the base score of the objective {file.objective} is {score}, not above 0")
        return np.array([_logf(score)], dtype=np.float32)
    if file.objective not in _LOGISTIC:
        return file.base_score
    if file.version >= (3, 2):
        tiny = np.float32(1e-6)
        if not 0 <= score <= 1:
            raise ModelFileError(f"the base score of the logistic objective is {score}, outside 0..1")
        score = min(max(score, tiny), one - tiny)
    elif not 0 < score < 1:
        raise ModelFileError(f"the base score of the logistic objective is {score}, not between 0 and 1")
    return np.array([-_logf(one / score - one)], dtype=np.float32)


def why_not(objective: str) -> str:
    """Return why a model with this objective is not read."""
    if objective == "binary:logitraw":
        return (
            "the objective binary:logitraw gives a margin that XGBClassifier compares with 0.5, a cut that has no "
            "meaning for it; train with binary:logistic"
        )
    return (
        f"the objective {objective[:60]!r} of this XGBoost model predicts a rank, several numbers, or something of "
        f"your own; train a classifier, with one of {', '.join(RULES)}, or a regressor, with one of "
        f"{', '.join(REGRESSION)}"
    )


def _logf(x: np.float32) -> np.float32:
    """Return the logarithm as the C library has it, which XGBoost calls: not always the nearest float32."""
    try:
        logf = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).logf
    except (OSError, AttributeError):
        return np.float32(np.log(np.float64(x)))
    logf.restype, logf.argtypes = ctypes.c_float, [ctypes.c_float]
    return np.float32(logf(float(x)))
