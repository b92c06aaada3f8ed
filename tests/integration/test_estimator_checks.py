"""scikit-learn's own checks of what an estimator has to do, for several ensembles inside."""

from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from onetree import BornAgainTreeClassifier, BornAgainTreeRegressor

ESTIMATORS = [
    BornAgainTreeClassifier(),
    BornAgainTreeClassifier(objective="leaves", missing="refuse"),
    BornAgainTreeClassifier(DecisionTreeClassifier(max_depth=4), method="heuristic"),
    BornAgainTreeClassifier(RandomForestClassifier(4, max_depth=3, bootstrap=False), voting="hard"),
    BornAgainTreeClassifier(RandomForestClassifier(5, max_depth=2)),
    BornAgainTreeClassifier(DecisionTreeClassifier(max_depth=4), output="probability", tolerance=0.0),
    BornAgainTreeRegressor(),
    BornAgainTreeRegressor(DecisionTreeRegressor(max_depth=4), objective="leaves", missing="refuse"),
    BornAgainTreeRegressor(GradientBoostingRegressor(n_estimators=4, max_depth=2, learning_rate=0.5), tolerance=0.1),
]


def failures_of_the_ensemble(classifier):
    """A forest that draws its rows at random tells a row of weight 2 from the row twice, as scikit-learn knows."""
    if getattr(classifier.estimator, "bootstrap", False):
        return {"check_sample_weight_equivalence_on_dense_data": "rows are drawn at random, not by weight"}
    if getattr(classifier, "tolerance", None):
        # A leaf has the middle of a range: the last bit of a sum of weights can decide how far the range goes.
        return {"check_sample_weight_equivalence_on_dense_data": "within the tolerance, not equal"}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=failures_of_the_ensemble)
def test_what_scikit_learn_expects(estimator, check):
    check(estimator)
