"""Tables with short rows, which are taken where those with long ones do not fit in memory."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import onetree


@pytest.fixture(scope="module", params=[0, 1])
def forest(request):
    X, y = load_wine(return_X_y=True)
    return RandomForestClassifier(4, max_depth=3, max_features=2, random_state=request.param).fit(X[:, :6], y)


def solved(forest, objective, gigabytes=None):
    return onetree.born_again(forest, objective=objective, engine="interval-dp", memory_limit=gigabytes, n_jobs=1)


@pytest.mark.parametrize("objective", ["depth", "leaves", "depth-leaves", "leaves-depth"])
def test_a_table_that_does_not_fit_has_shorter_rows_and_the_same_optimum(forest, objective):
    roomy = solved(forest, objective)
    tight = solved(forest, objective, gigabytes=0.9 * roomy.stats["peak_bytes"] / 1e9)
    assert tight.status == "optimal"
    assert tight.value == roomy.value
    assert tight.stats["peak_bytes"] < 0.9 * roomy.stats["peak_bytes"]
