"""Laws of trees that follow the data: they hold for every ensemble and any rows."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onetree.lowering.grid import Grid
from onetree.lowering.native_predict import NativePredictor
from onetree.support import support_tree
from onetree.support.cores.bounds import Bounds
from tests.cases.oracle import points
from tests.cases.strategies import ensembles
from tests.tiers import examples

seeds = st.integers(0, 2**32 - 1)
ALL = 1_000_000  # nodes: no limit for ensembles this small


def some_rows(ensemble, seed, n_rows):
    """Rows from cells chosen by chance, some of them twice."""
    everywhere = points(ensemble)
    return everywhere[np.random.default_rng(seed).integers(len(everywhere), size=n_rows)]


@given(ensembles())
def test_the_native_prediction_is_that_of_the_reference(ensemble):
    rows = points(ensemble)
    assert (NativePredictor(ensemble).classes(rows) == ensemble.predict_index(rows)).all()


@examples(40)
@given(ensembles(), seeds, st.integers(1, 40))
def test_a_faithful_tree_is_right_on_every_row(ensemble, seed, n_rows):
    rows = some_rows(ensemble, seed, n_rows)
    solution = support_tree(ensemble, rows, fidelity=1.0, random_state=seed % 5)
    assert (solution.tree.predict_index(rows) == ensemble.predict_index(rows)).all()
    assert solution.lower_bound <= solution.value


@examples(40)
@given(ensembles(), seeds, st.integers(1, 40), st.integers(1, 6))
def test_a_tree_of_some_leaves_has_no_more(ensemble, seed, n_rows, max_leaves):
    rows = some_rows(ensemble, seed, n_rows)
    solution = support_tree(ensemble, rows, max_leaves=max_leaves)
    assert solution.tree.n_leaves <= max_leaves
    assert solution.held_out.n_inputs + solution.reference.n_inputs == n_rows


@examples(60)
@given(ensembles(), seeds)
def test_what_the_bounds_prove_is_true(ensemble, seed):
    grid, rows = Grid.of(ensemble), points(ensemble)
    slabs = np.stack([np.searchsorted(levels, rows[:, j]) for j, levels in enumerate(grid.levels)], axis=1)
    classes = ensemble.predict_index(rows)
    bounds, random = Bounds(ensemble, grid), np.random.default_rng(seed)
    for _ in range(20):
        ends = np.sort(random.integers(grid.n_slabs, size=(2, ensemble.n_features)), axis=0).astype(np.int32)
        inside = ((slabs >= ends[0]) & (slabs <= ends[1])).all(axis=1)
        for class_index in range(ensemble.n_classes):
            if bounds.hold(ends[0], ends[1], class_index, ALL):
                assert (classes[inside] == class_index).all()


@examples(40)
@given(ensembles(kinds=("hard",), nan=False), seeds)
def test_the_bounds_prove_single_cells_of_whole_votes(ensemble, seed):
    grid = Grid.of(ensemble)
    rows = some_rows(ensemble, seed, 10)
    slabs = np.stack([np.searchsorted(levels, rows[:, j]) for j, levels in enumerate(grid.levels)], axis=1)
    bounds = Bounds(ensemble, grid)
    for cell, class_index in zip(slabs.astype(np.int32), ensemble.predict_index(rows), strict=True):
        assert bounds.hold(cell, cell, int(class_index), ALL)


@examples(40)
@given(ensembles(), seeds, st.integers(1, 30))
def test_every_cell_of_a_core_has_the_class_of_its_leaf(ensemble, seed, n_rows):
    solution = support_tree(ensemble, some_rows(ensemble, seed, n_rows), max_leaves=5, certify=True)
    everywhere = points(ensemble)
    inside = solution.cores.contain(solution.tree, everywhere)
    same = solution.tree.predict_index(everywhere) == ensemble.predict_index(everywhere)
    assert same[inside].all()


def brute_force(slabs, classes, by_depth):
    """The least size of a tree over cuts between slabs, by trying all of them."""
    if len(set(classes.tolist())) == 1:
        return 0 if by_depth else 1
    best = 10**9
    for feature in range(slabs.shape[1]):
        for cut in np.unique(slabs[:, feature])[:-1]:
            left = slabs[:, feature] <= cut
            sizes = [brute_force(slabs[side], classes[side], by_depth) for side in (left, ~left)]
            best = min(best, 1 + max(sizes) if by_depth else sum(sizes))
    return best


@examples(40)
@given(ensembles(max_features=3), seeds, st.integers(1, 8))
def test_the_optimum_on_the_rows_is_the_least_of_all_trees(ensemble, seed, n_rows):
    rows = some_rows(ensemble, seed, n_rows)
    slabs = np.stack([np.searchsorted(levels, rows[:, j]) for j, levels in enumerate(Grid.of(ensemble).levels)], axis=1)
    for objective in ("leaves", "depth"):
        solution = support_tree(ensemble, rows, fidelity=1.0, optimal=objective)
        assert solution.status == "support-optimal"
        assert solution.value == brute_force(slabs, ensemble.predict_index(rows), objective == "depth")
        assert (solution.tree.predict_index(rows) == ensemble.predict_index(rows)).all()


def test_the_oracle_knows_a_chessboard():
    board = np.array(list(itertools.product(range(2), range(2))))
    assert brute_force(board, board.sum(axis=1) % 2, False) == 4
    assert brute_force(board, board.sum(axis=1) % 2, True) == 2
