"""From a tree, and what is known of its source, to the file of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from onetree.base.progress import ProgressOption
from onetree.export.words.wording import feature_words
from onetree.files.atomic import write_whole
from onetree.model.inputs import RowsLike
from onetree.questions.checks import Check
from onetree.report import facts, support_facts
from onetree.report.check_facts import describe_checks
from onetree.report.coverage import describe_accuracy, embed_coverage
from onetree.report.embedded import embed_categories, embed_rows, embed_tree
from onetree.report.frontier_facts import describe_frontier
from onetree.report.leaf_groups import leaf_groups
from onetree.report.page import render_page
from onetree.report.tolerance_figure import describe_tolerance_front
from onetree.search.solve import Solution
from onetree.support import SupportSolution
from onetree.support.frontier import Frontier
from onetree.tree.tree import Tree

if TYPE_CHECKING:
    import os


def write_report(
    found: Tree | Solution,
    path: str | os.PathLike[str],
    *,
    source: object | None = None,
    X: RowsLike | None = None,
    y: ArrayLike | None = None,
    frontier: Frontier | None = None,
    tolerance_front: Sequence[Solution] | None = None,
    checks: Sequence[Check] = (),
    title: str | None = None,
    time_limit: float | None = None,
    progress: ProgressOption = None,
) -> facts.Equality:
    """Write a report on a tree: one HTML file that opens in any browser and needs no network.

    It shows what is proven or measured, the sizes before and after, feature use, the rules, and the tree itself: drawn,
    as a map and as a list, which can be zoomed, folded, searched, and followed with an input. With data it also shows
    how many rows reach each node, of which classes.

    Parameters
    ----------
    found : Solution or Tree
        With a `Solution` the report also says what is proven about the size.
    path : path
        Of the HTML file.
    source : fitted model or Ensemble, optional
        What the tree was made from. The report then proves that the two are equal, or shows an input on which they
        differ; without it, that is said to be unchecked.
    X : array of shape (n_rows, n_features) or data frame, optional
        Rows that are counted at each node. The first 1,000 go into the file to choose from, as far as the tree tests
        them.
    y : array of shape (n_rows,), optional
        The classes of these rows. Without them, rows are counted by the class that the source gives, or the tree. For a
        regression tree the true values, of which the report says how far tree and model are from them.
    frontier : Frontier, optional
        What `onetree.frontier` found: the report then also shows what trees of other sizes are worth.
    tolerance_front : sequence of Solution, optional
        What `onetree.tolerance_front` found: the report then also shows how many leaves other tolerances take.
    checks : sequence of Check
        What `check_fair` and the others found: the report has a section "Checks", with the inputs that decide each.
    title : str, optional
        Heading of the report.
    time_limit : float, optional
        Seconds for the proof; the report says so if it does not end in time.
    progress : callable, False or None
        As in `verify`.

    Returns
    -------
    Equality
        What the comparison with `source` ended in.

    Examples
    --------
    >>> import pathlib, tempfile, onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> solution = onetree.born_again(forest, objective="leaves")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "report.html")
    ...     print(onetree.write_report(solution, file, source=forest, X=X).state, file.stat().st_size > 10_000)
    equal True
    """
    tree = found.tree if isinstance(found, Solution) else found
    ensemble = facts.source_ensemble(source, tree.output)
    groups = leaf_groups(tree)
    rows = facts.read_rows(tree, X, y)  # refuses unusable data before the long work
    if isinstance(found, SupportSolution):
        equality, proof = support_facts.stated_equality(found), support_facts.describe_proof(found)
    else:
        equality = facts.check_equality(tree, ensemble, time_limit=time_limit, progress=progress)
        proof = facts.describe_proof(found)
    data: dict[str, Any] = {
        "title": title,
        "classes": groups.labels,
        "colours": None if tree.value is None else groups.colours,
        "output": tree.output,
        "features": feature_words(tree),
        "nan_features": tree.nan_features.tolist(),
        "categories": embed_categories(tree),
        "depth": tree.depth,
        "leaves": tree.n_leaves,
        "nodes_held": tree.n_nodes,
        "nodes": embed_tree(tree),
        "rows": embed_rows(tree, rows),
        "coverage": embed_coverage(tree, rows, y, ensemble),
        "equality": facts.describe_equality(tree, equality),
        "support": support_facts.describe_support(found),
        "proof": proof,
        "sizes": facts.describe_sizes(tree, ensemble),
        "feature_use": facts.describe_features(tree, ensemble),
        "agreement": facts.describe_agreement(tree, ensemble, rows),
        "frontier": describe_frontier(frontier),
        "tolerance_front": describe_tolerance_front(tolerance_front),
        "checks": describe_checks(tree, checks),
        "accuracy": describe_accuracy(tree, rows, y, ensemble),
    }
    write_whole(path, render_page(data))
    return equality
