"""From thresholds to levels: how large the space is that an ensemble cuts up."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.ensemble import Ensemble
from onetree.errors import GridTooLargeError, LimitReachedError


@dataclass(frozen=True, eq=False)
class Grid:
    """The levels of each feature, and with them cells and boxes.

    Slab ``s`` of a feature holds ``levels[s - 1] < x <= levels[s]``. Where NaN is an input the last level is
    +inf and the slab above it is NaN.

    Parameters
    ----------
    levels : tuple of float64 arrays
        Ascending, one array per feature.
    """

    levels: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, ensemble: Ensemble) -> "Grid":
        """All hyperplanes of the ensemble."""
        levels = []
        for feature in range(ensemble.n_features):
            thresholds = np.unique(ensemble.threshold[ensemble.feature == feature])
            finite = thresholds[thresholds < np.inf]
            nan_level = [np.inf] if ensemble.nan_features[feature] and thresholds.size else []
            levels.append(np.append(finite, nan_level))
        return cls(tuple(levels))

    @classmethod
    def essential(cls, ensemble: Ensemble, *, time_limit: float | None = None) -> "Grid":
        """Only the hyperplanes across which the class changes somewhere: what exact search works on.

        Raises
        ------
        GridTooLargeError
            The ensemble cuts the space into too many regions to go through.
        LimitReachedError
            More than `time_limit` seconds have passed.
        """
        try:
            return cls(tuple(_core.essential_levels(ensemble, time_limit or 0.0)))
        except _core.GridTooLarge as error:
            raise GridTooLargeError(
                f"the grid is too large to find its essential hyperplanes ({error}); bin the features, or use fewer or "
                "shallower trees"
            ) from None
        except _core.LimitReached:
            raise LimitReachedError(
                f"the essential hyperplanes were not found within time_limit={time_limit}; raise it, bin the features, "
                "or use fewer or shallower trees"
            ) from None

    @property
    def n_slabs(self) -> tuple[int, ...]:
        """Slabs per feature."""
        return tuple(len(levels) + 1 for levels in self.levels)

    @property
    def n_levels(self) -> int:
        """Hyperplanes of all features together."""
        return sum(len(levels) for levels in self.levels)

    @property
    def n_cells(self) -> int:
        """Cells of the grid; the class is the same all over a cell."""
        return math.prod(self.n_slabs)

    @property
    def n_boxes(self) -> int:
        """Boxes of the grid: a contiguous range of slabs per feature."""
        return math.prod(n * (n + 1) // 2 for n in self.n_slabs)
