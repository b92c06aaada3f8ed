"""One huge tree in parts, through joblib: each box of the first cuts is converted, and proven, on its own.

Below the cuts everything is left to `born_again` inside a domain. The tree depends on the number of parts, never on who
computes them or how many do. Nothing here recurses on the depth of a tree.
"""

from time import perf_counter

import numpy as np

from onetree.domain import Domain, DomainLike, as_domain
from onetree.ensemble import Ensemble, as_ensemble
from onetree.errors import InvalidInputError
from onetree.first_cuts import FirstCuts, first_cuts
from onetree.limits import OBJECTIVES, ProgressCallback, check_choice
from onetree.many import run_jobs
from onetree.solve import Solution, Value
from onetree.tree import LEAF, Tree


def born_again_in_parts(
    source: object,
    *,
    objective: str = "depth-leaves",
    n_parts: int = 32,
    domain: DomainLike | None = None,
    memory_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: ProgressCallback | None = None,
    verify: bool = True,
) -> Solution:
    """Find one huge tree as tasks that run side by side, here or on a cluster.

    The space is cut into boxes by the heuristic's own rule; each box is converted by ``born_again(method="heuristic")``
    wherever joblib has room, and the trees are put together. The tree is as equal to the ensemble as any other, only
    not proven smallest. Parts that are alike are found more than once, so on a single processor
    ``born_again(method="heuristic")`` does less work.

    Parameters
    ----------
    source : fitted model or Ensemble
        What to convert.
    objective : {"depth", "leaves", "depth-leaves", "leaves-depth"}
        What the parts minimise.
    n_parts : int
        Boxes to cut the space into, at most; fewer where it is small. The tree depends on it, so that it does not
        follow `n_jobs`, and should be several times as large.
    domain, memory_limit, random_state
        As in `born_again`; the limit holds for each part.
    n_jobs : int, optional
        Parts at a time, as in `born_again_many`. The tree does not depend on it.
    progress : callable, optional
        Called here with a `Progress` after each part: phase "parts", and in `states` how many are done. An exception
        raised in it stops everything.
    verify : bool
        Prove each part equivalent to the ensemble inside its box, where it is computed.

    Returns
    -------
    Solution
        The bound is that of the hardest part, which is true and weak. ``stats["part_seconds"]`` says what each took,
        with its proof.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(7, max_depth=3, random_state=0).fit(X, y)
    >>> solution = born_again_in_parts(forest, n_parts=4)
    >>> solution.stats["parts"], bool((solution.tree.predict(X) == forest.predict(X)).all())
    (4, True)
    """
    check_choice("objective", objective, OBJECTIVES)
    if not isinstance(n_parts, int) or n_parts < 1:
        raise InvalidInputError(f"n_parts must be a whole number from 1 on, not {n_parts!r}")
    if not isinstance(random_state, int) or random_state < 0:
        raise InvalidInputError(f"random_state must be a whole number from 0 on, not {random_state!r}")
    started = perf_counter()
    ensemble = as_ensemble(source)
    where = as_domain(domain, ensemble.feature_names, ensemble.nan_features)
    top = first_cuts(ensemble, where, n_parts, random_state)
    options = {
        "objective": objective,
        "method": "heuristic",
        "memory_limit": memory_limit,
        "random_state": random_state,
        "verify": verify,
    }
    # The largest first, so that none is only begun when the others are nearly done.
    order = sorted(top.boxes, key=lambda node: (-top.boxes[node].n_cells, node))
    jobs = ((ensemble, {**options, "domain": top.boxes[node].domain}) for node in order)
    outcomes = run_jobs(jobs, n_jobs=n_jobs, progress=progress, total=len(order), phase="parts", stop_at_error=True)
    found = {node: part for node, part in zip(order, outcomes, strict=True) if isinstance(part, Solution)}
    tree = _joined(top, {node: part.tree for node, part in found.items()}, ensemble, where)
    value = _size(tree, objective)
    # A tree of the whole, restricted to a part, is no larger: the best of a part is a bound for the whole.
    bound = max((part.lower_bound for part in found.values()), key=_measures)
    stats = {
        "parts": len(found),
        "seconds": perf_counter() - started,
        "part_seconds": [found[node].stats["total_seconds"] for node in sorted(found)],
        "peak_bytes": max(part.stats["peak_bytes"] for part in found.values()),
        "engine": "heuristic",
    }
    return Solution(tree, objective, "optimal" if value == bound else "feasible", value, bound, stats)


def _size(tree: Tree, objective: str) -> Value:
    sizes = {"depth": tree.depth, "leaves": tree.n_leaves}
    if objective in sizes:
        return sizes[objective]
    first, second = objective.split("-")
    return sizes[first], sizes[second]


def _measures(value: Value) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _joined(top: FirstCuts, parts: dict[int, Tree], ensemble: Ensemble, domain: Domain | None) -> Tree:
    """Put the trees of the parts under the cuts."""
    store = _SharedNodes()
    root_of = {node: store.add(parts[node]) for node in sorted(parts)}
    for node in sorted(top.cuts, reverse=True):  # children have larger numbers
        cut = top.cuts[node]
        root_of[node] = store.split(cut.feature, cut.threshold, root_of[cut.left], root_of[cut.right])
    return store.tree(ensemble, domain)


class _SharedNodes:
    """Nodes of which no two are equal; children are added before their parents."""

    def __init__(self) -> None:
        self._number: dict[tuple[int, float, int, int, int], int] = {}  # in the order of adding

    def leaf(self, leaf_class: int) -> int:
        return self._number.setdefault((LEAF, 0.0, LEAF, LEAF, leaf_class), len(self._number))

    def split(self, feature: int, threshold: float, left: int, right: int) -> int:
        if left == right:  # a cut that turned out to separate nothing
            return left
        return self._number.setdefault((feature, threshold, left, right, LEAF), len(self._number))

    def add(self, tree: Tree) -> int:
        """Add all nodes of a tree and give the number of its root."""
        arrays = (tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.leaf_class)
        rows = list(zip(*(array.tolist() for array in arrays), strict=True))
        here = [LEAF] * len(rows)
        for node in range(len(rows) - 1, -1, -1):  # children come later
            feature, threshold, left, right, leaf_class = rows[node]
            is_leaf = left == LEAF
            here[node] = self.leaf(leaf_class) if is_leaf else self.split(feature, threshold, here[left], here[right])
        return here[0]

    def tree(self, ensemble: Ensemble, domain: Domain | None) -> Tree:
        """Give the tree whose root was added last, of which all others are part."""
        last = len(self._number) - 1
        feature, threshold, left, right, leaf_class = (
            np.array(column) for column in zip(*reversed(self._number), strict=True)
        )
        return Tree(
            feature=feature,
            threshold=threshold,
            children_left=np.where(left == LEAF, LEAF, last - left),
            children_right=np.where(right == LEAF, LEAF, last - right),
            leaf_class=leaf_class,
            classes=ensemble.classes,
            feature_names=ensemble.feature_names,
            nan_features=ensemble.nan_features,
            domain=domain,
        )
