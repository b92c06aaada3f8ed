"""The functions between sums and decisions, as the libraries compute them.

Each takes its signals, arrays of shape (n_rows, n_columns), and the stage with its parameters. Exponentials differ in
the last place between numpy, scipy and the C library, so each function calls the one that its library calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.model.exponentials import c_exp
from onetree.model.stages import Stage
from onetree.model.value_links import VALUE_LINKS, VALUE_WIDTHS

Floats = NDArray[Any]
LOG_OFFSET = 1e-12
"""What scikit-learn's temperature scaling adds to probabilities before it takes their logarithm."""


def softmax(scores: Floats) -> Floats:
    """Return the softmax as XGBoost and LightGBM compute it: in the precision of the scores, but summed in float64."""
    share = c_exp(scores - scores.max(axis=1, keepdims=True))
    total = np.zeros(len(scores))
    for k in range(scores.shape[1]):
        total += share[:, k]
    result: Floats = share / total.astype(scores.dtype)[:, np.newaxis]
    return result


def _numpy_softmax(given: Sequence[Floats], stage: Stage) -> Floats:
    """`places`: any, if the library holds the scores column by column, and so adds them one after the other."""
    share = given[0] - given[0].max(axis=1, keepdims=True)
    np.exp(share, out=share)
    total = np.add.accumulate(share, axis=1)[:, -1] if stage.places else share.sum(axis=1)
    result: Floats = share / total[:, np.newaxis]
    return result


def _expit(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: a factor of the scores."""
    from scipy.special import expit

    scores = given[0] if stage.numbers[0] == 1 else stage.numbers[0] * given[0]
    result: Floats = expit(scores)
    return result


def _xgboost_sigmoid(given: Sequence[Floats], stage: Stage) -> Floats:
    one = np.float32(1)
    share = c_exp(np.minimum(-given[0], np.float32(88.7)))
    result: Floats = one / (share + one + np.float32(1e-16))
    return result


def _sigmoid(given: Sequence[Floats], stage: Stage) -> Floats:
    """Return the sigmoid of LightGBM and CatBoost; `numbers`: a factor, LightGBM's parameter sigmoid."""
    result: Floats = 1.0 / (1.0 + c_exp(-stage.numbers[0] * given[0]))
    return result


def _pair(given: Sequence[Floats], stage: Stage) -> Floats:
    """Return the probabilities of both classes, from that of the second."""
    return np.concatenate([1 - given[0], given[0]], axis=1)


def _mirror(given: Sequence[Floats], stage: Stage) -> Floats:
    return np.concatenate([-given[0], given[0]], axis=1)


def _columns(given: Sequence[Floats], stage: Stage) -> Floats:
    """`places`: the columns that are kept."""
    return np.ascontiguousarray(given[0][:, list(stage.places)])


def _scatter(given: Sequence[Floats], stage: Stage) -> Floats:
    """`places`: where the columns go; `numbers`: how many there are then."""
    result = np.zeros((len(given[0]), int(stage.numbers[0])))
    result[:, list(stage.places)] = given[0]
    return result


def _scale(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: the factor."""
    dtype = np.dtype(stage.dtype or given[0].dtype)
    result: Floats = dtype.type(stage.numbers[0]) * given[0].astype(dtype)
    return result


def _divide(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: the divisor."""
    result: Floats = given[0] / given[0].dtype.type(stage.numbers[0])
    return result


def _log(given: Sequence[Floats], stage: Stage) -> Floats:
    logarithm: Floats = np.log(given[0] + LOG_OFFSET)
    return logarithm


def _sigmoid_calibration(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: slope and intercept."""
    from scipy.special import expit

    dtype = np.dtype(stage.dtype)
    slope, intercept = map(dtype.type, stage.numbers)
    result: Floats = expit(-(slope * given[0].astype(dtype) + intercept)).astype(np.float64)
    return result


def _isotonic(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: the thresholds, ascending, then the value at each."""
    dtype = np.dtype(stage.dtype)
    scores = given[0].astype(dtype)
    half = len(stage.numbers) // 2
    low, high = dtype.type(stage.numbers[0]), dtype.type(stage.numbers[half - 1])
    inside = np.clip(scores[:, 0], low, high)
    result: Floats = _interpolation(stage.numbers, stage.dtype)(inside)
    return result.astype(dtype)[:, np.newaxis].astype(np.float64)


@lru_cache(maxsize=1024)
def _interpolation(numbers: tuple[float, ...], dtype: str) -> Callable[[Floats], Floats]:
    x, y = np.array(numbers, dtype=dtype).reshape(2, -1)
    if len(x) == 1:
        return lambda scores: y.repeat(len(scores))
    from scipy.interpolate import interp1d

    made: Callable[[Floats], Floats] = interp1d(x, y, kind="linear", bounds_error=False)
    return made


def _normalise(given: Sequence[Floats], stage: Stage) -> Floats:
    total = given[0].sum(axis=1)[:, np.newaxis]
    uniform = np.full_like(given[0], 1 / given[0].shape[1])
    result: Floats = np.divide(given[0], total, out=uniform, where=total != 0)
    return result


def _one_vs_rest(given: Sequence[Floats], stage: Stage) -> Floats:
    """Return the shares of probabilities in their sum, as a OneVsRestClassifier adds them; zeros stay zeros."""
    shares = np.array(given[0].T, order="C").T  # a class after the other, which is another order of addition
    total = np.sum(shares, axis=1)[:, np.newaxis]
    result: Floats = np.divide(shares, total, out=shares, where=total != 0)
    return result


def _clip(given: Sequence[Floats], stage: Stage) -> Floats:
    """Return probabilities that rounding made a little larger than one as one."""
    return np.where((given[0] > 1.0) & (given[0] <= 1.0 + 1e-5), np.ones_like(given[0]), given[0])


def _average(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: weights, or none."""
    weights = np.array(stage.numbers) if stage.numbers else None
    result: Floats = np.average(np.asarray(given), axis=0, weights=weights)
    return result


def _mean(given: Sequence[Floats], stage: Stage) -> Floats:
    total = np.zeros(given[0].shape)
    for each in given:
        total += each
    total /= len(given)
    return total


def _votes(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: weights, one per signal."""
    total = np.zeros(given[0].shape)
    for each, weight in zip(given, stage.numbers, strict=True):
        total += weight * each
    return total


def _winner(given: Sequence[Floats], stage: Stage) -> Floats:
    """Return 1 for the class that wins; `numbers`: for a single column, the cut and whether it is inclusive."""
    if stage.numbers:
        score = given[0][:, 0].astype(np.float64)
        wins = (score >= stage.numbers[0] if stage.numbers[1] else score > stage.numbers[0]).astype(np.intp)
    else:
        wins = np.argmax(given[0], axis=1)
    result = np.zeros((len(wins), max(2, given[0].shape[1])))
    result[np.arange(len(wins)), wins] = 1.0
    return result


def _join(given: Sequence[Floats], stage: Stage) -> Floats:
    return np.hstack(list(given))


def _linear(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: the coefficients, a row per result, then the intercepts; `places`: how many results."""
    dtype = np.dtype(stage.dtype)
    n = stage.places[0]
    numbers = np.array(stage.numbers, dtype=dtype)
    coefficients = numbers[:-n].reshape(n, -1)
    result: Floats = given[0] @ coefficients.T + numbers[-n:]
    return result


def _constant(given: Sequence[Floats], stage: Stage) -> Floats:
    """`numbers`: what every row gets."""
    return np.tile(np.array(stage.numbers), (len(given[0]), 1))


LINKS: dict[str, Callable[[Sequence[Floats], Stage], Floats]] = {
    **VALUE_LINKS,
    "average": _average,
    "clip": _clip,
    "columns": _columns,
    "constant": _constant,
    "divide": _divide,
    "expit": _expit,
    "isotonic": _isotonic,
    "join": _join,
    "sigmoid": _sigmoid,
    "linear": _linear,
    "log": _log,
    "mean": _mean,
    "mirror": _mirror,
    "normalise": _normalise,
    "numpy-softmax": _numpy_softmax,
    "one-vs-rest": _one_vs_rest,
    "pair": _pair,
    "scale": _scale,
    "scatter": _scatter,
    "sigmoid-calibration": _sigmoid_calibration,
    "softmax": lambda given, stage: softmax(given[0]),
    "votes": _votes,
    "winner": _winner,
    "xgboost-sigmoid": _xgboost_sigmoid,
}


def _width_isotonic(given: list[int], stage: Stage) -> int | None:
    half, odd = divmod(len(stage.numbers), 2)
    x, y = stage.numbers[:half], stage.numbers[half:]
    rises = all(a < b for a, b in pairwise(x)) and all(a <= b for a, b in pairwise(y))
    return 1 if given == [1] and half and not odd and rises and stage.dtype else None


def _width_linear(given: list[int], stage: Stage) -> int | None:
    n = stage.places[0] if len(stage.places) == 1 else 0
    return n if len(given) == 1 and n > 0 and len(stage.numbers) == n * (given[0] + 1) and stage.dtype else None


def _width_winner(given: list[int], stage: Stage) -> int | None:
    fits = len(given) == 1 and len(stage.numbers) == (2 if given[0] == 1 else 0)
    return max(2, given[0]) if fits else None


def _width_columns(given: list[int], stage: Stage) -> int | None:
    return len(stage.places) if len(given) == 1 and all(0 <= p < given[0] for p in stage.places) else None


def _width_scatter(given: list[int], stage: Stage) -> int | None:
    width = int(stage.numbers[0]) if len(stage.numbers) == 1 else 0
    fits = len(given) == 1 and len(stage.places) == given[0] == len(set(stage.places))
    return width if fits and all(0 <= p < width for p in stage.places) else None


def _same(n_numbers: int = 0, *, several: bool = False, wide: bool = True) -> Callable[[list[int], Stage], int | None]:
    """Return the width of stages that keep the number of columns."""

    def width(given: list[int], stage: Stage) -> int | None:
        fits = len(stage.numbers) == n_numbers and (several or len(given) == 1) and len(set(given)) == 1
        return given[0] if fits and (wide or given[0] == 1) else None

    return width


def _doubled(given: list[int], stage: Stage) -> int | None:
    return 2 if given == [1] and not stage.numbers else None


def _width_calibration(given: list[int], stage: Stage) -> int | None:
    return 1 if given == [1] and len(stage.numbers) == 2 and stage.dtype else None


WIDTHS: dict[str, Callable[[list[int], Stage], int | None]] = {
    **VALUE_WIDTHS,
    "average": lambda given, stage: (
        _same(len(stage.numbers), several=True)(given, stage) if len(stage.numbers) in (0, len(given)) else None
    ),
    "clip": _same(),
    "columns": _width_columns,
    "constant": lambda given, stage: len(stage.numbers),
    "divide": _same(1),
    "expit": _same(1),
    "isotonic": _width_isotonic,
    "join": lambda given, stage: sum(given),
    "sigmoid": _same(1),
    "linear": _width_linear,
    "log": _same(),
    "mean": _same(several=True),
    "mirror": _doubled,
    "normalise": _same(),
    "numpy-softmax": _same(),
    "one-vs-rest": _same(),
    "pair": _doubled,
    "scale": _same(1),
    "scatter": _width_scatter,
    "sigmoid-calibration": _width_calibration,
    "softmax": _same(),
    "votes": lambda given, stage: _same(len(given), several=True)(given, stage),
    "winner": _width_winner,
    "xgboost-sigmoid": _same(),
}
"""For each kind of stage, the number of columns that it gives, from those that it takes; None if they do not fit."""
