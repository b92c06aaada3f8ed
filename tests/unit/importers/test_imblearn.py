"""imbalanced-learn's models are read as they predict: without the samplers, which work in `fit` alone."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from onetree import Ensemble, born_again
from onetree.importers.self_test import FLOAT32_MAX, sample_rows

pytest.importorskip("imblearn")

from imblearn.ensemble import (
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
)
from imblearn.pipeline import make_pipeline
from imblearn.under_sampling import RandomUnderSampler


def data(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((400, 3))
    labels = np.array(["rare", "usual", "other"])[:n_classes]
    return X, labels[np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(400), [1.0, 1.8][: n_classes - 1])]


def assert_same_classes(model, **options):
    ensemble = Ensemble.from_model(model, **options)
    rows = sample_rows(ensemble, np.random.default_rng(1), largest=FLOAT32_MAX)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))
    return ensemble


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        BalancedRandomForestClassifier(5, max_depth=3, random_state=0),
        RUSBoostClassifier(n_estimators=4, random_state=0),
        BalancedBaggingClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=4, random_state=0),
        BalancedBaggingClassifier(n_estimators=4, max_features=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_class_of_every_row_is_that_of_the_model(model, n_classes):
    assert_same_classes(model.fit(*data(n_classes)))


def test_the_tree_of_a_bagged_model_predicts_like_it():
    X, y = data(2)
    model = BalancedBaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(born_again(model).tree.predict(X), model.predict(X))


def test_a_pipeline_of_samplers_and_a_model_is_the_model():
    X, y = data(2)
    pipeline = make_pipeline(RandomUnderSampler(random_state=0), RandomForestClassifier(3, max_depth=3, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left out that would be worth a warning
        assert_same_classes(pipeline.fit(X, y))
        search = GridSearchCV(pipeline, {"randomforestclassifier__max_depth": [2, 3]}, cv=2).fit(X, y)
        assert_same_classes(search)


def test_missing_values_go_the_way_of_the_model():
    X, y = data(2)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = BalancedBaggingClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=3, random_state=0).fit(X, y)
    assert assert_same_classes(model, missing="follow").nan_features.all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosted_models_inside_of_a_bagged_one_are_read(n_classes):
    boosted = AdaBoostClassifier(n_estimators=3, random_state=0)
    assert_same_classes(EasyEnsembleClassifier(2, estimator=boosted, random_state=0).fit(*data(n_classes)))
