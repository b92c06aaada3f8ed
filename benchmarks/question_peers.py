"""Nearest inputs beside other programs: ``python -m benchmarks.question_peers``.

Forests and boosted trees of breast cancer and of a sample of magic, features scaled to [0, 1]. Programs that are not
installed are left out: treecf and oceanpy (L1), dtai-veritas (Linf), dice-ml (L1, without proof). OCEAN needs Python
3.12. For each: seconds on the wall and of the processor (median and 90 %), the share of queries that are proven, the
share whose answer the model's own `predict` confirms, and the distance relative to ours. What a program does once per
model is not counted. On a busy machine, seconds on the wall are longer than those of the processor. Our own search with
a limit of a tenth of a second shows how near it gets without proof.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree

NORMS = ("l1", "linf")
BRIEF = 0.1  # seconds, in which a search without proof is to find a near input
MODELS = {
    "forest 10x3": (10, 3),
    "forest 50x4": (50, 4),
    "forest 100x5": (100, 5),
    "forest 100": (100, None),
    "XGBoost 50x3": (50, 3),
    "XGBoost 100x6": (100, 6),
}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.question_peers", description=__doc__)
    parser.add_argument("--magic", type=Path, help="CSV file of the magic data; without it, breast cancer only")
    parser.add_argument("--data", nargs="+", choices=["breast_cancer", "magic"], help="some of the data sets")
    parser.add_argument("--queries", type=int, default=20, help="rows that are asked about (default: 20)")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for each query (default: 20)")
    parser.add_argument("--only", nargs="+", choices=MODELS, help="some of the models")
    parser.add_argument("--norms", nargs="+", default=NORMS, choices=NORMS, help="some of the distances")
    parser.add_argument("--few", nargs="*", default=(), metavar="PROGRAM=N", help="fewer queries for slow programs")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, help="some of the programs, beside onetree")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    few = dict(each.split("=") for each in arguments.few)
    print(f"processor: {processor()}\n")
    print(
        "| data | model | distance | program | queries | wall s | processor s | proven | confirmed | distance / ours |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for source, X, y, rows in sources(arguments):
        for name in arguments.only or MODELS:
            compare(source, name, fitted(name, X, y), X, y, rows, arguments, few)


def sources(arguments):
    """Give each data set that is asked for, features scaled to [0, 1], and the rows that are asked about."""
    data = {"breast_cancer": load_breast_cancer(return_X_y=True)}
    if arguments.magic:
        frame = pd.read_csv(arguments.magic).sample(2000, random_state=0)
        data["magic"] = frame.iloc[:, :-1].to_numpy(float), pd.factorize(frame.iloc[:, -1], sort=True)[0]
    for source, (X, y) in data.items():
        if arguments.data and source not in arguments.data:
            continue
        scaled = ((X - X.min(axis=0)) / np.ptp(X, axis=0)).astype(np.float32).astype(np.float64)
        rows = scaled[np.random.default_rng(0).choice(len(X), size=arguments.queries, replace=False)]
        yield source, scaled, y, rows


def fitted(name, X, y):
    n_trees, depth = MODELS[name]
    if name.startswith("forest"):
        return RandomForestClassifier(n_trees, max_depth=depth, random_state=0).fit(X, y)
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=n_trees, max_depth=depth, n_jobs=1).fit(X, y)


def compare(source, name, model, X, y, all_rows, arguments, few):
    for norm in arguments.norms:
        ours = None
        programs = {"onetree": None} | {key: each for key, each in PROGRAMS.items() if each[0] == norm}
        for program in programs:
            if program != "onetree" and arguments.programs and program not in arguments.programs:
                continue
            try:
                query = of_onetree(model, norm) if ours is None else PROGRAMS[program][1](model, X, y)
            except ImportError:
                continue
            rows = all_rows[: int(few.get(program, len(all_rows)))]
            answers, wall, processor_time = asked(query, model, rows, arguments.limit)
            distances = np.array([distance(row, point, norm) for row, (point, _) in zip(rows, answers, strict=True)])
            ours = distances if ours is None else ours
            names = source, name, norm, program, str(len(rows))
            show(names, model, rows, answers, wall, processor_time, distances / ours[: len(rows)])


def asked(query, model, rows, limit):
    answers, wall, processor_time = [], [], []
    for row in rows:
        own = int(model.predict(row[np.newaxis])[0])
        start = time.perf_counter(), time.process_time()
        try:
            answers.append(query(row, own, limit))
        except Exception as error:
            print(f"<!-- {type(error).__name__}: {str(error)[:100]} -->")
            answers.append((None, False))
        wall.append(time.perf_counter() - start[0])
        processor_time.append(time.process_time() - start[1])
    return answers, wall, processor_time


def distance(row, point, norm):
    if point is None:
        return np.nan
    return np.abs(point - row).sum() if norm == "l1" else np.abs(point - row).max()


def show(names, model, rows, answers, wall, processor_time, ratios):
    confirmed = [
        point is not None and model.predict(point[np.newaxis])[0] != model.predict(row[np.newaxis])[0]
        for row, (point, _) in zip(rows, answers, strict=True)
    ]
    times = [" / ".join(f"{each:.4f}" for each in np.quantile(one, [0.5, 0.9])) for one in (wall, processor_time)]
    ratio = f"{np.nanmedian(ratios):.2f}" if np.isfinite(ratios).any() else ""
    proven = np.mean([each for _, each in answers])
    print(f"| {' | '.join([*names, *times])} | {proven:.0%} | {np.mean(confirmed):.0%} | {ratio} |", flush=True)


def of_onetree(model, norm):
    ensemble = onetree.Ensemble.from_model(model)

    def query(row, own, limit):
        found = onetree.counterfactual(ensemble, row, norm=norm, time_limit=limit)
        return found.point, found.status == "optimal"

    query(np.zeros(ensemble.n_features), 0, 0.01)
    return query


def of_onetree_briefly(model, X, y):
    query = of_onetree(model, "l1")
    return lambda row, own, limit: query(row, own, BRIEF)


def of_treecf(model, X, y):
    import treecf

    explainer = treecf.Explainer(model, normalizers=np.ones(X.shape[1]))
    # The output of a forest is the probability as it is.
    kind = treecf.Target.raw if isinstance(model, RandomForestClassifier) else treecf.Target.probability

    def query(row, own, limit):
        target = kind(op="<=" if own else ">=", value=0.5 - 1e-9 if own else 0.5 + 1e-9)
        found = explainer.explain(row, target, backend="exact", time_budget_s=limit, seed=0)
        return getattr(found, "x_cf", None), found.proof == "optimal"

    return query


def of_ocean(model, X, y):
    from ocean import ConstraintProgrammingExplainer
    from ocean.feature import parse_features

    prefix = "" if isinstance(model, RandomForestClassifier) else "f"  # as the libraries name columns without names
    frame = pd.DataFrame(X, columns=[f"{prefix}{each}" for each in range(X.shape[1])])
    parsed = parse_features(frame, scale=False)
    mapper = parsed.mapper if hasattr(parsed, "mapper") else parsed[1]
    explainer = ConstraintProgrammingExplainer(model, mapper=mapper)

    def query(row, own, limit):
        start = time.perf_counter()
        found = explainer.explain(row, y=1 - own, norm=1, max_time=int(limit), num_workers=1)
        if found is None:
            return None, False
        return np.asarray(found.to_numpy(), dtype=float).ravel(), time.perf_counter() - start < limit

    return query


def of_veritas(model, X, y):
    from veritas import get_addtree
    from veritas.robustness import VeritasRobustnessSearch

    trees = get_addtree(model, silent=True)

    def query(row, own, limit):
        source, target = (trees, None) if own else (None, trees)
        search = VeritasRobustnessSearch(row, 1.0, source, target, num_steps=30, max_time=limit, silent=True)
        _, low, high = search.search()
        found = search.generated_examples
        point = min(found, key=lambda each: np.abs(np.asarray(each) - row).max()) if found else None
        return None if point is None else np.asarray(point, dtype=float), high - low <= 1e-4 * high

    return query


def of_dice(model, X, y):
    import dice_ml

    names = [f"f{each}" for each in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names).assign(target=y)
    data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="target")

    class Bare:  # no names of features
        def predict(self, frame):
            return model.predict(np.asarray(frame, dtype=float))

        def predict_proba(self, frame):
            return model.predict_proba(np.asarray(frame, dtype=float))

    explainer = dice_ml.Dice(data, dice_ml.Model(model=Bare(), backend="sklearn"), method="genetic")

    def query(row, own, limit):
        found = explainer.generate_counterfactuals(
            pd.DataFrame([row], columns=names), total_CFs=1, desired_class="opposite", verbose=False
        )
        return found.cf_examples_list[0].final_cfs_df[names].to_numpy(float)[0], False

    return query


PROGRAMS = {
    f"onetree, {BRIEF} s": ("l1", of_onetree_briefly),
    "treecf": ("l1", of_treecf),
    "OCEAN": ("l1", of_ocean),
    "DiCE": ("l1", of_dice),
    "veritas": ("linf", of_veritas),
}


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown"


if __name__ == "__main__":
    main()
