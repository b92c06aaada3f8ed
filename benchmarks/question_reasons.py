"""Reasons for a class beside PyXAI: ``python -m benchmarks.question_reasons``.

The models and rows of `benchmarks.question_peers`. onetree: features that fix the class whatever the others are, of
which none can be left out; with their values, or by `--widen` with intervals, too. PyXAI: conditions at thresholds, for
forests. They are for hard votes, one of each tree, so they need not hold for the class that scikit-learn predicts. (For
boosted trees it has tree-specific reasons, whose search ends only at the limit.) For each: seconds on the wall and of
the processor, with all processes that were started (median and 90 %), the share that is finished within the limit, the
number of features (median), and the share of reasons for which the model's own `predict` gives one class to 1,000
random inputs that they cover. What a program does once per model is not counted.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import onetree
from benchmarks.question_peers import MODELS, fitted, processor, sources

N_SAMPLES = 1000


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.question_reasons", description=__doc__)
    parser.add_argument("--magic", type=Path, help="CSV file of the magic data; without it, breast cancer only")
    parser.add_argument("--data", nargs="+", choices=["breast_cancer", "magic"], help="some of the data sets")
    parser.add_argument("--queries", type=int, default=20, help="rows that are asked about (default: 20)")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for each query (default: 20)")
    parser.add_argument("--only", nargs="+", choices=MODELS, help="some of the models")
    parser.add_argument("--widen", action="store_true", help="with intervals, too, which takes longer")
    parser.add_argument("--alone", action="store_true", help="without PyXAI")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"processor: {processor()}\n")
    print("| data | model | program | wall s | processor s | finished | features | confirmed |")
    print("|---|---|---|---|---|---|---|---|")
    for source, X, y, rows in sources(arguments):
        for name in arguments.only or MODELS:
            model = fitted(name, X, y)
            ask("onetree", of_onetree(model, False), source, name, model, rows, arguments.limit)
            if arguments.widen:
                ask("onetree, widened", of_onetree(model, True), source, name, model, rows, arguments.limit)
            if isinstance(model, RandomForestClassifier) and not arguments.alone:
                ask("PyXAI", of_pyxai(model), source, name, model, rows, arguments.limit)


def ask(program, query, source, name, model, rows, limit):
    wall, used, bounds = [], [], []
    for row in rows:
        start = time.perf_counter(), of_all_processes()
        answer = query(row, limit)
        wall.append(time.perf_counter() - start[0])
        used.append(of_all_processes() - start[1])
        bounds.append(answer())
    found = [each for each in bounds if each is not None]
    times = " | ".join(f"{np.quantile(each, 0.5):.4f} / {np.quantile(each, 0.9):.4f}" for each in (wall, used))
    sizes = f"{np.quantile([len(each) for each in found], 0.5):g}" if found else ""
    confirmed = [is_confirmed(model, row, each) for row, each in zip(rows, bounds, strict=True) if each is not None]
    sure = f"{np.mean(confirmed):.0%}" if found else ""
    print(f"| {source} | {name} | {program} | {times} | {len(found) / len(rows):.0%} | {sizes} | {sure} |", flush=True)


def of_all_processes():
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def is_confirmed(model, row, bounds):
    """Whether random inputs between the bounds of each feature, which is low < value <= high, have the class."""
    random = np.random.default_rng(0)
    inputs = random.uniform(-0.1, 1.1, size=(N_SAMPLES, len(row)))
    for feature, (low, high) in bounds.items():
        low, high = max(low, min(row[feature], -0.1)), min(high, max(row[feature], 1.1))
        inputs[:, feature] = row[feature] if low == high else high - (high - low) * random.random(N_SAMPLES)
    return bool((model.predict(inputs) == model.predict(row[np.newaxis])[0]).all())


def of_onetree(model, widen):
    ensemble = onetree.Ensemble.from_model(model)
    place = {name: at for at, name in enumerate(ensemble.feature_names)}

    def query(row, limit):
        found = onetree.explain(ensemble, row, widen=widen, time_limit=limit)

        def answer():
            if found.status != "minimal":
                return None
            return {place[name]: own if len(own) == 2 else (own[0], own[0]) for name, own in found.bounds.items()}

        return answer

    query(np.zeros(ensemble.n_features), 0.01)
    return query


def of_pyxai(model):
    from pyxai import Explaining, Learning

    with contextlib.redirect_stdout(io.StringIO()):
        _, trees = Learning.ModelIO.import_models(model, instances_type="tabular")
        trees.learner_information.feature_names = [f"f{each}" for each in range(model.n_features_in_)]
        explainer = Explaining.initialize(trees)
    explainer._visualisation.add_history = lambda *arguments: None  # pictures are not asked for

    def query(row, limit):
        explainer.set_instance(row)
        found = explainer.sufficient_reason(time_limit=limit)

        def answer():
            if not found:
                return None
            ends = {}
            said = explainer.to_features(found, details=True, without_intervals=True)
            for name, conditions in said.items():
                low, high = -np.inf, np.inf
                for each in conditions:
                    if each["operator_sign_considered"].to_str_readable() in (">", ">="):
                        low = max(low, each["threshold"])
                    else:
                        high = min(high, each["threshold"])
                ends[int(name[1:])] = (low, high)
            return ends

        return answer

    return query


if __name__ == "__main__":
    main()
