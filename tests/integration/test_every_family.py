"""Every method, every engine and every proof on a model of each family that can be read."""

from __future__ import annotations

import pytest

import onetree
from campaigns.fidelity_configurations import CONFIGURATIONS, FAMILIES
from onetree.search.solve import ENGINES
from onetree.verify import METHODS

LIBRARIES = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}


def last_of(family, *, takes_nan):
    found = [
        each for each in CONFIGURATIONS if each.family == family and not each.large and each.takes_nan == takes_nan
    ]
    return found[-1:]


SOME = [each for family in FAMILIES for takes_nan in (False, True) for each in last_of(family, takes_nan=takes_nan)]


@pytest.mark.parametrize("configuration", SOME, ids=str)
def test_engines_agree_and_every_proof_holds(configuration):
    if configuration.family in LIBRARIES:
        pytest.importorskip(LIBRARIES[configuration.family])
    model, _ = configuration.fit()
    ensemble = onetree.Ensemble.from_model(model, voting=configuration.voting, missing=configuration.missing)
    exact = [onetree.born_again(ensemble, objective="leaves", engine=engine) for engine in ENGINES]
    assert {solution.status for solution in exact} == {"optimal"}
    assert len({solution.value for solution in exact}) == 1
    quick = onetree.born_again(ensemble, objective="leaves", method="heuristic")
    assert quick.value >= exact[0].value
    for method in METHODS:
        assert onetree.verify(quick.tree, ensemble, method=method)
    estimate = onetree.estimate(ensemble, budget=0.2)
    assert estimate.leaves >= 1
    if estimate.exact:
        assert estimate.leaves == exact[0].value
