"""Gradient boosting that starts from another model's predictions adds them as that model computes them."""

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from onetree import Ensemble, UnsupportedModelError, born_again
from onetree.importers.self_test import sample_rows

INITS = {
    "a tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "a random tree": ExtraTreeClassifier(max_depth=3, random_state=0),
    "a tree of one leaf": DecisionTreeClassifier(max_depth=1, min_samples_leaf=250),
    "a forest": RandomForestClassifier(4, max_depth=2, random_state=0),
    "a random forest": ExtraTreesClassifier(3, max_depth=2, random_state=0),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=2), 2, max_features=0.5, random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=3, random_state=0),
    "boosting from a tree": GradientBoostingClassifier(
        n_estimators=2, max_depth=2, init=DecisionTreeClassifier(max_depth=1)
    ),
}


def boosted(init, n_classes=2):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(400, 4)).round(2)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] + 0.3 * X[:, 2] > 0.5)
    return GradientBoostingClassifier(n_estimators=3, max_depth=2, init=init, random_state=0).fit(
        X, np.minimum(y, n_classes - 1)
    )


@pytest.mark.parametrize("kind", INITS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_score_is_that_of_the_model_to_the_last_bit(kind, n_classes):
    model = boosted(INITS[kind], n_classes)
    ensemble = Ensemble.from_model(model)
    rows = sample_rows(ensemble, np.random.default_rng(5))
    np.testing.assert_array_equal(ensemble.scores(rows), model._raw_predict(rows.astype(np.float32)))
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))


def test_the_tree_is_proven():
    model = boosted(INITS["a forest"])
    solution = born_again(model)
    rows = np.random.default_rng(6).normal(size=(500, 4))
    np.testing.assert_array_equal(solution.tree.predict(rows), model.predict(rows))


def test_an_init_that_becomes_too_large_is_refused_with_the_limit(monkeypatch):
    monkeypatch.setattr("onetree.importers.sklearn.init_tree._MAX_NODES", 20)
    with pytest.raises(UnsupportedModelError, match="more than 10 parts"):
        Ensemble.from_model(boosted(INITS["a forest"]))
