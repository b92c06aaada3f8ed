"""A model inside of a database: a pipeline as one SQL query on its raw table, as a view and as a model of dbt.

Run it: python examples/score_in_database.py [FOLDER]. Needs pandas and duckdb; with dbt on the PATH (pip install
dbt-duckdb), the project that is written for it is run, too. Each answer is compared with the pipeline.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import onetree

PROJECT = """\
name: loans
version: "1.0"
profile: loans
models: {loans: {+materialized: table}}
"""
PROFILE = """\
loans:
  target: here
  outputs: {here: {type: duckdb, path: loans.duckdb}}
"""
SCHEMA = """\
version: 2
sources:
  - name: bank
    schema: main
    tables: [{name: applications}]
models:
  - name: scored
    description: Every application with the class that the model gives it.
    columns:
      - name: prediction
        data_tests: [not_null]
"""


def applications(n: int = 5000) -> tuple[pd.DataFrame, np.ndarray]:
    """Return synthetic applications with gaps, and which of them were paid back."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.lognormal(10, 1, n).round(2),
            "purpose": rng.choice(["car", "tv", "trip"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    paid = (frame["income"] > 20000) | (frame["purpose"] == "car") & (frame["age"] > 30)
    return frame, np.where(paid, "good", "bad")


def score_by_view(tree: onetree.Tree, frame: pd.DataFrame, folder: Path) -> list[str]:
    """Create the table and a view with a prediction in each row; a new row is scored as soon as it is there."""
    import duckdb

    view = tree.to_code("sql", dialect="duckdb", table="applications", view="scored", categories="values")
    (folder / "scored.sql").write_text(view, encoding="utf-8")
    with duckdb.connect(str(folder / "view.duckdb")) as database:
        database.execute("CREATE TABLE applications AS SELECT * FROM frame")
        database.execute(view)
        return [row[0] for row in database.execute("SELECT prediction FROM scored").fetchall()]


def score_by_dbt(tree: onetree.Tree, frame: pd.DataFrame, folder: Path) -> list[str]:
    """Write a dbt project whose model is the tree, and run it with its test."""
    import duckdb

    project = folder / "dbt"
    (project / "models").mkdir(parents=True)
    query = tree.to_code("sql", dialect="duckdb", table="applications", categories="values")
    reference = query.replace('"applications"', "{{ source('bank', 'applications') }}")
    (project / "models" / "scored.sql").write_text(reference.rstrip().rstrip(";") + "\n", encoding="utf-8")
    for name, text in (("dbt_project.yml", PROJECT), ("profiles.yml", PROFILE), ("models/schema.yml", SCHEMA)):
        (project / name).write_text(text, encoding="utf-8")
    with duckdb.connect(str(project / "loans.duckdb")) as database:
        database.execute("CREATE TABLE applications AS SELECT * FROM frame")
    if (dbt := shutil.which("dbt")) is None:
        raise ImportError(f"dbt is not on the PATH; the project is in {project}")
    # dbt may live in an environment of its own.
    environment = os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "PYTHONPATH": ""}
    command = [dbt, "build", "--profiles-dir", "."]
    ran = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if ran.returncode:
        raise RuntimeError(ran.stdout)
    with duckdb.connect(str(project / "loans.duckdb")) as database:
        return [row[0] for row in database.execute("SELECT prediction FROM scored").fetchall()]


def main(folder: Path) -> None:
    frame, paid = applications()
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    steps = make_column_transformer((numbers, ["age", "income"]), (OneHotEncoder(handle_unknown="ignore"), ["purpose"]))
    pipeline = make_pipeline(steps, RandomForestClassifier(5, max_depth=3, random_state=0)).fit(frame, paid)
    tree = onetree.born_again(pipeline).tree
    print(f"the pipeline as one tree of {tree.n_leaves} leaves on {', '.join(tree.feature_names)}")
    for way in (score_by_view, score_by_dbt):
        try:
            answers = way(tree, frame, folder)
        except ImportError as error:
            print(f"{way.__name__}: skipped, {error}")
            continue
        same = (np.array(answers) == pipeline.predict(frame)).mean()
        print(f"{way.__name__}: {same:.2%} of {len(frame):,} rows as the pipeline")


if __name__ == "__main__":
    destination = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    destination.mkdir(parents=True, exist_ok=True)
    main(destination)
