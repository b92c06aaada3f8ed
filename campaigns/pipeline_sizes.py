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


def credit_models() -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the fitted models of docs/pipelines.md in the order of the page, and their columns of German credit."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    table = pd.read_csv(SHARED / "german_credit.csv")
    X, risk = table[FEW], table["class"].map({1: "good", 2: "bad"})
    forest = RandomForestClassifier(3, max_depth=2, class_weight="balanced", random_state=1)
    xgboost = XGBClassifier(n_estimators=2, max_depth=2, learning_rate=1.0, scale_pos_weight=0.5, n_jobs=1)
    lightgbm = LGBMClassifier(
        n_estimators=3, num_leaves=4, learning_rate=0.5, class_weight="balanced", n_jobs=1, verbose=-1
    )
    catboost = CatBoostClassifier(
        iterations=5,
        depth=2,
        learning_rate=0.5,
        auto_class_weights="Balanced",
        cat_features=texts_of(X),
        max_ctr_complexity=1,
        random_seed=0,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {
            "forest": _pipeline(X, forest).fit(X, risk),
            "XGBoost": _pipeline(X, xgboost).fit(X, (risk == "good").astype(int)),
            "LightGBM": _pipeline(X, lightgbm).fit(X, risk),
            "CatBoost": catboost.fit(X, risk),
        }
    return models, X


def credit_tree(model: Any, X: pd.DataFrame) -> onetree.Tree:
    """Return the tree of one of these models, for columns without gaps."""
    names = {"data": X} if hasattr(model, "get_cat_feature_indices") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return onetree.born_again(onetree.Ensemble.from_model(model, missing="refuse", **names)).tree


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
    """Print the trees of the page, and the sizes of both trees for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for one tree (default: 10)")
    given = parser.parse_args(arguments)
    models, X = credit_models()
    for name, fitted in models.items():
        print(name, credit_tree(fitted, X).to_text(), sep="\n")
    for data in DATA_SETS:
        for model in MODELS:
            raw, transformed = sizes(data, model, given.time_limit)
            shown = (f"{each.tree.n_leaves:,} leaves ({each.status})" for each in (raw, transformed))
            print(f"{data:14} {model:20} raw {next(shown):28} transformed {next(shown)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
