"""What a report says of a conversion: sizes before and after, what is proven, whether the two are equal, feature use.

Every statement is one that was proven or counted here, or that a `Solution` carries. What nobody told or proved is said
to be not known; nothing is guessed. Writes no HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.base import amounts
from onetree.base.progress import ProgressOption
from onetree.errors import InvalidInputError, LimitReachedError
from onetree.export.words.leaf_words import number_words
from onetree.model.categories import used_subsets
from onetree.model.ensemble import Ensemble, as_ensemble
from onetree.model.inputs import RowsLike, read_inputs
from onetree.report.coverage import class_index, targets
from onetree.search.solve import Solution
from onetree.tree.leaf_values import tolerance_words
from onetree.tree.tree import Tree
from onetree.verify import Verdict, verify
from onetree.verify.verdict import class_map

_MEASURES = {
    "depth": ("depth",),
    "leaves": ("leaves",),
    "depth-leaves": ("depth", "leaves"),
    "leaves-depth": ("leaves", "depth"),
}
_SMALLEST = {
    "depth": "No {such} tree is shallower.",
    "leaves": "No {such} tree has fewer leaves.",
    "depth-leaves": "No {such} tree is shallower, and none of this depth has fewer leaves.",
    "leaves-depth": "No {such} tree has fewer leaves, and none with so few is shallower.",
}


@dataclass(frozen=True, eq=False)
class Equality:
    """Whether tree and source are the same function, as far as it was checked for this report.

    Parameters
    ----------
    state : {"equal", "within", "differs", "unfinished", "unchecked", "support"}
        "within" is a tree whose numbers are within its tolerance of the source's.
        "support" is a tree that is only meant to follow its source where the data are.
    text : str
        The same in a sentence.
    verdict : Verdict or None
        What the proof ended in.
    """

    state: str
    text: str
    verdict: Verdict | None = None


def check_equality(
    tree: Tree, source: Ensemble | None, *, time_limit: float | None = None, progress: ProgressOption = None
) -> Equality:
    """Prove or refute that the two are the same function; without a source, return that it was not checked."""
    if source is None:
        return Equality("unchecked", "The model was not at hand when this report was written, so nothing was compared.")
    try:
        verdict = verify(tree, source, time_limit=time_limit, progress=progress)
    except LimitReachedError:
        return Equality("unfinished", f"The proof did not come to an end within {time_limit:g} seconds.")
    if verdict:
        unit = "cells" if verdict.method == "cells" else "leaves"
        which = "possible input" if verdict.domain is None else "input inside the domain"
        state = "equal" if tree.value is None or verdict.worst == 0 else "within"
        text = (
            f"Proven for this report: {_same(tree, verdict)} for every {which} ({verdict.n_checked:,} {unit} checked)."
        )
        return Equality(state, text, verdict)
    if tree.value is not None:
        return Equality("differs", f"At the input below {verdict.difference}.", verdict)
    return Equality(
        "differs",
        f"At the input below the tree says “{verdict.tree_class}”, the model “{verdict.ensemble_class}”.",
        verdict,
    )


def _same(tree: Tree, verdict: Verdict) -> str:
    """Return what tree and model have in common, in words."""
    if tree.value is None or tree.tolerance is None:
        return "the same class"
    what = "the value" if tree.output == "value" else "each probability"
    words = f"{what} of the tree is within {tolerance_words(tree.tolerance, relative=tree.relative)} of the model's"
    if verdict.worst == 0:
        words = f"{what} is the same"
    elif verdict.worst is not None:
        words += f", the largest difference being {tolerance_words(verdict.worst, relative=tree.relative)}"
    return words + (", and the class is the same," if tree.output == "probability" and tree.keeps_class else "")


def describe_equality(tree: Tree, equality: Equality) -> dict[str, Any]:
    """Return what was checked, with the input on which the two differ."""
    point = None if equality.verdict is None else equality.verdict.counterexample
    text = equality.text
    if not tree.exact and equality.state != "support":
        text += " The tree is marked as not exact, since it was pruned or built to follow data."
    if tree.domain is not None:
        origin = f" ({tree.domain.origin})" if tree.domain.origin else ""
        inside = "; ".join(tree.domain.describe(tree.feature_names))
        text += f" It was made for a domain{origin}, and for inputs outside its {tree.output} means nothing: {inside}."
    return {
        "state": equality.state,
        "text": text,
        "exact": tree.exact,
        "counterexample": None if point is None else [str(x) for x in point.tolist()],
    }


def describe_proof(found: Tree | Solution) -> dict[str, Any]:
    """Return what is proven of the size; of a tree alone nothing is known."""
    if not isinstance(found, Solution):
        return {
            "state": "unknown",
            "text": "The tree alone does not tell whether a smaller one exists: its file holds no bounds.",
            "stats": {},
        }
    such = "equal" if found.tree.value is None or not found.tree.tolerance else "such"
    stats = describe_stats(found)
    if found.status == "optimal":
        return {
            "state": "optimal",
            "text": _SMALLEST[found.objective].format(such=such),
            "objective": found.objective,
            "stats": stats,
        }
    return {
        "state": "bounded",
        "text": f"{_bound(found, such)} Whether one smaller than this exists is not known.",
        "objective": found.objective,
        "stats": stats,
    }


def describe_stats(found: Solution) -> dict[str, Any]:
    """Return what the search took."""
    return {name: _plain(value) for name, value in found.stats.items()}


def _bound(found: Solution, such: str) -> str:
    """Return in words what is proven, and how far the tree is above it in the first measure that differs."""
    value, bound = (each if isinstance(each, tuple) else (each,) for each in (found.value, found.lower_bound))
    names = _MEASURES[found.objective]
    needs = " and ".join(
        f"depth {least:,}" if name == "depth" else f"{least:,} leaves" for name, least in zip(names, bound, strict=True)
    )
    name = next((name for name, here, least in zip(names, value, bound, strict=True) if here > least), names[0])
    here = f"at most {amounts.above(found.gap)} what is needed"
    return (
        f"Proven: {'an equal' if such == 'equal' else 'such a'} tree needs at least {needs}. The {name} here: {here}."
    )


def describe_sizes(tree: Tree, source: Ensemble | None) -> list[dict[str, Any]]:
    """Return a row per measure: what it is, of the source (None if that is not known) and of the tree."""
    has_sets = tree.has_subsets or (source is not None and source.has_subsets)
    tests = "different thresholds and sets" if has_sets else "different thresholds"
    splits = tree.feature >= 0
    after = {
        "trees": 1,
        "leaves": tree.n_leaves,
        "splits": tree.n_leaves - 1,
        "depth": tree.depth,
        "features tested": len(np.unique(tree.feature[splits])),
        tests: _n_tests(tree, splits),
    }
    before: dict[str, int | None] = dict.fromkeys(after)
    if source is not None:
        splits = source.feature >= 0
        before = {
            "trees": source.n_trees,
            "leaves": source.n_leaves,
            "splits": int(np.count_nonzero(splits)),
            "depth": int(source.depths.max(initial=0)),
            "features tested": len(np.unique(source.feature[splits])),
            tests: _n_tests(source, splits),
        }
    return [{"measure": name, "before": before[name], "after": after[name]} for name in after]


def describe_features(tree: Tree, source: Ensemble | None) -> list[dict[str, Any]]:
    """Return a row per tested feature, the most used first: splits, thresholds (or sets), least depth.

    Splits count as if shared subtrees were written out.
    """
    times, depth = _paths_to(tree), _least_depths(tree)
    by_feature = np.argsort(tree.feature, kind="stable")
    features, starts = np.unique(tree.feature[by_feature], return_index=True)
    rows = []
    for feature, nodes in zip(features.tolist(), np.split(by_feature, starts[1:]), strict=True):
        if feature < 0:  # the leaves
            continue
        rows.append(
            {
                "feature": feature,
                "splits": sum(times[node] for node in nodes.tolist()),
                "thresholds": _n_tests(tree, nodes),
                "thresholds_before": None if source is None else _n_tests(source, source.feature == feature),
                "first_depth": min(depth[node] for node in nodes.tolist()),
            }
        )
    return sorted(rows, key=lambda row: (-row["splits"], row["feature"]))


def read_rows(tree: Tree, X: RowsLike | None, y: ArrayLike | None) -> NDArray[Any] | None:
    """Check the given data, and return their rows as numbers."""
    if X is None:
        if y is not None:
            raise InvalidInputError("y was given without X; give both, or neither")
        return None
    rows = read_inputs(X, tree)
    if y is not None and tree.output == "value":
        targets(y, len(rows))
    elif y is not None:
        class_index(tree, y, len(rows))
    return rows


def describe_agreement(tree: Tree, source: Ensemble | None, rows: NDArray[Any] | None) -> dict[str, Any] | None:
    """Count the rows of the data on which tree and source say the same; of numbers, say how far they are apart."""
    if source is None or rows is None:
        return None
    if tree.value is not None and len(rows):
        apart = np.abs(tree.numbers(rows).astype(np.float64) - source.numbers(rows)).max(axis=1)
        mean, most = (number_words(each, 3) for each in (apart.mean(), apart.max()))
        return {"rows": len(rows), "mean": mean, "most": most}
    same = class_map(tree, source)[tree.predict_index(rows)] == source.predict_index(rows)
    return {"rows": len(same), "equal": int(np.count_nonzero(same))}


def source_ensemble(source: object | None, output: str = "class") -> Ensemble | None:
    """Return the ensemble of a model, if there is a model, with the output of the tree."""
    if source is None or isinstance(source, Ensemble):
        return source
    return as_ensemble(source, output=output)


def _n_tests(model: Tree | Ensemble, nodes: Any) -> int:
    """Count the different thresholds and sets of some splits."""
    subset, _ = used_subsets(model.subset[nodes], model.subsets)  # equal sets have equal numbers
    feature, threshold = model.feature[nodes].tolist(), model.threshold[nodes].tolist()
    return len(set(zip(feature, threshold, subset.tolist(), strict=True)))


def _paths_to(tree: Tree) -> list[int]:
    """Count the paths from the root to each node."""
    times = [0] * tree.n_nodes
    times[0] = 1
    for node, (left, right) in enumerate(zip(tree.children_left.tolist(), tree.children_right.tolist(), strict=True)):
        if left >= 0:  # parents come first, so the count of a node is final when it is reached
            times[left] += times[node]
            times[right] += times[node]
    return times


def _least_depths(tree: Tree) -> list[int]:
    depth = [tree.n_nodes] * tree.n_nodes
    depth[0] = 0
    for node, (left, right) in enumerate(zip(tree.children_left.tolist(), tree.children_right.tolist(), strict=True)):
        if left >= 0:
            depth[left] = min(depth[left], depth[node] + 1)
            depth[right] = min(depth[right], depth[node] + 1)
    return depth


def _plain(value: Any) -> Any:
    """Return a numpy number as Python's own, and anything else as text."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, int | str) or (isinstance(plain, float) and np.isfinite(plain)) else str(plain)
