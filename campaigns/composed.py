"""Are models of models read exactly, and are their trees optimal? ``python -m campaigns.composed``.

Votes, bags, calibrated, thresholded and stacked models of all libraries, for two and three classes. For each:

- the library's own ``predict``, the ensemble and the tree on random rows, on thresholds and one unit beside them;
- the optimal trees of both exact engines, and of brute force where the grid is small;
- the three proofs.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
import sklearn
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

import onetree
from campaigns.fidelity_points import samples
from onetree.lowering.grid import Grid
from tests.cases.oracle import brute_force

N_POINTS = 100_000
FEW_CELLS = 400  # brute force takes them
MILP_LEAVES = 60  # trees of more leaves are proven by two methods
N_FEATURES = 3
sklearn_version = tuple(map(int, sklearn.__version__.split(".")[:2]))


def forest(seed=0):
    """A small forest."""
    return RandomForestClassifier(2, max_depth=2, random_state=seed)


def xgboost(seed=0):
    """A small XGBoost model."""
    return XGBClassifier(n_estimators=2, max_depth=2, random_state=seed, n_jobs=1)


def lightgbm(seed=0):
    """A small LightGBM model."""
    return LGBMClassifier(n_estimators=2, num_leaves=4, verbose=-1, random_state=seed, n_jobs=1)


def hist(seed=0):
    """A small histogram gradient boosting model."""
    return HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, random_state=seed)


def gradient(seed=0):
    """A small gradient boosting model."""
    return GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=seed)


def ada(seed=0):
    """A small AdaBoost model."""
    return AdaBoostClassifier(n_estimators=3, random_state=seed)


def scaled(model):
    """The model behind a scaler."""
    return make_pipeline(StandardScaler(), model)


def named(*models):
    """Models with the names that scikit-learn asks for."""
    return [(f"m{i}", model) for i, model in enumerate(models)]


def _stack(members, method):
    return StackingClassifier(members, LogisticRegression(), cv=2, stack_method=method)


CONFIGURATIONS = {
    "soft vote": lambda: VotingClassifier(named(forest(), xgboost(), lightgbm()), voting="soft"),
    "soft vote, weights": lambda: VotingClassifier(
        named(forest(), hist(), gradient()), voting="soft", weights=[1, 2, 0.7]
    ),
    "soft vote of XGBoost": lambda: VotingClassifier(named(xgboost(), xgboost(1)), voting="soft"),
    "soft vote of pipelines": lambda: VotingClassifier(
        named(scaled(forest()), scaled(xgboost()), lightgbm()), voting="soft"
    ),
    "hard vote": lambda: VotingClassifier(named(forest(), xgboost(), hist()), voting="hard"),
    "hard vote, weights": lambda: VotingClassifier(
        named(forest(), xgboost(), ada()), voting="hard", weights=[1, 2, 1.5]
    ),
    "bag of forests": lambda: BaggingClassifier(forest(), n_estimators=3, random_state=0),
    "bag of XGBoost": lambda: BaggingClassifier(xgboost(), n_estimators=2, max_features=2, random_state=0),
    "bag of LightGBM": lambda: BaggingClassifier(lightgbm(), n_estimators=2, random_state=0),
    "sigmoid, forest": lambda: CalibratedClassifierCV(forest(), cv=2),
    "sigmoid, XGBoost": lambda: CalibratedClassifierCV(xgboost(), cv=2),
    "sigmoid, LightGBM, one": lambda: CalibratedClassifierCV(lightgbm(), cv=2, ensemble=False),
    "sigmoid, pipeline": lambda: CalibratedClassifierCV(scaled(gradient()), cv=2),
    "isotonic, forest": lambda: CalibratedClassifierCV(forest(), cv=2, method="isotonic"),
    "isotonic, XGBoost": lambda: CalibratedClassifierCV(xgboost(), cv=2, method="isotonic"),
    "isotonic, hist, one": lambda: CalibratedClassifierCV(hist(), cv=2, method="isotonic", ensemble=False),
    "temperature, gradient": lambda: CalibratedClassifierCV(gradient(), cv=2, method="temperature"),
    "temperature, forest": lambda: CalibratedClassifierCV(forest(), cv=2, method="temperature"),
    "calibrated vote": lambda: CalibratedClassifierCV(
        VotingClassifier(named(forest(), lightgbm()), voting="soft"), cv=2
    ),
    "rest, forest": lambda: OneVsRestClassifier(forest()),
    "rest, XGBoost": lambda: OneVsRestClassifier(xgboost()),
    "rest, gradient": lambda: OneVsRestClassifier(gradient()),
    "stack": lambda: _stack(named(forest(), xgboost()), "predict_proba"),
    "stack, auto": lambda: _stack(named(lightgbm(), hist()), "auto"),
    "stack of calibrated": lambda: _stack(named(CalibratedClassifierCV(forest(), cv=2), gradient()), "predict_proba"),
}
BINARY = {
    "threshold, forest": lambda: FixedThresholdClassifier(forest(), threshold=0.3),
    "threshold, XGBoost": lambda: FixedThresholdClassifier(xgboost(), threshold=0.4),
    "threshold, first class": lambda: FixedThresholdClassifier(lightgbm(), threshold=0.45, pos_label=0),
    "threshold, vote": lambda: FixedThresholdClassifier(
        VotingClassifier(named(forest(), xgboost(), lightgbm()), voting="soft"), threshold=0.4
    ),
    "tuned, hist": lambda: TunedThresholdClassifierCV(hist(), cv=2),
    "tuned, AdaBoost": lambda: TunedThresholdClassifierCV(ada(), cv=2),
    "tuned, calibrated": lambda: TunedThresholdClassifierCV(CalibratedClassifierCV(xgboost(), cv=2), cv=2),
}


def training_data(n_classes, seed=0):
    """Rows with two decimals, and their classes."""
    X, y = make_classification(
        300, N_FEATURES, n_informative=N_FEATURES, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1,
        random_state=seed,
    )  # fmt: skip
    return np.round(X, 2), y


def cases():
    """Yield a name, the training data and the fitted model of every case."""
    for n_classes in (2, 3):
        X, y = training_data(n_classes)
        for name, make in (CONFIGURATIONS | (BINARY if n_classes == 2 else {})).items():
            if name.startswith("temperature") and sklearn_version < (1, 8):
                continue  # not in that version
            yield f"{name}, {n_classes} classes", X, make().fit(X, y)


def examine(X, model, n_points):
    """Return what was found of a model: counts, and a list of defects."""
    ensemble = onetree.Ensemble.from_model(model)
    defects = []
    found = {
        engine: onetree.born_again(ensemble, objective="leaves", engine=engine, verify=False)
        for engine in ("interval-dp", "branch-and-bound")
    }
    values = {engine: solution.value for engine, solution in found.items()}
    is_small = Grid.of(ensemble).n_cells <= FEW_CELLS
    if is_small:
        values["brute force"] = brute_force(ensemble, "leaves")
    if len(set(values.values())) != 1:
        defects.append(f"optimal trees of different sizes: {values}")
    tree = found["interval-dp"].tree
    methods = ("cells", "search", "milp") if tree.n_leaves <= MILP_LEAVES else ("cells", "search")
    proven = [method for method in methods if onetree.verify(tree, ensemble, method=method)]
    if len(proven) < len(methods):
        defects.append(f"not proven by {set(methods) - set(proven)}")
    n_rows = n_wrong = 0
    rng = np.random.default_rng(1)
    for rows in samples(ensemble, X, n_points, rng).values():
        expected = _predictions(model, rows)
        n_wrong += int((ensemble.predict(rows) != expected).sum() + (tree.predict(rows) != expected).sum())
        n_rows += len(rows)
    if n_wrong:
        defects.append(f"{n_wrong} predictions differ")
    facts = {"rule": ensemble.rule.kind, "leaves": tree.n_leaves, "proofs": len(proven), "rows": n_rows}
    return facts | {"brute_force": is_small}, defects


def _predictions(model, rows):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return model.predict(rows)


def main(arguments=None):
    """Run the campaign and print one line per model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=N_POINTS, help="rows of each kind (default: %(default)s)")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args(arguments)
    n_models = n_rows = n_defects = n_brute = n_three = 0
    for name, X, model in cases():
        if options.only not in name:
            continue
        started = time.process_time()
        facts, defects = examine(X, model, options.points)
        n_models, n_rows, n_defects = n_models + 1, n_rows + facts["rows"], n_defects + len(defects)
        n_brute, n_three = n_brute + facts["brute_force"], n_three + (facts["proofs"] == 3)
        words = ", ".join(f"{key} {value}" for key, value in facts.items())
        print(f"{name}: {words}, {time.process_time() - started:.1f} s {'; '.join(defects)}", flush=True)
    print(
        f"{n_models} models, {n_brute} of them with brute force, {n_three} proven by three methods, {n_rows:,} rows: "
        f"{n_defects} defects"
    )
    return 1 if n_defects else 0


if __name__ == "__main__":
    sys.exit(main())
