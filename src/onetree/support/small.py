"""Small trees: of at most so many leaves, as close to the ensemble as they get. One growth serves several sizes."""

from __future__ import annotations

from collections.abc import Sequence

from onetree.support.clock import Clock
from onetree.support.cut_back import cut_back
from onetree.support.growth import POOL_MASS, Growth, as_branches, first_pool
from onetree.support.refine import Refinement
from onetree.support.rows import RowMaker, Rows, Sample
from onetree.tree.tree import Tree

_FRESH = (
    0.25  # of the synthetic rows at the root: as many more, mixed among neighbours, tell when to end the refinement
)
OVERGROWN = 2  # times the leaves that are wanted, before the tree is cut back


def small_trees(maker: RowMaker, rows: Rows, budgets: Sequence[int], clock: Clock) -> list[Tree]:
    """Grow more leaves than wanted, go back to the best tree of each size, and refine these."""
    sample = Sample(maker, rows)
    pool = first_pool(sample)
    growth = Growth(sample, pool, faithful=False)
    n_grown = OVERGROWN * max(budgets)
    growth.grow(max_leaves=n_grown, max_wrong=0, step=clock.of_leaves(n_grown))
    fresh = sample.mix_near(int(_FRESH * len(pool)))
    refinement = Refinement(sample, pool, POOL_MASS)
    return [
        refinement.of(as_branches(growth.nodes, leaves), fresh, clock).as_tree(maker.predictor.ensemble, maker.grid)
        for leaves in cut_back(growth.nodes, budgets)
    ]
