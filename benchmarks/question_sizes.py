"""Questions to models of real size: ``python -m benchmarks.question_sizes FOLDER``.

Forests of 100 trees without a limit on depth and XGBoost 300 x 6, on breast cancer and on the CSV files of a folder
(the last column is the class; texts become whole numbers). Nearest inputs and reasons for some rows; checks that one
feature alone never changes the class, and that the class never falls as it rises, of these rows and of every input, for
some features. For each question: the share that is answered with proof, or by a witness, within 1 and 10 seconds of the
processor, and the lower bound as a share of the distance where it is not proven.
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
from onetree.questions.sources import weights_of

QUESTIONS = (*NORMS, "reason", "irrelevant, rows", "monotone, rows", "irrelevant", "monotone")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.question_sizes", description=__doc__)
    parser.add_argument("folder", type=Path, help="CSV files: german_credit, adult, magic")
    parser.add_argument("--queries", type=int, default=20, help="rows that are asked about (default: 20)")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each question (default: 10)")
    parser.add_argument("--features", type=int, default=10, help="features that are checked (default: 10)")
    parser.add_argument("--questions", nargs="+", choices=QUESTIONS, help="some of the questions")
    parser.add_argument("--only", nargs="+", help="some of the data sets")
    arguments = parser.parse_args()
    print("| data | model | question | asked | s | <= 1 s | <= 10 s | bound where not | refuted |")
    print("|---|---|---|---|---|---|---|---|---|")
    for data in arguments.only or ["breast_cancer", "german_credit", "adult", "magic"]:
        X, y = (
            load_breast_cancer(return_X_y=True) if data == "breast_cancer" else read(arguments.folder / f"{data}.csv")
        )
        rows = X[np.random.default_rng(0).choice(len(X), size=arguments.queries, replace=False)]
        for name, model in models(X, y):
            ensemble = onetree.Ensemble.from_model(model)
            costs = weights_of(None, X, ensemble)  # units of the median absolute deviation
            some = np.unique(np.linspace(0, X.shape[1] - 1, min(arguments.features, X.shape[1])).astype(int)).tolist()
            for question in arguments.questions or QUESTIONS:
                ask(data, name, model, ensemble, costs, rows, some, question, arguments.limit)


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


def ask(data, name, model, ensemble, costs, rows, features, question, limit):
    limits = {"time_limit": limit}
    if question in NORMS:
        asked = [partial(onetree.counterfactual, ensemble, row, norm=question, costs=costs, **limits) for row in rows]
    elif question == "reason":
        asked = [partial(onetree.explain, ensemble, row, widen=False, **limits) for row in rows]
    else:
        check = onetree.check_irrelevant if question.startswith("irrelevant") else onetree.check_monotone
        if question.endswith("rows"):  # each row with one of the features
            pairs = zip(rows, features * len(rows), strict=False)
            asked = [partial(check, ensemble, feature, X=[row], **limits) for row, feature in pairs]
        else:
            asked = [partial(check, ensemble, feature, **limits) for feature in features]
    seconds, decided, ratios, refuted = [], [], [], 0
    for each in asked:
        start = time.process_time()
        found = each()
        seconds.append(time.process_time() - start)
        if isinstance(found, onetree.Check):
            decided.append(found.holds is not None)
            refuted += found.holds is False
            pair = found.witness
        else:
            decided.append(found.status in ("optimal", "none", "minimal"))
            pair = (found.x, found.point) if question in NORMS and found else None
            if pair and not decided[-1]:
                ratios.append(found.lower_bound / found.distance)
        if pair is not None:
            one, other = model.predict(np.array(pair))
            assert one != other
    seconds, decided = np.array(seconds), np.array(decided)
    bound = f"{np.mean(ratios):.2f}" if ratios else ""
    times = " / ".join(f"{each:.3f}" for each in np.quantile(seconds, [0.5, 0.9]))
    shares = " | ".join(f"{np.mean(decided & (seconds <= each)):.0%}" for each in (1, 10))
    share = "" if question in (*NORMS, "reason") else f"{refuted / len(asked):.0%}"
    print(f"| {data} | {name} | {question} | {len(asked)} | {times} | {shares} | {bound} | {share} |", flush=True)


if __name__ == "__main__":
    main()
