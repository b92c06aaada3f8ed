"""scikit-learn's calibrators: what one of the calibrated classifiers makes of the response of its model."""

from __future__ import annotations

from typing import Any

import numpy as np

from onetree.errors import UnsupportedModelError
from onetree.importers.composed.parts import Signal, stage


def calibrated(each: Any, response: Signal, n_classes: int, *, are_logits: bool) -> Signal:
    """Return the probabilities of a calibrated classifier.

    Parameters
    ----------
    each : member of `calibrated_classifiers_`
    response : Signal
        Of two classes, the score or probability of the second; otherwise one for each class of the member.
    n_classes : int
    are_logits : bool
        Whether the response is a score and not a probability.
    """
    if each.method == "temperature":
        return _temperature(each, response, n_classes, are_logits)
    if n_classes == 2:
        return _calibrator(each.calibrators[0], response).then("pair").then("clip")
    places = np.searchsorted(each.classes, each.estimator.classes_)
    parts = [
        _calibrator(calibrator, response.then("columns", places=[k])) for k, calibrator in enumerate(each.calibrators)
    ]
    joined = stage("join", *parts).then("scatter", places=places[: len(parts)], numbers=[n_classes])
    return joined.then("normalise").then("clip")


def _calibrator(calibrator: Any, response: Signal) -> Signal:
    name = type(calibrator).__name__
    if name == "_SigmoidCalibration":
        precision = (calibrator.a_ * np.zeros(1, dtype=response.dtype()) + calibrator.b_).dtype
        return response.then(
            "sigmoid-calibration", numbers=[float(calibrator.a_), float(calibrator.b_)], dtype=precision.name
        )
    if name == "IsotonicRegression" and calibrator.increasing_ and calibrator.out_of_bounds == "clip":
        x, y = np.asarray(calibrator.X_thresholds_), np.asarray(calibrator.y_thresholds_)
        return response.then("isotonic", numbers=np.concatenate([x, y]), dtype=x.dtype.name)
    raise UnsupportedModelError(f"the calibrator {name} is not read; use method='sigmoid' or 'isotonic'")


def _temperature(each: Any, response: Signal, n_classes: int, are_logits: bool) -> Signal:
    if are_logits:
        logits = response.then("mirror") if n_classes == 2 else response
    else:
        logits = (response.then("pair") if n_classes == 2 else response).then("log")
    beta = each.calibrators[0].beta_
    precision = (beta * np.zeros(1, dtype=logits.dtype())).dtype
    return logits.then("scale", numbers=[float(beta)], dtype=precision.name).then("numpy-softmax").then("clip")
