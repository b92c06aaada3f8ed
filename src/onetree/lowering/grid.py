"""From thresholds and set tests to levels: the size of the grid of an ensemble."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from onetree import _core
from onetree.domain.domain import Domain
from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.lowering.axes import Axes, axes_of
from onetree.model.ensemble import Ensemble


@dataclass(frozen=True, eq=False)
class Grid:
    """The levels of each feature, and with them cells and boxes.

    Slab ``s`` of a feature holds ``levels[s - 1] < x <= levels[s]``. Where NaN is an input the last level is
    +inf and the slab above it is NaN. Categorical features, and the features of a group together, are axes as
    `onetree.lowering.axes` makes them: some have no order, and there the levels are the numbers of tests.

    Parameters
    ----------
    levels : tuple of float64 arrays
        Ascending, one array per feature.
    n_values : tuple of int
        For each feature how many slabs a set axis has, and 0 for any other; empty if there is no set axis.
    """

    levels: tuple[NDArray[np.float64], ...]
    n_values: tuple[int, ...] = ()

    @classmethod
    def of(cls, ensemble: Ensemble, domain: Domain | None = None) -> "Grid":
        """All hyperplanes of the ensemble inside a domain."""
        return cls.on(axes_of(ensemble, domain))

    @classmethod
    def on(cls, axes: Axes) -> "Grid":
        """All hyperplanes on axes."""
        return cls(tuple(_core.levels(axes.ensemble)), _n_values(axes))

    @classmethod
    def essential(cls, ensemble: Ensemble, domain: Domain | None = None, *, time_limit: float | None = None) -> "Grid":
        """Only the hyperplanes across which the class changes somewhere: what exact search works on.

        Raises
        ------
        GridTooLargeError
            The ensemble cuts the space into too many regions to go through.
        LimitReachedError
            More than `time_limit` seconds have passed.
        """
        axes = axes_of(ensemble, domain)
        try:
            return cls(tuple(_core.essential_levels(axes.ensemble, time_limit or 0.0)), _n_values(axes))
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

    @cached_property
    def n_slabs(self) -> tuple[int, ...]:
        """Slabs per feature."""
        n_values = self.n_values or (0,) * len(self.levels)
        return tuple(
            n if n and levels.size else len(levels) + 1 for n, levels in zip(n_values, self.levels, strict=True)
        )

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
        """Boxes of the grid: a contiguous range of slabs per feature; on a set axis, at most what tests can leave."""
        n_values = self.n_values or (0,) * len(self.levels)
        return math.prod(
            min(2**slabs - 1, 3 ** len(levels)) if n else slabs * (slabs + 1) // 2
            for n, slabs, levels in zip(n_values, self.n_slabs, self.levels, strict=True)
        )


def _n_values(axes: Axes) -> tuple[int, ...]:
    if isinstance(axes.ensemble, Ensemble) or all(members is None for members in axes.sets):
        return ()
    return tuple(0 if members is None else members.shape[1] for members in axes.sets)
