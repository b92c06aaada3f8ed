"""The published recursions, run as they are written, and the tree that the published extraction reads from them.

Of the paper's three objectives two are what the package finds too, and there is nothing to run twice. But which of
several optimal trees comes back is a matter of the order in which splits are tried, and pruning then starts from
another tree; and the published DL recursion is not the DL optimum: it gives every subtree its own least depth. So that
both can be shown, this module fills the table of the recursion for L or DL and takes, as the published Algorithm 3
does, the first split in the order of features and levels whose sides add up to the value of the box.

Independent of the engines: of the package it uses the essential levels and the reference prediction. A table of all
boxes would not fit for Breast-Cancer (6.7e9), so the features are divided. For every box over the *outer* features
there is a row with the values of all boxes over the *inner* ones; a row is kept once for all outer boxes that hold the
same function, and only over the inner levels that matter there.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np

from benchmarks.paper.cells import cells_of, replaced, tree_of
from onetree.lowering.grid import Grid

DEPTH = 4096  # one more split on the longest path, in a value that packs depth and splits
_INNER_BOXES = 20_000  # a row of so many stays in the processor's cache
_MAX_SPLITS = DEPTH // 2 - 1  # of each side, so that their sum never runs into the depth


class Leaves:
    """Fewest splits."""

    one_split = 1

    @staticmethod
    def combine(left, right):
        return left + right + np.uint16(1)

    @staticmethod
    def check(row):
        if row.max() > 32_000:
            raise OverflowError("too many leaves for 16 bits")


class PublishedDepthLeaves:
    """Least depth first, then fewest splits, in every box: what is published as DL."""

    one_split = DEPTH + 1

    @staticmethod
    def combine(left, right):
        # Both pack depth * DEPTH + splits, so the smaller one has the smaller depth: only its splits count.
        return np.maximum(left, right) + (np.minimum(left, right) & np.uint16(DEPTH - 1)) + np.uint16(DEPTH + 1)

    @staticmethod
    def check(row):
        # The whole grid itself comes last in a row, and is nobody's side.
        if len(row) > 1 and (row[:-1] & (DEPTH - 1)).max() > _MAX_SPLITS:
            raise OverflowError("too many leaves for the bits left beside the depth")


OBJECTIVES = {"leaves": Leaves, "depth-leaves": PublishedDepthLeaves}


def published_tree(ensemble, objective):
    """The tree of the published recursion, as the published extraction reads it."""
    return Table(ensemble, OBJECTIVES[objective]).tree()


class Table:
    """The values of all boxes of an ensemble's grid."""

    def __init__(self, ensemble, objective):
        self._ensemble, self._objective = ensemble, objective
        self._levels = Grid.essential(ensemble).levels
        self._n_slabs = [len(levels) + 1 for levels in self._levels]
        self._cells = cells_of(ensemble, self._levels)
        by_size = sorted(range(len(self._n_slabs)), key=lambda axis: (-self._n_slabs[axis], axis))
        self._inner = by_size[:1]
        for axis in by_size[1:]:
            if _n_boxes(self._n_slabs[each] for each in [*self._inner, axis]) <= _INNER_BOXES:
                self._inner.append(axis)
        self._inner.sort()
        self._outer = [axis for axis in range(len(self._n_slabs)) if axis not in self._inner]
        self._inner_slabs = [self._n_slabs[axis] for axis in self._inner]
        # Outer features first; the cells of one outer cell lie together.
        self._arranged = np.ascontiguousarray(self._cells.transpose([*self._outer, *self._inner]))
        self._rows, self._row_of, self._masks = [], {}, {}
        self._fill()

    def value(self, low, high):
        """The value of a box; both ends inclusive."""
        box = tuple((low[axis], high[axis]) for axis in self._outer)
        _, inner_mask = self._masks[box]
        kept = _kept(inner_mask, self._inner_slabs)
        plan = _plan(tuple(len(levels) + 1 for levels in kept))
        # Slab s of the grid is slab (levels below it that matter) of the row.
        first = [bisect_left(levels, low[axis]) for axis, levels in zip(self._inner, kept, strict=True)]
        last = [bisect_left(levels, high[axis]) for axis, levels in zip(self._inner, kept, strict=True)]
        return int(self._rows[self._row_of[box]][plan.number(first, last)])

    def tree(self):
        """The first split, in the order of features and levels, that adds up; and so on downwards."""
        return tree_of(self._ensemble, self._levels, self._first_split)

    def _first_split(self, low, high):
        value = self.value(low, high)
        if value == 0:
            return None
        combine = self._objective.combine
        for axis in range(len(low)):
            for level in range(low[axis], high[axis]):
                sides = self.value(low, replaced(high, axis, level)), self.value(replaced(low, axis, level + 1), high)
                if int(combine(*map(np.uint16, sides))) == value:
                    return axis, level
        raise AssertionError("no split of a box adds up to its value")

    def _fill(self):
        intervals = []
        for axis in self._outer:
            n = self._n_slabs[axis]
            intervals.append([(at, at + length - 1) for length in range(1, n + 1) for at in range(n - length + 1)])
        known = {}
        # In this order every box comes after those inside it.
        for box in itertools.product(*intervals):
            outer_mask, inner_mask = self._masks[box] = self._mask(box)
            smaller = self._without_idle_ends(box, outer_mask)
            if smaller is not None:
                self._row_of[box] = self._row_of[smaller]
                continue
            function = self._function(box, outer_mask, inner_mask)
            key = hashlib.blake2b(function.tobytes() + repr(function.shape).encode(), digest_size=16).digest()
            if key not in known:
                known[key] = len(self._rows)
                self._rows.append(self._row(box, outer_mask, inner_mask, function))
            self._row_of[box] = known[key]

    def _mask(self, box):
        """Which levels matter within an outer box: those of each outer feature, and those of the inner ones.

        Each is a tuple of bit masks, one per feature. A level matters in a box if it does in a part that it cuts.
        """
        wide = [place for place, (first, last) in enumerate(box) if first < last]
        if not wide:
            block = self._arranged[tuple(first for first, _ in box)]
            inner = []
            for axis, n in enumerate(block.shape):
                bits = 0
                for level in range(n - 1):
                    below, above = block.take(level, axis), block.take(level + 1, axis)
                    bits |= int(not np.array_equal(below, above)) << level
                inner.append(bits)
            return tuple(0 for _ in box), tuple(inner)
        longest = max(wide, key=lambda place: box[place][1] - box[place][0])
        first, last = box[longest]
        parts = [replaced(box, longest, (first, last - 1)), replaced(box, longest, (first + 1, last))]
        for place in wide if last - first == 1 else ():  # then a level of `longest` is in neither part
            if place != longest:
                parts += [replaced(box, place, (end, end)) for end in box[place]]
                break
        outer, inner = zip(*(self._masks[part] for part in parts), strict=True)
        outer = [_union(masks) for masks in zip(*outer, strict=True)]
        if len(wide) == 1 and last - first == 1:
            sides = [self._arranged[tuple(part[0] for part in parts[side])] for side in (0, 1)]
            outer[longest] |= int(not np.array_equal(*sides)) << first
        return tuple(outer), tuple(_union(masks) for masks in zip(*inner, strict=True))

    @staticmethod
    def _without_idle_ends(box, outer_mask):
        """The box without a slab at an end that is like its neighbour; None if there is none."""
        for place, (first, last) in enumerate(box):
            if first < last and not outer_mask[place] >> first & 1:
                return replaced(box, place, (first + 1, last))
            if first < last and not outer_mask[place] >> (last - 1) & 1:
                return replaced(box, place, (first, last - 1))
        return None

    def _function(self, box, outer_mask, inner_mask):
        """The classes in the box, without levels that do not matter there."""
        slabs = []
        for (first, last), mask in zip(box, outer_mask, strict=True):
            slabs.append([first, *(level + 1 for level in range(first, last) if mask >> level & 1)])
        slabs += [[0, *(level + 1 for level in kept)] for kept in _kept(inner_mask, self._inner_slabs)]
        return self._arranged[np.ix_(*slabs)]

    def _row(self, box, outer_mask, inner_mask, function):
        objective = self._objective
        plan = _plan(function.shape[len(box) :])
        row = np.full(plan.n_boxes, np.iinfo(np.uint16).max, dtype=np.uint16)
        for place, (first, last) in enumerate(box):
            for level in range(first, last):
                if outer_mask[place] >> level & 1:
                    sides = [
                        self._spread(replaced(box, place, part), inner_mask)
                        for part in ((first, level), (level + 1, last))
                    ]
                    np.minimum(row, objective.combine(*sides), out=row)
        corners = function.reshape(-1, plan.n_cells)
        same_corners = corners[0][plan.low] == corners[-1][plan.high]
        for level, (start, stop) in enumerate(itertools.pairwise(plan.starts)):
            values = row[start:stop]
            if level:
                sides = row.take(plan.left[level]), row.take(plan.right[level])
                np.minimum(values, objective.combine(*sides).min(axis=0), out=values)
            # Two sides of one class each, and the same class at both ends: one class.
            values[(values == objective.one_split) & same_corners[start:stop]] = 0
            if level == 0 and all(first == last for first, last in box):
                values[:] = 0
        objective.check(row)
        return row

    def _spread(self, box, inner_mask):
        """The row of an outer box, over the inner levels of a larger one."""
        row, own = self._rows[self._row_of[box]], self._masks[box][1]
        return row if own == inner_mask else row.take(_spread(own, inner_mask, tuple(self._inner_slabs)))


class _Plan:
    """All boxes over some slabs, by the number of levels that cut them, and their splits."""

    def __init__(self, counts):
        pairs = [np.array([(first, last) for first in range(n) for last in range(first, n)]) for n in counts]
        chosen = np.indices([len(each) for each in pairs]).reshape(len(counts), -1)
        first = np.stack([each[index, 0] for each, index in zip(pairs, chosen, strict=True)])
        last = np.stack([each[index, 1] for each, index in zip(pairs, chosen, strict=True)])
        order = np.argsort((last - first).sum(axis=0), kind="stable")
        self.first, self.last = first[:, order], last[:, order]  # both inclusive, a row per feature
        self.n_boxes, self.n_cells, self._counts = len(order), math.prod(counts), counts
        self._numbers = np.zeros([n for n in counts for _ in range(2)], dtype=np.intp)
        self._numbers[tuple(itertools.chain(*zip(self.first, self.last, strict=True)))] = np.arange(self.n_boxes)
        self.low = np.ravel_multi_index(tuple(self.first), counts)
        self.high = np.ravel_multi_index(tuple(self.last), counts)
        n_cut = (self.last - self.first).sum(axis=0)
        n_levels = sum(counts) - len(counts)
        self.starts = np.searchsorted(n_cut, np.arange(n_levels + 2)).tolist()
        self._find_splits(n_cut, n_levels)

    def number(self, first, last):
        """The numbers of boxes by their ends, both inclusive, a row per feature."""
        return self._numbers[tuple(itertools.chain(*zip(first, last, strict=True)))]

    def _find_splits(self, n_cut, n_levels):
        owners, lefts, rights = [], [], []
        for place, n in enumerate(self._counts):
            for step in range(n - 1):
                owner = np.flatnonzero(self.last[place] - self.first[place] > step)
                first, last = self.first[:, owner], self.last[:, owner]
                cut = first[place] + step
                lefts.append(self.number(first, [*last[:place], cut, *last[place + 1 :]]))
                rights.append(self.number([*first[:place], cut + 1, *first[place + 1 :]], last))
                owners.append(owner)
        none = np.zeros(0, dtype=np.intp)
        owner, left, right = (np.concatenate([none, *each]) for each in (owners, lefts, rights))
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.append(0, n_cut))
        # A box that k levels cut has k splits: a table of k rows, one column per box.
        self.left, self.right = [], []
        for level in range(n_levels + 1):
            start, stop = ends[self.starts[level]], ends[self.starts[level + 1]]
            for table, sides in ((self.left, left), (self.right, right)):
                shape = (self.starts[level + 1] - self.starts[level], level)
                table.append(np.ascontiguousarray(sides[order[start:stop]].reshape(shape).T))


@lru_cache(maxsize=4096)
def _plan(counts):
    return _Plan(counts)


@lru_cache(maxsize=4096)
def _spread(own, larger, n_slabs):
    """For every box over the levels of `larger`, the number of the box over those of `own` that it is like."""
    kept_own, kept_larger = _kept(own, n_slabs), _kept(larger, n_slabs)
    few, many = (_plan(tuple(len(kept) + 1 for kept in each)) for each in (kept_own, kept_larger))
    # Slab s of a grid begins after its level s - 1.
    places = [
        np.append(0, np.searchsorted(one, other, "right")) for one, other in zip(kept_own, kept_larger, strict=True)
    ]
    first = [place[each] for place, each in zip(places, many.first, strict=True)]
    last = [place[each] for place, each in zip(places, many.last, strict=True)]
    return few.number(first, last)


def _kept(masks, n_slabs):
    return [[level for level in range(n - 1) if mask >> level & 1] for mask, n in zip(masks, n_slabs, strict=True)]


def _union(masks):
    found = 0
    for mask in masks:
        found |= mask
    return found


def _n_boxes(n_slabs):
    return math.prod(n * (n + 1) // 2 for n in n_slabs)
