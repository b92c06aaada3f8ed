"""Data sets with texts, gaps and numbers, steps and models, for `campaigns.pipelines`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

N_ROWS = 1200
GAPS = 0.08
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
FILES = ("german_credit", "adult", "magic", "winequality_red", "spambase", "ionosphere")
LOADED = {"breast_cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}


def data_set(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return some rows of a data set, with gaps in a third of its columns and, if it has none, a column of texts."""
    rng = np.random.default_rng(len(name))
    if name in LOADED:
        loaded = LOADED[name](as_frame=True)
        X, y = loaded.data.copy(), loaded.target
    else:
        table = pd.read_csv(SHARED / f"{name}.csv")
        table = table.sample(min(N_ROWS, len(table)), random_state=0).reset_index(drop=True)
        X, y = table.iloc[:, :-1].copy(), pd.Series(np.unique(table.iloc[:, -1], return_inverse=True)[1])
    X = X.iloc[:, :14]
    if not texts_of(X):
        first = X.columns[0]
        X[f"{first} in words"] = pd.qcut(X[first], 4, labels=False, duplicates="drop").map(lambda at: f"part {at}")
    X = X.astype(dict.fromkeys(texts_of(X), object))
    for column in X.columns[::3]:
        gaps = rng.random(len(X)) < GAPS
        X[column] = X[column].where(~gaps, np.nan)
    return X, y


def texts_of(X: pd.DataFrame) -> list[str]:
    """Return the columns that hold no numbers."""
    return [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]


def numbers_of(X: pd.DataFrame) -> list[str]:
    """Return the columns that hold numbers."""
    return [name for name in X if pd.api.types.is_numeric_dtype(X[name])]


@dataclass(frozen=True)
class Recipe:
    """Steps for a frame; `positive` if they take no numbers below zero."""

    make: Callable[[list[str], list[str]], Any]
    positive: bool = False


def _filled(*steps: Any, **options: Any) -> Any:
    return make_pipeline(SimpleImputer(**options), *steps)


def _hot(**options: Any) -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="ignore", **options)


def _ordinal(missing: float = -2, **options: Any) -> OrdinalEncoder:
    return OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=missing, **options
    )


def _few(names: list[str]) -> list[str]:
    return names[: max(1, len(names) // 2)]


RECIPES: dict[str, Recipe] = {
    "standard, one-hot": Recipe(
        lambda n, t: ColumnTransformer([("n", _filled(StandardScaler()), n), ("t", _hot(), t)])
    ),
    "min-max with indicator, ordinal": Recipe(
        lambda n, t: make_column_transformer(
            (_filled(MinMaxScaler(clip=True), strategy="median", add_indicator=True), n), (_ordinal(), t)
        )
    ),
    "robust, rare categories joined": Recipe(
        lambda n, t: make_column_transformer(
            (_filled(RobustScaler()), n),
            (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.15, drop="first"), t),
        )
    ),
    "uniform quantiles, targets": Recipe(
        lambda n, t: make_column_transformer(
            (_filled(QuantileTransformer(n_quantiles=50, random_state=0)), n), (TargetEncoder(cv=3), t)
        )
    ),
    "normal quantiles": Recipe(
        lambda n, t: make_column_transformer(
            (_filled(QuantileTransformer(n_quantiles=30, output_distribution="normal", random_state=0)), n),
            (_hot(), t),
        )
    ),
    "powers": Recipe(lambda n, t: make_column_transformer((_filled(PowerTransformer()), n), (_hot(), t))),
    "bins, one-hot": Recipe(lambda n, t: make_column_transformer((_filled(KBinsDiscretizer(4)), n), (_hot(), t))),
    "bins, ordinal": Recipe(
        lambda n, t: make_column_transformer(
            (_filled(KBinsDiscretizer(5, encode="ordinal", strategy="uniform")), _few(n)),
            (_ordinal(), t),
            remainder=SimpleImputer(strategy="most_frequent"),
        )
    ),
    "logarithms": Recipe(
        lambda n, t: make_column_transformer(
            (_filled(FunctionTransformer(np.log1p), StandardScaler()), _few(n)),
            (_filled(FunctionTransformer(np.sqrt)), n[len(_few(n)) :] or n),
            (_hot(drop="if_binary"), t),
        ),
        positive=True,
    ),
    "scaled beside bins": Recipe(
        lambda n, t: make_column_transformer(
            (_filled(make_union(StandardScaler(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"))), n),
            (_hot(sparse_output=False), t),
        )
    ),
    "thresholds, indicators": Recipe(
        lambda n, t: make_column_transformer(
            (FeatureUnion([("b", _filled(Binarizer(threshold=2.5))), ("m", MissingIndicator(features="all"))]), n),
            (_filled(_hot(), strategy="constant", fill_value="none"), t),
        )
    ),
    "the best": Recipe(
        lambda n, t: make_pipeline(
            make_column_transformer((_filled(StandardScaler()), n), (_hot(), t), sparse_threshold=0), SelectKBest(k=6)
        )
    ),
    "selected twice": Recipe(
        lambda n, t: make_pipeline(
            make_column_transformer((_filled(MaxAbsScaler()), n), (_hot(), t), sparse_threshold=0),
            VarianceThreshold(0.01),
            SelectFromModel(RandomForestClassifier(10, max_depth=3, random_state=0)),
        )
    ),
    "nested, frames": Recipe(
        lambda n, t: make_column_transformer(
            (make_column_transformer((_filled(StandardScaler()), n)), n),
            (_hot(sparse_output=False), make_column_selector(dtype_include=object)),
        ).set_output(transform="pandas")
    ),
    "numbers one-hot": Recipe(
        lambda n, t: make_column_transformer(
            (_filled(_hot(max_categories=4)), n[:2]),
            (_filled(StandardScaler()), n[1:]),
            (_ordinal(max_categories=3), t),
        )
    ),
    "all sparse": Recipe(
        lambda n, t: make_pipeline(
            make_column_transformer((_filled(KBinsDiscretizer(3, strategy="uniform")), n), (_hot(), t)), MaxAbsScaler()
        )
    ),
    "gaps passed on": Recipe(lambda n, t: make_column_transformer((StandardScaler(), n), (_ordinal(np.nan), t))),
}


def _xgboost() -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=4, max_depth=2, learning_rate=0.5, n_jobs=1)


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=4, num_leaves=4, learning_rate=0.5, n_jobs=1, verbose=-1)


def _catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=4, depth=2, learning_rate=0.5, thread_count=1, verbose=0, allow_writing_files=False
    )


MODELS: dict[str, Callable[[], Any]] = {
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(4, max_depth=3, random_state=0),
    "GradientBoosting": lambda: GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
    "AdaBoost": lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0),
}
TAKES_GAPS = ("XGBoost", "LightGBM", "CatBoost", "HistGradientBoosting", "forest")
DENSE_ONLY = ("HistGradientBoosting",)


def steps_for(recipe: str, model: str, X: pd.DataFrame) -> Any:
    """Return the steps for a model, without sparse matrices if it does not take them."""
    steps = RECIPES[recipe].make(numbers_of(X), texts_of(X))
    names = [name for name in steps.get_params() if name.endswith("sparse_threshold")]
    return steps.set_params(**dict.fromkeys(names, 0)) if model in DENSE_ONLY else steps


def configurations() -> list[tuple[str, str, str]]:
    """Return data set, recipe and model of each pipeline: all recipes with all data sets, the models in turn."""
    found, names, at = [], list(MODELS), 0
    for recipe in RECIPES:
        for data in (*FILES, *LOADED):
            while not _fits(recipe, names[at % len(names)]):
                at += 1
            found.append((data, recipe, names[at % len(names)]))
            at += 1
    return found


def _fits(recipe: str, model: str) -> bool:
    return model in TAKES_GAPS or recipe != "gaps passed on"
