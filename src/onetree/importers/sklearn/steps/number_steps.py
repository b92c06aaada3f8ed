"""scikit-learn's steps that compute with numbers, one column at a time."""

from typing import Any

import numpy as np

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.steps.tracing import REMEDY, Stage, Traced

# By name, the points between which each function is monotone, or not defined; and whether its rounding is. Functions
# that are computed by a series may give a smaller result at the next larger number.
_EXACT = {
    "absolute": (0.0,), "fabs": (0.0,), "negative": (), "positive": (), "sqrt": (0.0,), "square": (0.0,),
    "reciprocal": (0.0,), "floor": (), "ceil": (), "rint": (), "trunc": (), "sign": (), "deg2rad": (), "rad2deg": (),
    "radians": (), "degrees": (), "isnan": (), "isfinite": (),
}  # fmt: skip
_SERIES = {
    "log": (0.0,), "log2": (0.0,), "log10": (0.0,), "log1p": (-1.0,), "exp": (), "exp2": (), "expm1": (),
    "cbrt": (0.0,), "arctan": (), "tanh": (), "arcsinh": (), "sinh": (),
}  # fmt: skip

# The smallest numbers that these do not turn into NaN or infinity.
_LOWEST = {"sqrt": 0.0, "log1p": np.nextafter(-1.0, 0.0)} | dict.fromkeys(("log", "log2", "log10"), 5e-324)


def read_scaler(step: Any, stage: Stage) -> list[Traced]:
    """Scalers: differences and products with constants, which rounding keeps monotone."""
    stage.source.computes = True
    return [column.changed() for column in stage.columns]


def read_power(step: Any, stage: Stage) -> list[Traced]:
    """`PowerTransformer`: one formula on each side of zero."""
    stage.source.computes = True
    for at in range(len(stage.columns) if step.method == "box-cox" else 0):
        stage.from_here(at, 5e-324)
    return [stage.broken(at, [0.0]).changed(rounded=True) for at in range(len(stage.columns))]


def read_quantile(step: Any, stage: Stage) -> list[Traced]:
    """`QuantileTransformer`: a line between each two quantiles, then possibly the normal distribution's."""
    stage.source.computes = True
    rounded = step.output_distribution != "uniform"
    quantiles = np.asarray(step.quantiles_)
    return [stage.broken(at, quantiles[:, at]).changed(rounded=rounded) for at in range(len(stage.columns))]


def read_bins(step: Any, stage: Stage) -> list[Traced]:
    """`KBinsDiscretizer`: numbers of bins, or a column for each bin."""
    stage.source.computes = True
    columns = [stage.broken(at, edges) for at, edges in enumerate(step.bin_edges_)]
    times = np.ones(len(columns), dtype=int) if step.encode == "ordinal" else np.asarray(step.n_bins_)
    return [column for column, n in zip(columns, times.tolist(), strict=True) for _ in range(n)]


def read_function(step: Any, stage: Stage) -> list[Traced]:
    """`FunctionTransformer` of a known function of numpy, or of none."""
    if step.func is None:
        return list(stage.columns)
    name = getattr(step.func, "__name__", type(step.func).__name__)
    known = isinstance(step.func, np.ufunc) and name in _EXACT | _SERIES
    if not known or step.kw_args:
        what = f"the function {name}" + (" with arguments of its own" if known else "")
        raise UnsupportedModelError(
            f"FunctionTransformer calls {what}, of which it is not known what it does to a column; use one of numpy's, "
            f"such as numpy.log1p, numpy.sqrt or numpy.exp, or {REMEDY}"
        )
    stage.source.computes = True
    points = (_EXACT | _SERIES)[name]
    for at in range(len(stage.columns) if name in _LOWEST else 0):
        stage.from_here(at, _LOWEST[name])
    return [stage.broken(at, points).changed(rounded=name in _SERIES) for at in range(len(stage.columns))]
