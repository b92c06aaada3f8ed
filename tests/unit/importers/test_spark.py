"""Folders of Spark ML are read without Spark, and predict what Spark itself was recorded to predict."""

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onetree import Ensemble, ModelFileError, UnsupportedModelError, born_again, load_ensemble
from tests.cases.damage import damaged

pyarrow = pytest.importorskip("pyarrow")

from pyarrow import parquet  # noqa: E402

# Saved by Spark 4.3.0, with rows on and next to thresholds, rows with gaps, and what it predicted for them.
CASES = Path(__file__).parents[2] / "cases"
MODELS = json.loads((CASES / "spark_models.json").read_text())
PIPELINE = json.loads((CASES / "spark_pipeline.json").read_text())


def write(folder, model):
    """Write a model as Spark lays it out."""
    (folder / "metadata").mkdir(parents=True)
    (folder / "metadata" / "part-00000-x.txt").write_text(json.dumps(model["metadata"]) + "\n")
    for name, rows in (("data", model["data"]), ("treesMetadata", model["trees"])):
        if rows:
            (folder / name).mkdir()
            half = (len(rows) + 1) // 2
            for i, part in enumerate((rows[:half], rows[half:])):
                table = pyarrow.Table.from_pylist(part, schema=pyarrow.Table.from_pylist(rows).schema)
                parquet.write_table(table, folder / name / f"part-0000{i}-x.snappy.parquet")
    return folder


def write_pipeline(folder, pipeline):
    write(folder, {**pipeline, "data": [], "trees": []})
    uids = pipeline["metadata"]["paramMap"]["stageUids"]
    for at, (uid, stage) in enumerate(zip(uids, pipeline["stages"], strict=True)):
        write(folder / "stages" / f"{at}_{uid}", stage)
    return folder


def recorded(model):
    rows = [[np.nan if number is None else float(number) for number in row] for row in model["rows"]]
    return np.array(rows), np.array(model["prediction"])


@pytest.mark.parametrize("kind", MODELS)
def test_every_prediction_is_the_one_that_spark_made(kind, tmp_path):
    ensemble = load_ensemble(write(tmp_path / kind, MODELS[kind]), missing="follow")
    rows, expected = recorded(MODELS[kind])
    np.testing.assert_array_equal(ensemble.predict(rows), expected)
    np.testing.assert_array_equal(born_again(ensemble).tree.predict(rows), expected)


def test_nan_is_an_input_only_if_asked_for(tmp_path):
    path = write(tmp_path / "forest", MODELS["forest"])
    assert not load_ensemble(path).nan_features.any()
    assert load_ensemble(path, missing="follow").nan_features.all()


def test_a_pipeline_is_read_on_the_columns_of_its_frame(tmp_path):
    ensemble = load_ensemble(write_pipeline(tmp_path / "pipeline", PIPELINE), missing="follow")
    assert set(ensemble.feature_names) == {"a", "b", "c", "d"}  # and not the label
    frame = pd.DataFrame(PIPELINE["rows"])
    frame = frame.loc[frame["b"].notna()]  # which no stage fills
    expected = np.array(PIPELINE["prediction"])[frame.index]
    np.testing.assert_array_equal(ensemble.predict(frame), expected)
    np.testing.assert_array_equal(born_again(ensemble, method="heuristic").tree.predict(frame), expected)


def stage_of(pipeline, name):
    return next(stage for stage in pipeline["stages"] if stage["metadata"]["class"].endswith(name))


def test_gaps_that_an_imputer_of_a_pipeline_fills_are_inputs(tmp_path):
    ensemble = load_ensemble(write_pipeline(tmp_path / "pipeline", PIPELINE))
    takes = dict(zip(ensemble.feature_names, ensemble.nan_features.tolist(), strict=True))
    assert takes == {"a": True, "b": False, "c": False, "d": False}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("ImputerModel", {"class": "org.apache.spark.ml.feature.PCAModel"}, "PCAModel, which is not read"),
        (
            "OneHotEncoderModel",
            {"paramMap": {"inputCols": ["ci"], "outputCols": ["co", "do"]}},
            "as many output columns",
        ),
        ("VectorAssembler", {"paramMap": {"inputCols": ["ai", "b"], "outputCol": "features"}}, "save the trees alone"),
        ("IndexToString", {"class": "org.apache.spark.ml.feature.SQLTransformer"}, "after the trees"),
        ("RandomForestClassificationModel", {"class": "a.LinearSVCModel"}, "has none of"),
    ],
)
def test_stages_that_are_not_read_are_refused_by_name(name, change, message, tmp_path):
    pipeline = copy.deepcopy(PIPELINE)
    stage_of(pipeline, name)["metadata"] |= change
    with pytest.raises((ModelFileError, UnsupportedModelError), match=message):
        load_ensemble(write_pipeline(tmp_path / "pipeline", pipeline))


def test_a_stage_outside_of_the_folder_is_not_looked_for(tmp_path):
    pipeline = copy.deepcopy(PIPELINE)
    path = write_pipeline(tmp_path / "pipeline", pipeline)
    pipeline["metadata"]["paramMap"]["stageUids"][0] = "../../somewhere"
    (path / "metadata" / "part-00000-x.txt").write_text(json.dumps(pipeline["metadata"]))
    with pytest.raises(ModelFileError, match="is missing"):
        load_ensemble(path)


@pytest.mark.parametrize(
    ("kind", "path", "value", "error", "message"),
    [
        ("tree", ["metadata", "class"], "org.apache.spark.ml.LinearSVCModel", UnsupportedModelError, "LinearSVCModel"),
        ("tree", ["metadata", "numFeatures"], 10**12, ModelFileError, "numFeatures"),
        ("tree", ["metadata", "numFeatures"], 1, ModelFileError, "does not exist"),
        ("tree", ["metadata", "numClasses"], 3, ModelFileError, "3 class counts"),
        ("tree", ["metadata", "paramMap", "thresholds"], [0.2, 0.8], UnsupportedModelError, "thresholds"),
        ("tree", ["data", 0, "leftChild"], 0, ModelFileError, "."),
        ("tree", ["data", 0, "leftChild"], 99, ModelFileError, "does not exist"),
        ("tree", ["data", 0, "id"], 5, ModelFileError, "same number"),
        ("tree", ["data", 0, "split", "leftCategoriesOrThreshold"], [1.0, 2.0], ModelFileError, "."),
        ("tree", ["data", 0, "split", "leftCategoriesOrThreshold"], [float("nan")], ModelFileError, "finite"),
        ("forest", ["metadata", "numTrees"], 7, ModelFileError, "as many"),
        ("boosted", ["trees", 1, "_3"], float("inf"), ModelFileError, "finite"),
    ],
)
def test_a_broken_folder_is_refused_with_what_is_wrong(kind, path, value, error, message, tmp_path):
    model = copy.deepcopy(MODELS[kind])
    place = model
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(error, match=message):
        load_ensemble(write(tmp_path / "model", model))


def test_folders_with_missing_parts_are_refused(tmp_path):
    path = write(tmp_path / "forest", MODELS["forest"])
    for part in (path / "treesMetadata").iterdir():
        part.unlink()
    with pytest.raises(ModelFileError, match="treesMetadata"):
        load_ensemble(path)


def test_a_mutated_table_is_a_model_or_an_error_that_says_so(tmp_path):
    path = write(tmp_path / "tree", MODELS["tree"])
    part = path / "data" / "part-00000-x.snappy.parquet"
    content, rng = part.read_bytes(), np.random.default_rng(0)
    n_refused, n_tried = 0, 150
    for _ in range(n_tried):
        part.write_bytes(damaged(content, rng, [b"\x00", b"\xff\xff", b"PAR1"]))
        try:
            assert isinstance(load_ensemble(path), Ensemble)
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
    assert n_refused > n_tried // 2
