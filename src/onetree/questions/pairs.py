"""Two ensembles on common features, as one forest: trees that are the same for both occur once.

For questions about two models, and about one model at two inputs: the second input has features of its own where the
two may differ, which come after all others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onetree.domain.domain import Domain
from onetree.errors import InvalidInputError
from onetree.model.arrays import AxisEnsemble
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble, Rule
from onetree.questions.options import Options

Floats = NDArray[np.float64]


class Pair:
    """Two ensembles and what they ask of common features.

    Attributes
    ----------
    options : Options
        Of all trees.
    voters : pair of AxisEnsemble
    """

    def __init__(self, first: Ensemble, second: Ensemble, domain: Domain | None, doubled: tuple[int, ...] = ()) -> None:
        self._n_features, self._doubled = first.n_features, doubled
        same = second is first
        moved = np.arange(first.n_features)
        moved[list(doubled)] = first.n_features + np.arange(len(doubled))
        tree_of = _tree_of_node(second)
        own = ~np.isin(tree_of, _untouched(second, tree_of, doubled)) if same else np.ones(len(tree_of), dtype=bool)
        # Nodes of the second that are not also nodes of the first come after those.
        number = np.where(own, len(first.feature) + np.cumsum(own) - 1, np.arange(len(own))).astype(np.int32)
        roots = number[second.roots]
        all_roots = np.concatenate([first.roots, roots[own[second.roots]]])
        feature = np.where(second.feature >= 0, moved[second.feature], -1)
        names = (*first.feature_names, *(f"{first.feature_names[each]} (changed)" for each in doubled))

        def children(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
            return np.concatenate([one, np.where(other >= 0, number[other], -1)[own]])

        n_subsets = len(first.subsets)
        forest = Ensemble(
            classes=np.arange(2),
            feature_names=names,
            roots=all_roots,
            feature=np.concatenate([first.feature, feature[own]]).astype(np.int32),
            threshold=np.concatenate([first.threshold, second.threshold[own]]),
            children_left=children(first.children_left, second.children_left),
            children_right=children(first.children_right, second.children_right),
            missing_left=np.concatenate([first.missing_left, second.missing_left[own]]),
            value=np.zeros((len(first.feature) + np.count_nonzero(own), 2)),
            base=np.zeros(2),
            rule=Rule("scores"),
            nan_features=_with(first.nan_features & second.nan_features, doubled),
            categories=(*first.categories, *(first.categories[each] for each in doubled)),
            subset=np.concatenate([first.subset, np.where(second.subset >= 0, second.subset + n_subsets, -1)[own]]),
            subsets=np.concatenate([first.subsets, second.subsets]),
            columns=_doubled_columns(first.columns, doubled),
        )
        self.options = Options(forest, None if domain is None else _doubled_domain(domain, doubled, names))
        of_second = np.zeros((len(forest.feature), second.n_outputs))
        of_second[number] = second.value
        self.voters: tuple[AxisEnsemble, AxisEnsemble] = (
            self.options.on_axes(first, first.roots, _padded(first.value, len(forest.feature))),
            self.options.on_axes(second, roots, of_second),
        )

    def split(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the inputs of both sides."""
        first = point[: self._n_features].copy()
        second = first.copy()
        second[list(self._doubled)] = point[self._n_features :]
        return first, second


def _tree_of_node(ensemble: Ensemble) -> NDArray[np.intp]:
    """Return the number of the tree that each node belongs to."""
    tree = np.full(len(ensemble.feature), -1)
    tree[ensemble.roots] = np.arange(ensemble.n_trees)
    level = ensemble.roots
    while level.size:
        level = level[ensemble.feature[level] >= 0]
        for children in (ensemble.children_left[level], ensemble.children_right[level]):
            tree[children] = tree[level]
        level = np.concatenate([ensemble.children_left[level], ensemble.children_right[level]])
    return tree


def _untouched(ensemble: Ensemble, tree_of: NDArray[np.intp], features: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the trees that do not ask for any of some features."""
    return np.setdiff1d(np.arange(ensemble.n_trees), tree_of[np.isin(ensemble.feature, features)])


def _with(flags: NDArray[np.bool_], doubled: tuple[int, ...]) -> NDArray[np.bool_]:
    return np.append(flags, flags[list(doubled)])


def _padded(value: Floats, n_nodes: int) -> Floats:
    return np.concatenate([value, np.zeros((n_nodes - len(value), value.shape[1]))])


def _doubled_columns(columns: Columns, doubled: tuple[int, ...]) -> Columns:
    labels, lowest = columns.labels, columns.lowest
    return replace(
        columns,
        labels=(*labels, *(labels[each] for each in doubled)) if labels else (),
        lowest=(*lowest, *(lowest[each] for each in doubled)) if lowest else (),
    )


def _doubled_domain(domain: Domain, doubled: tuple[int, ...], names: tuple[str, ...]) -> Domain:
    n_features = len(domain.values)
    place = {feature: n_features + at for at, feature in enumerate(doubled)}
    groups = list(domain.groups)
    for group in domain.groups:
        inside = [feature in place for feature in group.features]
        if any(inside) and not all(inside):
            raise InvalidInputError(
                f"{names[group.features[inside.index(True)]]!r} belongs to a group with "
                f"{names[group.features[inside.index(False)]]!r}; name all features of a group, or none"
            )
        if all(inside):
            features = tuple(place[each] for each in group.features)
            said = tuple(
                replace(each, features=tuple(place[feature] for feature in each.features))
                for each in group.declarations
            )
            groups.append(replace(group, features=features, declarations=said))
    values = (*domain.values, *(domain.values[each] for each in doubled))
    return Domain(values, domain.origin, tuple(groups), names)
