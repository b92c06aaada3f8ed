"""Do a pipeline and its tree on raw columns ever disagree? ``python -m campaigns.pipelines``.

Each pipeline of `pipeline_models` is compared on rows of its data set mixed column by column, on rows that lie on a
threshold or one float beside it, and with gaps and values that were never seen wherever they are inputs: the pipeline's
own `predict` with the ensemble on raw columns and with its tree.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
import zlib
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline, make_pipeline

import onetree
from campaigns.pipeline_models import MODELS, RECIPES, configurations, data_set, numbers_of, steps_for

TIME_LIMIT = 4.0  # seconds for one tree
PART = 50_000  # rows at a time


def fitted(data: str, recipe: str, model: str) -> tuple[Pipeline, pd.DataFrame]:
    """Return a pipeline and the frame that it was fitted on."""
    X, y = data_set(data)
    if RECIPES[recipe].positive:
        X[numbers_of(X)] = X[numbers_of(X)].abs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(steps_for(recipe, model, X), MODELS[model]()).fit(X, y), X


def raw_rows(
    ensemble: onetree.Ensemble, X: pd.DataFrame, n_rows: int, rng: np.random.Generator, *, positive: bool
) -> pd.DataFrame:
    """Return raw rows: half of the entries from the data, the others on or beside thresholds, unseen or missing."""
    columns: dict[str, Any] = {name: rng.choice(X[name].dropna().to_numpy(), n_rows) for name in X}
    for at, name in enumerate(ensemble.feature_names):
        drawn, labels = columns[name], ensemble.columns.labels_of(at)
        special = rng.random(n_rows) < 0.5
        if labels is None:
            near = _near(ensemble, at)
            drawn = drawn.astype(np.float64)
            if len(near):
                drawn[special] = rng.choice(np.abs(near) if positive else near, int(special.sum()))
        else:
            drawn = drawn.astype(object)
            known = list(labels.values) if isinstance(labels.unknown, str) else [*labels.values, "never seen"]
            drawn[special] = rng.choice(np.array(known, dtype=object), int(special.sum()))
        if ensemble.nan_features[at]:
            drawn[rng.random(n_rows) < 0.15] = np.nan
        columns[name] = drawn
    return pd.DataFrame({name: pd.Series(column, dtype=column.dtype) for name, column in columns.items()})


def _near(ensemble: onetree.Ensemble, feature: int) -> np.ndarray:
    """Return all numbers at which a feature is cut, and their neighbours."""
    kind = ensemble.categories[feature]
    cuts = ensemble.threshold[ensemble.feature == feature] if kind is None else np.concatenate([kind.low, kind.high])
    cuts = np.unique(cuts[np.isfinite(cuts)])
    return np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)])


def count_mismatches(
    data: str, recipe: str, model: str, n_rows: int, *, time_limit: float = TIME_LIMIT
) -> dict[str, Any]:
    """Fit, convert and compare one pipeline: rows compared, disagreements with its own `predict`, and sizes."""
    pipeline, X = fitted(data, recipe, model)
    rng = np.random.default_rng(zlib.crc32(f"{data} {recipe} {model}".encode()))
    started = time.process_time()
    ensemble = onetree.Ensemble.from_model(pipeline)
    import_time = time.process_time() - started
    tree = None
    try:
        tree = onetree.born_again(ensemble, time_limit=time_limit, progress=False).tree
    except onetree.OnetreeError as error:
        if not isinstance(error, onetree.TooLargeError | onetree.LimitReachedError):
            raise
    result: dict[str, Any] = {
        "rows": 0,
        "ensemble": 0,
        "tree": 0,
        "leaves": tree and tree.n_leaves,
        "import": import_time,
    }
    while result["rows"] < n_rows:
        rows = raw_rows(ensemble, X, min(PART, n_rows - result["rows"]), rng, positive=RECIPES[recipe].positive)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = pipeline.predict(rows)
        result["ensemble"] += int(np.count_nonzero(ensemble.predict(rows) != np.ravel(expected)))
        if tree is not None:
            result["tree"] += int(np.count_nonzero(tree.predict(rows) != np.ravel(expected)))
        result["rows"] += len(rows)
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; exit code 1 if anything disagrees."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000, help="rows of each pipeline (default: 20,000)")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, help="seconds for one tree")
    parser.add_argument("--every", type=int, default=1, help="take each n-th pipeline only")
    parser.add_argument("--start", type=int, default=0, help="and begin with this one")
    given = parser.parse_args(arguments)
    n_rows = n_wrong = n_trees = n_pipelines = 0
    for data, recipe, model in configurations()[given.start :: given.every]:
        found = count_mismatches(data, recipe, model, given.rows, time_limit=given.time_limit)
        wrong = found["ensemble"] + found["tree"]
        n_rows, n_wrong, n_pipelines = n_rows + found["rows"], n_wrong + wrong, n_pipelines + 1
        n_trees += found["leaves"] is not None
        size = "no tree" if found["leaves"] is None else f"{found['leaves']:,} leaves"
        mark = "" if not wrong else f"  {wrong} MISMATCHES"
        print(f"{data:16} {recipe:32} {model:20} {size:>14}  import {found['import']:.2f} s{mark}", flush=True)
    print(f"{n_pipelines} pipelines, {n_trees} trees, {n_rows:,} rows, {n_wrong} mismatches")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
