"""A model behind a pipeline as an ensemble on the raw columns: every test rewritten, every tree kept.

Each raw column falls into finitely many *elements* that no test of the model distinguishes further: intervals of
numbers, or the values of a category; and NaN, where it is an input. A test of the model becomes the elements
that it sends left, found by evaluating the pipeline at one input of each. Where these are half-lines for all tests on a
column, it has thresholds; otherwise set tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onetree.importers.pipeline.columns import Column, Evaluate, Matrix, Raw
from onetree.importers.pipeline.elements import Axis, Bools, finite_axis, number_axis
from onetree.importers.pipeline.rewritten import rewritten
from onetree.importers.pipeline.switches import Crossings, Probing
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble
from onetree.model.routing import Routes

Index = NDArray[np.intp]


def compose(
    model: Ensemble,
    raw: Sequence[Raw],
    columns: Sequence[Column],
    evaluate: Evaluate,
    *,
    frame: Columns | None = None,
) -> Ensemble:
    """Return the ensemble on the raw columns that predicts what the model does behind the steps.

    Parameters
    ----------
    model : Ensemble
        On the columns that the steps produce.
    raw : sequence of Raw
        The raw columns, in the order of the result's features.
    columns : sequence of Column
        One for each feature of the model.
    evaluate : function
        From a matrix of raw inputs to the columns of the model.
    frame : Columns, optional
        What columns of a frame mean; the labels are those of `raw`.
    """
    return compose_alike([model], raw, [columns], [evaluate], frame=frame)[0]


def compose_alike(
    models: Sequence[Ensemble],
    raw: Sequence[Raw],
    columns: Sequence[Sequence[Column]],
    evaluates: Sequence[Evaluate],
    *,
    frame: Columns | None = None,
) -> list[Ensemble]:
    """Return for each model what `compose` does, with the same features and categories in all of them."""
    many = [_Tests.of(model, own) for model, own in zip(models, columns, strict=True)]
    each_inputs = [_inputs(*given) for given in zip(models, (raw,) * len(models), columns, evaluates, strict=True)]
    inputs = [np.unique(np.concatenate(each)) if len(each) > 1 else each[0] for each in zip(*each_inputs, strict=True)]
    inputs = [_ordered(own, each) for own, each in zip(raw, inputs, strict=True)]
    rows = Probing(raw).examples(max(map(len, inputs), default=0) + 1)
    for at, each in enumerate(inputs):
        rows[: len(each), at] = each
    routes = [
        Routes(model, evaluate(rows), model.missing_left) for model, evaluate in zip(models, evaluates, strict=True)
    ]
    axes: list[list[Axis]] = [[] for _ in models]
    for at, (each, known) in enumerate(zip(raw, inputs, strict=True)):
        lefts = [tests.left(at, routes_, len(known)) for tests, routes_ in zip(many, routes, strict=True)]
        whole = _axis(each, known, np.concatenate(lefts))
        ends = np.cumsum([len(left) for left in lefts])
        for place, (end, left) in enumerate(zip(ends.tolist(), lefts, strict=True)):
            axes[place].append(whole.part(slice(end - len(left), end)))
    return [
        rewritten(
            model,
            tests.of_node,
            tests.feature,
            tests.entry,
            own,
            names=[each.name for each in raw],
            nan_features=np.array([each.takes_nan for each in raw], dtype=np.bool_),
            columns=replace(frame or Columns(), labels=tuple(each.labels for each in raw)),
        )
        for model, tests, own in zip(models, many, axes, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Tests:
    """The different tests of a model: a node for each, its raw feature, its place among those of the feature."""

    node: Index
    of_node: Index  # the test of each node, -1 at leaves
    feature: Index
    entry: Index

    @classmethod
    def of(cls, model: Ensemble, columns: Sequence[Column]) -> "_Tests":
        """Return those of a model on columns."""
        node, of_node = _tests(model)
        # A column that depends on nothing is taken for a function of the first raw column, as good as any.
        raw = np.array([column.raw or 0 for column in columns], dtype=np.intp)
        feature = raw[model.feature[node]]
        entry = np.zeros(len(node), dtype=np.intp)
        for at in np.unique(feature).tolist():
            own = np.flatnonzero(feature == at)
            entry[own] = np.arange(len(own))
        return cls(node, of_node, feature, entry)

    def left(self, feature: int, routes: Routes, n_rows: int) -> Bools:
        """Return which of the first rows go left, for each test on a raw feature."""
        node = self.node[self.feature == feature]
        shape = (len(node), n_rows)
        row, of = np.broadcast_to(np.arange(n_rows), shape), np.broadcast_to(node[:, np.newaxis], shape)
        return routes.go_left(row.ravel(), of.ravel()).reshape(shape)


def _ordered(raw: Raw, inputs: Matrix) -> Matrix:
    """Return sorted inputs in the order of `_inputs`: an unknown value stands behind the known ones."""
    if raw.labels is None or isinstance(raw.labels.unknown, str):
        return inputs
    unknown = inputs == raw.labels.unknown
    known = ~unknown & ~np.isnan(inputs)
    return np.concatenate([inputs[known], inputs[unknown], inputs[np.isnan(inputs)]])


def _tests(model: Ensemble) -> tuple[Index, Index]:
    """Return a node for each different test of the model, and the test of each node, -1 at leaves."""
    inner = np.flatnonzero(model.feature >= 0)
    asked = np.rec.fromarrays(
        [model.feature[inner], model.subset[inner], model.threshold[inner], model.missing_left[inner]]
    )
    _, first, of = np.unique(asked, return_index=True, return_inverse=True)
    test = np.full(len(model.feature), -1, dtype=np.intp)
    test[inner] = of.ravel()
    return inner[first], test


def _inputs(model: Ensemble, raw: Sequence[Raw], columns: Sequence[Column], evaluate: Evaluate) -> list[Matrix]:
    """Return one input of each element of each raw column: numbers or codes, other values, NaN; in this order."""
    ends: list[Matrix] = [np.empty(0) for _ in raw]
    on_numbers = [
        at
        for at, column in enumerate(columns)
        if column.raw is not None and raw[column.raw].labels is None and (model.feature == at).any()
    ]
    crossings = Crossings(raw)
    chosen = [columns[at] for at in on_numbers]
    cuts = crossings.of_breaks(chosen)
    found = crossings.of_thresholds(evaluate, chosen, on_numbers, [_compared(model, at) for at in on_numbers], cuts)
    for column, *both in zip(chosen, cuts, found, strict=True):
        assert column.raw is not None  # noqa: S101
        ends[column.raw] = np.unique(np.concatenate([ends[column.raw], *both]))
    inputs = []
    for each, own in zip(raw, ends, strict=True):
        last = [each.high]
        if each.labels is not None:
            own = np.array(each.labels.codes)
            last = [] if isinstance(each.labels.unknown, str) else [float(each.labels.unknown)]
        else:
            own = own[(own >= each.low) & (own < each.high)]
        inputs.append(np.concatenate([own, last, [np.nan] if each.takes_nan else []]))
    return inputs


def _compared(model: Ensemble, feature: int) -> Matrix:
    """Return the numbers that a feature of the model is compared with."""
    kind = model.categories[feature]
    if kind is None:
        return np.unique(model.threshold[model.feature == feature])
    ends = np.unique(np.concatenate([kind.low, kind.high]))
    finite: Matrix = ends[np.isfinite(ends)]
    return finite


def _axis(raw: Raw, inputs: Matrix, left: Bools) -> Axis:
    n_known = len(inputs) - raw.takes_nan
    missing = left[:, -1] if raw.takes_nan else None
    if raw.labels is None:
        return number_axis(inputs[:n_known], left[:, :n_known], missing)
    other = None
    if not isinstance(raw.labels.unknown, str):
        n_known -= 1
        other = left[:, n_known]
    return finite_axis(raw, left[:, :n_known], other, missing)
