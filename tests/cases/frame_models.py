"""Models of all libraries, fitted on data frames: numbers alone, or with categories, booleans and texts.

Each comes with the frame it was fitted on and its own `predict` for frames in that order of columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

N_ROWS = 400


@dataclass(frozen=True)
class Fitted:
    model: Any
    frame: pd.DataFrame
    predict: Callable[[pd.DataFrame], np.ndarray]


def numbers() -> pd.DataFrame:
    """Columns of quite different ranges, so that a mistake in their order shows."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, N_ROWS),
            "income": rng.normal(3e4, 1e4, N_ROWS).round(2),
            "rate": rng.random(N_ROWS).astype(np.float32),
            "owner": rng.random(N_ROWS) < 0.5,
            "children": rng.integers(0, 5, N_ROWS),
        }
    )


def mixed(*, ordered: bool = False) -> pd.DataFrame:
    """The same with columns of categories, of which some are integers that are not their codes."""
    rng = np.random.default_rng(2)
    colours = pd.Categorical(rng.choice(["red", "green", "blue", "grey"], N_ROWS), ["red", "blue", "green", "grey"])
    if ordered:
        colours = colours.as_ordered()
    zones = pd.Categorical(rng.choice([30, 10, 70], N_ROWS))
    return numbers().assign(colour=colours, zone=zones)[
        ["zone", "age", "colour", "income", "rate", "owner", "children"]
    ]


def classes(frame: pd.DataFrame, n_classes: int = 2) -> np.ndarray:
    score = (frame["age"] > 45).astype(int) + (frame["income"] > 3e4) * (frame["rate"] > 0.4) + frame["owner"]
    if "colour" in frame:
        score = score + frame["colour"].isin(["red", "grey"]).astype(int) + (frame["zone"] == 30).astype(int) - 1
    return np.clip(score.to_numpy() // (2 if n_classes == 2 else 1), 0, n_classes - 1)


def sklearn(model: Any, frame: pd.DataFrame, n_classes: int = 2) -> Fitted:
    model.fit(frame, classes(frame, n_classes))
    return Fitted(model, frame, model.predict)


def xgboost(frame: pd.DataFrame, n_classes: int = 2, **options: Any) -> Fitted:
    from xgboost import XGBClassifier

    options = {"n_estimators": 3, "max_depth": 2, "learning_rate": 1.0, "tree_method": "hist"} | options
    return sklearn(XGBClassifier(enable_categorical=True, **options), frame, n_classes)


def xgboost_booster(frame: pd.DataFrame) -> Fitted:
    import xgboost

    def matrix(given: pd.DataFrame, label: Any = None) -> Any:
        return xgboost.DMatrix(given, label, enable_categorical=True)

    options = {"objective": "binary:logistic", "max_depth": 2, "learning_rate": 1.0}
    booster = xgboost.train(options, matrix(frame, classes(frame)), num_boost_round=3)
    return Fitted(booster, frame, lambda given: (booster.predict(matrix(given)) > 0.5).astype(int))


def lightgbm(frame: pd.DataFrame, n_classes: int = 2, **options: Any) -> Fitted:
    from lightgbm import LGBMClassifier

    options = {"n_estimators": 3, "num_leaves": 4, "learning_rate": 0.5, "min_child_samples": 5} | options
    options |= {"min_data_per_group": 1, "cat_smooth": 1.0, "verbose": -1}
    return sklearn(LGBMClassifier(**options), frame, n_classes)


def lightgbm_booster(frame: pd.DataFrame) -> Fitted:
    booster = lightgbm(frame).model.booster_
    return Fitted(booster, frame, lambda given: (booster.predict(given) > 0.5).astype(int))


def catboost(frame: pd.DataFrame, n_classes: int = 2) -> Fitted:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(iterations=3, depth=2, learning_rate=0.5, verbose=0, allow_writing_files=False)
    model.fit(frame, classes(frame, n_classes))
    return Fitted(model, frame, lambda given: np.ravel(model.predict(given)))


def _small(seed: int = 0) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=2, random_state=seed)


MODELS: dict[str, Callable[[], Fitted]] = {
    "DecisionTree": lambda: sklearn(DecisionTreeClassifier(max_depth=4, random_state=0), numbers()),
    "RandomForest": lambda: sklearn(RandomForestClassifier(3, max_depth=3, random_state=0), numbers()),
    "RandomForest of three classes": lambda: sklearn(
        RandomForestClassifier(3, max_depth=2, random_state=0), numbers(), 3
    ),
    "ExtraTrees": lambda: sklearn(ExtraTreesClassifier(3, max_depth=3, random_state=0), numbers()),
    "Bagging": lambda: sklearn(BaggingClassifier(_small(), 3, max_features=0.7, random_state=0), numbers()),
    "AdaBoost": lambda: sklearn(AdaBoostClassifier(_small(), n_estimators=3, random_state=0), numbers()),
    "Voting": lambda: sklearn(VotingClassifier([("a", _small(0)), ("b", _small(1))], voting="soft"), numbers()),
    "GradientBoosting": lambda: sklearn(
        GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0), numbers()
    ),
    "a search over forests": lambda: sklearn(
        GridSearchCV(RandomForestClassifier(3, random_state=0), {"max_depth": [2, 3]}, cv=2), numbers()
    ),
    "HistGradientBoosting": lambda: sklearn(
        HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, random_state=0), numbers()
    ),
    "HistGradientBoosting with categories": lambda: sklearn(
        HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, learning_rate=0.5, random_state=0), mixed()
    ),
    "HistGradientBoosting of three classes with categories": lambda: sklearn(
        HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3, learning_rate=0.5, random_state=0), mixed(), 3
    ),
    "XGBoost": lambda: xgboost(numbers()),
    "XGBoost with categories": lambda: xgboost(mixed(), max_cat_to_onehot=1),
    "XGBoost with one-hot categories": lambda: xgboost(mixed(), max_cat_to_onehot=9),
    "XGBoost of three classes with categories": lambda: xgboost(mixed(), 3, n_estimators=2, max_cat_to_onehot=1),
    "XGBoost's Booster with categories": lambda: xgboost_booster(mixed()),
    "LightGBM": lambda: lightgbm(numbers()),
    "LightGBM with categories": lambda: lightgbm(mixed()),
    "LightGBM with ordered categories": lambda: lightgbm(mixed(ordered=True)),
    "LightGBM of three classes with categories": lambda: lightgbm(mixed(), 3, n_estimators=2),
    "LightGBM's Booster with categories": lambda: lightgbm_booster(mixed()),
    "CatBoost": lambda: catboost(numbers()),
    "CatBoost of three classes": lambda: catboost(numbers(), 3),
}


@cache
def fitted(name: str) -> Fitted:
    """Return the model of this name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the libraries say in training is not at stake
        return MODELS[name]()
