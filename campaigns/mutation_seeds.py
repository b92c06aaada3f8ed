"""Sound files of each format, which `campaigns.mutations` damages."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import onetree
from campaigns.fidelity_configurations import CONFIGURATIONS
from onetree.importers.ba_text import write_ba_text

PARTS = {"n_parts": 3, "n_jobs": 1, "memory_limit": 0.1}  # of the runs with checkpoints
SEEDS = {
    "BA-Trees text": ("RandomForest, hard vote: 5 trees, depth 2, K=5",),
    "onetree ensemble": (
        "DecisionTree: depth 3, K=3, trained with NaN",
        "LightGBM: multiclass, 3 x depth 2, K=3",
        "LightGBM: binary, 3 x depth 2, K=2, 3 categories, trained with NaN",
    ),
    "onetree tree": (
        "DecisionTree: depth 3, K=3, trained with NaN",
        "Voting: hard, weights, K=5",
        "LightGBM: binary, 3 x depth 2, K=2, 3 categories, trained with NaN",
    ),
    "XGBoost JSON": (
        "XGBoost: Booster, logistic, 5 x depth 2, K=2",
        "XGBoost: DART, 3 x depth 2, K=3",
        "XGBoost: logistic, partition, 4 x depth 2, K=2, 3 categories",
    ),
    "XGBoost UBJ": (
        "XGBoost: Booster, logistic, 5 x depth 2, K=2",
        "XGBoost: DART, 3 x depth 2, K=3",
        "XGBoost: logistic, partition, 4 x depth 2, K=2, 3 categories",
    ),
    "LightGBM text": (
        "LightGBM: Booster, binary, 4 x depth 3, K=2",
        "LightGBM: random forest, 3 x depth 2, K=3",
        "LightGBM: binary, 3 x depth 2, K=2, 30 categories, from text, trained with NaN",
    ),
    "CatBoost JSON": ("CatBoost: binary, lossguide, K=2", "CatBoost: multiclass, 3 x depth 2, K=3, trained with NaN"),
    "skops": (
        "DecisionTree: depth 3, K=3, trained with NaN",
        "RandomForest: 4 trees, depth 4, K=2, trained with NaN",
        "HistGradientBoosting: 3 rounds, depth 2, K=3",
        "GradientBoosting: exponential loss, K=2",
        "HistGradientBoosting: 3 rounds, depth 3, K=2, 3 categories, trained with NaN",
    ),
}


def sound_files(kind):
    """The content of the files that are damaged."""
    by_name = {str(configuration): configuration for configuration in CONFIGURATIONS}
    if kind == "onetree checkpoint":
        return [saved(kind, model_in_parts())]
    found = [saved(kind, by_name[name].fit()[0]) for name in SEEDS[kind]]
    return [*found, saved(kind, *with_groups())] if kind == "onetree tree" else found


@cache
def model_in_parts():
    """The model of the checkpoints, the same in every process."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)).round(1)
    return onetree.Ensemble.from_model(RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, X[:, 0] > X[:, 1]))


def with_groups():
    """A model of which three features are one-hot, and a domain that says so and more."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.eye(3)[rng.integers(0, 3, 200)], rng.normal(size=(200, 2)).round(1)])
    model = RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, X @ [1, 2, 3, 1, -1] > 2)
    return model, {(0, 1, 2): "one-hot", 3: "-2:2", 4: "integer"}


def saved(kind, model, domain=None):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        if kind == "BA-Trees text":
            write_ba_text(onetree.Ensemble.from_model(model, voting="hard"), path)
        elif kind == "onetree ensemble":
            onetree.Ensemble.from_model(model).save(path)
        elif kind == "onetree checkpoint":
            onetree.born_again_in_parts(model_in_parts(), **PARTS, checkpoint=path)
        elif kind == "onetree tree":
            onetree.born_again(model, domain=domain).tree.save(path)
        elif kind.startswith("XGBoost"):
            booster = model if hasattr(model, "save_raw") else model.get_booster()
            path.write_bytes(booster.save_raw(kind.split()[1].lower()))
        elif kind == "LightGBM text":
            path.write_text(getattr(model, "booster_", model).model_to_string())
        elif kind == "CatBoost JSON":
            model.save_model(str(path), format="json")
        else:
            import skops.io

            path.write_bytes(skops.io.dumps(model))
        return path.read_bytes()
