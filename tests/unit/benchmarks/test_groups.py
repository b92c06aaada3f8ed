"""`benchmarks.groups`: what it declares of the features, and that one forest passes."""

from __future__ import annotations

import argparse

import pytest

from benchmarks import paper_data as paper
from benchmarks.groups import chains, declared, measure_forest


def test_thresholds_of_one_quantity_are_a_chain_from_the_smallest_on():
    assert chains(["risk<0.5", "age<30", "risk<0.25", "risk<1.5"]) == {("risk<0.25", "risk<0.5", "risk<1.5"): "implies"}


def test_every_feature_is_binary_beside_what_is_said_of_it():
    said = declared("FICO", ["risk<0.5", "age<30", "risk<0.25"])
    assert {name for name, word in said.items() if word == "binary"} == {"risk<0.5", "age<30", "risk<0.25"}


@pytest.mark.parametrize("name", ["COMPAS-ProPublica", "FICO"])
def test_a_forest_has_a_smaller_tree_with_groups(paper_data, name):
    options = argparse.Namespace(paper_data=paper_data)
    row = measure_forest(options, name, 2, paper.optima(paper_data)[name, 2])
    assert row["correct"]
    assert row["with"]["leaves"] < row["without"]["leaves"]
    assert row["with"]["cells"] < row["without"]["cells"]
