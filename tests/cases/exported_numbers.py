"""Exports of trees whose leaves have numbers, put to work outside of onetree: each function gives the numbers by row.

Where a tree has classes, what the export says of them comes along. `None` stands for what a database leaves out.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing

import numpy as np

from tests.cases import exported


def columns_of(tree):
    """The columns that SQL adds."""
    return ["prediction", *(f"probability_{label}" for label in tree.classes.tolist())]


def _parted(tree, found):
    """Numbers and labels of the rows that SQL gives; a regression tree has no labels."""
    if tree.output == "value":
        return [(number,) for (number,) in found], None
    return [tuple(row[1:]) for row in found], [row[0] for row in found]


def run_python(tree, rows, **options):
    module = {}
    exec(compile(tree.to_code("python", **options), "exported.py", "exec"), module)
    if tree.output == "value":
        return [(module["predict"](row),) for row in rows.tolist()], None
    return [module["predict_proba"](row) for row in rows.tolist()], [module["predict"](row) for row in rows.tolist()]


_MAIN = """
#include <stdio.h>
{declaration}
int main(void)
{{
    {number} x[{n_features} + 1];
    {type} found[{n_numbers}];
    while (fread(x, sizeof x[0], {n_features}, stdin) == {n_features}) {{
        int index = 0;
        {call}
        fwrite(&index, sizeof index, 1, stdout);
        fwrite(found, sizeof found[0], {n_numbers}, stdout);
    }}
    return 0;
}}
"""


def run_c(tree, rows, folder, *, number="double", **options):
    kind = "float" if tree.value.dtype == np.float32 else "double"
    declaration = f"int onetree_predict_proba(const {number} *x, {kind} *probability);"
    call = "index = onetree_predict_proba(x, found);"
    if tree.output == "value":
        declaration, call = f"{kind} onetree_predict(const {number} *x);", "found[0] = onetree_predict(x);"
    main = _MAIN.format(
        number=number,
        type=kind,
        n_features=tree.n_features,
        n_numbers=tree.value.shape[1],
        declaration=declaration,
        call=call,
    )
    program = exported.compile_c(tree.to_code("c", number=number, **options), folder, main)
    done = subprocess.run([program], input=np.ascontiguousarray(rows).tobytes(), capture_output=True, check=True)
    record = np.dtype([("index", np.intc), ("numbers", tree.value.dtype, tree.value.shape[1])])
    found = np.frombuffer(done.stdout, dtype=record)
    labels = None if tree.output == "value" else tree.classes[found["index"]].tolist()
    return found["numbers"], labels


def _selected(tree):
    return ", ".join(exported._quoted(name) for name in columns_of(tree))


def run_sqlite(tree, rows, **options):
    columns = ", ".join(f"{exported._quoted(name)} REAL" for name in tree.feature_names)
    places = ", ".join("?" * (tree.n_features + 1))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE inputs (id INTEGER, {columns})")
        numbered = ((i, *row) for i, row in enumerate(rows.tolist()))
        connection.executemany(f"INSERT INTO inputs VALUES ({places})", numbered)
        connection.executescript(tree.to_code("sql", view="predictions", **options))
        found = connection.execute(f"SELECT {_selected(tree)} FROM predictions ORDER BY id").fetchall()
    return _parted(tree, found)


def run_duckdb(tree, rows, **options):
    import duckdb
    import pandas as pd

    columns = ", ".join(f"{exported._quoted(name)} DOUBLE" for name in tree.feature_names)
    frame = pd.DataFrame(rows.astype(np.float64), columns=[f"c{i}" for i in range(tree.n_features)])
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE inputs (id INTEGER, {columns})")
        connection.register("frame", frame)
        connection.execute("INSERT INTO inputs SELECT row_number() OVER () - 1, * FROM frame")
        for statement in exported.translated(
            tree.to_code("sql", view="predictions", **options), options.get("dialect")
        ):
            connection.execute(statement)
        found = connection.execute(f"SELECT {_selected(tree)} FROM predictions ORDER BY id").fetchall()
    return _parted(tree, found)


def run_postgresql(tree, rows, run, **options):
    columns = ", ".join(f"{exported._quoted(name)} DOUBLE PRECISION" for name in tree.feature_names)
    copied = "\n".join("\t".join([str(i), *map(repr, row)]) for i, row in enumerate(rows.astype(float).tolist()))
    lines = run(
        "\n".join(
            [
                "DROP TABLE IF EXISTS onetree_nodes, onetree_nodes_leaves, inputs CASCADE;",
                f"CREATE TABLE inputs (id INTEGER, {columns});",
                "COPY inputs FROM STDIN;",
                copied,
                "\\.",
                tree.to_code("sql", view="predictions", **options),
                f"SELECT json_build_array({_selected(tree)}) FROM predictions ORDER BY id;",
            ]
        )
    )
    return _parted(tree, [json.loads(line) for line in lines])


def run_onnx(tree, rows, **options):
    import onnx
    import onnxruntime

    model = tree.to_onnx(**options)
    onnx.checker.check_model(model, full_check=True)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    if tree.output == "value":
        (found,) = session.run(["value"], {"X": rows})
        return found[:, np.newaxis], None
    labels, found = session.run(["label", "probabilities"], {"X": rows})
    return found, labels.tolist()
