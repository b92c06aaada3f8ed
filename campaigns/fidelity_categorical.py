"""The models of the fidelity campaign that split by categories: two of their four features are categorical."""

from __future__ import annotations

from campaigns.fidelity_models import (
    CATEGORICAL,
    TYPES,
    Configuration,
    hist,
    lgbm,
    lgbm_booster,
    lgbm_booster_class,
    xgb,
    xgb_booster,
    xgb_booster_class,
)

COLUMNS = list(CATEGORICAL)
LGBM = {"categorical": COLUMNS, "min_data_per_group": 1, "cat_smooth": 1.0}
ONE_HOT, PARTITION = 1000, 1  # XGBoost tests for single categories if there are fewer than this


def of_hist(kind, n_rounds, depth, n_classes, n_categories, **options):
    train = hist(n_rounds, depth, categorical_features=COLUMNS)
    return Configuration("HistGradientBoosting", kind, train, n_classes, 4, n_categories=n_categories, **options)


def of_xgb(kind, n_trees, depth, n_classes, n_categories, most_one_hot, *, parameters=None, **options):
    given = {"enable_categorical": True, "feature_types": TYPES, "max_cat_to_onehot": most_one_hot}
    train = xgb(n_trees, depth, **given | (parameters or {}))
    return Configuration("XGBoost", kind, train, n_classes, 4, n_categories=n_categories, **options)


def of_lgbm(kind, n_trees, depth, n_classes, n_categories, *, parameters=None, **options):
    train = lgbm(n_trees, max_depth=depth, **LGBM | (parameters or {}))
    return Configuration("LightGBM", kind, train, n_classes, 4, n_categories=n_categories, **options)


CATEGORICAL_CONFIGURATIONS = (
    of_hist("5 rounds, depth 2", 5, 2, 2, 3),
    of_hist("3 rounds, depth 3", 3, 3, 2, 3, gaps=True),
    of_hist("2 rounds, depth 2", 2, 2, 3, 3, words=True),
    of_hist("3 rounds, depth 2", 3, 2, 2, 30),
    of_hist("2 rounds, depth 2", 2, 2, 3, 30, gaps=True),
    of_hist("2 rounds, depth 2", 2, 2, 2, 30, missing="follow"),
    of_hist("2 rounds, depth 2", 2, 2, 2, 200),
    of_hist("3 rounds, depth 2", 3, 2, 2, 30, gaps=True, file="skops"),
    of_hist("30 rounds, depth 4", 30, 4, 2, 200, gaps=True, large=True),
    of_hist("30 rounds, depth 4", 30, 4, 5, 30, large=True),
    of_xgb("logistic, one-hot, 4 x depth 2", 4, 2, 2, 3, ONE_HOT),
    of_xgb("logistic, one-hot, 3 x depth 2", 3, 2, 2, 30, ONE_HOT, gaps=True),
    of_xgb("softprob, one-hot, 2 x depth 2", 2, 2, 3, 30, ONE_HOT),
    of_xgb("logistic, partition, 4 x depth 2", 4, 2, 2, 3, PARTITION),
    of_xgb("logistic, partition, 3 x depth 3", 3, 3, 2, 30, PARTITION, gaps=True),
    of_xgb("logistic, partition, 2 x depth 2", 2, 2, 2, 30, PARTITION, missing="follow"),
    of_xgb("softprob, partition, 2 x depth 2", 2, 2, 3, 30, PARTITION, gaps=True, missing="follow"),
    of_xgb("logistic, partition, 2 x depth 2", 2, 2, 2, 200, PARTITION),
    of_xgb("logistic, approx", 3, 2, 2, 30, PARTITION, parameters={"tree_method": "approx"}),
    of_xgb("DART", 3, 2, 2, 30, PARTITION, parameters={"booster": "dart", "rate_drop": 0.3}),
    of_xgb("logistic, partition, 3 x depth 2", 3, 2, 2, 30, PARTITION, file="json"),
    of_xgb("softprob, one-hot, 2 x depth 2", 2, 2, 3, 3, ONE_HOT, gaps=True, file="ubj"),
    Configuration(
        "XGBoost",
        "Booster, softmax, 2 x depth 2",
        xgb_booster(2, max_depth=2, objective="multi:softmax", num_class=3, feature_types=TYPES),
        3,
        4,
        n_categories=30,
        predict=xgb_booster_class,
    ),
    of_xgb("logistic, partition, 60 x depth 5", 60, 5, 2, 200, PARTITION, gaps=True, large=True),
    of_xgb("logistic, one-hot, 60 x depth 5", 60, 5, 2, 30, ONE_HOT, large=True),
    of_xgb("softprob, partition, 20 x depth 4", 20, 4, 5, 30, PARTITION, gaps=True, large=True),
    of_lgbm("binary, 4 x depth 2", 4, 2, 2, 3),
    of_lgbm("binary, 3 x depth 2", 3, 2, 2, 3, gaps=True, words=True),
    of_lgbm("multiclass, 2 x depth 2", 2, 2, 3, 3),
    of_lgbm("binary, 3 x depth 2", 3, 2, 2, 30),
    of_lgbm("multiclass, 2 x depth 2", 2, 2, 3, 30, gaps=True),
    of_lgbm("binary, 2 x depth 2", 2, 2, 2, 30, missing="follow"),
    of_lgbm("binary, 2 x depth 2", 2, 2, 2, 200),
    of_lgbm("binary, zero as missing", 3, 2, 2, 30, parameters={"zero_as_missing": True}),
    of_lgbm("binary, one against the rest", 3, 2, 2, 30, parameters={"max_cat_to_onehot": 100}),
    of_lgbm("binary, 3 x depth 2", 3, 2, 2, 30, gaps=True, file="text"),
    of_lgbm("multiclass, 2 x depth 2", 2, 2, 3, 3, file="text"),
    Configuration(
        "LightGBM",
        "Booster, binary, 3 x depth 2",
        lgbm_booster(3, max_depth=2, objective="binary", **LGBM),
        n_features=4,
        n_categories=30,
        predict=lgbm_booster_class,
    ),
    of_lgbm("binary, 60 x depth 5", 60, 5, 2, 200, gaps=True, large=True),
    of_lgbm("multiclass, 20 x depth 4", 20, 4, 5, 30, large=True),
)
