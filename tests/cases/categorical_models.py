"""Models with categorical features, of each library that has them, and inputs that are hard on them."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from onetree.importers.self_test import sample_rows

COLUMNS = [1, 3]
TYPES = ["q", "c", "q", "c"]
LIBRARIES = ("sklearn", "xgboost one-hot", "xgboost partition", "lightgbm")
BESIDE_ZERO = (0.0, -0.0, 1e-300, -1e-300, 5e-324, -5e-324, 2.0**-150, -(2.0**-150), -1e-45)
FRACTIONS = (-0.5, -1.0, np.nextafter(-1.0, 0), np.nextafter(-1.0, -2), 2.5, 1 - 2.0**-24, 1 - 2.0**-25, 1 - 2.0**-26)
FAR = (-7.0, 255.0, 256.0, 2.0**24 - 1, 2.0**24, 2.0**31 - 1, 2.0**31, 2.0**32, 2.0**32 + 3, 2.0**63, -1e30, 3e38)
STRANGE = np.array([*BESIDE_ZERO, np.nextafter(-(2.0**-150), -1), *FRACTIONS, *FAR])


def data(n_categories, n_classes=2, *, gaps=False, seed=0):
    """Two columns of numbers and two of categories that are whole numbers; the first of them has holes."""
    rng = np.random.default_rng(seed)
    n_rows = max(300, 12 * n_categories)
    category = rng.integers(0, n_categories, (n_rows, 2))
    X = rng.standard_normal((n_rows, 4))
    X[:, 1], X[:, 3] = 3.0 * category[:, 0] + 1, category[:, 1]
    effect = rng.standard_normal((n_categories, 2))
    score = X[:, 0] + 2 * effect[category[:, 0], 0] + 2 * effect[category[:, 1], 1]
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def fitted(library, X, y, **options):
    if library == "sklearn":
        given = {"max_iter": 5, "max_depth": 3, "min_samples_leaf": 5, "early_stopping": False, "learning_rate": 0.5}
        return HistGradientBoostingClassifier(categorical_features=COLUMNS, **given | options).fit(X, y)
    if library == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        given = {"n_estimators": 5, "min_child_samples": 5, "min_data_per_group": 1, "cat_smooth": 1.0, "n_jobs": 1}
        given |= {"max_depth": 3, "learning_rate": 0.5}
        model = lightgbm.LGBMClassifier(verbose=-1, **given | options)
        return model.fit(X, y, categorical_feature=COLUMNS)
    xgboost = pytest.importorskip("xgboost")
    given = {"n_estimators": 5, "max_depth": 3, "learning_rate": 0.5, "n_jobs": 1, "tree_method": "hist"}
    given["max_cat_to_onehot"] = 1000 if library == "xgboost one-hot" else 1
    return xgboost.XGBClassifier(enable_categorical=True, feature_types=TYPES, **given | options).fit(X, y)


def scores(model, X):
    if isinstance(model, HistGradientBoostingClassifier):
        return model.decision_function(X).reshape(len(X), -1)
    option = "output_margin" if hasattr(model, "get_booster") else "raw_score"
    return model.predict(X, **{option: True}).reshape(len(X), -1)


def strange_rows(ensemble, n_rows=3000):
    """Rows whose categories are codes, their neighbours in float64 and float32, fractions and what is no category."""
    rng = np.random.default_rng(1)
    X = sample_rows(ensemble, rng)[:n_rows]
    for feature in COLUMNS:
        kind = ensemble.categories[feature]
        if kind is not None:
            points = np.concatenate([kind.codes, kind.low, kind.high])
            single = points.astype(np.float32)
            beside = [np.nextafter(points, end) for end in (-np.inf, np.inf)]
            beside += [np.nextafter(single, np.float32(end)) for end in (-np.inf, np.inf)]
            beside += [points + 0.5, points - 0.5, points + 1, np.resize(kind.codes, 4 * len(points)), STRANGE]
            X[:, feature] = rng.choice(np.concatenate([points, single, *beside]), len(X))
    gaps = (rng.random(X.shape) < 0.15) & ensemble.nan_features
    return np.where(gaps, np.nan, X)


def same(a, b):
    fields = (
        "roots",
        "feature",
        "threshold",
        "children_left",
        "children_right",
        "value",
        "base",
        "subset",
        "subsets",
        "nan_features",
    )
    return a.categories == b.categories and all(np.array_equal(getattr(a, key), getattr(b, key)) for key in fields)
