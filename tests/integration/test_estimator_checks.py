"""scikit-learn's own checks of what an estimator has to do, for several ensembles inside."""

from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from onetree import BornAgainTreeClassifier

CLASSIFIERS = [
    BornAgainTreeClassifier(),
    BornAgainTreeClassifier(objective="leaves", missing="refuse"),
    BornAgainTreeClassifier(DecisionTreeClassifier(max_depth=4), method="heuristic"),
    BornAgainTreeClassifier(RandomForestClassifier(4, max_depth=3, bootstrap=False), voting="hard"),
    BornAgainTreeClassifier(RandomForestClassifier(5, max_depth=2)),
]


def failures_of_the_ensemble(classifier):
    """A forest that draws its rows at random tells a row of weight 2 from the row twice, as scikit-learn knows."""
    if getattr(classifier.estimator, "bootstrap", False):
        return {"check_sample_weight_equivalence_on_dense_data": "rows are drawn at random, not by weight"}
    return {}


@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=failures_of_the_ensemble)
def test_what_scikit_learn_expects(estimator, check):
    check(estimator)
