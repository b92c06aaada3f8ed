"""LightGBM's multiclassova: the first largest of one rounded sigmoid per class, where large scores are a tie."""

import numpy as np
import pytest

from onetree import Ensemble, ModelFileError, born_again, load_ensemble, verify
from onetree.importers.lightgbm.model import parse_lightgbm_text
from onetree.importers.self_test import sample_rows

lightgbm = pytest.importorskip("lightgbm")


def fitted(n_classes=3, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).round(2)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1], np.linspace(-1, 1, n_classes - 1))
    defaults = {"n_estimators": 3, "max_depth": 2, "learning_rate": 0.5, "n_jobs": 1, "verbose": -1}
    return lightgbm.LGBMClassifier(objective="multiclassova", **{**defaults, **options}).fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sigmoid": 2.5},
        {"learning_rate": 200.0, "n_estimators": 4},  # sigmoids that are all 1, or all 0
        {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1},
    ],
)
@pytest.mark.parametrize("n_classes", [3, 5])
def test_scores_and_classes_are_those_of_the_library(options, n_classes):
    model = fitted(n_classes, **options)
    ensemble = Ensemble.from_model(model)
    rows = sample_rows(ensemble, np.random.default_rng(1))
    if options.get("boosting_type") != "rf":  # whose raw scores are not divided yet
        np.testing.assert_array_equal(ensemble.scores(rows), model.booster_.predict(rows, raw_score=True))
    np.testing.assert_array_equal(ensemble.predict(rows), model.booster_.predict(rows).argmax(axis=1))


def test_saturated_sigmoids_are_a_tie_that_goes_to_the_first_class():
    model = fitted(learning_rate=200.0, n_estimators=4)
    ensemble = Ensemble.from_model(model)
    rows = sample_rows(ensemble, np.random.default_rng(1))
    assert (ensemble.scores(rows).argmax(axis=1) != ensemble.predict_index(rows)).any()


@pytest.mark.parametrize("method", ["cells", "search", "milp"])
def test_the_tree_is_proven_by_each_method(method):
    ensemble = Ensemble.from_model(fitted(n_estimators=2))
    assert verify(born_again(ensemble).tree, ensemble, method=method)


def test_files_keep_the_rule(tmp_path):
    model = fitted()
    ensemble = parse_lightgbm_text(model.booster_.model_to_string().encode())
    ensemble.save(tmp_path / "model.json")
    rows = sample_rows(ensemble, np.random.default_rng(1))
    np.testing.assert_array_equal(load_ensemble(tmp_path / "model.json").predict(rows), model.predict(rows))


@pytest.mark.parametrize("sigmoid", ["0", "-1", "x", "inf"])
def test_a_sigmoid_that_is_not_a_positive_number_is_refused(sigmoid):
    text = fitted().booster_.model_to_string().replace("sigmoid:1", f"sigmoid:{sigmoid}")
    with pytest.raises(ModelFileError, match="positive number"):
        parse_lightgbm_text(text.encode())
