"""Score a Spark data frame with an exported tree.

The executors need Python with pandas and nothing else: what is sent to them is the source that `to_python` writes, a
function without dependencies. Run it with `pip install onetree pyspark pandas pyarrow`, and Java.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.export.python import to_python


def scorer(tree: onetree.Tree) -> Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """Return a function for `mapInPandas` that adds the predicted class to each part of a frame."""
    source, features = to_python(tree), list(tree.feature_names)

    def score(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        exported: dict[str, Any] = {}
        exec(source, exported)  # noqa: S102 -- once a task; the source is our own
        for part in parts:
            rows = part[features].to_numpy(dtype=float).tolist()
            yield part.assign(predicted=[exported["predict"](row) for row in rows])

    return score


def scored(frame: DataFrame, tree: onetree.Tree) -> DataFrame:
    """Return the frame with one more column, `predicted`."""
    return frame.mapInPandas(scorer(tree), f"{frame.schema.toDDL()}, predicted long")


def main() -> None:
    """Compare what Spark computes with what the forest predicts here."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.columns = [name.replace(" ", "_") for name in X.columns]
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    tree = onetree.born_again(forest, method="heuristic", progress=False).tree
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        found = scored(spark.createDataFrame(X), tree).toPandas()
    finally:
        spark.stop()
    agree = (found["predicted"].to_numpy() == forest.predict(found[list(X.columns)])).mean()
    print(f"{len(found)} rows, {tree.n_leaves} leaves: {agree:.0%} as the forest predicts")


if __name__ == "__main__":
    main()
