"""ONNX models, imbalanced-learn and YDF: the library, the ensemble and the tree on many rows.

    python -m campaigns.fidelity_sources [ROUNDS]

Each round compares every model on 1,000 random rows, 1,000 on and next to its thresholds, and 1,000 with gaps where the
model takes them. Needs onnxruntime, skl2onnx, onnxmltools, xgboost, lightgbm, imbalanced-learn and ydf. Exit code 1 if
a row gets another class.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree
from onetree.importers.self_test import sample_rows

DATA = (load_iris, load_breast_cancer, load_wine)
MOST_LEAVES = 80  # of an ensemble that is made one tree


@dataclass
class Counts:
    models: int = 0
    rows: int = 0
    ensemble: int = 0
    tree: int = 0


def compare(counts, ensemble, predict, rounds, largest=np.inf):
    tree = onetree.born_again(ensemble, method="heuristic").tree if ensemble.n_leaves < MOST_LEAVES else None
    for seed in range(rounds):
        rows = sample_rows(ensemble, np.random.default_rng([7, seed]), largest=largest)
        expected = predict(rows)
        counts.rows += len(rows)
        counts.ensemble += int((expected != ensemble.predict(rows)).sum())
        counts.tree += 0 if tree is None else int((expected != tree.predict(rows)).sum())
    counts.models += 1


def label_of(model):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    given, output = session.get_inputs()[0], session.get_outputs()[0].name
    dtype = np.float64 if "double" in given.type else np.float32

    def predict(rows):
        with np.errstate(all="ignore"):
            return session.run([output], {given.name: rows.astype(dtype)})[0].ravel()

    return predict


def onnx_models():
    import lightgbm
    import onnxmltools
    import xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType
    from skl2onnx import to_onnx

    options = {"zipmap": False}
    for load in DATA:
        X, y = load(return_X_y=True)
        X = X.astype(np.float32)
        gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X).astype(np.float32)
        types = [("X", FloatTensorType([None, X.shape[1]]))]
        for target in ((y > 0).astype(int), y):
            for model in (
                DecisionTreeClassifier(max_depth=4),
                RandomForestClassifier(5, max_depth=3, random_state=0),
                RandomForestClassifier(50, max_depth=5, random_state=0),
                ExtraTreesClassifier(8, max_depth=4, random_state=0),
                GradientBoostingClassifier(n_estimators=10, max_depth=2),
            ):
                yield to_onnx(model.fit(X, target), X[:1], options=options), "follow"
            forest = RandomForestClassifier(20, max_depth=4, random_state=1).fit(X, target)
            opsets = {"": 17, "ai.onnx.ml": 3}
            yield to_onnx(forest, X[:1].astype(float), options=options, target_opset=opsets), "follow"
            for rows in (X, gaps):
                boosted = xgboost.XGBClassifier(n_estimators=10, max_depth=3).fit(rows, target)
                yield onnxmltools.convert_xgboost(boosted, initial_types=types), "auto"
                boosted = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1, num_leaves=8).fit(rows, target)
                yield onnxmltools.convert_lightgbm(boosted, initial_types=types, zipmap=False), "auto"


def run_onnx(rounds):
    counts = Counts()
    for model, missing in onnx_models():
        compare(counts, onetree.Ensemble.from_model(model, missing=missing), label_of(model), rounds)
    return counts


def run_imblearn(rounds):
    from imblearn.ensemble import BalancedBaggingClassifier, BalancedRandomForestClassifier, RUSBoostClassifier

    counts = Counts()
    for load in DATA:
        X, y = load(return_X_y=True)
        for target in (y > 0, y):
            for model in (
                BalancedRandomForestClassifier(6, max_depth=3, random_state=0),
                RUSBoostClassifier(n_estimators=6, random_state=0),
                BalancedBaggingClassifier(n_estimators=6, random_state=0),
            ):
                model.fit(X, target)
                compare(counts, onetree.Ensemble.from_model(model), model.predict, rounds, largest=1e30)
    return counts


def run_ydf(rounds):
    import ydf

    from onetree.importers.ydf.features import read_features

    ydf.verbose(0)
    forest, boosted = ydf.RandomForestLearner, ydf.GradientBoostedTreesLearner
    counts = Counts()
    for frame, targets in ydf_data():
        for target in targets:
            for learner, options in (
                (forest, {"num_trees": 5, "max_depth": 4}),
                (forest, {"num_trees": 30, "max_depth": 6, "winner_take_all": False}),
                (boosted, {"num_trees": 8, "max_depth": 3}),
                (boosted, {"num_trees": 40, "max_depth": 4}),
                (ydf.CartLearner, {}),
            ):
                model = learner(label="y", num_threads=1, **options).train(frame.assign(y=target))
                if learner is boosted and len(set(target)) > 2:
                    model.set_output_logits(True)
                features = read_features(model)

                def predict(rows, model=model, features=features):
                    given = {each.name: each.as_given(rows[:, at]) for at, each in enumerate(features)}
                    return model.predict_class(given)

                ensemble = onetree.Ensemble.from_model(model, missing="follow")
                compare(counts, ensemble, predict, rounds, largest=float(np.finfo(np.float32).max))
    return counts


def ydf_data():
    for seed in range(3):
        rng, n = np.random.default_rng(seed), 500
        frame = pd.DataFrame(
            {
                "a": rng.normal(size=n),
                "b": np.round(rng.normal(size=n), 1),
                "c": rng.choice(list("uvwxyz"), n),
                "k": rng.integers(0, 50, n),
                "f": rng.random(n) < 0.5,
            }
        )
        if seed:
            frame.loc[rng.random(n) < 0.2, "a"] = np.nan
            frame["c"] = frame["c"].where(rng.random(n) > 0.2, None)
        score = frame["a"].fillna(0) + (frame["c"] == "u") + 0.02 * frame["k"] * frame["f"]
        yield frame, (np.where(score > 0.7, "yes", "no"), np.digitize(score, [0.4, 1.2]))


def main():
    warnings.filterwarnings("ignore")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    failed = False
    for name, run in (("ONNX", run_onnx), ("imbalanced-learn", run_imblearn), ("YDF", run_ydf)):
        counts = run(rounds)
        failed |= counts.ensemble + counts.tree > 0
        print(f"| {name} | {counts.models} | {counts.rows:,} | {counts.ensemble} | {counts.tree} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
