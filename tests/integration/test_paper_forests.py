"""The paper's own forests, against the optima that two independent programs found."""

from __future__ import annotations

import json

import pytest

import onetree

DATA_SETS = ("HTRU2", "COMPAS-ProPublica", "FICO", "Seeds", "Pima-Diabetes")
FORESTS = [(name, fold) for name in DATA_SETS for fold in range(1, 11)]


@pytest.mark.parametrize(("name", "fold"), FORESTS, ids=[f"{name}-{fold}" for name, fold in FORESTS])
def test_the_trees_of_the_papers_forest_are_optimal_and_faithful(paper_data, name, fold):
    ensemble = onetree.load_ensemble(paper_data / "forests" / name / f"{name}.RF{fold}.txt")
    optima = json.loads((paper_data / "optima.json").read_text())[name][str(fold)]
    solutions = {
        objective: onetree.born_again(ensemble, objective=objective, verify=False)
        for objective in ("depth", "leaves", "depth-leaves", "leaves-depth")
    }
    values = {objective: solution.value for objective, solution in solutions.items()}
    assert values["depth"] == optima["min_depth"]
    assert values["leaves"] == optima["min_leaves"]
    assert values["depth-leaves"] == (optima["min_depth"], optima["min_leaves_at_min_depth"])
    assert values["leaves-depth"][0] == optima["min_leaves"]
    assert values["leaves-depth"][1] >= optima["min_depth"]
    for objective, solution in solutions.items():
        assert solution.status == "optimal"
        assert onetree.verify(solution.tree, ensemble), objective
