"""Trees on raw columns beside trees on transformed columns: ``python -m campaigns.pipeline_sizes``.

The same pipelines (one-hot, scaler, imputer, then a model) are read with all their steps, and without the first ones as
`pipelines="last-step"` does. Missing values are left out on both sides: transformed columns have none.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import onetree
from campaigns.pipeline_models import MODELS, SHARED, numbers_of, texts_of

DATA_SETS = ("german_credit", "adult")
FEW = ["checking_status", "duration", "purpose", "credit_amount", "savings", "age", "housing"]


def credit_pipeline() -> tuple[Pipeline, pd.DataFrame]:
    """Return the pipeline of docs/pipelines.md: three small trees on seven columns of German credit."""
    table = pd.read_csv(SHARED / "german_credit.csv")
    forest = RandomForestClassifier(3, max_depth=2, class_weight="balanced", random_state=1)
    risk = table["class"].map({1: "good", 2: "bad"})
    return _pipeline(table[FEW], forest).fit(table[FEW], risk), table[FEW]


def _pipeline(X: pd.DataFrame, model: Any) -> Pipeline:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((numbers, numbers_of(X)), (texts, texts_of(X))), model)


def sizes(data: str, model: str, time_limit: float) -> tuple[onetree.Solution, onetree.Solution]:
    """Return the trees of one pipeline: on raw columns, and on what its model sees."""
    table = pd.read_csv(SHARED / f"{data}.csv").sample(1000, random_state=0)
    X, y = table.iloc[:, :-1], pd.factorize(table.iloc[:, -1], sort=True)[0]
    pipeline = _pipeline(X, MODELS[model]()).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = [onetree.Ensemble.from_model(pipeline, missing="refuse", pipelines=how) for how in ("raw", "last-step")]
    raw, transformed = (
        onetree.born_again(each, objective="leaves", time_limit=time_limit, progress=False) for each in read
    )
    return raw, transformed


def main(arguments: list[str] | None = None) -> int:
    """Print the tree of the page, and the sizes of both trees for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for one tree (default: 10)")
    given = parser.parse_args(arguments)
    pipeline, _ = credit_pipeline()
    solution = onetree.born_again(onetree.Ensemble.from_model(pipeline, missing="refuse"))
    print(solution.tree.to_text())
    for data in DATA_SETS:
        for model in MODELS:
            raw, transformed = sizes(data, model, given.time_limit)
            shown = (f"{each.tree.n_leaves:,} leaves ({each.status})" for each in (raw, transformed))
            print(f"{data:14} {model:20} raw {next(shown):28} transformed {next(shown)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
