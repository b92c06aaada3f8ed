"""The models of the fidelity campaign: every family that can be read, in kinds that differ in how they predict.

Most are small enough for one tree: few features, and few trees or shallow ones.
"""

from __future__ import annotations

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from campaigns.fidelity_categorical import CATEGORICAL_CONFIGURATIONS
from campaigns.fidelity_models import (
    Configuration,
    adaboost,
    bagging,
    cat,
    gradient,
    hard_vote,
    hist,
    lgbm,
    lgbm_booster,
    lgbm_booster_class,
    sklearn_model,
    voting,
    xgb,
    xgb_booster,
    xgb_booster_class,
)

TREE, EXTRA_TREE = DecisionTreeClassifier, ExtraTreeClassifier
FOREST, EXTRA = RandomForestClassifier, ExtraTreesClassifier
RF = {"n_jobs": 1}
GAPS = {"gaps": True}
HARD = {"voting": "hard", "predict": hard_vote}
LGBM_RF = {"boosting_type": "rf", "subsample": 0.7, "subsample_freq": 1}

CONFIGURATIONS = (
    Configuration("DecisionTree", "depth 1", sklearn_model(TREE, max_depth=1)),
    Configuration("DecisionTree", "depth 4", sklearn_model(TREE, max_depth=4), 3, words=True),
    Configuration("DecisionTree", "depth 6", sklearn_model(TREE, max_depth=6), 5, missing="follow"),
    Configuration("DecisionTree", "depth 3", sklearn_model(TREE, max_depth=3), 3, **GAPS),
    Configuration("DecisionTree", "depth 6", sklearn_model(TREE, max_depth=6), 2, **GAPS),
    Configuration("ExtraTree", "depth 3", sklearn_model(EXTRA_TREE, max_depth=3), 2),
    Configuration("ExtraTree", "depth 5", sklearn_model(EXTRA_TREE, max_depth=5), 5, words=True),
    Configuration("ExtraTree", "depth 4", sklearn_model(EXTRA_TREE, max_depth=4), 3, **GAPS),
    Configuration("RandomForest", "10 trees, depth 1", sklearn_model(FOREST, 10, max_depth=1, **RF), 3),
    Configuration("RandomForest", "6 trees, depth 3", sklearn_model(FOREST, 6, max_depth=3, **RF), 2, words=True),
    Configuration("RandomForest", "5 trees, depth 3", sklearn_model(FOREST, 5, max_depth=3, **RF), 5),
    Configuration("RandomForest", "4 trees, depth 6", sklearn_model(FOREST, 4, max_depth=6, **RF), 2, 2),
    Configuration("RandomForest", "8 trees, depth 3", sklearn_model(FOREST, 8, max_depth=3, **RF), 2, close=True),
    Configuration("RandomForest", "5 trees, 12 leaves", sklearn_model(FOREST, 5, max_leaf_nodes=12, **RF), 3, 2),
    Configuration("RandomForest", "5 trees, depth 3", sklearn_model(FOREST, 5, max_depth=3, **RF), 3, **GAPS),
    Configuration("RandomForest", "4 trees, depth 4", sklearn_model(FOREST, 4, max_depth=4, **RF), 2, 2, **GAPS),
    Configuration("RandomForest", "4 trees, depth 3", sklearn_model(FOREST, 4, max_depth=3, **RF), 3, missing="follow"),
    Configuration(
        "RandomForest, hard vote", "6 trees, depth 3", sklearn_model(FOREST, 6, max_depth=3, **RF), 2, **HARD
    ),
    Configuration(
        "RandomForest, hard vote", "5 trees, depth 3", sklearn_model(FOREST, 5, max_depth=3, **RF), 3, **HARD
    ),
    Configuration(
        "RandomForest, hard vote", "5 trees, depth 2", sklearn_model(FOREST, 5, max_depth=2, **RF), 5, **HARD
    ),
    Configuration(
        "RandomForest, hard vote", "4 trees, depth 3", sklearn_model(FOREST, 4, max_depth=3, **RF), 3, **GAPS, **HARD
    ),
    Configuration("ExtraTrees", "7 trees, depth 3", sklearn_model(EXTRA, 7, max_depth=3, **RF), 2, words=True),
    Configuration("ExtraTrees", "5 trees, depth 4", sklearn_model(EXTRA, 5, max_depth=4, **RF), 3, 2),
    Configuration("ExtraTrees", "4 trees, depth 3", sklearn_model(EXTRA, 4, max_depth=3, **RF), 5),
    Configuration("ExtraTrees", "4 trees, depth 3", sklearn_model(EXTRA, 4, max_depth=3, **RF), 3, **GAPS),
    Configuration("Bagging", "6 trees, depth 3", bagging(6, 3), 2, words=True),
    Configuration("Bagging", "5 trees, depth 2, 2 of 4 features", bagging(5, 2, max_features=2), 3, 4),
    Configuration(
        "Bagging", "5 extra trees, depth 3, 10 rows each", bagging(5, 3, member=EXTRA_TREE, max_samples=10), 5
    ),
    Configuration("Bagging", "5 trees, depth 3", bagging(5, 3), 3, **GAPS),
    Configuration("AdaBoost", "8 trees, depth 1", adaboost(8, 1), 2, words=True),
    Configuration("AdaBoost", "6 trees, depth 2", adaboost(6, 2), 2),
    Configuration("AdaBoost", "8 trees, depth 1", adaboost(8, 1), 3),
    Configuration("AdaBoost", "4 trees, depth 2", adaboost(4, 2), 5),
    Configuration("Voting", "hard, depths 2 to 4", voting((2, 3, 4)), 3, words=True),
    Configuration("Voting", "hard, weights", voting((3, 2, 3, 2), weights=[0.3, 0.2, 0.1, 0.4]), 5),
    Configuration("Voting", "soft", voting((3, 4, 2), voting="soft"), 2),
    Configuration("Voting", "soft, weights", voting((3, 3, 2), voting="soft", weights=[0.3, 0.2, 0.1]), 3, words=True),
    Configuration("Voting", "soft, weights", voting((3, 3, 2), voting="soft", weights=[1, 2, 1]), 3, **GAPS),
    Configuration("GradientBoosting", "8 rounds, depth 1", gradient(8, 1), 2),
    Configuration("GradientBoosting", "6 rounds, depth 3", gradient(6, 3), 2, 2),
    Configuration("GradientBoosting", "3 rounds, depth 2", gradient(3, 2), 3, words=True),
    Configuration("GradientBoosting", "2 rounds, depth 2", gradient(2, 2), 5),
    Configuration("GradientBoosting", "exponential loss", gradient(6, 2, loss="exponential"), 2),
    Configuration("HistGradientBoosting", "6 rounds, depth 2", hist(6, 2), 2, words=True),
    Configuration("HistGradientBoosting", "3 rounds, depth 2", hist(3, 2), 3),
    Configuration("HistGradientBoosting", "2 rounds, depth 2", hist(2, 2), 5, missing="follow"),
    Configuration("HistGradientBoosting", "4 rounds, depth 3", hist(4, 3), 2, **GAPS),
    Configuration("HistGradientBoosting", "3 rounds, depth 2", hist(3, 2), 3, words=True, **GAPS),
    Configuration("XGBoost", "logistic, 10 x depth 1", xgb(10, 1), 2),
    Configuration("XGBoost", "logistic, 6 x depth 3", xgb(6, 3), 2, 2),
    Configuration("XGBoost", "logistic, 2 x depth 6", xgb(2, 6), 2, 2, missing="follow"),
    Configuration("XGBoost", "logistic, 4 x depth 3", xgb(4, 3), 2, **GAPS),
    Configuration("XGBoost", "logistic, exact method", xgb(5, 2, tree_method="exact"), 2, **GAPS),
    Configuration("XGBoost", "softprob, 3 x depth 2", xgb(3, 2), 3),
    Configuration("XGBoost", "softprob, 2 x depth 2", xgb(2, 2), 5),
    Configuration("XGBoost", "softprob, 2 x depth 2", xgb(2, 2), 3, **GAPS),
    Configuration("XGBoost", "softmax, 3 x depth 2", xgb(3, 2, objective="multi:softmax"), 3),
    Configuration(
        "XGBoost",
        "Booster, logistic, 5 x depth 2",
        xgb_booster(5, max_depth=2, objective="binary:logistic"),
        predict=xgb_booster_class,
    ),
    Configuration(
        "XGBoost",
        "Booster, softmax, 2 x depth 2",
        xgb_booster(2, max_depth=2, objective="multi:softmax", num_class=3),
        3,
        predict=xgb_booster_class,
        **GAPS,
    ),
    Configuration("XGBoost", "hinge, 5 x depth 2", xgb(5, 2, objective="binary:hinge"), 2),
    Configuration("XGBoost", "DART, 6 x depth 2", xgb(6, 2, booster="dart", rate_drop=0.3), 2),
    Configuration("XGBoost", "DART, 3 x depth 2", xgb(3, 2, booster="dart", rate_drop=0.5), 3),
    Configuration("XGBoost", "random forest, 5 x depth 3", xgb(5, 3, forest=True), 2),
    Configuration("XGBoost", "random forest, 3 x depth 2", xgb(3, 2, forest=True), 3, **GAPS),
    Configuration("LightGBM", "binary, 10 x depth 1", lgbm(10, max_depth=1), 2, words=True),
    Configuration("LightGBM", "binary, 5 x depth 3", lgbm(5, max_depth=3), 2, 2),
    Configuration("LightGBM", "binary, 4 x depth 3", lgbm(4, max_depth=3), 2, **GAPS),
    Configuration("LightGBM", "binary, zero as missing", lgbm(4, max_depth=2, zero_as_missing=True), 2),
    Configuration("LightGBM", "binary, 4 x depth 2", lgbm(4, max_depth=2), 2, missing="follow"),
    Configuration("LightGBM", "multiclass, 3 x depth 2", lgbm(3, max_depth=2), 3, words=True),
    Configuration("LightGBM", "multiclass, 2 x depth 2", lgbm(2, max_depth=2), 5),
    Configuration("LightGBM", "multiclass, 2 x depth 2", lgbm(2, max_depth=2), 3, **GAPS),
    Configuration("LightGBM", "random forest, 5 x depth 3", lgbm(5, max_depth=3, **LGBM_RF), 2),
    Configuration("LightGBM", "random forest, 3 x depth 2", lgbm(3, max_depth=2, **LGBM_RF), 3),
    Configuration("LightGBM", "DART, 5 x depth 2", lgbm(5, max_depth=2, boosting_type="dart"), 2),
    Configuration("LightGBM", "DART, 3 x depth 2", lgbm(3, max_depth=2, boosting_type="dart"), 3, **GAPS),
    Configuration(
        "LightGBM",
        "Booster, binary, 4 x depth 3",
        lgbm_booster(4, max_depth=3, objective="binary"),
        predict=lgbm_booster_class,
    ),
    Configuration("CatBoost", "binary, 8 x depth 1", cat(8, 1), 2, words=True),
    Configuration("CatBoost", "binary, 4 x depth 3", cat(4, 3), 2, 2),
    Configuration("CatBoost", "binary, 3 x depth 3", cat(3, 3), 2, **GAPS),
    Configuration("CatBoost", "binary, NaN as largest", cat(3, 2, nan_mode="Max"), 2, **GAPS),
    Configuration("CatBoost", "binary, lossguide", cat(4, 3, grow_policy="Lossguide", max_leaves=6), 2),
    Configuration("CatBoost", "multiclass, 4 x depth 2", cat(4, 2), 3, words=True),
    Configuration("CatBoost", "multiclass, 3 x depth 2", cat(3, 2), 5),
    Configuration("CatBoost", "multiclass, 3 x depth 2", cat(3, 2), 3, **GAPS),
    Configuration("CatBoost", "one against all", cat(3, 2, loss_function="MultiClassOneVsAll"), 3),
    Configuration("RandomForest", "50 trees, depth 6", sklearn_model(FOREST, 50, max_depth=6, **RF), 5, 8, large=True),
    Configuration("GradientBoosting", "40 rounds, depth 3", gradient(40, 3), 3, 8, large=True),
    Configuration("HistGradientBoosting", "40 rounds, depth 4", hist(40, 4), 3, 8, **GAPS, large=True),
    Configuration("XGBoost", "logistic, 80 x depth 6", xgb(80, 6, learning_rate=0.3), 2, 8, **GAPS, large=True),
    Configuration("XGBoost", "softprob, 40 x depth 4", xgb(40, 4), 3, 8, large=True),
    Configuration("LightGBM", "binary, 80 x depth 6", lgbm(80, max_depth=6), 2, 8, **GAPS, large=True),
    Configuration("LightGBM", "multiclass, 30 x depth 4", lgbm(30, max_depth=4), 3, 8, large=True),
    Configuration("CatBoost", "multiclass, 80 x depth 4", cat(80, 4), 3, 8, **GAPS, large=True),
    *CATEGORICAL_CONFIGURATIONS,
)
FAMILIES = tuple(dict.fromkeys(configuration.family for configuration in CONFIGURATIONS))
