"""Set tests of categorical features as columns of their own, so that only thresholds are left.

Each distinct set test of a categorical feature becomes a column that is 0 where the test sends an input left and 1
elsewhere. The tree is built on these columns and translated back. Columns of one feature depend on each other: who
makes up rows must take them from one row, and what is proven for all their combinations holds for those that occur.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onetree.model.categories import used_subsets
from onetree.model.ensemble import Ensemble
from onetree.tree.tree import Tree

_BETWEEN = 0.5  # threshold between inputs inside a set, 0, and the others, 1
_NO_TEST = -1


@dataclass(frozen=True, eq=False)
class Unfolding:
    """An ensemble with thresholds only, and the way from and to the features of the one it comes from.

    Parameters
    ----------
    source : Ensemble
    ensemble : Ensemble
        On the columns; `source` itself if that has no set tests.
    origin : intp array of shape (n_columns,)
        The feature that each column comes from; ascending.
    test : int32 array of shape (n_columns,)
        Row of ``source.subsets`` that a column stands for, -1 where it is the feature itself.
    """

    source: Ensemble
    ensemble: Ensemble
    origin: NDArray[np.intp]
    test: NDArray[np.int32]

    @classmethod
    def of(cls, source: Ensemble) -> Unfolding:
        """Unfold an ensemble; a categorical feature that no node tests has no column."""
        if not source.has_subsets:
            n_features = source.n_features
            return cls(source, source, np.arange(n_features), np.full(n_features, _NO_TEST, dtype=np.int32))
        subset, subsets = used_subsets(source.subset, source.subsets)
        distinct = replace(source, subset=subset, subsets=subsets)
        origin, test = _columns(distinct)
        return cls(distinct, _on_columns(distinct, origin, test), origin, test)

    def rows(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows of the source's features as rows of columns."""
        if self.ensemble is self.source:
            return values
        columns = values[:, self.origin]
        for column in np.flatnonzero(self.test != _NO_TEST).tolist():
            kind = self.source.categories[self.origin[column]]
            if kind is not None:
                members = self.source.subsets[self.test[column]]
                columns[:, column] = np.where(members[kind.element(columns[:, column])], 0.0, 1.0)
        return columns

    def tree(self, tree: Tree) -> Tree:
        """Return a tree on the columns as the same tree on the source's features: nodes keep their numbers."""
        if self.ensemble is self.source:
            return tree
        column = tree.feature  # -1 at a leaf, which the last entry below stands for
        source = self.source
        subset, subsets = used_subsets(np.append(self.test, _NO_TEST)[column].astype(np.int32), source.subsets)
        return Tree(
            feature=np.append(self.origin, -1)[column],
            threshold=np.where(subset == _NO_TEST, tree.threshold, 0.0),
            children_left=tree.children_left,
            children_right=tree.children_right,
            leaf_class=tree.leaf_class,
            classes=source.classes,
            feature_names=source.feature_names,
            nan_features=source.nan_features,
            exact=tree.exact,
            categories=source.categories,
            subset=subset,
            subsets=subsets,
            columns=source.columns,
            value=tree.value,
            keeps_class=tree.keeps_class,
        )


def _columns(source: Ensemble) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the feature and the set test of each column."""
    origin: list[int] = []
    test: list[int] = []
    for feature, kind in enumerate(source.categories):
        tests = [_NO_TEST] if kind is None else np.unique(source.subset[source.feature == feature]).tolist()
        origin += [feature] * len(tests)
        test += tests
    return np.array(origin, dtype=np.intp), np.array(test, dtype=np.int32)


def _on_columns(source: Ensemble, origin: NDArray[np.intp], test: NDArray[np.int32]) -> Ensemble:
    """Return the ensemble whose features are the columns."""
    number = {at: column for column, at in enumerate(zip(origin.tolist(), test.tolist(), strict=True))}
    at_nodes = zip(source.feature.tolist(), source.subset.tolist(), strict=True)
    feature = np.array([number.get(at, -1) for at in at_nodes], dtype=np.int32)  # a leaf is not among the columns
    is_set = source.subset != _NO_TEST
    names = source.feature_names
    return Ensemble(
        classes=source.classes,
        feature_names=tuple(
            names[at] if row == _NO_TEST else f"{names[at]} in set {row}"
            for at, row in zip(origin.tolist(), test.tolist(), strict=True)
        ),
        roots=source.roots,
        feature=feature,
        threshold=np.where(is_set, _BETWEEN, source.threshold),
        children_left=source.children_left,
        children_right=source.children_right,
        missing_left=source.missing_left & ~is_set,
        value=source.value,
        base=source.base,
        rule=source.rule,
        nan_features=source.nan_features[origin] & (test == _NO_TEST),
        response=source.response,
    )
