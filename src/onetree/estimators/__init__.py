"""Estimators for scikit-learn that fit an ensemble and are the one tree that predicts like it."""

from onetree.estimators.classifier import BornAgainTreeClassifier
from onetree.estimators.regressor import BornAgainTreeRegressor

__all__ = ["BornAgainTreeClassifier", "BornAgainTreeRegressor"]
