"""One panel of HTML for each noun: what it is, in plain numbers, and a drawing of the tree if it has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onetree.base.amounts import above, count, counted, duration, leaves
from onetree.display.markup import Fact, note, panel, scrolled, some, table
from onetree.display.tree_svg import tree_svg
from onetree.export.words.wording import promises

if TYPE_CHECKING:
    from onetree.model.ensemble import Ensemble
    from onetree.search.estimate import Estimate
    from onetree.search.solve import Solution
    from onetree.support import SupportSolution
    from onetree.support.frontier import Frontier
    from onetree.tree.tree import Tree
    from onetree.verify import Verdict

_RULES = {
    "hard": "each tree votes for a class",
    "soft": "the sum of class fractions decides",
    "score": "the sum of scores is compared with a cut",
    "scores": "the largest sum of scores decides",
    "value": "the sum is the value",
    "combined": "several models are combined",
}
_MAX_VALUES = 20  # of a counterexample


def tree_html(tree: Tree) -> str:
    """Show a tree: its size, where it is exact, and a drawing of it or of its first levels."""
    return panel(f"Tree: {_size(tree)}", _tree_facts(tree), _drawing(tree))


def solution_html(solution: Solution) -> str:
    """Show a solution: the tree and what is proven of its size."""
    tree = solution.tree
    if solution.status == "optimal":
        proof = "proven: no smaller tree of the model's own tests is equal to it"
    else:
        proof = (
            f"at least {_measures(solution.lower_bound)} is proven, so it is at most {above(solution.gap)} what "
            "is needed"
        )
    facts = [(solution.objective, proof), *_seconds(solution), *_tree_facts(tree)]
    return panel(f"Solution: {_size(tree)}", facts, _drawing(tree))


def support_html(solution: SupportSolution) -> str:
    """Show a tree for the data: what it promises and how well it follows the model."""
    is_class = solution.tree.value is None
    proven = (
        [] if solution.deviation is None else [f"a deviation of at most {solution.deviation.worst!r} on every input"]
    )
    facts = [
        ("promise", solution.promise),
        ("same class on reference rows" if is_class else "deviation on reference rows", str(solution.reference)),
        ("on held-out rows", str(solution.held_out)),
        ("on random points", f"{solution.box} of the bounding box of the data"),
        *(("proven", line.strip()) for line in (proven if solution.cores is None else solution.cores.lines())),
        *_seconds(solution),
        *_tree_facts(solution.tree),
    ]
    return panel(f"SupportSolution: {_size(solution.tree)}", facts, _drawing(solution.tree))


def frontier_html(frontier: Frontier) -> str:
    """Show a frontier: its table, and what it says."""
    header, lines = frontier.table()
    words = frontier.notes if frontier.model is None else [*frontier.notes, frontier.verdict]
    return panel("Frontier", (), scrolled(table(header, lines)), *map(note, words))


def estimate_html(found: Estimate) -> str:
    """Show what a conversion would give and take."""
    how = "from random descents; in brackets, two standard errors around the mean and what is not measured"
    if found.beyond:
        how = "cut off: these are lower bounds"
    return panel("Estimate of the one tree", found.describe().items(), "" if found.exact else note(how))


def verdict_html(verdict: Verdict) -> str:
    """Show what a proof ended in."""
    unit = "cell" if verdict.method == "cells" else "leaf"
    checked = counted(verdict.n_checked, unit, {"leaf": "leaves"}.get(unit))
    facts: list[Fact] = [("method", f"{verdict.method}, {checked} checked")]
    if verdict.domain is not None:
        facts.append(("where", "inside a domain"))
    if verdict.n_fragile:
        facts.append(("near a tie", f"{counted(verdict.n_fragile, 'cell')}, where the order of adding may decide"))
    point = verdict.counterexample
    if point is None:
        if verdict.worst and verdict.worst_input is not None:
            facts.append(("worst deviation", repr(verdict.worst)))
            facts.append(("at", some([repr(value) for value in verdict.worst_input.tolist()], _MAX_VALUES)))
        return panel(f"Verdict: {verdict.kept} on every input", facts)
    if verdict.tree_value is None or verdict.ensemble_value is None:
        facts += [("the tree says", str(verdict.tree_class)), ("the model says", str(verdict.ensemble_class))]
    else:
        said = (verdict.tree_value, verdict.ensemble_value)
        tree, model = (some([repr(number) for number in each.tolist()], _MAX_VALUES) for each in said)
        facts += [("the tree says", tree), ("the model says", model)]
    facts.append(("at", some([repr(value) for value in point.tolist()], _MAX_VALUES)))
    return panel(f"Verdict: not {verdict.kept}", facts)


def ensemble_html(ensemble: Ensemble) -> str:
    """Show the size of an ensemble, its features and classes."""
    low, high = int(ensemble.depths.min()), int(ensemble.depths.max())
    n_sets = sum(kind is not None for kind in ensemble.categories)
    facts = [
        ("depth", f"{low}" if low == high else f"{low} to {high}"),
        *([] if ensemble.output == "value" else [("classes", some(ensemble.classes.tolist()))]),
        ("features", some(ensemble.feature_names)),
        ("rule", _RULES[ensemble.rule.kind]),
    ]
    if n_sets:
        facts.append(("categorical", counted(n_sets, "feature")))
    if ensemble.nan_features.any():
        facts.append(("may be missing", counted(int(ensemble.nan_features.sum()), "feature")))
    return panel(f"Ensemble: {counted(ensemble.n_trees, 'tree')} with {leaves(ensemble.n_leaves)}", facts)


def _size(tree: Tree) -> str:
    return f"{leaves(tree.n_leaves)}, depth {count(tree.depth)}"


def _measures(value: int | tuple[int, ...]) -> str:
    return ", ".join(count(number) for number in (value if isinstance(value, tuple) else (value,)))


def _seconds(solution: Solution) -> list[Fact]:
    return [("time", duration(solution.stats["seconds"]))] if "seconds" in solution.stats else []


def _tree_facts(tree: Tree) -> list[Fact]:
    facts = [
        *([] if tree.output == "value" else [("classes", some(tree.classes.tolist()))]),
        ("features", f"{len(set(tree.feature[tree.feature >= 0].tolist())):,} of {tree.n_features:,} used"),
    ]
    if not tree.exact:
        facts.append(("not exact", f"pruned or built from data: its {tree.output} can differ from the model's"))
    facts += [("promise", line) for line in promises(tree) if tree.exact]
    if tree.domain is not None:
        facts.append(("exact only inside", some(tree.domain.describe(tree.feature_names))))
    return facts


def _drawing(tree: Tree) -> str:
    drawing, depth = tree_svg(tree)
    rest = ""
    if depth < tree.depth:
        rest = note(f"drawn to depth {depth} of {count(tree.depth)}; tree.plot() and onetree.write_report show more")
    return scrolled(drawing) + rest
