"""What the splits of a CatBoost model ask, and trees that ask about one column at a time.

A counter can depend on several columns at once: on the categories that it combines, and on splits that belong to it. On
each column the model tells finitely many *points* apart: its known categories and everything else, or the intervals
between its borders. So the answer to a split is a table over the points of its columns, and a tree of tests of single
columns says the same. What earlier tests on the way have decided is not asked again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.catboost.counters import Combination, Counter, Hashes, next_hash
from onetree.importers.catboost.features import Features
from onetree.importers.catboost.file import JsonTree
from onetree.importers.catboost.splits import Splits

Bools = NDArray[np.bool_]
Context = dict[int, Bools]  # the points that are left, by column; all of them elsewhere

_MAX_TABLE = 1 << 22  # combinations of one counter
_MAX_NODES = 1 << 20  # of all trees together
_LISTED = 5


@dataclass(frozen=True, eq=False)
class Points:
    """What is told apart on each column: `codes` of categories, of which point 0 is any other, or `cuts` of numbers."""

    codes: Mapping[int, NDArray[np.int64]]
    cuts: Mapping[int, NDArray[np.float32]]

    def n_points(self, column: int) -> int:
        """Return how many points a column has."""
        return 1 + len(self.codes[column] if column in self.codes else self.cuts[column])


@dataclass(frozen=True, eq=False)
class Question:
    """A split: the columns it depends on, the group of each of their points, and the answer for each combination."""

    columns: tuple[int, ...]
    groups: tuple[NDArray[np.intp], ...]
    yes: Bools


@dataclass(frozen=True, eq=False)
class Test:
    """A test of one column: its points that go right."""

    column: int
    right: Bools


@dataclass(frozen=True, eq=False)
class Flat:
    """A tree of tests; None is a leaf."""

    tests: list[Test | None]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]  # (n_nodes, n_scores)


class Questions:
    """The questions of a model's splits, each made when it is first asked."""

    def __init__(self, features: Features, splits: Splits, codes: Mapping[int, NDArray[np.int64]]) -> None:
        self._features, self._splits = features, splits
        cuts = {column: [borders] for column, borders in zip(features.numeric, features.borders, strict=True)}
        for counter in splits.counters:
            for part in counter.combination.parts:
                if part.border is not None:
                    cuts[part.column].append(np.array([part.border]))
        self.points = Points(codes, {column: np.unique(np.concatenate(own)) for column, own in cuts.items()})
        self._hashes: dict[Combination, tuple[Hashes, Bools]] = {}
        self._made: dict[int, Question] = {}
        self._n_nodes = 0

    def asked_by(self, split: int) -> Question:
        """Return the question of a split."""
        if split not in self._made:
            self._made[split] = self._question(split)
        return self._made[split]

    def _question(self, split: int) -> Question:
        counter, value = self._splits.counter_of(split), self._splits.value_of(split)
        if counter is not None:
            hashes, known = self._hashes_of(counter)
            numbers = np.where(known, counter.of(hashes), counter.otherwise)
            columns = counter.combination.needed
            return Question(
                columns,
                tuple(self._groups(column, counter.combination) for column in columns),
                numbers > self._splits.border[split],
            )
        column = int(self._splits.column[split])
        if value is not None:
            yes = np.append(False, self.points.codes[column] == value)
        else:
            yes = np.append(False, self.points.cuts[column] >= self._splits.border[split])
        return Question((column,), (np.arange(len(yes)),), yes)

    def _groups(self, column: int, combination: Combination) -> NDArray[np.intp]:
        """Return the group of each point, where only the splits of a combination tell numbers apart."""
        points = np.arange(self.points.n_points(column))
        if column in self.points.codes:
            return points
        borders = [part.border for part in combination.parts if part.column == column and part.border is not None]
        return np.searchsorted(np.searchsorted(self.points.cuts[column], np.unique(borders)), points)

    def _hashes_of(self, counter: Counter) -> tuple[Hashes, Bools]:
        """Return the hash of each combination, and which consist of known categories, an axis per column."""
        combination = counter.combination
        if combination not in self._hashes:
            groups = {column: self._groups(column, combination) for column in combination.needed}
            shape = tuple(int(own[-1]) + 1 for own in groups.values())
            self._refuse_large(combination, shape)
            hashes, known = np.zeros(shape, dtype=np.uint64), np.ones(shape, dtype=np.bool_)
            axis = {column: [-1 if i == at else 1 for i in range(len(shape))] for at, column in enumerate(groups)}
            for column in combination.columns:
                codes = np.append(0, self.points.codes[column])
                hashes = next_hash(hashes, codes.reshape(axis[column]))
                known &= (np.arange(len(codes)) > 0).reshape(axis[column])
            for part in combination.parts:
                if part.border is None:
                    holds = np.append(False, self.points.codes[part.column] == part.value)
                else:
                    border = np.searchsorted(self.points.cuts[part.column], part.border)
                    first = int(groups[part.column][border])  # the last group that is not above the border
                    holds = np.arange(shape[list(groups).index(part.column)]) > first
                hashes = next_hash(hashes, holds.reshape(axis[part.column]))
            self._hashes[combination] = hashes, known
        hashes, known = self._hashes[combination]
        self._refuse_unexplained(counter, hashes[known])
        return hashes, known

    def _named(self, columns: Sequence[int]) -> str:
        names = [repr(self._features.names[column]) for column in columns]
        return ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")

    def _refuse_large(self, combination: Combination, shape: tuple[int, ...]) -> None:
        if math.prod(shape) > _MAX_TABLE:
            raise UnsupportedModelError(
                f"a counter combines {self._named(combination.needed)} in {math.prod(shape):,} ways, more than the "
                f"{_MAX_TABLE:,} that are read; train with a smaller max_ctr_complexity, or join rare categories"
            )

    def _refuse_unexplained(self, counter: Counter, hashes: Hashes) -> None:
        unknown = int(np.count_nonzero(~np.isin(counter.hashes, hashes)))
        if unknown:
            raise UnsupportedModelError(
                f"{unknown:,} of the {len(counter.hashes):,} combinations of "
                f"{self._named(counter.combination.columns)} that a counter of this model knows consist of categories "
                "that the model does not keep; give rows that hold them, such as the training data: "
                "Ensemble.from_model(model, data=X)"
            )

    def flatten(self, tree: JsonTree) -> Flat:
        """Return a tree of tests of single columns that reaches the same values."""
        tests: list[Test | None] = []
        value_of: list[int] = []
        children: list[list[int]] = []
        todo: list[tuple[int, Context, int, int]] = [(0, {}, -1, 0)]  # a node, what is left, the parent, its side
        while todo:
            node, context, parent, side = todo.pop()
            test: Test | None = None
            while test is None and tree.split[node] >= 0:
                known = self._next_test(self.asked_by(int(tree.split[node])), context)
                if isinstance(known, Test):
                    test = known
                else:
                    node = int(tree.right[node] if known else tree.left[node])
            self._count(len(tests))
            if parent >= 0:
                children[parent][side] = len(tests)
            if test is not None:
                left = context.get(test.column, np.ones(len(test.right), dtype=np.bool_))
                todo += [
                    (node, {**context, test.column: left & test.right}, len(tests), 1),
                    (node, {**context, test.column: left & ~test.right}, len(tests), 0),
                ]
            tests.append(test)
            children.append([-1, -1])
            value_of.append(node)
        self._n_nodes += len(tests)
        sides = np.array(children, dtype=np.int32)
        return Flat(tests, sides[:, 0], sides[:, 1], tree.value[value_of])

    def _count(self, n_nodes: int) -> None:
        if self._n_nodes + n_nodes >= _MAX_NODES:
            raise UnsupportedModelError(
                f"written as tests of one column each, the counters of this model need more than {_MAX_NODES:,} nodes; "
                "train with max_ctr_complexity=1, or with fewer or smaller trees"
            )

    def _next_test(self, question: Question, context: Context) -> Test | bool:
        """Return the answer where it is settled, otherwise a test that comes nearer to it."""
        left = [
            np.unique(own[context[column]]) if column in context else np.arange(int(own.max()) + 1)
            for column, own in zip(question.columns, question.groups, strict=True)
        ]
        yes = question.yes[np.ix_(*left)]
        if yes.all() or not yes.any():
            return bool(yes.any())
        if len(question.columns) == 1:  # the same test wherever it is asked
            return Test(question.columns[0], question.yes[question.groups[0]])
        kinds = [_kinds(yes, axis) for axis in range(yes.ndim)]
        n_kinds = [int(own.max()) + 1 for own in kinds]
        axis = min((at for at in range(yes.ndim) if n_kinds[at] > 1), key=lambda at: n_kinds[at])
        column, groups = question.columns[axis], question.groups[axis]
        if column in self.points.codes:
            chosen = left[axis][kinds[axis] >= (n_kinds[axis] + 1) // 2]
            return Test(column, np.isin(groups, chosen))
        ends = np.flatnonzero(np.diff(kinds[axis])) + 1
        return Test(column, groups >= left[axis][ends[len(ends) // 2]])


def _kinds(yes: Bools, axis: int) -> NDArray[np.intp]:
    """Return a number for each place on an axis, the same where the answers are the same."""
    rows = np.moveaxis(yes, axis, 0).reshape(yes.shape[axis], -1)
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).ravel()
