"""Pipelines, searches and frozen estimators are opened, and the user is told what the tree then sees."""

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from onetree import Ensemble, UnsupportedModelError

X, Y = load_iris(return_X_y=True)


def forest():
    return RandomForestClassifier(3, max_depth=2, random_state=0)


def test_the_last_step_of_a_pipeline_is_read_on_the_features_that_its_steps_produce():
    pipeline = make_pipeline(StandardScaler(), forest()).fit(X, Y)
    with pytest.warns(UserWarning, match=r"StandardScaler.*pipeline\[:-1\].transform"):
        ensemble = Ensemble.from_model(pipeline, pipelines="last-step")
    np.testing.assert_array_equal(ensemble.predict(pipeline[:-1].transform(X)), pipeline.predict(X))


def test_the_features_are_named_as_the_steps_name_them():
    columns = ColumnTransformer([("scaled", StandardScaler(), [2, 3])])
    pipeline = make_pipeline(columns, forest()).fit(X, Y)
    with pytest.warns(UserWarning, match="first steps"):
        assert Ensemble.from_model(pipeline, pipelines="last-step").feature_names == ("scaled__x2", "scaled__x3")


def test_steps_that_cannot_name_their_features_leave_them_numbered():
    pipeline = make_pipeline(FunctionTransformer(np.abs), forest()).fit(X, Y)
    with pytest.warns(UserWarning, match="first steps"):
        assert Ensemble.from_model(pipeline, pipelines="last-step").feature_names == ("x0", "x1", "x2", "x3")


def test_a_pipeline_that_changes_nothing_gives_no_warning():
    pipeline = make_pipeline("passthrough", forest()).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble = Ensemble.from_model(pipeline)
    np.testing.assert_array_equal(ensemble.predict(X), pipeline.predict(X))


def test_a_search_stands_for_the_best_model_it_found():
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=3).fit(X, Y)
    np.testing.assert_array_equal(Ensemble.from_model(search).predict(X), search.predict(X))


def test_a_frozen_model_in_a_pipeline_in_a_search_is_found():
    pipeline = Pipeline([("scale", StandardScaler()), ("trees", FrozenEstimator(forest().fit(X, Y)))])
    search = GridSearchCV(pipeline, {"scale__with_mean": [True]}, cv=3).fit(X, Y)
    np.testing.assert_array_equal(Ensemble.from_model(search).predict(X), search.predict(X))
    with pytest.warns(UserWarning, match="StandardScaler"):
        ensemble = Ensemble.from_model(search, pipelines="last-step")
    scaled = search.best_estimator_[:-1].transform(X)
    np.testing.assert_array_equal(ensemble.predict(scaled), search.predict(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (make_pipeline(StandardScaler(), "passthrough"), "does not end in a model"),
        (GridSearchCV(forest(), {}), "no best_estimator_"),
        (GridSearchCV(forest(), {}, refit=False).fit(X, Y), "refit=True"),
        (make_pipeline("passthrough", forest()), "not fitted"),
    ],
)
def test_what_holds_no_fitted_model_is_refused(model, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Ensemble.from_model(model)
