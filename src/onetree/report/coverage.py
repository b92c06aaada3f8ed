"""Where rows of data go in a tree: how many reach each place, of which classes, and how a split parts them.

A place is a path from the root, so a subtree that is held once and reached twice has rows of its own in both places.
Places without rows are left out: there are never more than rows times depth, however large the tree. Writes no HTML.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError
from onetree.export.words.leaf_words import number_words
from onetree.model.categories import elements_of
from onetree.model.ensemble import Ensemble
from onetree.model.routing import Routes
from onetree.report.leaf_groups import leaf_groups
from onetree.tree.tree import Tree
from onetree.verify.verdict import class_map

MAX_PLACES = 200_000
MAX_SPREADS = 1_000  # splits whose rows are drawn as a histogram, those nearest to the root
MIN_ROWS = 2  # of a histogram
N_BINS = 14
MAX_SPREAD_CLASSES = 12  # of more, a histogram only counts rows


def embed_coverage(
    tree: Tree, rows: NDArray[Any] | None, y: ArrayLike | None, source: Ensemble | None
) -> dict[str, Any] | None:
    """Return the rows at each place, by the classes in `y`, else by those of the source, else by those of the tree.

    Of a regression tree rows are counted by the group of the leaf that they end in.

    ``left`` and ``right`` have an entry per place, in order of depth: the place of a child, or 0 if no row goes there.
    ``ends`` has one per place without children: pairs of class and number of rows. ``spreads`` holds a histogram of
    what the split tests for the first places: place, number of bins, how many of them go left, least and largest
    value in words, and the rows of each class in each bin.
    """
    if rows is None or not len(rows):
        return None
    groups = leaf_groups(tree)
    by_tree = tree.output == "value" or (y is None and source is None)
    if by_tree:
        labels = groups.of_node[tree.apply(rows)].astype(np.intp)
    else:
        labels = class_index(tree, y, len(rows)) if y is not None else _predicted(tree, rows, source)
    walk = _Walk(tree, rows, labels, len(groups.labels))
    while walk.step():
        pass
    return {
        "n_rows": len(rows),
        "of": "tree" if by_tree else "data" if y is not None else "model",
        "left": walk.children[0],
        "right": walk.children[1],
        "ends": walk.ends(),
        "spreads": walk.spreads,
    }


def describe_accuracy(
    tree: Tree, rows: NDArray[Any] | None, y: ArrayLike | None, source: Ensemble | None
) -> dict[str, Any] | None:
    """Count the rows whose class in `y` is what tree and source say; of a regression tree, take the mean error."""
    if rows is None or y is None:
        return None
    if tree.output == "value":
        wanted = targets(y, len(rows))
        said = (
            {"tree": tree.predict(rows)}
            if source is None
            else {"tree": tree.predict(rows), "model": source.predict(rows)}
        )
        errors = {name: number_words(np.abs(each - wanted).mean(), 4) for name, each in said.items() if len(wanted)}
        return {"rows": len(rows), "errors": errors} if errors else None
    labels = class_index(tree, y, len(rows))
    found: dict[str, Any] = {"rows": len(rows), "tree": int(np.count_nonzero(tree.predict_index(rows) == labels))}
    if source is not None:
        found["model"] = int(np.count_nonzero(class_map(tree, source)[labels] == source.predict_index(rows)))
    return found


def class_index(tree: Tree, y: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Return the index of each label; raises `InvalidInputError` for one that is not a class of the tree."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise InvalidInputError(
            f"y must have one label for each of the {n_rows:,} rows of X; its shape is {labels.shape}"
        )
    known = {label: index for index, label in enumerate(tree.classes.tolist())}
    try:
        return np.array([known[label] for label in labels.tolist()], dtype=np.intp)
    except (KeyError, TypeError):
        unknown = next(label for label in labels.tolist() if label.__hash__ is None or label not in known)
        raise InvalidInputError(
            f"y has the label {unknown!r}, which is not a class of the tree; its classes are {tree.classes.tolist()}"
        ) from None


def targets(y: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return the true values of rows; raises `InvalidInputError` for anything but a finite number for each."""
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError("y must hold numbers, since the tree is one of a regressor") from None
    if values.shape != (n_rows,) or not np.isfinite(values).all():
        raise InvalidInputError(
            f"y must have one finite number for each of the {n_rows:,} rows of X; its shape is {values.shape}"
        )
    return values


def _predicted(tree: Tree, rows: NDArray[Any], source: Ensemble | None) -> NDArray[np.intp]:
    if source is None:
        return tree.predict_index(rows).astype(np.intp)
    back = np.empty(tree.n_classes, dtype=np.intp)
    back[class_map(tree, source)] = np.arange(tree.n_classes)
    return back[source.predict_index(rows)]


@dataclass
class _Walk:
    """All rows on their way down, one split further with each step."""

    tree: Tree
    rows: NDArray[Any]
    labels: NDArray[np.intp]
    n_groups: int
    node: list[int] = field(default_factory=lambda: [0])  # of each place
    children: tuple[list[int], list[int]] = field(default_factory=lambda: ([0], [0]))
    spreads: list[list[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.routes = Routes(self.tree, self.rows)
        self.elements = elements_of(self.tree.categories, self.rows) if self.tree.has_subsets else None
        self.place = np.zeros(len(self.rows), dtype=np.intp)  # where each row is
        self.moving = np.arange(len(self.rows))

    def step(self) -> bool:
        here = self.place[self.moving]
        node = np.asarray(self.node)[here] if len(self.node) < len(here) else np.array([self.node[at] for at in here])
        inner = self.tree.children_left[node] >= 0
        self.moving, here, node = self.moving[inner], here[inner], node[inner]
        if not self.moving.size:
            return False
        left = self.routes.go_left(self.moving, node)
        reached, at = np.unique(2 * here + ~left, return_inverse=True)
        if len(self.node) + len(reached) > MAX_PLACES:
            return False
        self._add_spreads(here, left)
        first = len(self.node)
        for parent, side in zip((reached // 2).tolist(), (reached % 2).tolist(), strict=True):
            self.children[side][parent] = len(self.node)
            below = self.tree.children_right if side else self.tree.children_left
            self.node.append(int(below[self.node[parent]]))
        for side in self.children:
            side.extend([0] * len(reached))
        self.place[self.moving] = first + at
        return True

    def ends(self) -> list[list[int]]:
        n_classes = self.n_groups
        keys, counts = np.unique(self.place * n_classes + self.labels, return_counts=True)
        found: dict[int, list[int]] = {}
        for place, label, count in zip(
            (keys // n_classes).tolist(), (keys % n_classes).tolist(), counts.tolist(), strict=True
        ):
            found.setdefault(place, []).extend((label, count))
        return list(found.values())  # by place, as the keys are

    def _add_spreads(self, here: NDArray[np.intp], left: NDArray[np.bool_]) -> None:
        order = np.argsort(here, kind="stable")
        places, starts = np.unique(here[order], return_index=True)
        for place, group in zip(places.tolist(), np.split(order, starts[1:]), strict=True):
            if len(self.spreads) == MAX_SPREADS:
                return
            if len(group) >= MIN_ROWS:
                self.spreads.append([place, *self._spread(self.node[place], self.moving[group], left[group])])

    def _spread(
        self, node: int, row: NDArray[np.intp], left: NDArray[np.bool_]
    ) -> tuple[int, int, str, str, list[int]]:
        feature = int(self.tree.feature[node])
        if self.tree.subset[node] >= 0 and self.elements is not None:
            n_bins, n_left, bins = _ranked(self.elements[row, feature], left)
            low = high = ""
        else:
            x = self.rows[row, feature].astype(np.float64)
            n_bins, n_left, bins = _binned(x, left, float(self.tree.threshold[node]))
            known = x[~np.isnan(x)]
            low = f"{known.min():.3g}" if known.size else "missing"
            high = f"{known.max():.3g}" if known.size == x.size else "missing"
        n_classes = self.n_groups if self.n_groups <= MAX_SPREAD_CLASSES else 1
        labels = self.labels[row] if n_classes > 1 else 0
        return n_bins, n_left, low, high, np.bincount(bins * n_classes + labels, minlength=n_bins * n_classes).tolist()


def _ranked(values: NDArray[Any], left: NDArray[np.bool_]) -> tuple[int, int, NDArray[np.intp]]:
    """Return a bin for each value, those that go left first; of too many, neighbours share one."""
    _, code = np.unique(values, return_inverse=True)
    _, rank = np.unique(code + len(code) * ~left, return_inverse=True)
    n_values, n_left = int(rank.max()) + 1, len(np.unique(code[left]))
    if n_values <= N_BINS:
        return n_values, n_left, rank
    left_bins = _share(n_left / n_values) if 0 < n_left < n_values else N_BINS * (n_left > 0)
    right_bins = N_BINS - left_bins
    bins = np.where(
        left,
        rank * left_bins // max(1, n_left),
        left_bins + (rank - n_left) * right_bins // max(1, n_values - n_left),
    )
    return N_BINS, left_bins, bins


def _binned(x: NDArray[np.float64], left: NDArray[np.bool_], cut: float) -> tuple[int, int, NDArray[np.intp]]:
    """Return bins of equal width on each side of the cut, or one per value if there are few; one for missing values."""
    missing = np.isnan(x)
    finite = x[np.isfinite(x)]
    n_values = len(np.unique(finite))
    if n_values <= 2 or (n_values <= N_BINS and 3 * n_values <= len(finite)) or not np.isfinite(cut):
        return _ranked(x, left)
    low, high = np.quantile(finite, [0.01, 0.99])  # what lies beyond is counted in the outermost bins
    low, high = (low, high) if low < high else (finite.min(), finite.max())
    with np.errstate(all="ignore"):  # numbers may be as far apart as float64 goes
        if left.all() or not left[~missing].any():
            n_left = N_BINS * int(left.all())
            middle = high if n_left else low
        else:
            low, high = low if low < cut else finite.min(), high if high > cut else finite.max()
            n_left, middle = _share(float(cut / 2 - low / 2) / float(high / 2 - low / 2)), cut
        below = np.floor((np.clip(x, low, middle) - low) / (middle - low) * n_left)
        above = n_left + np.floor((np.clip(x, middle, high) - middle) / (high - middle) * (N_BINS - n_left))
    bins = np.where(left, np.minimum(below, n_left - 1), np.minimum(above, N_BINS - 1))
    bins = np.where(missing, N_BINS, np.nan_to_num(bins, nan=0.0)).astype(np.intp)
    return N_BINS + int(missing.any()), n_left, bins


def _share(part: float) -> int:
    """Return the bins of the left side: at least one for each side."""
    return min(N_BINS - 1, max(1, round(part * N_BINS))) if part == part else 1
