"""YDF's models are read so that every class is the one that `predict_class` says."""

import numpy as np
import pandas as pd
import pytest

from onetree import Ensemble, ModelFileError, UnsupportedModelError, born_again, load_ensemble
from onetree.importers.self_test import sample_rows

ydf = pytest.importorskip("ydf")

from onetree.importers.ydf.features import read_features  # noqa: E402

FOREST = (ydf.RandomForestLearner, {"num_trees": 5, "max_depth": 4})
SOFT = (ydf.RandomForestLearner, {"num_trees": 5, "max_depth": 4, "winner_take_all": False})
BOOSTED = (ydf.GradientBoostedTreesLearner, {"num_trees": 6, "max_depth": 3})
DEEP = (ydf.GradientBoostedTreesLearner, {"num_trees": 3, "max_depth": 12, "min_examples": 1})
ydf.verbose(0)


def data(n_classes, *, gaps=False):
    rng = np.random.default_rng(n_classes)
    frame = pd.DataFrame(
        {
            "size": rng.standard_normal(400),
            "colour": rng.choice(["red", "green", "blue", "grey"], 400),
            "count": rng.integers(0, 40, 400),
            "flag": rng.random(400) < 0.5,
        }
    )
    score = frame["size"] + (frame["colour"] == "red") + 0.02 * frame["count"] * frame["flag"]
    frame["class"] = np.array(["a", "b", "c"])[np.digitize(score, [0.6, 1.2][: n_classes - 1])]
    if gaps:
        frame["size"] = frame["size"].where(rng.random(400) > 0.2)
        frame["colour"] = frame["colour"].where(rng.random(400) > 0.2, None)
    return frame


def trained(kind, n_classes=2, *, gaps=False, **more):
    learner, options = kind
    model = learner(label="class", num_threads=1, **options, **more).train(data(n_classes, gaps=gaps))
    if n_classes > 2 and learner is ydf.GradientBoostedTreesLearner:
        model.set_output_logits(True)
    return model


def as_given(model, rows):
    return {feature.name: feature.as_given(rows[:, at]) for at, feature in enumerate(read_features(model))}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [FOREST, SOFT, BOOSTED, DEEP])
def test_the_class_of_every_row_is_that_of_the_model(kind, n_classes):
    model = trained(kind, n_classes, gaps=True)
    ensemble = Ensemble.from_model(model, missing="follow")
    rows = sample_rows(ensemble, np.random.default_rng(1))
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict_class(as_given(model, rows)))


@pytest.mark.parametrize("kind", [FOREST, BOOSTED])
def test_frames_mean_what_they_mean_to_the_model(kind):
    model, frame = trained(kind, gaps=True), data(2, gaps=True).drop(columns="class")
    frame.loc[:40, "colour"] = "never seen"
    frame.loc[41:80, "colour"] = ""  # missing
    expected = model.predict_class(frame)
    tree = born_again(model, method="heuristic").tree
    np.testing.assert_array_equal(Ensemble.from_model(model).predict(frame), expected)
    np.testing.assert_array_equal(tree.predict(frame[frame.columns[::-1]]), expected)


def test_nan_is_an_input_where_it_was_met_in_training():
    assert not Ensemble.from_model(trained(FOREST)).nan_features.any()
    assert Ensemble.from_model(trained(FOREST, gaps=True)).nan_features.tolist() == [True, True, False, False]
    assert not Ensemble.from_model(trained(FOREST, gaps=True), missing="refuse").nan_features.any()


def test_the_tree_names_the_categories():
    frame = data(2).assign(**{"class": lambda frame: np.where(frame["colour"] == "red", "a", "b")})
    model = FOREST[0](label="class", num_trees=3, max_depth=3, num_threads=1).train(frame)
    assert "colour not in {" in born_again(model).tree.to_text()


def test_integers_can_be_categories():
    learner, options = FOREST
    frame = data(2)
    model = learner(
        label="class", features=[("count", ydf.Semantic.CATEGORICAL)], include_all_columns=True, **options
    ).train(frame)
    ensemble = Ensemble.from_model(model)
    np.testing.assert_array_equal(ensemble.predict(frame), model.predict_class(frame))
    assert ensemble.columns.labels[ensemble.feature_names.index("count")].number(7) > 0


def test_logits_are_cut_where_the_library_cuts_them():
    model = trained(BOOSTED)
    model.set_output_logits(True)
    ensemble = Ensemble.from_model(model)
    np.testing.assert_array_equal(ensemble.predict(data(2)), model.predict_class(data(2)))


def test_a_folder_is_the_same_as_the_model(tmp_path):
    model = trained(BOOSTED)
    model.save(str(tmp_path / "model"))
    np.testing.assert_array_equal(load_ensemble(tmp_path / "model").predict(data(2)), model.predict_class(data(2)))


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="not a known folder"):
        load_ensemble(tmp_path)
    for name in ("data_spec.pb", "header.pb", "done"):
        (tmp_path / name).write_bytes(b"\x08\x01")
    with pytest.raises(UnsupportedModelError, match="YDF does not read this folder"):
        load_ensemble(tmp_path)


def test_what_is_not_read_is_refused_with_the_reason():
    with pytest.raises(UnsupportedModelError, match="set_output_logits"):
        Ensemble.from_model(BOOSTED[0](label="class", **BOOSTED[1]).train(data(3)))
    with pytest.raises(UnsupportedModelError, match="oblique"):
        Ensemble.from_model(trained(FOREST, split_axis="SPARSE_OBLIQUE"))
    with pytest.raises(UnsupportedModelError, match="GLOBAL_IMPUTATION"):
        Ensemble.from_model(trained(FOREST, gaps=True, missing_value_policy="LOCAL_IMPUTATION"))
    regressor = FOREST[0](label="size", task=ydf.Task.REGRESSION, **FOREST[1]).train(data(2).drop(columns="class"))
    with pytest.raises(UnsupportedModelError, match="REGRESSION"):
        Ensemble.from_model(regressor)
