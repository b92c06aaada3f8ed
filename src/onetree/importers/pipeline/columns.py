"""What a pipeline does, column by column: raw columns, and functions of one raw column each.

Inputs are matrices of numbers, as ensembles read them: a number is itself, a category its code, a gap NaN. How
they become what a library takes is known to whoever gives the function `evaluate`, from such a matrix to the columns
that the steps make of it, in the library's own arithmetic.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from onetree.importers.pipeline.float_order import LARGEST
from onetree.model.columns import Labels

Matrix = NDArray[np.float64]
Evaluate = Callable[[Matrix], Matrix]


@dataclass(frozen=True)
class Raw:
    """A raw column.

    Parameters
    ----------
    name : str
    labels : Labels, optional
        The values that it can have, if these are finitely many.
    low, high : float
        The numbers that the steps take, both inclusive.
    example : float
        An input that the steps take.
    takes_nan : bool
        Whether NaN is an input.
    """

    name: str
    labels: Labels | None = None
    low: float = -LARGEST
    high: float = LARGEST
    example: float = 0.0
    takes_nan: bool = False


@dataclass(frozen=True, eq=False)
class Break:
    """Points at which a step may do something else below, at and above.

    Parameters
    ----------
    evaluate : function
        From raw inputs to the columns that this step gets.
    column : int
        The one that it looks at.
    points : float64 array
    """

    evaluate: Evaluate
    column: int
    points: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Column:
    """A column that the model sees: a function of one raw column.

    Between the points of all its breaks it must be monotone in floating point, rising or falling, or all NaN.

    Parameters
    ----------
    raw : int or None
        The raw column that it depends on; None for a constant.
    breaks : tuple of Break
        In the order of the steps.
    rounded : bool
        Whether its values are rounded in a way that may not be monotone from one number to the next, as logarithms
        are: then each switch is looked at closely.
    """

    raw: int | None
    breaks: tuple[Break, ...] = ()
    rounded: bool = field(default=False, kw_only=True)
