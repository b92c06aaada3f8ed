"""Nearest inputs of another class, and reasons: ``python -m benchmarks.questions``.

Forests and boosted trees of scikit-learn's breast cancer data, features scaled to [0, 1]. For each model and distance:
seconds of the processor (median and 90 %), the share of queries whose answer is proven to be the nearest, and the lower
bound as a share of the distance where it is not. Every answer is compared with the model's own `predict`. The limit is
on the boxes that are looked at, not on the clock, so that a busy machine gives the same answers.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.questions.costs import NORMS

FORESTS = {"forest 10x3": (10, 3), "forest 50x4": (50, 4), "forest 100x5": (100, 5), "forest 100": (100, None)}
BOOSTED = {"XGBoost 50x3": (50, 3), "XGBoost 100x6": (100, 6)}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions", description=__doc__)
    parser.add_argument("--queries", type=int, default=20, help="rows that are asked about (default: 20)")
    parser.add_argument("--boxes", type=int, default=100_000, help="most boxes for each question (default: 100000)")
    parser.add_argument("--only", nargs="+", choices=[*FORESTS, *BOOSTED], help="some of the models")
    arguments = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.min(axis=0)) / np.ptp(X, axis=0)).astype(np.float32).astype(np.float64)
    rows = X[np.random.default_rng(0).choice(len(X), size=arguments.queries, replace=False)]
    print("| model | question | median s | 90 % s | proven | bound where not |\n|---|---|---|---|---|---|")
    for name in arguments.only or [*FORESTS, *BOOSTED]:
        model = fitted(name, X, y)
        ensemble = onetree.Ensemble.from_model(model)
        for norm in NORMS:
            question = partial(onetree.counterfactual, ensemble, norm=norm, work_limit=arguments.boxes)
            found, seconds = asked(rows, question)
            for row, each in zip(rows, found, strict=True):
                if each:
                    assert model.predict(each.point[np.newaxis])[0] != model.predict(row[np.newaxis])[0]
            ratios = [each.lower_bound / each.distance for each in found if each.status == "limit"]
            show(name, norm, seconds, [each.status == "optimal" for each in found], ratios)
        question = partial(onetree.explain, ensemble, widen=False, work_limit=arguments.boxes)
        found, seconds = asked(rows, question)
        show(name, "reason", seconds, [each.status == "minimal" for each in found], [])


def fitted(name, X, y):
    if name in FORESTS:
        n_trees, depth = FORESTS[name]
        return RandomForestClassifier(n_trees, max_depth=depth, random_state=0).fit(X, y)
    from xgboost import XGBClassifier

    n_trees, depth = BOOSTED[name]
    return XGBClassifier(n_estimators=n_trees, max_depth=depth, n_jobs=1).fit(X, y)


def asked(rows, question):
    """Ask about each row; give the answers, and the processor's seconds for each."""
    found, seconds = [], []
    for row in rows:
        start = time.process_time()
        found.append(question(row))
        seconds.append(time.process_time() - start)
    return found, seconds


def show(name, question, seconds, proven, ratios):
    middle, late = np.quantile(seconds, [0.5, 0.9])
    bound = f"{np.mean(ratios):.2f}" if ratios else ""
    print(f"| {name} | {question} | {middle:.3f} | {late:.3f} | {np.mean(proven):.0%} | {bound} |", flush=True)


if __name__ == "__main__":
    main()
