"""Numbers of a stack: the last bit depends on how many rows are predicted at once, in the library itself."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression

from onetree import InvalidInputError, born_again, verify


@pytest.fixture(scope="module")
def stack():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 3)).astype(np.float64)
    members = [(name, RandomForestClassifier(2, max_depth=2, random_state=seed)) for seed, name in enumerate("ab")]
    return StackingClassifier(members, final_estimator=LogisticRegression(), cv=2).fit(X, X.sum(axis=1) > 4)


def test_equal_numbers_are_not_promised(stack):
    with pytest.raises(InvalidInputError, match=r"how many rows.*1e-12"):
        born_again(stack, output="probability", tolerance=0)


@pytest.mark.parametrize("tolerance", [1e-12, 0.05])
def test_near_ones_are_proven(stack, tolerance):
    tree = born_again(stack, output="probability", tolerance=tolerance).tree
    assert verify(tree, stack, method="search").worst <= tolerance
