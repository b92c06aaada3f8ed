"""Throughput of `tree.predict` beside other ways to predict the same, in one run: ``python -m benchmarks.prediction``.

Each model is converted once; then the tree, the model itself, and what is installed of ONNX Runtime (of the model, by
skl2onnx or onnxmltools, and of the tree, by `Tree.to_onnx`), treelite, tl2cgen and lleaves predict the same rows in
turns, each on one thread. Times are medians of processor time for one row. The last column counts rows with another
class than the model's own `predict` gives; for the tree that must be none.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the libraries start their threads

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier

import onetree
from benchmarks import runs
from onetree import _core

Predict = Callable[[np.ndarray], np.ndarray]  # float32 rows in, classes 0, 1, ... out

FEW = (7, 20, 21, 27)  # of the breast cancer data; rounded, so that the grid stays small


def few_values(X):
    X = X[:, FEW]
    return ((X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)) * 10).round()


def forest(n_trees, max_depth):
    return RandomForestClassifier(n_trees, max_depth=max_depth, random_state=0, n_jobs=1)


def boosted(n_trees, n_leaves):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=n_trees, num_leaves=n_leaves, learning_rate=0.5, n_jobs=1, verbose=-1)


def cases():
    """Return names, models and the rows that they are fitted on, from small trees to large ones."""
    X, y = load_breast_cancer(return_X_y=True)
    wine, kind = load_wine(return_X_y=True)
    return {
        "forest 10x3, few values": lambda: (forest(10, 3), few_values(X), y),
        "LightGBM 10 trees, 4 leaves": lambda: (boosted(10, 4), X, y),
        "forest 8x3": lambda: (forest(8, 3), wine, kind),
        "forest 12x3": lambda: (forest(12, 3), wine, kind),
        "forest 9x3, 30 features": lambda: (forest(9, 3), X, y),
    }


class OtherModelError(Exception):
    pass


def by_model(model) -> Predict:
    return lambda X: np.asarray(model.predict(X))


def _session(onnx_model):
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = InferenceSession(onnx_model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda X: np.asarray(session.run([session.get_outputs()[0].name], {name: X})[0]).ravel()


def by_onnx(model) -> Predict:
    if type(model).__module__.startswith("lightgbm"):
        from onnxmltools import convert_lightgbm as convert
        from onnxmltools.convert.common.data_types import FloatTensorType

        options = {"zipmap": False}
    else:
        from skl2onnx import convert_sklearn as convert
        from skl2onnx.common.data_types import FloatTensorType

        options = {"options": {id(model): {"zipmap": False}}}
    kind = FloatTensorType([None, model.n_features_in_])
    return _session(convert(model, initial_types=[("X", kind)], target_opset=15, **options))


def _class_of(scores):
    scores = np.asarray(scores).reshape(len(scores), -1)
    return (scores[:, 0] > 0.5).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)


def _treelite(model):
    import treelite

    if type(model).__module__.startswith("lightgbm"):
        return treelite.frontend.from_lightgbm(model.booster_)
    return treelite.sklearn.import_model(model)


def by_treelite(model) -> Predict:
    import treelite

    converted = _treelite(model)
    return lambda X: _class_of(treelite.gtil.predict(converted, X, nthread=1))


def by_tl2cgen(model) -> Predict:
    import tl2cgen

    path = Path(tempfile.mkdtemp()) / "model.so"
    tl2cgen.export_lib(_treelite(model), toolchain="gcc", libpath=str(path))
    predictor = tl2cgen.Predictor(str(path), nthread=1)
    return lambda X: _class_of(predictor.predict(tl2cgen.DMatrix(X)))


def by_lleaves(model) -> Predict:
    import lleaves

    if not type(model).__module__.startswith("lightgbm"):
        raise OtherModelError("for LightGBM only")
    path = Path(tempfile.mkdtemp()) / "model.txt"
    model.booster_.save_model(path)
    compiled = lleaves.Model(model_file=str(path))
    compiled.compile()
    return lambda X: _class_of(compiled.predict(X, n_jobs=1))


OURS = {  # what the rows are made into beforehand
    "tree.predict": np.ascontiguousarray,
    "tree.predict, column-major": np.asfortranarray,
    "tree.predict, float64": lambda X: X.astype(np.float64),
    "tree.predict, float64, column-major": lambda X: np.asfortranarray(X, dtype=np.float64),
}
OTHERS = {
    "reading the rows: X.sum()": lambda model: lambda X: X.sum(),
    "the model's predict": by_model,
    "ONNX Runtime": by_onnx,
    "treelite (GTIL)": by_treelite,
    "tl2cgen": by_tl2cgen,
    "lleaves": by_lleaves,
}


def rows_like(X, n_rows, rng):
    """Return rows of which each feature comes from another row of the data, with noise: they reach most leaves."""
    picked = rng.integers(len(X), size=(n_rows, X.shape[1]))
    noise = rng.normal(scale=0.05, size=picked.shape) * X.std(axis=0)
    return (np.take_along_axis(X, picked, axis=0) + noise).astype(np.float32)


def contenders(model, tree):
    """Return every way to predict that is there, and why others are not."""
    found, missing = dict.fromkeys(OURS, tree.predict), {}
    ways = {name: lambda make=make: make(model) for name, make in OTHERS.items()}
    ways["ONNX Runtime, of the tree"] = lambda: _session(tree.to_onnx())
    for name, make in ways.items():
        try:
            found[name] = make()
        except ImportError as error:
            missing[name] = f"not installed: {error.name}"
        except OtherModelError as error:
            missing[name] = str(error)
        except Exception as error:  # what another library cannot do is a result, not an end
            missing[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:90]}"
    return found, missing


def measure(predict, X, times):
    started = time.process_time()
    predicted = predict(X)
    times.append(time.process_time() - started)
    return predicted


def run(name, case, n_rows, repeat):
    model, X, y = case
    model.fit(X, y)
    solution = onetree.born_again(model, method="auto" if "few" in name else "heuristic")
    tree = solution.tree
    found, missing = contenders(model, tree)
    rows = rows_like(X, n_rows, np.random.default_rng(0))
    given = {way: OURS.get(way, np.ascontiguousarray)(rows) for way in found}
    expected = model.predict(rows)
    times = {way: [] for way in found}
    wrong = dict.fromkeys(found, 0)
    for _ in range(repeat):
        for way, predict in found.items():
            predicted = measure(predict, given[way], times[way])
            wrong[way] = int(np.count_nonzero(predicted != expected)) if np.ndim(predicted) else None
    print(f"\n### {name}: tree of {tree.n_leaves:,} leaves, depth {tree.depth}, {X.shape[1]} features\n")
    print("| | ns a row | times as long as the tree | rows of another class |\n|---|---:|---:|---:|")
    medians = {way: statistics.median(each) / n_rows * 1e9 for way, each in times.items()}
    for way, each in medians.items():
        others = "" if wrong[way] is None else f"{wrong[way]:,}"
        print(f"| {way} | {each:,.0f} | {each / medians['tree.predict']:.1f} | {others} |")
    for way, why in missing.items():
        print(f"| {way} | {why} | | |")
    sys.stdout.flush()
    return max(wrong[way] for way in found if way.startswith("tree.predict"))


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prediction", description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=cases(), help="these models only")
    options = parser.parse_args()
    print(f"{runs.machine()['processor']}, {_core.simd()}, {options.rows:,} rows of float32, one thread")
    n_wrong = 0
    for name, make in cases().items():
        if not options.only or name in options.only:
            n_wrong += run(name, make(), options.rows, options.repeat)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
