"""How the models of the fidelity campaign are trained, on what data, and what their libraries themselves predict."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import onetree

N_ROWS = 240
SHARE_OF_GAPS = 0.15
CATEGORICAL = (1, 3)  # columns, where a configuration has categories; not the first ones
TYPES = ["c" if column in CATEGORICAL else "q" for column in range(4)]  # as XGBoost names them
RATE = 0.5  # of learning: with the usual rates a few rounds of boosting hardly change a class


@dataclass(frozen=True)
class Configuration:
    """A model to train.

    `train` takes the data and a seed. `missing` and `voting` are given to the import. `predict` is what the library
    predicts, if that is not the model's own `predict`. With `n_categories`, the columns `CATEGORICAL` are categories,
    and `train` has to tell the library so.
    """

    family: str
    kind: str
    train: Callable[[Any, Any, int], Any]
    n_classes: int = 2
    n_features: int = 3
    gaps: bool = False
    words: bool = False  # whether the labels are words
    close: bool = False  # values that are neighbours in float32
    large: bool = False  # too large for one tree, so that only the ensemble is compared
    missing: str = "auto"
    voting: str = "auto"
    predict: Callable[[Any, Any], Any] | None = None
    n_categories: int = 0
    file: str = ""  # format of the file that the model is read from; "" reads the model itself

    def __str__(self):
        parts = [self.kind, f"K={self.n_classes}"]
        parts += [f"{self.n_categories} categories"] * (self.n_categories > 0) + [f"from {self.file}"] * bool(self.file)
        parts += ["trained with NaN"] * self.gaps + ["close values"] * self.close
        parts += [f"missing={self.missing}"] * (self.missing != "auto")
        return f"{self.family}: {', '.join(parts)}"

    @property
    def takes_nan(self):
        return self.gaps or self.missing == "follow"

    @property
    def compares_float32(self):
        """Whether the library rounds inputs to float32; if not, no scikit-learn tree can equal it on all float64."""
        return self.family not in ("HistGradientBoosting", "LightGBM")

    @property
    def codes(self):
        """What the data call the categories: for scikit-learn any numbers, elsewhere whole ones, some with holes.

        With numpy before 2, whether scikit-learn takes a rounded code for a category depends on the number of rows.
        """
        i = np.arange(self.n_categories)
        if self.family == "HistGradientBoosting":
            return (1.7 * i - 5).round(1) if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 1.75 * i - 5
        return 3.0 * i + 1 if self.seed % 2 else 1.0 * i

    @property
    def n_rows(self):
        """Rows of the training data; enough of each category for a split by it."""
        return max(N_ROWS, 12 * self.n_categories)

    @property
    def seed(self):
        return sum(map(ord, str(self)))

    def data(self):
        """Training data: classes in bands of a curved score, some labels at random, values of odd seeds rounded."""
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=(self.n_rows, self.n_features))
        if self.close:
            X = 2.0**24 + 2 * rng.integers(0, 6, size=X.shape).astype(float)
        elif self.seed % 2:
            X = X.round(1)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        score = Z[:, 0] + np.sin(2 * Z[:, 1]) + 0.5 * (Z[:, 2:] ** 2).sum(axis=1)
        for column in CATEGORICAL if self.n_categories else ():
            category = rng.integers(0, self.n_categories, self.n_rows)
            X[:, column] = self.codes[category]
            score += 1.5 * rng.normal(size=self.n_categories)[category]
        y = np.searchsorted(np.quantile(score, np.arange(1, self.n_classes) / self.n_classes), score)
        noisy = rng.random(self.n_rows) < 0.1
        y[noisy] = rng.integers(0, self.n_classes, noisy.sum())
        if self.gaps:
            X[rng.random(X.shape) < SHARE_OF_GAPS] = np.nan
        return X, np.array(["ash", "birch", "cedar", "elm", "fir"])[y] if self.words else y

    def fit(self):
        """The trained model and its inputs."""
        X, y = self.data()
        return quietly(self.train, X, y, self.seed), X

    def ensemble(self, model):
        """The model as it is read, from itself or from a file."""
        if not self.file:
            return onetree.Ensemble.from_model(model, voting=self.voting, missing=self.missing)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            path.write_bytes(file_content(model, self.file))
            return onetree.load_ensemble(path, voting=self.voting, missing=self.missing)

    def reference(self, model, X):
        """What the library itself predicts."""
        return np.ravel(quietly(self.predict or type(model).predict, model, X))


def quietly(function, *arguments):
    """Call without warnings: of column names, of what will change in a coming version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def file_content(model, kind):
    """The model as its library saves it."""
    if kind in ("json", "ubj"):
        booster = model if hasattr(model, "save_raw") else model.get_booster()
        return bytes(booster.save_raw(kind))
    if kind == "text":
        return getattr(model, "booster_", model).model_to_string().encode()
    import skops.io

    return skops.io.dumps(model)


def sklearn_model(cls, *arguments, **parameters):
    return lambda X, y, seed: cls(*arguments, random_state=seed, **parameters).fit(X, y)


def hard_vote(model, X):
    """The paper's rule, from the predictions of the single trees; the first of equals."""
    votes = np.zeros((len(X), len(model.classes_)), dtype=int)
    for member in model.estimators_:
        votes[np.arange(len(X)), member.predict(X).astype(int)] += 1
    return model.classes_[votes.argmax(axis=1)]


def bagging(n_trees, depth, *, member=DecisionTreeClassifier, **parameters):
    return lambda X, y, seed: BaggingClassifier(
        member(max_depth=depth), n_estimators=n_trees, random_state=seed, **parameters
    ).fit(X, y)


def adaboost(n_trees, depth):
    return lambda X, y, seed: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth), n_estimators=n_trees, random_state=seed
    ).fit(X, y)


def voting(depths, **parameters):
    def train(X, y, seed):
        members = [
            (f"t{i}", (DecisionTreeClassifier, ExtraTreeClassifier)[i % 2](max_depth=depth, random_state=seed + i))
            for i, depth in enumerate(depths)
        ]
        return VotingClassifier(members, **parameters).fit(X, y)

    return train


def gradient(n_rounds, depth, **parameters):
    return lambda X, y, seed: GradientBoostingClassifier(
        n_estimators=n_rounds, max_depth=depth, learning_rate=RATE, random_state=seed, **parameters
    ).fit(X, y)


def hist(n_rounds, depth, **parameters):
    return lambda X, y, seed: HistGradientBoostingClassifier(
        max_iter=n_rounds,
        max_depth=depth,
        learning_rate=RATE,
        min_samples_leaf=5,
        early_stopping=False,
        random_state=seed,
        **parameters,
    ).fit(X, y)


def xgb(n_trees, depth, *, forest=False, **parameters):
    def train(X, y, seed):
        import xgboost

        given = {"n_estimators": n_trees, "max_depth": depth, "random_state": seed, "n_jobs": 1, "verbosity": 0}
        if forest:
            return xgboost.XGBRFClassifier(**given).fit(X, y)
        return xgboost.XGBClassifier(**given, **{"learning_rate": RATE} | parameters).fit(X, y)

    return train


def xgb_booster(n_rounds, **parameters):
    def train(X, y, seed):
        import xgboost

        given = {"seed": seed, "nthread": 1, "verbosity": 0, "eta": RATE} | parameters
        types = {"feature_types": given.pop("feature_types", None)}
        types["enable_categorical"] = types["feature_types"] is not None
        return xgboost.train(given, xgboost.DMatrix(X, y, **types), num_boost_round=n_rounds)

    return train


def xgb_booster_class(model, X):
    import xgboost

    predicted = model.predict(xgboost.DMatrix(X))
    if predicted.ndim == 2:
        return predicted.argmax(axis=1)
    return predicted.astype(int) if predicted.max() > 1 else (predicted > 0.5).astype(int)


def lgbm(n_trees, *, categorical="auto", **parameters):
    def train(X, y, seed):
        import lightgbm

        given = {"random_state": seed, "n_jobs": 1, "min_child_samples": 5, "verbose": -1}
        given |= {"learning_rate": RATE} | parameters
        return lightgbm.LGBMClassifier(n_estimators=n_trees, **given).fit(X, y, categorical_feature=categorical)

    return train


def lgbm_booster(n_rounds, *, categorical="auto", **parameters):
    def train(X, y, seed):
        import lightgbm

        given = {"seed": seed, "num_threads": 1, "min_data_in_leaf": 5, "verbose": -1}
        given |= {"learning_rate": RATE} | parameters
        return lightgbm.train(given, lightgbm.Dataset(X, y, categorical_feature=categorical), num_boost_round=n_rounds)

    return train


def lgbm_booster_class(model, X):
    predicted = model.predict(X)
    return predicted.argmax(axis=1) if predicted.ndim == 2 else (predicted > 0.5).astype(int)


def cat(n_trees, depth, **parameters):
    def train(X, y, seed):
        import catboost

        given = {"random_seed": seed, "thread_count": 1, "verbose": False, "allow_writing_files": False}
        given |= {"learning_rate": RATE} | parameters
        return catboost.CatBoostClassifier(iterations=n_trees, depth=depth, **given).fit(X, y)

    return train
