"""What a round of the soak is about, drawn from its seed: a model, inputs that matter, options and limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from campaigns.fidelity_categorical import COLUMNS, LGBM
from campaigns.fidelity_models import (
    TYPES,
    Configuration,
    adaboost,
    bagging,
    cat,
    gradient,
    hist,
    lgbm,
    sklearn_model,
    voting,
    xgb,
)
from onetree.search.solve import ENGINES, OBJECTIVES

# Family: how to train one of so many trees and such a depth, whether it takes NaN, and the files it is read from.
TRAINERS = {
    "DecisionTree": (lambda n, d: sklearn_model(DecisionTreeClassifier, max_depth=d + 2), True, ("skops",)),
    "RandomForest": (lambda n, d: sklearn_model(RandomForestClassifier, n, max_depth=d), True, ("skops",)),
    "ExtraTrees": (lambda n, d: sklearn_model(ExtraTreesClassifier, n, max_depth=d), True, ("skops",)),
    "Bagging": (bagging, True, ("skops",)),
    "AdaBoost": (adaboost, False, ("skops",)),
    "Voting": (lambda n, d: voting([d] * n, voting="soft"), True, ("skops",)),
    "GradientBoosting": (gradient, False, ("skops",)),
    "HistGradientBoosting": (hist, True, ("skops",)),
    "XGBoost": (xgb, True, ("json", "ubj")),
    "XGBoost DART": (lambda n, d: xgb(n, d, booster="dart", rate_drop=0.3), True, ("json", "ubj")),
    "LightGBM": (lambda n, d: lgbm(n, max_depth=d), True, ("text",)),
    "CatBoost": (cat, True, ()),
}
CATEGORICAL_TRAINERS = {
    "HistGradientBoosting": (lambda n, d: hist(n, d, categorical_features=COLUMNS), ("skops",)),
    "XGBoost": (
        lambda n, d: xgb(n, d, enable_categorical=True, feature_types=TYPES, max_cat_to_onehot=1 + 3 * (n % 2)),
        ("json", "ubj"),
    ),
    "LightGBM": (lambda n, d: lgbm(n, max_depth=d, **LGBM), ("text",)),
}
DEEP = {  # as deep as the data make them, in few features: long axes
    "DecisionTree": lambda n: sklearn_model(DecisionTreeClassifier),
    "RandomForest": lambda n: sklearn_model(RandomForestClassifier, n),
    "ExtraTrees": lambda n: sklearn_model(ExtraTreesClassifier, n),
}
WORDS = ("one-hot", "at most one", "implies")
OR_MISSING = " or missing"  # at the end of what a domain says of a feature
N_MEMBERS = 3  # of a group: the first columns
ALLOWED = {
    "one-hot": np.eye(3),
    "at most one": np.vstack([np.zeros(3), np.eye(3)]),
    "implies": np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]], dtype=float),
}


@dataclass(frozen=True)
class Draw(Configuration):
    """A model of its own for every seed; perhaps its first columns are a group, which stands for its first one."""

    group: str = ""

    @property
    def seed(self):
        return int(self.kind)

    def data(self):
        X, y = super().data()
        if self.group:
            allowed = ALLOWED[self.group]
            level = np.searchsorted(np.quantile(X[:, 0], np.arange(1, len(allowed)) / len(allowed)), X[:, 0])
            X[:, :N_MEMBERS] = allowed[level]
        return X, y


@dataclass(frozen=True)
class Round:
    """What to do with a model: how to convert it, for which inputs, whether only where the data are, or in parts."""

    configuration: Draw
    domain: dict[Any, Any] | None
    options: dict[str, Any]
    support: dict[str, Any] | None = None
    parts: dict[str, Any] | None = None  # and after how many of them the work is ended and begun again


def draw_round(seed):
    rng = np.random.default_rng(seed)
    subjects = {"plain": 0.35, "categorical": 0.25, "group": 0.15, "support": 0.1, "parts": 0.1, "deep": 0.05}
    subject = rng.choice(list(subjects), p=list(subjects.values()))
    n_classes = int(rng.choice([2, 2, 3, 5]))
    n_trees, depth = int(rng.integers(1, 13 if n_classes == 2 else 6)), int(rng.integers(1, 6))
    if subject == "categorical":
        configuration = draw_categorical(seed, rng, n_classes, min(n_trees, 5), min(depth, 3))
    elif subject == "deep":
        family = str(rng.choice(list(DEEP)))
        configuration = Draw(family, str(seed), DEEP[family](1 + n_trees % 3), n_classes, 2)
    else:
        configuration = draw_plain(seed, rng, n_classes, n_trees, depth, grouped=subject == "group")
    if subject == "support":
        return Round(configuration, None, {}, support=draw_support(rng))
    domain = draw_domain(configuration, rng)
    if subject == "parts":
        return Round(configuration, domain, {}, parts=draw_parts(rng))
    return Round(configuration, domain, draw_options(rng))


def fitting(drawn, ensemble):
    """The round with a domain that the trained model can have: missing values only where NaN is an input of it.

    A model that was trained with gaps need not take them: where no split has met one, its library would only guess.
    """
    if drawn.domain is None:
        return drawn
    domain = {
        feature: values if isinstance(feature, tuple) or ensemble.nan_features[feature] else present(values)
        for feature, values in drawn.domain.items()
    }
    return replace(drawn, domain=domain)


def present(values):
    """The same values without the missing one."""
    return values.removesuffix(OR_MISSING)


def draw_plain(seed, rng, n_classes, n_trees, depth, *, grouped):
    family = str(rng.choice(list(TRAINERS)))
    trainer, takes_nan, files = TRAINERS[family]
    takes_nan = takes_nan and not grouped
    return Draw(
        family,
        str(seed),
        trainer(n_trees, depth),
        n_classes,
        int(rng.integers(4 if grouped else 2, 7)),
        gaps=bool(takes_nan and rng.random() < 0.3),
        missing=str(rng.choice(["auto", "auto", "follow"])) if takes_nan else "auto",
        group=str(rng.choice(WORDS)) if grouped else "",
        file=draw_file(files, rng),
    )


def draw_categorical(seed, rng, n_classes, n_trees, depth):
    family = str(rng.choice(list(CATEGORICAL_TRAINERS)))
    trainer, files = CATEGORICAL_TRAINERS[family]
    return Draw(
        family,
        str(seed),
        trainer(n_trees, depth),
        n_classes,
        len(TYPES),
        gaps=bool(rng.random() < 0.3),
        missing=str(rng.choice(["auto", "auto", "follow"])),
        n_categories=int(rng.choice([3, 6, 12, 30])),
        file=draw_file(files, rng),
    )


def draw_file(files, rng):
    return str(rng.choice(files)) if files and rng.random() < 0.3 else ""


def draw_domain(configuration, rng):
    """Some features within ranges, whole, or among few values; groups as they are."""
    domain = {tuple(range(N_MEMBERS)): configuration.group} if configuration.group else {}
    if rng.random() < (0.5 if configuration.group else 0.7):
        return domain or None
    categorical = COLUMNS if configuration.n_categories else ()
    or_missing = OR_MISSING if configuration.takes_nan and rng.random() < 0.5 else ""
    for feature in range(N_MEMBERS if configuration.group else 0, configuration.n_features):
        if rng.random() < 0.5:
            continue
        if feature in categorical:
            codes = rng.choice(configuration.codes, size=2, replace=False)
            domain[feature] = ",".join(map(repr, np.sort(codes).tolist()))
        else:
            domain[feature] = str(rng.choice(["-1:1", "0:2.5", "integer", "integer -2:2", "0,1", "-0.5:inf"]))
        domain[feature] += or_missing
    return domain or None


def draw_options(rng):
    options = {"objective": str(rng.choice(OBJECTIVES)), "method": str(rng.choice(["auto", "exact", "heuristic"]))}
    if options["method"] == "exact" and rng.random() < 0.5:
        options["engine"] = str(rng.choice(ENGINES))
    options["time_limit"] = float(rng.choice([0.05, 0.3, 1.0, 3.0]))
    if rng.random() < 0.5:
        options["memory_limit"] = float(rng.choice([0.002, 0.02, 0.2, 1.0]))
    options["n_jobs"] = int(rng.choice([1, 1, 1, 2]))
    return options


def draw_support(rng):
    promise = [{"fidelity": 1.0}, {"fidelity": 0.9}, {"max_leaves": int(rng.integers(1, 40))}][int(rng.integers(3))]
    return promise | {"certify": bool(rng.random() < 0.3), "random_state": int(rng.integers(100))}


def draw_parts(rng):
    n_parts = int(rng.integers(2, 12))
    asked = {"n_parts": n_parts, "objective": str(rng.choice(OBJECTIVES)), "memory_limit": 0.5, "n_jobs": 1}
    return {"asked": asked, "ended_after": int(rng.integers(0, n_parts))}
