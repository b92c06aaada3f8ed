"""How long it takes to read models of a thousand trees: ``python -m benchmarks.imports``.

Each model is read live (`Ensemble.from_model`, with its self-test) and from a file of its library (`load_ensemble`).
Beside them stands what the library itself takes to predict the rows of the self-test, which no import can do without.
Times are medians of processor time, on one thread. ``--models DIR`` keeps the fitted models, whose training takes
minutes, for the next run.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the libraries start their threads

import joblib
import numpy as np
from sklearn.datasets import make_classification

import onetree
from benchmarks import runs
from onetree.importers.self_test import sample_rows

N_ROWS, N_FEATURES = 2000, 20


def to_skops(model, path):
    from skops.io import dump

    dump(model, path)


def to_xgboost(model, path):
    model.get_booster().save_model(path)


def to_lightgbm(model, path):
    model.booster_.save_model(path)


def to_catboost(model, path):
    model.save_model(str(path), format="json")


@dataclass(frozen=True)
class Kind:
    """A class of models, with options, and the file that its library writes."""

    module: str
    name: str
    options: dict[str, Any]
    suffix: str
    save: Callable[[Any, Path], None]
    count: str = "n_estimators"
    one_per_class: bool = False  # an iteration has a tree for each of three or more classes

    def make(self, n_trees: int, n_classes: int) -> Any:
        each = n_trees // n_classes if self.one_per_class and n_classes > 2 else n_trees
        made = getattr(importlib.import_module(self.module), self.name)
        return made(**self.options, **{self.count: each}, random_state=0)

    def __str__(self):
        depth = self.options.get("max_depth", self.options.get("depth"))
        return f"`{self.name}`" + ("" if depth is None else f", depth {depth}") + f", {self.suffix}"


def kinds():
    sklearn, boosted = "sklearn.ensemble", {"learning_rate": 0.02, "n_jobs": 1}
    per_class = {"one_per_class": True}
    return (
        Kind(sklearn, "RandomForestClassifier", {"max_depth": 6}, "skops", to_skops),
        Kind(sklearn, "RandomForestClassifier", {}, "skops", to_skops),
        Kind(sklearn, "ExtraTreesClassifier", {}, "skops", to_skops),
        Kind(sklearn, "GradientBoostingClassifier", {"max_depth": 6, "subsample": 0.2}, "skops", to_skops, **per_class),
        Kind(
            sklearn,
            "HistGradientBoostingClassifier",
            {"max_depth": 6, "early_stopping": False},
            "skops",
            to_skops,
            count="max_iter",
            **per_class,
        ),
        Kind("xgboost", "XGBClassifier", {"max_depth": 6, **boosted}, "json", to_xgboost, **per_class),
        Kind("xgboost", "XGBClassifier", {"max_depth": 6, **boosted}, "ubj", to_xgboost, **per_class),
        Kind("xgboost", "XGBRFClassifier", {"max_depth": 6, "n_jobs": 1}, "json", to_xgboost, **per_class),
        Kind("xgboost", "XGBRFClassifier", {"max_depth": 20, "n_jobs": 1}, "json", to_xgboost, **per_class),
        Kind("lightgbm", "LGBMClassifier", {"verbose": -1, **boosted}, "txt", to_lightgbm, **per_class),
        Kind("catboost", "CatBoostClassifier", {"depth": 6, "verbose": 0, "thread_count": 1}, "json", to_catboost),
    )


def fitted(kind, n_trees, n_classes, folder):
    """Return a model and the path of its file."""
    X, y = make_classification(N_ROWS, N_FEATURES, n_informative=10, n_classes=n_classes, random_state=0)
    name = "".join(each if each.isalnum() else "_" for each in f"{kind}_{n_trees}_{n_classes}")
    stem = folder / name
    kept, file = stem.with_suffix(".joblib"), stem.with_suffix(f".{kind.suffix}")
    if not (kept.exists() and file.exists()):
        model = kind.make(n_trees, n_classes).fit(X.astype(np.float32), y)
        joblib.dump(model, kept)
        kind.save(model, file)
    return joblib.load(kept), file


def seconds(repeat, job, *given):
    """Return the median of the processor time, after a first run that imports what is needed."""
    job(*given)
    times = []
    for _ in range(repeat):
        started = time.process_time()
        job(*given)
        times.append(time.process_time() - started)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports", description=__doc__)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--models", type=Path, help="folder that keeps fitted models")
    parser.add_argument("--only", nargs="+", help="kinds whose names have one of these words")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = options.models or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{runs.machine()['processor']}, one thread\n")
    print("| model | classes | trees | nodes | its own predict, s | live, s | file, s | file, MB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for kind in kinds():
        for n_classes in (2, 3):
            if options.only and not any(word in str(kind) for word in options.only):
                continue
            try:
                model, file = fitted(kind, options.trees, n_classes, folder)
            except ImportError as error:
                print(f"| {kind} | {n_classes} | not installed: {error.name} | | | | | |")
                continue
            ensemble = onetree.Ensemble.from_model(model)
            rows = sample_rows(ensemble, np.random.default_rng(0))
            own = seconds(options.repeat, model.predict, rows)
            live = seconds(options.repeat, onetree.Ensemble.from_model, model)
            from_file = seconds(options.repeat, onetree.load_ensemble, file)
            print(
                f"| {kind} | {n_classes} | {ensemble.n_trees:,} | {len(ensemble.feature):,} | {own:.2f} | {live:.2f} | "
                f"{from_file:.2f} | {file.stat().st_size / 1e6:.0f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
