"""The reproduction of the paper: its core on a fold, and its own searches against the package's and by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import onetree
from benchmarks.paper import page, tables, units
from benchmarks.paper.published import published_tree
from benchmarks.paper.published_depth import published_depth_tree
from benchmarks.paper.published_stop import published_stopping_tree
from tests.cases.strategies import random_ensemble

pytestmark = pytest.mark.slow

FOLD = 10


@pytest.fixture(scope="module")
def scope(paper_data):
    return units.Scope(paper_data, paper_data, ("HTRU2",), (FOLD,), {"features": (2, 3)}, ())


@pytest.fixture(scope="module")
def out(scope, tmp_path_factory):
    """A folder in which all units of one fold have been done."""
    folder = tmp_path_factory.mktemp("paper")
    for unit in units.units(scope):
        units.do(scope, folder, unit)
    return folder


@pytest.fixture(scope="module", params=range(40))
def ensemble(request):
    return random_ensemble(np.random.default_rng(request.param), max_cells=150, kinds=("hard",), nan=False)


def test_every_unit_of_a_fold_is_kept_and_found_again(scope, out):
    assert all(units.done(out, unit) is not None for unit in units.units(scope))


def test_a_fold_gives_the_known_optima(scope, out, paper_data):
    best = json.loads((paper_data / "optima.json").read_text())["HTRU2"][str(FOLD)]
    found = {objective: units.done(out, ("tree", "HTRU2", FOLD, objective)) for objective in units.OBJECTIVES}
    assert found["depth"]["depth"] == found["depth-leaves"]["depth"] == best["min_depth"]
    assert found["leaves"]["leaves"] == best["min_leaves"]
    assert found["depth-leaves"]["leaves"] == best["min_leaves_at_min_depth"]
    published = units.done(out, ("published", "HTRU2", FOLD, "depth-leaves"))
    assert (published["depth"], published["leaves"]) == (best["min_depth"], best["published_DL_leaves"])


def test_forest_and_trees_have_the_same_scores(out):
    forest = units.done(out, ("forest", "HTRU2", FOLD))
    for objective in units.OBJECTIVES:
        assert units.done(out, ("tree", "HTRU2", FOLD, objective))["scores"] == forest["scores"]


def test_the_page_holds_the_numbers_of_the_units(scope, out):
    results = tables.Results(scope, out)
    page.write(results, tables.checks(results), out)
    leaves = units.done(out, ("tree", "HTRU2", FOLD, "leaves"))["leaves"]
    assert f"{leaves:.1f} ({leaves}–{leaves})" in (out / "paper.md").read_text()


def test_the_early_stop_explains_the_published_leaves_of_one_forest(scope):
    forest = units.forest_of(scope, "Pima-Diabetes", 2)
    assert published_stopping_tree(forest).n_leaves == 143
    assert published_tree(forest, "depth-leaves").n_leaves < 143


def test_what_the_paper_reports_is_there_for_every_table():
    for objective in units.OBJECTIVES:
        for name in (*tables.SHORT_NAMES, tables.OVERALL):
            assert set(tables.REPORTED["sizes"][objective][name]) == set(tables.SIZES)
            assert set(tables.REPORTED["scores"][objective][name]) == set(tables.SCORES)


def test_the_published_search_for_depth_finds_the_least(ensemble):
    tree = published_depth_tree(ensemble)
    assert onetree.verify(tree, ensemble)
    assert tree.depth == onetree.born_again(ensemble, objective="depth").value


def test_the_published_recursion_for_leaves_finds_the_fewest(ensemble):
    tree = published_tree(ensemble, "leaves")
    assert onetree.verify(tree, ensemble)
    assert tree.n_leaves == onetree.born_again(ensemble, objective="leaves").value


def test_the_published_searches_for_both_have_the_least_depth_and_never_fewer_leaves(ensemble):
    depth, leaves = onetree.born_again(ensemble, objective="depth-leaves").value
    recursion, search = published_tree(ensemble, "depth-leaves"), published_stopping_tree(ensemble)
    assert onetree.verify(recursion, ensemble)
    assert onetree.verify(search, ensemble)
    assert recursion.depth == search.depth == depth
    assert search.n_leaves >= recursion.n_leaves >= leaves
