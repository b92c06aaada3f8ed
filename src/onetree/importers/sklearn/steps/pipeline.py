"""A fitted pipeline as an `Ensemble` on its raw columns, compared with the pipeline's own `predict`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from onetree.errors import UnsupportedModelError
from onetree.importers.pipeline import Break, Column, Raw, compose
from onetree.importers.pipeline.columns import Matrix
from onetree.importers.self_test import FLOAT32_MAX, self_test
from onetree.importers.sklearn.steps.raw_inputs import NONE, Acceptance, RawInputs
from onetree.importers.sklearn.steps.read import read_steps
from onetree.importers.sklearn.steps.tracing import REMEDY, Notes, Source, Stage, Traced, dense, quiet, tolerant
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble
from onetree.model.frames import as_frame
from onetree.model.inputs import read_with_gaps

_HUGE = 1e30  # beyond, numbers are refused because they overflow


def import_pipeline(
    pipeline: Any,
    steps: Sequence[Any],
    model: Ensemble,
    *,
    missing: str = "auto",
    absent_is_missing: bool = False,
    compare: bool = True,
) -> Ensemble:
    """Return the ensemble on the raw columns of a pipeline.

    Parameters
    ----------
    pipeline : estimator
        The whole, with which the result is compared.
    steps : sequence of transformers
        All that stand before the model.
    model : Ensemble
        The model behind them.
    missing : {"auto", "follow", "refuse"}
        As in `Ensemble.from_model`.
    absent_is_missing : bool
        Whether the model takes what a sparse matrix does not hold for missing, as XGBoost does, and not for zero.
    compare : bool
        Whether the result is what the pipeline predicts; hard votes of a forest are not.
    """
    names, n_columns = _given(steps)
    inputs = RawInputs(names, n_columns, list(range(n_columns)))
    source = Source([Notes() for _ in range(n_columns)], inputs.decode)
    start = Stage(source, lambda X: X, tuple(Traced(at, plain=True) for at in range(n_columns)), is_start=True)
    try:
        stage = read_steps(steps, start)
    except NotFittedError as error:
        raise UnsupportedModelError(f"the pipeline is not fitted; call fit(X, y) first: {error}") from None
    if len(stage.columns) != model.n_features:
        raise UnsupportedModelError(
            f"the steps of the pipeline give {len(stage.columns)} columns, but its model has {model.n_features} "
            f"features; fit the whole pipeline again, or {REMEDY}"
        )
    inputs.texts = {at: list(note.texts) for at, note in enumerate(source.notes) if note.texts}

    def strict(rows: Matrix) -> Matrix:
        return quiet(lambda: _as_read(stage.run(inputs.decode(rows)), model, absent_is_missing))

    evaluate = tolerant(strict, source, stage.columns)
    if names is not None and source.read is not None:
        inputs.kept = sorted(source.read)
    place = {raw: at for at, raw in enumerate(inputs.kept)}
    columns = []
    for at, traced in enumerate(stage.columns):
        column = traced.as_column()
        # What a sparse matrix does not hold are zeros, so that zero is different from all other numbers.
        breaks = (*column.breaks, Break(stage.matrix, at, np.zeros(1))) if absent_is_missing else column.breaks
        raw_at = None if column.raw is None else place[column.raw]
        columns.append(Column(raw_at, breaks, rounded=column.rounded))
    acceptance = Acceptance(strict, inputs, source.notes)
    raw = acceptance.raw_columns()
    source.kept, source.examples = inputs.kept, [each.example for each in raw]
    raw = _with_gaps(acceptance, raw, columns, model, missing)
    lowest = tuple(None if each.low < -_HUGE else each.low for each in raw)
    frame = Columns(named=names is not None, single=not source.computes, lowest=lowest)
    ensemble = compose(model, raw, columns, evaluate, frame=frame)
    if compare:
        self_test(
            ensemble,
            lambda X: np.ravel(quiet(lambda: pipeline.predict(inputs.decode(X)))),  # CatBoost has a column of classes
            type(pipeline).__name__,
            numbers=lambda X: quiet(lambda: pipeline.predict_proba(inputs.decode(X))),
            rows=lambda X: _taken(X, raw, columns, model, evaluate),
        )
    return ensemble


def _given(steps: Sequence[Any]) -> tuple[tuple[str, ...] | None, int]:
    """Return the names of the raw columns, if the first step knows them, and their number."""
    first = [steps[0]]
    while first:  # a union may not say it, but its members do
        step = first.pop(0)
        names, n_columns = (getattr(step, name, None) for name in ("feature_names_in_", "n_features_in_"))
        if names is not None:
            return tuple(map(str, names)), len(names)
        members = [member for _, member in getattr(step, "transformer_list", ()) if not isinstance(member, str)]
        if n_columns is not None and not members:
            return None, int(n_columns)
        first += members
    raise UnsupportedModelError(
        f"the first step of the pipeline does not say which columns it was fitted on; call fit(X, y) first, or {REMEDY}"
    )


def _as_read(X: Any, model: Ensemble, absent_is_missing: bool) -> Matrix:
    """Return what the steps produced as the model reads it."""
    if absent_is_missing and hasattr(X, "tocoo"):
        held = X.tocoo()
        rows = np.full(X.shape, np.nan)
        rows[held.row, held.col] = held.data
        return rows
    if as_frame(X) is not None and model.columns.labels:
        return np.asarray(read_with_gaps(X, model), dtype=np.float64)
    return dense(X)


def _with_gaps(
    acceptance: Acceptance, raw: Sequence[Raw], columns: Sequence[Column], model: Ensemble, missing: str
) -> list[Raw]:
    """Return the raw columns, with those in which NaN is an input."""
    made = [[at for at, column in enumerate(columns) if column.raw == each] for each in range(len(raw))]
    kept = acceptance.inputs.kept
    met = [acceptance.notes[kept[at]].meets_gaps or model.nan_features[made[at]].any() for at in range(len(raw))]
    asked = [at for at in range(len(raw)) if missing == "follow" or (missing == "auto" and met[at])]
    texts = acceptance.inputs.texts
    probes = [(at, kind) for at in asked for kind in (np.nan, NONE) if kind != NONE or kept[at] in texts]
    taken = [probe for probe, fine in zip(probes, acceptance.takes(raw, probes) if probes else [], strict=True) if fine]
    found = list(raw)
    made_of: Sequence[Matrix] = list(acceptance.at(raw, taken)) if taken else []
    results = {(at, kind == NONE): result for (at, kind), result in zip(taken, made_of, strict=True)}
    for at in dict.fromkeys(at for at, _ in taken):
        gaps = {none: result for (of, none), result in results.items() if of == at}
        own = _with_one_gap(acceptance, raw, at, gaps)
        left = np.isnan(gaps.get(kept[at] in acceptance.inputs.none_is_missing, next(iter(gaps.values())))[made[at]])
        found[at] = replace(own, takes_nan=bool(model.nan_features[made[at]][left].all()))
    return found


def _with_one_gap(acceptance: Acceptance, raw: Sequence[Raw], at: int, gaps: dict[bool, Matrix]) -> Raw:
    """Return a column in which None and NaN may be different things, with the one that is a missing value.

    `gaps` is what the steps make of NaN (False) and of None (True), if they take them.
    """
    own, column = raw[at], acceptance.inputs.kept[at]
    if len(gaps) == 1 or np.array_equal(gaps[False], gaps[True], equal_nan=True):
        if False not in gaps:
            acceptance.inputs.none_is_missing.add(column)
        return own
    labels = own.labels
    if labels is not None and not isinstance(labels.unknown, str):
        other = acceptance.at(raw, [(at, labels.unknown)])[0]
        if np.array_equal(gaps[True], other, equal_nan=True):
            return replace(own, labels=replace(labels, missing="nan"))
        if np.array_equal(gaps[False], other, equal_nan=True):
            acceptance.inputs.none_is_missing.add(column)
            return replace(own, labels=replace(labels, missing="None"))
    raise UnsupportedModelError(
        f"column {own.name!r} has None and NaN as two different categories, but a missing value is one; replace one by "
        f"the other and fit again, or {REMEDY}"
    )


def _taken(
    rows: Matrix, raw: Sequence[Raw], columns: Sequence[Column], model: Ensemble, evaluate: Callable[[Matrix], Matrix]
) -> Matrix:
    """Return rows in which everything that the pipeline does not take is replaced."""
    rng = np.random.default_rng(0)
    for at, own in enumerate(raw):
        entries = rows[:, at]
        if own.labels is None:
            rows[:, at] = np.clip(entries, own.low, own.high)
            continue
        values = np.array(own.labels.codes)
        unknown = own.labels.unknown
        allowed = values if isinstance(unknown, str) else np.append(values, unknown)
        drawn = rng.permutation(np.resize(allowed, len(rows)))
        rows[:, at] = np.where(np.isnan(entries) | np.isin(entries, values), entries, drawn)
    # Models refuse what has become infinite, or missing, on the way.
    made = evaluate(rows)
    for at, column in enumerate(columns):
        if column.raw is not None:
            refused = np.abs(made[:, at]) > FLOAT32_MAX
            refused |= np.isnan(made[:, at]) & ~np.isnan(rows[:, column.raw]) & ~model.nan_features[at]
            rows[refused, column.raw] = raw[column.raw].example
    return rows
