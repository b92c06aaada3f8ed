"""Are probabilities and the values of regressors read exactly? ``python -m campaigns.values``.

Sixty regressors and sixty classifiers of all libraries. Each is read, and what the library's own ``predict`` or
``predict_proba`` returns is compared bit by bit with the numbers of the ensemble, on random rows, on thresholds and one
unit beside them, and with missing values where the model takes them.

With ``--trees``, models of two features become trees, with tolerance 0 and with one above it: the trees' numbers are
then compared with the library's.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn import ensemble as sk
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor, XGBRFRegressor

import onetree
from onetree import Ensemble
from onetree.importers.self_test import quick_scores, sample_rows

N_ROWS = 84_000  # for each model: together more than 1e7
N_FEATURES = 5

Models = Iterator[tuple[str, Callable[[], Any], str]]


def data(seed: int, gaps: bool) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return inputs, and targets by name."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, N_FEATURES))
    amount = np.exp(0.8 * X[:, 0] + 0.3 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=500))
    two = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=500) > 0).astype(int)
    three = two + (X[:, 2] + 0.4 * rng.normal(size=500) > 0.5)
    targets = {"amount": amount, "share": amount / amount.max(), "two": two, "three": three}
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, targets


def catboost(kind: type, **options: object) -> Any:
    """Return a small CatBoost model that writes nothing."""
    return kind(iterations=8, depth=3, verbose=0, allow_writing_files=False, thread_count=1, **options)


def regressors(seed: int) -> Models:
    """Yield thirty regressors: a name, how to make it, and its target."""
    few = {"max_depth": 3, "random_state": seed}
    yield "tree", lambda: DecisionTreeRegressor(**few), "amount"
    yield "forest", lambda: sk.RandomForestRegressor(9, **few), "amount"
    yield "extra trees", lambda: sk.ExtraTreesRegressor(9, **few), "amount"
    yield "bagging", lambda: sk.BaggingRegressor(DecisionTreeRegressor(**few), 9, random_state=seed), "amount"
    for loss in ("squared_error", "absolute_error", "huber", "quantile"):
        yield (
            f"boosting {loss}",
            lambda loss=loss: sk.GradientBoostingRegressor(loss=loss, n_estimators=9, **few),
            "amount",
        )
    for loss in ("squared_error", "absolute_error", "gamma", "poisson", "quantile"):
        options = {"loss": loss, "max_iter": 9, "quantile": 0.3 if loss == "quantile" else None}
        yield f"hist {loss}", lambda options=options: sk.HistGradientBoostingRegressor(**options, **few), "amount"
    yield (
        "vote",
        lambda: sk.VotingRegressor(
            [("a", sk.RandomForestRegressor(3, **few)), ("b", XGBRegressor(n_estimators=3, **few))]
        ),
        "amount",
    )
    yield "pipeline", lambda: make_pipeline(StandardScaler(), sk.RandomForestRegressor(5, **few)), "amount"
    for objective in ("squarederror", "absoluteerror", "pseudohubererror", "gamma", "tweedie", "logistic"):
        options = {"objective": f"reg:{objective}", "n_estimators": 8, **few}
        target = "share" if objective == "logistic" else "amount"
        yield f"xgboost {objective}", lambda options=options: XGBRegressor(**options), target
    yield "xgboost poisson", lambda: XGBRegressor(objective="count:poisson", n_estimators=8, **few), "amount"
    yield "xgboost forest", lambda: XGBRFRegressor(n_estimators=8, **few), "amount"
    for objective in ("regression", "huber", "poisson", "gamma"):
        options = {"objective": objective, "n_estimators": 8, "verbose": -1, **few}
        yield f"lightgbm {objective}", lambda options=options: LGBMRegressor(**options), "amount"
    for loss in ("RMSE", "Poisson", "Tweedie:variance_power=1.5"):
        yield (
            f"catboost {loss}",
            lambda loss=loss: catboost(CatBoostRegressor, loss_function=loss, random_seed=seed),
            "amount",
        )


def classifiers(seed: int) -> Models:
    """Yield thirty classifiers: a name, how to make it, and its target."""
    few = {"max_depth": 3, "random_state": seed}
    for y in ("two", "three"):
        yield f"tree {y}", lambda: DecisionTreeClassifier(**few), y
        yield f"forest {y}", lambda: sk.RandomForestClassifier(9, **few), y
        yield f"extra trees {y}", lambda: sk.ExtraTreesClassifier(9, **few), y
        yield f"bagging {y}", lambda: sk.BaggingClassifier(DecisionTreeClassifier(**few), 9, random_state=seed), y
        yield (
            f"adaboost {y}",
            lambda: sk.AdaBoostClassifier(DecisionTreeClassifier(**few), n_estimators=6, random_state=seed),
            y,
        )
        yield f"boosting {y}", lambda: sk.GradientBoostingClassifier(n_estimators=6, **few), y
        yield f"hist {y}", lambda: sk.HistGradientBoostingClassifier(max_iter=6, **few), y
        yield f"xgboost {y}", lambda: XGBClassifier(n_estimators=6, **few), y
        yield f"lightgbm {y}", lambda: LGBMClassifier(n_estimators=6, verbose=-1, **few), y
        yield f"catboost {y}", lambda: catboost(CatBoostClassifier, random_seed=seed), y
        yield f"calibrated {y}", lambda: CalibratedClassifierCV(sk.RandomForestClassifier(3, **few), cv=2), y
        yield (
            f"isotonic {y}",
            lambda: CalibratedClassifierCV(sk.RandomForestClassifier(3, **few), cv=2, method="isotonic"),
            y,
        )
        yield (
            f"vote {y}",
            lambda: sk.VotingClassifier(
                [("a", sk.RandomForestClassifier(3, **few)), ("b", XGBClassifier(n_estimators=3, **few))], voting="soft"
            ),
            y,
        )
        yield (
            f"bagged boosting {y}",
            lambda: sk.BaggingClassifier(sk.GradientBoostingClassifier(n_estimators=3, **few), 3, random_state=seed),
            y,
        )
    yield (
        "boosting exponential",
        lambda: sk.GradientBoostingClassifier(loss="exponential", n_estimators=6, **few),
        "two",
    )
    yield (
        "catboost one against all",
        lambda: catboost(CatBoostClassifier, loss_function="MultiClassOneVsAll", random_seed=seed),
        "three",
    )


def rows_of(ensemble: Ensemble, n_rows: int, seed: int) -> Iterator[np.ndarray]:
    """Yield rows, some thousand at a time: random ones, on thresholds and beside them, with gaps if they are inputs."""
    n_done = 0
    rng = np.random.default_rng(seed)
    while n_done < n_rows:
        part = np.concatenate([sample_rows(ensemble, rng) for _ in range(4)])
        n_done += len(part)
        yield part


def compare(model: Any, output: str, n_rows: int, seed: int) -> tuple[int, int]:
    """Return on how many rows the library and the ensemble differ, and how many there were."""
    ensemble = Ensemble.from_model(model, output=output, missing="auto")
    n_wrong = n_compared = 0
    for rows in rows_of(ensemble, n_rows, seed):
        expected = np.asarray(model.predict(rows) if output == "value" else model.predict_proba(rows))
        found = ensemble.numbers_of(quick_scores(ensemble, rows))
        expected = expected.reshape(found.shape)
        n_wrong += len(rows) if expected.dtype != found.dtype else int((expected != found).any(axis=1).sum())
        n_compared += len(rows)
    return n_wrong, n_compared


def compare_trees(model: Any, output: str, n_rows: int, seed: int) -> Iterator[tuple[str, float, float, int]]:
    """Yield a tree's status, what it promises, the worst deviation that was met, and on how many rows."""
    ensemble = Ensemble.from_model(model, output=output)
    spread = float(np.ptp(ensemble.numbers_of(quick_scores(ensemble, sample_rows(ensemble, np.random.default_rng(0))))))
    for tolerance in (0.0, 0.05 * spread):
        found = onetree.born_again(ensemble, output=output, tolerance=tolerance, time_limit=20)
        worst, n_compared = 0.0, 0
        for rows in rows_of(ensemble, n_rows, seed):
            expected = np.asarray(model.predict(rows) if output == "value" else model.predict_proba(rows))
            numbers = found.tree.numbers(rows).reshape(expected.shape)
            worst = max(worst, float(np.abs(numbers.astype(np.longdouble) - expected).max()))
            n_compared += len(rows)
        yield found.status, tolerance, worst, n_compared


def run_trees(n_rows: int, n_seeds: int) -> int:
    """Make trees of all models of two features; return how many broke their promise."""
    n_trees = n_broken = n_all = 0
    for seed in range(n_seeds):
        for output, models in (("value", regressors(seed)), ("probability", classifiers(seed))):
            for name, make, target in models:
                X, targets = data(seed, gaps=False)
                for status, tolerance, worst, n in compare_trees(
                    make().fit(X[:, :2], targets[target]), output, n_rows, seed
                ):
                    n_trees, n_broken, n_all = n_trees + 1, n_broken + (worst > tolerance), n_all + n
                    print(f"{output:12}{name:32}{status:10} within {tolerance:.4g}: {worst:.4g}", flush=True)
    print(f"{n_trees} trees, {n_all:,} rows, {n_broken} broke their promise")
    return n_broken


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; return 1 if anything differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=N_ROWS, help="rows for each model")
    parser.add_argument("--seeds", type=int, default=2, help="how many times all models are trained")
    parser.add_argument("--trees", action="store_true", help="make trees, and compare those")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.trees:
        return int(run_trees(options.rows, options.seeds) > 0)
    n_models = n_wrong = n_rows = 0
    started = time.monotonic()
    for seed in range(options.seeds):
        for output, models in (("value", regressors(seed)), ("probability", classifiers(seed))):
            for name, make, target in models:
                X, targets = data(
                    seed, gaps=seed % 2 == 1 and name.startswith(("hist", "xgboost", "lightgbm", "catboost"))
                )
                wrong, compared = compare(make().fit(X, targets[target]), output, options.rows, seed)
                n_models, n_wrong, n_rows = n_models + 1, n_wrong + wrong, n_rows + compared
                print(f"{output:12}{name:32}{compared:>10,} rows, {wrong} differ", flush=True)
    print(f"{n_models} models, {n_rows:,} rows, {n_wrong} differ; {time.monotonic() - started:.0f} s")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
