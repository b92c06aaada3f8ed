"""Exports put to work: each function here runs what was exported, outside of onetree, and gives the class indices.

And the inputs to try them on: random, on the thresholds and one float next to them, infinite, missing.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing

import numpy as np

from onetree import Tree
from tests.tiers import share

N_POINTS = share(100_000)


def points(tree, dtype=np.float64, n=N_POINTS, seed=0):
    """Inputs on both sides of every threshold and category, as close as floats of this type come, and elsewhere."""
    rng = np.random.default_rng(seed)
    special = [0.0, -0.0, np.inf, -np.inf, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal]
    columns = []
    for feature in range(tree.n_features):
        cuts = tree.threshold[tree.feature == feature]
        kind = tree.categories[feature]
        if kind is not None:
            cuts = np.concatenate([kind.codes, kind.low, kind.high, np.array(kind.codes) + 0.5])
        with np.errstate(over="ignore", under="ignore"):
            near = np.unique(np.concatenate([cuts, special])).astype(dtype)
        near = np.concatenate([near, np.nextafter(near, dtype(np.inf)), np.nextafter(near, dtype(-np.inf))])
        finite = near[np.isfinite(near) & (np.abs(near) < 1e6)]
        width = 1.0 + np.ptp(finite)
        random = rng.uniform(finite.min() - width / 10, finite.max() + width / 10, size=n).astype(dtype)
        column = np.where(rng.random(n) < 0.6, rng.choice(near, size=n), random)
        if tree.nan_features[feature]:
            column[rng.random(n) < 0.1] = np.nan
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.empty((n, 0), dtype)


def random_tree(seed, n_splits=40, n_features=4, thresholds=None, **changes):
    """A tree of random shape whose leaves are all classes in turn; the first two features take missing values."""
    rng = np.random.default_rng(seed)
    feature, threshold, left, right = [-1], [0.0], [-1], [-1]
    leaves = [0]
    for _ in range(n_splits):
        node = leaves.pop(int(rng.integers(len(leaves))))
        feature[node] = int(rng.integers(n_features))
        takes_nan = feature[node] < 2
        cut = rng.normal() if thresholds is None else rng.choice(thresholds)
        threshold[node] = np.inf if takes_nan and node > 0 and rng.random() < 0.1 else float(cut)
        left[node], right[node] = len(feature), len(feature) + 1
        leaves += [len(feature), len(feature) + 1]
        for array, value in ((feature, -1), (threshold, 0.0), (left, -1), (right, -1)):
            array += [value, value]
    classes = changes.pop("classes", ["red", "green", "blue"])
    leaf_class = np.full(len(feature), -1)
    leaf_class[leaves] = np.arange(len(leaves)) % len(classes)
    given = {
        "classes": classes,
        "feature_names": tuple(f"x{i}" for i in range(n_features)),
        "nan_features": [at < 2 for at in range(n_features)],
    }
    return Tree(feature, threshold, left, right, leaf_class, **(given | changes))


def run_python(tree, rows, **options):
    module = {}
    exec(compile(tree.to_code("python", **options), "exported.py", "exec"), module)
    assert module["CLASSES"] == tuple(tree.classes.tolist())
    assert module["FEATURES"] == tree.feature_names
    return [module["predict_index"](row) for row in rows.tolist()]


_MAIN = """
#include <stdio.h>
{declarations}
int main(void)
{{
    {number} x[{n_features} + 1];
    while (fread(x, sizeof x[0], {n_features}, stdin) == {n_features}) {{
        int found = onetree_predict(x);
        fwrite(&found, sizeof found, 1, stdout);
    }}
    return 0;
}}
"""
STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def compile_c(source, folder, main, *flags):
    compiler = shutil.which("cc") or shutil.which("gcc")
    (folder / "tree.c").write_text(source, encoding="utf-8")
    (folder / "main.c").write_text(main, encoding="utf-8")
    # No library is named, so a call into libm would not link.
    command = [compiler, *STRICT, *flags, "-o", str(folder / "run"), str(folder / "tree.c"), str(folder / "main.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(folder / "run")


def run_c(tree, rows, folder, *, number="double", **options):
    declarations = f"int onetree_predict(const {number} *x);"
    main = _MAIN.format(number=number, n_features=tree.n_features, declarations=declarations)
    program = compile_c(tree.to_code("c", number=number, **options), folder, main)
    done = subprocess.run([program], input=np.ascontiguousarray(rows).tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout, dtype=np.intc)


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def run_sqlite(tree, rows, **options):
    """The labels (not indices), NaN given as NULL, as SQLite stores it anyway."""
    columns = ", ".join(f"{_quoted(name)} REAL" for name in tree.feature_names)
    places = ", ".join("?" * (tree.n_features + 1))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE inputs (id INTEGER, {columns})")
        numbered = ((i, *row) for i, row in enumerate(rows.tolist()))
        connection.executemany(f"INSERT INTO inputs VALUES ({places})", numbered)
        connection.executescript(tree.to_code("sql", view="predictions", **options))
        return [label for (label,) in connection.execute("SELECT prediction FROM predictions ORDER BY id")]


def run_duckdb(tree, rows, **options):
    """The labels (not indices)."""
    import duckdb
    import pandas as pd

    columns = ", ".join(f"{_quoted(name)} DOUBLE" for name in tree.feature_names)
    frame = pd.DataFrame(rows.astype(np.float64), columns=[f"c{i}" for i in range(tree.n_features)])
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE inputs (id INTEGER, {columns})")
        connection.register("frame", frame)
        connection.execute("INSERT INTO inputs SELECT row_number() OVER () - 1, * FROM frame")
        for statement in translated(tree.to_code("sql", view="predictions", **options), options.get("dialect")):
            connection.execute(statement)
        found = connection.execute("SELECT prediction FROM predictions ORDER BY id").fetchall()
    return [label for (label,) in found]


def translated(script, dialect):
    """The script for DuckDB: SQL of BigQuery, which only runs in its own cloud, is read and translated by sqlglot."""
    if dialect != "bigquery":
        return [script]
    import sqlglot

    return sqlglot.transpile(script, read="bigquery", write="duckdb")


def run_onnx(tree, rows, **options):
    import onnx
    import onnxruntime

    model = tree.to_onnx(**options)
    onnx.checker.check_model(model, full_check=True)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    labels, index = session.run(["label", "class_index"], {"X": rows})
    return labels, index
