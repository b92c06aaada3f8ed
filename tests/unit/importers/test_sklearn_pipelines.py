"""Pipelines of scikit-learn as ensembles on their raw columns: the pipeline's own `predict` is the judge."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import onetree
from onetree import Ensemble, InvalidInputError
from onetree.importers.self_test import sample_rows

RNG = np.random.default_rng(0)
N = 300


def frame():
    """Return numbers with gaps, integers, and texts with gaps."""
    income = RNG.lognormal(8, 1, N)
    income[RNG.random(N) < 0.1] = np.nan
    colour = RNG.choice(["red", "green", "blue"], N).astype(object)
    colour[RNG.random(N) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "age": RNG.integers(18, 80, N),
            "colour": colour,
            "income": income,
            "zone": RNG.choice([10, 20, 70], N),
            "name": [f"person {at}" for at in range(N)],
        }
    )


FRAME = frame()
Y = (FRAME["age"] > 40) ^ (FRAME["colour"] == "red") | (FRAME["income"] > 4000)


def forest(n_trees=4, max_depth=3):
    return RandomForestClassifier(n_trees, max_depth=max_depth, random_state=0)


def columns(*, colour=None, income=None):
    return ColumnTransformer(
        [
            ("numbers", income or make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
            ("colour", colour or OneHotEncoder(handle_unknown="ignore"), ["colour"]),
            ("zone", OneHotEncoder(), ["zone"]),
        ]
    )


def rows_around(ensemble, n_rows=600):
    """Return raw frames at and next to all thresholds, with unknown values and gaps where they are inputs."""
    rng = np.random.default_rng(1)
    rows = sample_rows(ensemble, rng)[:n_rows]
    drawn = FRAME.sample(len(rows), replace=True, random_state=0).reset_index(drop=True)
    for at, name in enumerate(ensemble.feature_names):
        labels = ensemble.columns.labels_of(at)
        if labels is None:
            drawn[name] = rows[:, at]
        elif not isinstance(labels.unknown, str):
            drawn.loc[rng.random(len(rows)) < 0.1, name] = "unknown"
    return drawn


def test_a_pipeline_of_imputer_scaler_and_encoder_is_read_on_its_raw_columns():
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    ensemble = Ensemble.from_model(pipeline)
    assert ensemble.feature_names == ("age", "colour", "income", "zone")  # the name is not used
    rows = rows_around(ensemble)
    np.testing.assert_array_equal(ensemble.predict(rows), pipeline.predict(rows))
    np.testing.assert_array_equal(ensemble.predict(FRAME), pipeline.predict(FRAME))


def test_the_tree_takes_raw_frames_by_name_and_speaks_of_raw_columns():
    pipeline = make_pipeline(columns(), forest(2, 2)).fit(FRAME, Y)
    tree = onetree.born_again(pipeline).tree
    shuffled = FRAME[["zone", "income", "colour", "age"]]
    np.testing.assert_array_equal(tree.predict(shuffled), pipeline.predict(FRAME))
    text = tree.to_text()
    assert "__" not in text
    assert any(f"{name} " in text for name in ("age", "colour", "income", "zone"))


def test_one_hot_columns_become_tests_of_one_feature_by_name():
    encoder = ColumnTransformer([("colour", OneHotEncoder(handle_unknown="ignore"), ["colour"])])
    pipeline = make_pipeline(encoder, forest()).fit(FRAME, FRAME["colour"] == "red")
    tree = onetree.born_again(pipeline).tree
    assert tree.n_leaves == 2
    assert "red" in tree.to_text()


def test_values_that_the_encoder_refuses_are_refused():
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    with pytest.raises(InvalidInputError, match=r"'zone'.* 30, which is not one of"):
        Ensemble.from_model(pipeline).predict(FRAME.assign(zone=30))


def test_float32_columns_are_refused_where_the_steps_compute_with_them():
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    with pytest.raises(InvalidInputError, match=r"'income'.*float32"):
        Ensemble.from_model(pipeline).predict(FRAME.astype({"income": np.float32}))


def test_a_saved_pipeline_reads_the_same_frames(tmp_path):
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    Ensemble.from_model(pipeline).save(tmp_path / "pipeline.json")
    found = onetree.load_ensemble(tmp_path / "pipeline.json")
    np.testing.assert_array_equal(found.predict(FRAME), pipeline.predict(FRAME))
    with pytest.raises(InvalidInputError, match="float32"):
        found.predict(FRAME.astype({"income": np.float32}))
