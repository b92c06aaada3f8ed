"""The functions between sums and the numbers of regressors, probabilities of CatBoost and bands.

As in `onetree.model.links`, each takes its signals and the stage with its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.model.exponentials import c_exp, catboost_exp
from onetree.model.stages import Stage

Floats = NDArray[Any]


def _affine(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: a factor, and what is added to the product."""
    factor, added = stage.numbers
    result: Floats = factor * given[0] + added
    return result


def _bands(given: Sequence[Floats], stage: Stage) -> Floats:
    """Return 1 for the band of a score; `numbers`: the cuts, ascending. A score on a cut is below it."""
    band = np.searchsorted(np.array(stage.numbers), given[0][:, 0].astype(np.float64), side="left")
    result = np.zeros((len(band), len(stage.numbers) + 1))
    result[np.arange(len(band)), band] = 1.0
    return result


def _catboost_softmax(given: Sequence[Floats], stage: Stage) -> Floats:
    share = catboost_exp(given[0] - given[0].max(axis=1, keepdims=True))
    total = np.zeros(len(share))
    for k in range(share.shape[1]):
        total += share[:, k]
    result: Floats = share / total[:, np.newaxis]
    return result


def _of_regressors(given: Sequence[Floats], stage: Stage) -> Floats:
    """Return the average of a VotingRegressor, whose members are columns; `numbers`: weights, or none."""
    weights = np.array(stage.numbers) if stage.numbers else None
    # At least two rows, as numpy adds the members of a single one in another order.
    columns = np.asarray([np.append(each[:, 0], each[:1, 0]) for each in given]).T
    result: Floats = np.average(columns, axis=1, weights=weights)[:-1, np.newaxis]
    return result


def _sum(given: Sequence[Floats], stage: Stage) -> Floats:
    """Return the sum of the members of a BaggingRegressor, in the precision that they have together."""
    total: Any = 0
    for each in given:
        total = total + each
    result: Floats = total
    return result


VALUE_LINKS: dict[str, Callable[[Sequence[Floats], Stage], Floats]] = {
    "affine": _affine,
    "bands": _bands,
    "catboost-exp": lambda given, stage: catboost_exp(given[0]),
    "catboost-softmax": _catboost_softmax,
    "exp": lambda given, stage: c_exp(given[0]),
    "numpy-exp": lambda given, stage: np.exp(given[0]),
    "numpy-expm1": lambda given, stage: np.expm1(given[0]),
    "of-regressors": _of_regressors,
    "sum": _sum,
}


def _kept(given: list[int], stage: Stage) -> int | None:
    return given[0] if len(given) == 1 and not stage.numbers else None


def _width_affine(given: list[int], stage: Stage) -> int | None:
    return given[0] if len(given) == 1 and len(stage.numbers) == 2 else None


def _width_bands(given: list[int], stage: Stage) -> int | None:
    rises = all(a < b for a, b in pairwise(stage.numbers))
    return len(stage.numbers) + 1 if given == [1] and stage.numbers and rises else None


def _width_of_regressors(given: list[int], stage: Stage) -> int | None:
    return 1 if set(given) == {1} and len(stage.numbers) in (0, len(given)) else None


def _width_sum(given: list[int], stage: Stage) -> int | None:
    return 1 if set(given) == {1} and not stage.numbers else None


VALUE_WIDTHS: dict[str, Callable[[list[int], Stage], int | None]] = {
    "affine": _width_affine,
    "bands": _width_bands,
    "catboost-exp": _kept,
    "catboost-softmax": _kept,
    "exp": _kept,
    "numpy-exp": _kept,
    "numpy-expm1": _kept,
    "of-regressors": _width_of_regressors,
    "sum": _width_sum,
}
