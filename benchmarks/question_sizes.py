"""Questions to models of real size: ``python -m benchmarks.question_sizes FOLDER``.

Forests of 100 trees without a limit on depth and XGBoost 300 x 6, on breast cancer and on the CSV files of a folder
(the last column is the class; texts become whole numbers). For each question: the share of queries that are answered
with proof within 1 and 10 seconds of the processor, and the lower bound as a share of the distance where it
is not proven.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.questions.costs import NORMS


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.question_sizes", description=__doc__)
    parser.add_argument("folder", type=Path, help="CSV files: german_credit, adult, magic")
    parser.add_argument("--queries", type=int, default=20, help="rows that are asked about (default: 20)")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each question (default: 10)")
    parser.add_argument("--only", nargs="+", help="some of the data sets")
    arguments = parser.parse_args()
    print("| data | model | question | median s | <= 1 s | <= 10 s | bound where not |\n|---|---|---|---|---|---|---|")
    for data in arguments.only or ["breast_cancer", "german_credit", "adult", "magic"]:
        X, y = (
            load_breast_cancer(return_X_y=True) if data == "breast_cancer" else read(arguments.folder / f"{data}.csv")
        )
        rows = X[np.random.default_rng(0).choice(len(X), size=arguments.queries, replace=False)]
        for name, model in models(X, y):
            ensemble = onetree.Ensemble.from_model(model)
            for question in (*NORMS, "reason"):
                ask(data, name, model, ensemble, X, rows, question, arguments.limit)


def read(path):
    frame = pd.read_csv(path)
    columns = [
        pd.factorize(frame[name], sort=True)[0] if frame[name].dtype.kind not in "biuf" else frame[name]
        for name in frame
    ]
    numbers = np.column_stack(columns).astype(np.float64)
    return numbers[:, :-1], np.unique(numbers[:, -1], return_inverse=True)[1]


def models(X, y):
    yield "forest 100", RandomForestClassifier(100, random_state=0).fit(X, y)
    from xgboost import XGBClassifier

    yield "XGBoost 300x6", XGBClassifier(n_estimators=300, max_depth=6, n_jobs=1).fit(X, y)


def ask(data, name, model, ensemble, X, rows, question, limit):
    seconds, proven, ratios = [], [], []
    for row in rows:
        asked = partial(onetree.counterfactual, ensemble, row, norm=question, data=X, time_limit=limit)
        if question == "reason":
            asked = partial(onetree.explain, ensemble, row, widen=False, time_limit=limit)
        start = time.process_time()
        found = asked()
        seconds.append(time.process_time() - start)
        proven.append(found.status in ("optimal", "none", "minimal"))
        if question != "reason" and found:
            assert model.predict(found.point[np.newaxis])[0] != model.predict(row[np.newaxis])[0]
            if not proven[-1]:
                ratios.append(found.lower_bound / found.distance)
    seconds, proven = np.array(seconds), np.array(proven)
    bound = f"{np.mean(ratios):.2f}" if ratios else ""
    shares = " | ".join(f"{np.mean(proven & (seconds <= each)):.0%}" for each in (1, 10))
    print(f"| {data} | {name} | {question} | {np.median(seconds):.2f} | {shares} | {bound} |", flush=True)


if __name__ == "__main__":
    main()
