"""A part of the campaign on models of models, in the full tier."""

import pytest

from campaigns.composed import cases, examine

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_composed_models_have_optimal_trees_that_predict_like_the_library():
    for name, X, model in cases():
        facts, defects = examine(X, model, 2000)
        assert not defects, f"{name}: {defects}"
        assert facts["rows"] > 4000
