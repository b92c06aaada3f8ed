"""Real models of every family: library, ensemble, tree and exported tree predict the same class, also on thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from campaigns.fidelity import count_mismatches
from campaigns.fidelity_configurations import CONFIGURATIONS
from campaigns.fidelity_points import samples
from onetree import Ensemble

LIBRARIES = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_library_ensemble_tree_and_exported_tree_never_disagree(configuration):
    if configuration.family in LIBRARIES:
        pytest.importorskip(LIBRARIES[configuration.family])
    result = count_mismatches(configuration, n_points=1_000)
    assert "gaps" in result["rows"] or not configuration.takes_nan
    assert result["status"] == ("no tree" if configuration.large else "optimal")
    assert set(result["mismatches"].values()) == {0}, result


@pytest.mark.parametrize("toward", [-np.inf, np.inf])
def test_the_points_of_the_campaign_tell_a_threshold_from_the_next_number(toward):
    model, X = CONFIGURATIONS[0].fit()
    ensemble = Ensemble.from_model(model)
    beside = replace(ensemble, threshold=np.nextafter(ensemble.threshold, toward))
    points = samples(ensemble, X, 1_000, np.random.default_rng(0))["thresholds"]
    assert np.any(ensemble.predict(points) != beside.predict(points))
