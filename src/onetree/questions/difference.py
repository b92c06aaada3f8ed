"""Where two models differ: an input, or a proof that there is none; and all of it, as a tree and as boxes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.limits import check_choice
from onetree.base.progress import ProgressOption, reporting
from onetree.domain.domain import Domain, DomainLike, as_domain
from onetree.errors import InvalidInputError, LimitReachedError, TooLargeError, UnsupportedModelError
from onetree.importers.composed.parts import alike
from onetree.model.ensemble import Ensemble
from onetree.model.inputs import read_inputs
from onetree.questions.ask import Asker, unconfirmed
from onetree.questions.joint import KINDS, joint_ensemble
from onetree.questions.pairs import Pair
from onetree.questions.regions import Volume, described, leaf_regions
from onetree.questions.sources import loaded, source_of
from onetree.questions.wording import plain, shown
from onetree.search.solve import born_again
from onetree.tree.comparison import Comparison, compare
from onetree.tree.leaf_probabilities import leaf_numbers
from onetree.tree.tree import Tree

Floats = NDArray[np.float64]
MAX_BOXES = 10_000


@dataclass(frozen=True, eq=False)
class DifferenceBox:
    """A box of inputs on which two models differ in one way.

    Parameters
    ----------
    classes : tuple of two labels
        What they predict there.
    bounds : dict
        Feature name: ``(low, high)`` for low < value <= high, or the categories; None among them is a missing value.
        Features that are not named may be anything in the domain.
    sentences : tuple of str
        The same in words.
    volume : float or None
        Its share of the volume of the domain, as in `ModelDifference`.
    n_rows : int or None
        The rows inside, if rows were given.
    """

    classes: tuple[Any, Any]
    bounds: dict[str, tuple[Any, ...]]
    sentences: tuple[str, ...]
    volume: float | None = None
    n_rows: int | None = None

    def __str__(self) -> str:
        return f"{self.classes[0]} -> {self.classes[1]} if {' and '.join(self.sentences) or 'always'}"


@dataclass(frozen=True, eq=False)
class ModelDifference:
    """Whether two models differ; true in a condition iff they do.

    Parameters
    ----------
    differ : bool or None
        Refuted if False: the models are proven equal. None: not decided before a limit.
    point : float64 array of shape (n_features,), or None
        An input on which they differ.
    classes : tuple of two labels, or None
        What they predict there.
    share : float or None
        Of the rows that were given, how many get different classes.
    n_rows : int
        Rows that were given.
    changes : dict
        Pair of labels: on how many of the rows the models say these.
    tree : Tree or None
        If it was asked for and found: a tree of where they differ, proven like every tree. Its classes are "same" and
        "a -> b", or all pairs.
    tree_status : {"optimal", "feasible"} or None
        Whether it is proven to have the fewest leaves.
    boxes : tuple of DifferenceBox, or None
        All boxes on which they differ, which do not overlap: those with the most rows first, then the largest. None if
        no tree was asked for or found, or if there are too many.
    volume : float or None
        The share of all boxes together in the volume of the domain, without missing values: lengths of ranges, numbers
        of integers and of categories. A feature that the domain does not bound is taken over the range of the rows;
        None if there is neither.
    comparison : Comparison or None
        Of two trees with the same classes: the cells on which they agree everywhere, as `compare` counts them.
    note : str
        Why there is no tree, or why its boxes are not listed.
    values : dict or None
        The point by name: feature name: number, name of a category, or None if it is missing.
    """

    differ: bool | None
    point: Floats | None = None
    classes: tuple[Any, Any] | None = None
    share: float | None = None
    n_rows: int = 0
    changes: dict[tuple[Any, Any], int] | None = None
    tree: Tree | None = None
    tree_status: str | None = None
    boxes: tuple[DifferenceBox, ...] | None = None
    volume: float | None = None
    comparison: Comparison | None = None
    note: str = ""
    values: dict[str, Any] | None = None

    def __bool__(self) -> bool:
        return self.differ is True

    def __repr__(self) -> str:
        word = {True: "they differ", False: "equal, proven", None: "not decided"}[self.differ]
        if self.classes is not None:
            word += f": {self.classes[0]!s} and {self.classes[1]!s}"
        return f"ModelDifference({word}{'' if self.share is None else f', on {self.share:.2%} of the rows'})"

    def __str__(self) -> str:
        if self.differ is False:
            return "proven: both give the same class to every input"
        if self.differ is None:
            lines = ["not decided: no input was found on which they differ, nor a proof that there is none"]
        else:
            lines = ["they differ"]
        if self.classes is not None:
            lines[0] += f": {self.classes[0]} becomes {self.classes[1]} for some inputs"
        if self.values is not None and not self.boxes:
            lines.append(f"  for example {', '.join(f'{name} = {shown(x)}' for name, x in self.values.items())}")
        if self.share is not None:
            lines.append(f"on {self.share:.2%} of {self.n_rows:,} rows")
        lines += [f"  {one} -> {other}: {count:,} rows" for (one, other), count in (self.changes or {}).items()]
        if self.volume is not None:
            lines.append(f"on {self.volume:.2%} of the volume")
        if self.boxes is not None:
            lines.append(f"in {len(self.boxes):,} boxes")
            lines += [f"  {box}" for box in self.boxes[:10]]
            lines += [f"  and {len(self.boxes) - 10:,} more"] if len(self.boxes) > 10 else []
        return "\n".join([*lines, self.note] if self.note else lines)


def difference(
    a: Any,
    b: Any,
    *,
    domain: DomainLike | None = None,
    X: Any = None,
    tree: str | None = None,
    max_boxes: int = MAX_BOXES,
    time_limit: float | None = None,
    work_limit: int | None = None,
    memory_limit: float | None = None,
    progress: ProgressOption = None,
) -> ModelDifference:
    """Find an input to which two models give different classes, or prove that there is none; on request, all of them.

    Parameters
    ----------
    a, b : fitted models, paths, Ensembles or Trees
        Two versions of a model, a model and its tree, two trees. Features are found by name if both have names, so that
        one may have features that the other does not use; otherwise they are the same in the same order.
    domain : Domain or mapping, optional
        Compare inside this domain, as in `born_again`; by default inside that of a tree, or for every input that both
        take. ``{}`` is everywhere.
    X : array or frame, optional
        Rows, of which to count those that get different classes.
    tree : {"changes", "pairs"}, optional
        Also find the smallest tree of where they differ, and from it all boxes and their share of the volume.
        "changes" has one class for all inputs on which they agree, "pairs" also says which class that is. It can be as
        large as the trees of both models together.
    max_boxes : int
        Most leaves of the tree to list as boxes.
    time_limit, work_limit, memory_limit : optional
        Seconds for everything together, boxes for the proof and steps for the tree, gigabytes for the tree.
    progress : callable, False or None
        As in `born_again`, with the phase "question".

    Examples
    --------
    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> old = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> new = RandomForestClassifier(5, max_depth=2, random_state=1).fit(X, y)
    >>> found = onetree.difference(old, new, X=X, tree="changes")
    >>> bool(found), len(found.boxes) > 0, found.tree_status
    (True, True, 'optimal')
    >>> onetree.difference(old, onetree.born_again(old).tree)
    ModelDifference(equal, proven)
    """
    if tree is not None:
        check_choice("tree", tree, KINDS)
    start = perf_counter()
    a, b = loaded(a), loaded(b)
    if domain is None:  # a tree is made for its own domain
        domain = next((each.domain for each in (a, b) if isinstance(each, Tree) and each.domain is not None), None)
    first, second = common_features(source_of(a), source_of(b))
    limits = as_domain(domain, first)
    found = _searched(first, second, limits, time_limit, work_limit, progress)
    rows = None
    if X is not None:
        rows = read_inputs(X, first).astype(np.float64)
        found = _with_rows(found, first.predict(X), second.predict(X))
    if isinstance(a, Tree) and isinstance(b, Tree):
        found = replace(found, comparison=_compared(a, b, X))
    if tree is None:
        return found
    if found.differ is False:
        return replace(found, boxes=(), volume=0.0)
    left = None if time_limit is None else time_limit - (perf_counter() - start)
    return _with_tree(found, first, second, limits, rows, tree, max_boxes, left, work_limit, memory_limit, progress)


def common_features(first: Ensemble, second: Ensemble) -> tuple[Ensemble, Ensemble]:
    """Return two ensembles over the same features and categories."""
    if first.columns.named and second.columns.named:
        try:
            first, second = alike([first, second])
        except UnsupportedModelError as error:
            raise InvalidInputError(f"the models cannot be compared: {error}") from None
    if first.feature_names != second.feature_names:
        raise InvalidInputError(
            f"the models have different features, or in another order: {list(first.feature_names[:5])} and "
            f"{list(second.feature_names[:5])}; fit both on the same columns"
        )
    for name, one, other in zip(first.feature_names, first.categories, second.categories, strict=True):
        if one != other:
            raise InvalidInputError(
                f"{name!r} does not have the same categories in both models, so they cannot be compared"
            )
    return first, second


def _searched(
    first: Ensemble,
    second: Ensemble,
    domain: Domain | None,
    time_limit: float | None,
    work_limit: int | None,
    progress: ProgressOption,
) -> ModelDifference:
    """Look for an input on which they differ."""
    pair = Pair(first, second, domain)
    labels = (first.classes.tolist(), second.classes.tolist())
    wanted = np.array([[one != other for other in labels[1]] for one in labels[0]], dtype=bool)
    with reporting(progress) as reporter:
        status, point = Asker(pair.options, time_limit, work_limit, None, reporter).differing(pair.voters, wanted)
    if point is None:
        return ModelDifference(None if status == "limit" else False)
    found = tuple(each.predict(point[np.newaxis])[0] for each in (first, second))
    if found[0] == found[1]:
        raise unconfirmed(point)
    values = {name: plain(first, at, float(point[at])) for at, name in enumerate(first.feature_names)}
    return ModelDifference(True, point, (found[0], found[1]), values=values)


def _with_rows(found: ModelDifference, first: NDArray[Any], second: NDArray[Any]) -> ModelDifference:
    pairs = Counter((one, other) for one, other in zip(first.tolist(), second.tolist(), strict=True) if one != other)
    share = sum(pairs.values()) / len(first) if len(first) else 0.0
    return replace(found, share=share, n_rows=len(first), changes=dict(pairs.most_common()))


def _compared(a: Tree, b: Tree, X: Any) -> Comparison | None:
    """Return how much two trees agree in cells, if they can be compared so."""
    rows = np.zeros((0, a.n_features)) if X is None else X
    try:
        return compare(a, b, rows)
    except InvalidInputError:  # other classes or categories, or missing values for one of them only
        return None


def _with_tree(
    found: ModelDifference,
    first: Ensemble,
    second: Ensemble,
    domain: Domain | None,
    rows: Floats | None,
    kind: str,
    max_boxes: int,
    time_limit: float | None,
    work_limit: int | None,
    memory_limit: float | None,
    progress: ProgressOption,
) -> ModelDifference:
    """Add the smallest tree of where they differ, and its boxes."""
    if time_limit is not None and time_limit <= 0:
        return replace(found, note="there was no time left for a tree of the difference")
    joint, pairs = joint_ensemble(first, second, kind)
    try:
        solution = born_again(
            joint,
            objective="leaves",
            domain=domain,
            time_limit=time_limit,
            work_limit=work_limit,
            memory_limit=memory_limit,
            progress=progress,
        )
    except (LimitReachedError, TooLargeError) as error:
        return replace(found, note=f"there is no tree of the difference: {error}")
    tree = solution.tree
    found = replace(found, tree=tree, tree_status=solution.status)
    if tree.n_leaves > max_boxes:
        note = f"the tree of the difference has {tree.n_leaves:,} leaves, more than max_boxes={max_boxes:,} to list"
        return replace(found, note=note)
    counts = None if rows is None else Counter(leaf_numbers(tree, rows).tolist())
    volume = Volume(tree, domain, rows)
    boxes = []
    for number, node, region in leaf_regions(tree):
        pair = pairs[tree.leaf_class[node]]
        if pair is None or first.classes[pair[0]] == second.classes[pair[1]]:
            continue
        bounds, sentences = described(tree, region, first)
        boxes.append(
            DifferenceBox(
                (first.classes[pair[0]], second.classes[pair[1]]),
                bounds,
                sentences,
                volume.share(region),
                None if counts is None else counts[number],
            )
        )
    boxes.sort(key=lambda box: (-(box.n_rows or 0), -(box.volume or 0)))
    shares = [box.volume for box in boxes]
    total = None if any(share is None for share in shares) else float(sum(share or 0.0 for share in shares))
    return replace(found, differ=bool(boxes), boxes=tuple(boxes), volume=total)
