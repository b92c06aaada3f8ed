"""Where a column of a pipeline crosses the numbers that it is compared with, in terms of its raw column.

Found by bisection over all float64 numbers with the pipeline's own arithmetic, for all columns together: one call of
the pipeline looks at one number of every raw column in each row.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.pipeline.columns import Break, Column, Evaluate, Matrix, Raw
from onetree.importers.pipeline.float_order import Keys, keys, last_alike, numbers

_NEAR = 1024  # neighbours on each side of a switch that are all looked at, if rounding may not be monotone
_FAR = 2 ** np.arange(10, 52, dtype=np.int64)  # and some beyond
_MOST = 1 << 20  # numbers in one call


@dataclass(frozen=True, eq=False)
class Probing:
    """Evaluates columns at single numbers of their raw columns, the other raw columns being at their examples."""

    raw: Sequence[Raw]

    def values(self, evaluate: Evaluate, column: NDArray[np.intp], raw: NDArray[np.intp], x: Matrix) -> Matrix:
        """Return the value of a column, where the raw column that it depends on is x; for many of them."""
        found = np.empty(len(x))
        for start in range(0, len(x), _MOST):
            part = slice(start, start + _MOST)
            row = _rank(raw[part])
            rows = self.examples(int(row.max()) + 1)
            rows[row, raw[part]] = x[part]
            found[part] = evaluate(rows)[row, column[part]]
        return found

    def examples(self, n_rows: int) -> Matrix:
        """Return rows of examples."""
        return np.tile(np.array([each.example for each in self.raw]), (n_rows, 1))


def _rank(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the place of each entry among those of its group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    rank = np.empty(len(groups), dtype=np.intp)
    rank[order] = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    return rank


class Crossings:
    """Finds the crossings of columns on raw columns of numbers; breaks that several columns share are found once."""

    def __init__(self, raw: Sequence[Raw]) -> None:
        self._raw = raw
        self._probing = Probing(raw)
        self._found: dict[int, NDArray[np.float64]] = {}

    def of_breaks(self, columns: Sequence[Column]) -> list[NDArray[np.float64]]:
        """Return for each column the numbers after which it may do something else."""
        cuts = [np.empty(0) for _ in columns]
        for depth in range(max((len(column.breaks) for column in columns), default=0)):
            here = [at for at, column in enumerate(columns) if len(column.breaks) > depth]
            new = [at for at in here if id(columns[at].breaks[depth]) not in self._found]
            new = list({id(columns[at].breaks[depth]): at for at in new}.values())
            self._find([columns[at].breaks[depth] for at in new], [columns[at] for at in new], [cuts[at] for at in new])
            for at in here:
                cuts[at] = np.union1d(cuts[at], self._found[id(columns[at].breaks[depth])])
        return cuts

    def _find(self, breaks: Sequence[Break], columns: Sequence[Column], cuts: Sequence[NDArray[np.float64]]) -> None:
        for evaluate in {id(each.evaluate): each.evaluate for each in breaks}.values():
            own = [at for at, each in enumerate(breaks) if each.evaluate is evaluate]
            points = [breaks[at].points for at in own]
            around = [np.concatenate([each, np.nextafter(each, -np.inf)]) for each in points]
            found = self.of_thresholds(
                evaluate,
                [columns[at] for at in own],
                [breaks[at].column for at in own],
                around,
                [cuts[at] for at in own],
            )
            self._found |= {id(breaks[at]): each for at, each in zip(own, found, strict=True)}

    def of_thresholds(
        self,
        evaluate: Evaluate,
        columns: Sequence[Column],
        places: Sequence[int],
        thresholds: Sequence[NDArray[np.float64]],
        cuts: Sequence[NDArray[np.float64]],
    ) -> list[NDArray[np.float64]]:
        """Return for each column the last numbers before it crosses one of its thresholds.

        Parameters
        ----------
        evaluate : function
        columns : sequence of Column
            All on raw columns of numbers.
        places : sequence of int
            Where `evaluate` has them.
        thresholds, cuts : sequence of arrays
            What each is compared with, and where it may do something else, as `of_breaks` found.
        """
        raw = [0 if column.raw is None else column.raw for column in columns]
        ends = [self._ends(self._raw[at], cut) for at, cut in zip(raw, cuts, strict=True)]
        n_ends = [len(each) for each in ends]
        place, on = np.array(places, dtype=np.intp), np.array(raw, dtype=np.intp)
        every = np.concatenate([*ends, np.empty(0, dtype=np.int64)]).astype(np.int64)
        of = np.repeat(np.arange(len(columns)), n_ends)
        values = (
            np.split(self._probing.values(evaluate, place[of], on[of], numbers(every)), np.cumsum(n_ends)[:-1])
            if len(every)
            else [np.empty(0)] * len(columns)
        )
        entry, cut, low, high = [], [], [], []
        for at, (end, value, threshold) in enumerate(zip(ends, values, thresholds, strict=True)):
            below = value[:, np.newaxis] <= threshold  # NaN: never
            crossed, which = np.nonzero(below[0::2] != below[1::2])  # ends come in pairs
            entry.append(np.full(len(crossed), at))
            cut.append(threshold[which])
            low.append(end[0::2][crossed])
            high.append(end[1::2][crossed])
        if not entry or not sum(map(len, entry)):
            return [np.empty(0) for _ in columns]
        of, cuts_at = np.concatenate(entry), np.concatenate(cut)

        def holds(at: Keys, chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
            return self._probing.values(evaluate, place[of[chosen]], on[of[chosen]], numbers(at)) <= cuts_at[chosen]

        low_keys, high_keys = np.concatenate(low), np.concatenate(high)
        last = last_alike(holds, low_keys, high_keys)
        found = [last[of == at] for at in range(len(columns))]
        doubtful = np.flatnonzero(np.array([column.rounded for column in columns])[of])
        if doubtful.size:
            for entry_at, more in self._close_look(holds, doubtful, last, low_keys, high_keys):
                at = int(of[entry_at])
                if more is None:
                    raise UnsupportedModelError(
                        f"column {self._raw[raw[at]].name!r} goes through a step whose rounding crosses a threshold "
                        f"many times, near {float(numbers(last)[entry_at])!r}; leave out the step, which tree "
                        'ensembles do not need, or use pipelines="last-step"'
                    )
                found[at] = np.concatenate([found[at], more])
        return [np.unique(numbers(each)) for each in found]

    def _ends(self, raw: Raw, cuts: NDArray[np.float64]) -> Keys:
        """Return the first and last number of each piece, as keys."""
        inside = keys(np.unique(cuts[(cuts >= raw.low) & (cuts < raw.high)]))
        first, last = keys([raw.low]), keys([raw.high])
        return np.stack([np.concatenate([first, inside + 1]), np.concatenate([inside, last])], axis=1).ravel()

    def _close_look(
        self,
        holds: Callable[[Keys, NDArray[np.intp]], NDArray[np.bool_]],
        doubtful: NDArray[np.intp],
        last: Keys,
        low: Keys,
        high: Keys,
    ) -> Iterator[tuple[int, Keys | None]]:
        """Yield further switches next to those found, or None where there is no end of them."""
        near = np.arange(-_NEAR + 1, _NEAR, dtype=np.int64)
        offsets = np.concatenate([-_FAR[::-1], near, _FAR])
        here = np.clip(last[doubtful, np.newaxis] + offsets, low[doubtful, np.newaxis], high[doubtful, np.newaxis])
        sides = holds(here.ravel(), np.repeat(doubtful, len(offsets))).reshape(here.shape)
        for entry, side in zip(doubtful.tolist(), sides, strict=True):
            at = offsets[np.flatnonzero(side[:-1] != side[1:])]
            if np.any(np.abs(at) > _NEAR // 2):
                yield entry, None
            elif len(at) > 1:
                yield entry, last[entry] + at
